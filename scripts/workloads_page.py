# SPDX-License-Identifier: Apache-2.0
"""Prints docs/evidence/workloads.md from the engine's list: `make docs` puts it in place."""

from heapfit import _engine

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/workloads_page.py from engine/src/workload/; `make docs` renews it. -->
# Workloads

A workload is a synthetic trace made from a model and a seed. Listed here are the workloads of the
papers, and those that allocators are tested with elsewhere. The same name, parameters and seed give
the same events on every machine, byte for byte.

```sh
heapfit workload                                   # lists them
heapfit workload t2_w1 -o t2_w1.parquet --seed 7   # writes one
heapfit workload t2_w1:limit=3,events=1000         # with parameters that are not standard
heapfit compare t2_w1 queue_fill all
```

Their probability distributions are in `engine/src/workload/laws.hpp`. Times are 0 where a model has
no clock. Two workloads of one distribution, like the five of table 2, make the same random choices
for the same seed. They differ only in what the table says."""


def section(info: _engine.WorkloadInfo) -> str:
    """One workload: what it is, where it comes from, what it depends on."""
    lines = [f"## `{info.name}`: {info.title}", "", f"Origin: {info.origin}.", ""]
    lines += ["| parameter | meaning | range | standard |", "|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | {one.meaning} | {one.lowest:,} to {one.highest:,} | {one.standard:,} |"
        for one in info.parameters
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n\n".join([HEAD, *map(section, _engine.workloads())]))
