# SPDX-License-Identifier: Apache-2.0
"""Prints docs/evidence/battery.md from the last run of the battery by ctest; --check compares.

Each safety level is run as a release is built, on 64 and on 32 bits (`make ctest-release`); the
page tells where the two differ. `make docs` renews it.
"""

import difflib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEVELS = (0, 1, 2, 3)
BUILDS = {"release": "64-bit", "release-m32": "32-bit"}
PAGE = ROOT / "docs/evidence/battery.md"

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by scripts/battery_page.py from runs of tests/battery; `make docs` renews it. -->
# The battery: what allocators do when they are misused

The battery is a set of attacks: double frees, overruns, absurd sizes and other misuse. Every attack
is made on every allocator under every test plan: each alignment, each tunable at its lowest and
highest value, pools over each shared heap. Each runs in a process of its own with an alarm. Then 64
allocations must be inside the region, must not overlap, and must keep what is written into them. A
cell has the worst result of an allocator's plans:

| | |
|---|---|
| `.` | served, or failed as the contract requires; no harm was done |
| `r` | reported as misuse, and not a byte of the region changed |
| `X` | reported, or should have been reported, but the region changed |
| `M` `U` | a misaligned block; a block shorter than requested |
| `C` `O` | a live block's bytes changed; two live blocks overlap or one lies outside the region |
| `S` `H` | crash; hang |

Allocators of `core/` must show `.` or `r` from the [safety level](../hardening.md) that the last
column of this list names; results below that level are printed only. Baselines, the allocators for
comparison, follow their originals. For them only A to E are required, at every level. They are not
tried at level 3, which would guard them as well.

Level 2 reports damage before another byte is allocated. Level 3 reports it before the damaged
memory is allocated again, and an attack G that is not reported counts as `X` there. The attacks B
are on calloc. They are made on generated heaps, which have one
(`tests/python/test_generated_platforms.py`)."""


FAULTS = """\
## One flipped bit

Every bit of every metadata word of heaps of 4 KiB is flipped, one at a time, at
safety level 1. Either `check` detects the flip, or the next 1,000 operations go as they do without
it (harmless). Any other flip is silent or a crash. For allocators of `core/` at most 0.1 % of the
flips may be; for baselines the share is printed only.
"""


def printed(build: str, test: str) -> list[str]:
    """The lines of a test in the last run of a build's tests, which judged it."""
    log = (ROOT / "build" / build / "Testing/Temporary/LastTest.log").read_text()
    output = re.search(rf'^"{test}" start time:.*?^-+$\n(.*?)^<end of output>$', log, re.M | re.S)
    if output is None:
        sys.exit(f"build/{build}: {test} was not in the last run (make ctest-release)")
    return output[1].splitlines()


def attacks() -> list[str]:
    """A table of the attacks."""
    rows = ["| attack | | core holds from level |", "|---|---|---|"]
    program = ROOT / "build/release/tests/battery/battery1"
    listed = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        name, what, level = line.split("\t")
        rows.append(f"| {name} | {what} | {level} |")
    return rows


def verdicts(build: str, level: int) -> list[str]:
    """The head and one line an allocator."""
    lines = printed(build, f"battery_level{level}")
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["A1"])
    return lines[start:-1]


def faults() -> list[str]:
    """What bit flips do, by kind of word, at the level that firmware has by default."""
    return [FAULTS, "```text", *printed("release", "faults"), "```"]


def section(level: int) -> list[str]:
    """One level's table, and the lines that differ on 32 bits."""
    wide, narrow = (verdicts(build, level) for build in BUILDS)
    lines = [f"## Safety level {level}", "", "```text", *wide, "```", ""]
    differing = [line for line in narrow if line not in wide]
    if differing:
        return [*lines, "On 32 bits these differ:", "", "```text", wide[0], *differing, "```"]
    return [*lines, "On 32 bits the table is the same."]


def main() -> None:
    """Prints the page; --check: what it differs in from the one that is there, exit code 1."""
    parts = [[HEAD], attacks(), *map(section, LEVELS), faults()]
    page = "\n\n".join("\n".join(part) for part in parts) + "\n"
    if sys.argv[1:] != ["--check"]:
        print(page, end="")
        return
    there = PAGE.read_text()
    differing = list(difflib.unified_diff(there.splitlines(), page.splitlines(), lineterm=""))
    print(*differing, *(["run `make docs`"] if differing else []), sep="\n")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
