# SPDX-License-Identifier: Apache-2.0
"""What docs/plugins.md says of the allocators in examples/plugins; its commands run elsewhere."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heapfit.plugin import build, measure, plugin_of
from heapfit.plugin.faults import FAULT_NAMES
from program import run_heapfit

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/plugins.md"
ECHO = ROOT / "examples/lwip-echo/lwip-echo.parquet"
MOST_ADAPTER_LINES = 26  # of a crate's, in rustfmt's layout with its licence


# Rust's library for 32 bits installs from no Debian package, so what tests build is for 64.
@pytest.mark.parametrize(("name", "bits"), [("bump.c", 32), ("buddy", 64)])
def test_an_example_is_sound_and_serves(name: str, bits: int, tmp_path: Path) -> None:
    row = measure(build(plugin_of(ROOT / "examples/plugins" / name, bits), tmp_path), ECHO)

    assert row.faults == ()
    assert row.r_min is not None
    assert 1.4 < (row.over_u_max or 0) < 1.6
    assert row.misuse["double free"] == "overlap"
    assert row.misuse["write after free"] == "crash"


def test_the_broken_example_is_told_as_the_page_has_it() -> None:
    words = ("compare", "examples/sqlite/sqlite.parquet", "tlsf")
    done = run_heapfit(
        *words, "--plugin", "examples/plugins/broken.c", folder=ROOT, environment=os.environ
    )

    told = PAGE.read_text().partition("What `examples/plugins/broken.c` gets")[2]
    shown = [line[4:] for line in told.splitlines() if line.startswith("    broken")]
    assert done.returncode == 3
    assert len(shown) == 1
    assert shown[0] in done.stdout.splitlines()


# Clone, installation and all recordings are part of `make test-long`.
ALL = os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1"
SOME = ("bison-1", "routes32-1", "terms32-1")


def link_examples(folder: Path) -> None:
    """The example folders that the page's commands name, with some of the recordings."""
    (folder / "recordings/traces").mkdir(parents=True)
    for name in ("plugins", "sqlite"):
        (folder / name).symlink_to(ROOT / "examples" / name)
    for name in SOME:
        trace = f"recordings/traces/{name}.parquet"
        (folder / trace).symlink_to(ROOT / "examples" / trace)


def test_at_most_ten_commands_lead_from_a_clone_to_a_row_in_the_league(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```bash\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    commands = block.replace("\\\n", " ").splitlines()
    assert len(commands) <= 10
    assert commands[0].split()[:2] == ["git", "clone"]
    if ALL:
        commands = [one.replace("URL", str(ROOT)) for one in commands]
        folder = tmp_path / "heapfit"
    else:
        link_examples(tmp_path / "examples")
        for name in ("bench", "target"):
            (tmp_path / name).symlink_to(ROOT / name)
        commands = [one for one in commands if "examples/" in one]
        folder = tmp_path
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "\n".join(["set -eu", *commands])],
        cwd=tmp_path,
        env={**os.environ, "PATH": programs, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    with (folder / "out/league.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    found = {row["entrant"]: row for row in rows if row["recording"] == "bison-1"}
    assert set(found) == {"tlsf", "bump", "buddy", "broken"}
    assert found["broken"]["faults"] == "overlap"
    assert int(found["buddy"]["r_safe"]) > int(found["tlsf"]["r_safe"])
    recordings = {row["recording"] for row in rows}
    assert len(recordings) > 30 if ALL else recordings == set(SOME)


def test_the_page_explains_each_fault() -> None:
    table = PAGE.read_text().partition("## Faults")[2]
    assert [name for name in FAULT_NAMES if name not in table] == []


def test_adapters_of_crates_are_short() -> None:
    adapters = (ROOT / "bench/crates").glob("*/lib.rs")
    lines = {path.parent.name: len(path.read_text().splitlines()) for path in adapters}
    assert len(lines) == 4
    assert {name: count for name, count in lines.items() if count > MOST_ADAPTER_LINES} == {}
