# SPDX-License-Identifier: Apache-2.0
"""Small scenario files."""

from pathlib import Path

SMALL = """
schema = 1
name = "small"

[traffic]
arrivals = { law = "poisson", rate = 10 }
sizes = { law = "uniform", least = 1, most = 100 }
holding = { law = "exponential", mean = 1.0 }

[schemes.fixed]
plan = { allocator = "fixed_pool", block_size = 104, blocks = 10 }

[schemes.chained]
plan = { allocator = "chained_pool", partition_size = 32, partitions = 30 }

[schemes.general]
region = 1200
plan = { allocator = "tlsf" }

[[grid]]
"traffic.arrivals.rate" = [8, 12]

[run]
requests = 4000
warm_up = 200
replications = 4
"""


def small(folder: Path, *changes: tuple[str, str]) -> Path:
    """SMALL as a file, with texts replaced."""
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "small.toml"
    path.write_text(text)
    return path
