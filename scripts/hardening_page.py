# SPDX-License-Identifier: Apache-2.0
"""Renews the two tables of docs/hardening.md; --check compares the first.

What each level stops is counted in the battery's last runs (`make ctest-release`), over core's
allocators and both word sizes. What a call costs is measured on an emulated Cortex-M4.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from battery_page import BUILDS, LEVELS, ROOT, verdicts
from harness.board import BOARDS
from harness.cases import cases_of
from harness.packed_trace import PackedTrace, pack
from harness.verify import Case, verify
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.plan.allocators import find_allocators
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

PAGE = ROOT / "docs/hardening.md"
RECORDING = ROOT / "examples/lwip-echo/lwip-echo.parquet"
REGION = 400_000  # bytes: no request is refused at any level
MEASURED = ("tlsf", "best_fit", "segregated_fit", "tailored", "sized")
ATTACKS = {
    "a block freed twice": ("F1", "F2", "F3"),
    "a pointer into a block, or to no block": ("F4", "F6", "F7", "F8"),
    "a pointer behind a header that the program forged": ("F5",),
    "1 to 32 bytes written beyond a block": ("G1", "G2", "G3", "G4", "G5"),
    "a block written after it was freed": ("G6",),
}


def core_cells(level: int) -> Iterator[tuple[str, str]]:
    """Attack and verdict of each allocator of core, on both word sizes."""
    core = {info.name for info in _engine.allocators() if info.ships}
    for build in BUILDS:
        head, *lines = (line.split() for line in verdicts(build, level))
        for name, *cells in lines:
            if name in core:
                yield from zip(head, cells, strict=True)


def count_verdicts(level: int) -> dict[str, Counter[str]]:
    """For each kind of attack, how often each verdict was found."""
    found = list(core_cells(level))
    return {
        kind: Counter(verdict for attack, verdict in found if attack in attacks)
        for kind, attacks in ATTACKS.items()
    }


def stopped() -> list[str]:
    """The rows of the first table: how often an attack was reported, did no harm, or did harm."""
    levels = [count_verdicts(level) for level in LEVELS]
    return [
        f"| reported / no harm / harm | {' | '.join(f'level {level}' for level in LEVELS)} |",
        f"|---|{'---|' * len(LEVELS)}",
        *(f"| {kind} | {' | '.join(cell(some[kind]) for some in levels)} |" for kind in ATTACKS),
    ]


def cell(verdicts: Counter[str]) -> str:
    """How many attacks were reported, how many did no harm, and the others."""
    reported, passed = verdicts["r"], verdicts["."]
    return f"{reported} / {passed} / {verdicts.total() - reported - passed}"


def cost(workbench: Workbench, case: Case, packed: PackedTrace, level: int) -> str:
    """Mean and worst instructions of alloc, then of free, where callers know sizes free_sized."""
    (info,) = find_allocators([case.plan.allocator])
    build = Build("O2", level, frees_by_size=info.needs_size)
    done = verify(workbench, case, packed, BOARDS["cortex-m4"], build)
    if done.differences or done.target.refusals:
        sys.exit(f"{case.name}, level {level}: {done.differences or 'refusals'}")
    calls = ("alloc", "free_sized" if info.needs_size else "free")
    spreads = (done.calls.spread(name) for name in calls)
    return "; ".join(f"{spread.mean:,.0f}, {spread.worst:,}" for spread in spreads if spread)


def costs() -> list[str]:
    """A line an allocator."""
    rows = [
        f"| mean, worst of alloc; of free | {' | '.join(f'level {level}' for level in LEVELS)} |",
        f"|---|{'---|' * len(LEVELS)}",
    ]
    trace = Trace.open(RECORDING)
    with tempfile.TemporaryDirectory() as folder:
        workbench = Workbench(Path(folder))
        for case in cases_of(load_trace(trace, 8), list(MEASURED), [], REGION):
            packed = pack(trace, case.plan.sites)
            cells = (cost(workbench, case, packed, level) for level in LEVELS)
            rows.append(f"| {case.plan.allocator} | {' | '.join(cells)} |")
    return rows


def replaced(page: str, name: str, rows: list[str]) -> str:
    """The page with these rows between the comments that name them."""
    begin, end = f"<!-- {name}: made by scripts/hardening_page.py -->\n", "<!-- end -->"
    before, found, rest = page.partition(begin)
    if not found:
        sys.exit(f"{PAGE}: no comment {begin.strip()}")
    return before + begin + "\n".join(rows) + "\n" + rest[rest.index(end) :]


def main() -> None:
    """Prints the page; --check: exit code 1 where the first table is another."""
    there = PAGE.read_text()
    page = replaced(there, "stopped", stopped())
    if sys.argv[1:] != ["--check"]:
        print(replaced(page, "costs", costs()), end="")
    elif page != there:
        sys.exit("docs/hardening.md: run `make docs`")


if __name__ == "__main__":
    main()
