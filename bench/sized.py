# SPDX-License-Identifier: Apache-2.0
"""`sized` on recorded programs: R_safe over U_max, nothing learned, at alignment 4 and 8.

Each program takes the better of two limits to the holes that are cut, none and 8 times a request.
Control structures and rounding count. The figures of linked_list_allocator 0.10.6, which has sized
deallocation, too, were measured once on these recordings built for i686 at alignment 4
(docs/evidence/peers.md has how); of single programs only its worst are kept. The recordings need
HEAPFIT_CORPUS. `--only WORD` keeps the names in which the word occurs. Nothing fails: what is not
reached says so.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from memory import opened, recordings

from heapfit.cli.printing import console
from heapfit.comparison.comparison import compare
from heapfit.design.portfolio import build_portfolio
from heapfit.trace.loaded import load_trace

NAMED = ("sized", "sized:hole_limit=8")
AIMS = {4: 1.025, 8: 1.030}  # medians
LINKED_LIST_MEDIAN = 1.0253
# Aim, and what linked_list_allocator takes.
SINGLE = {
    "sqlite-file": (1.02, 1.63),
    "sqlite-speed-b": (1.02, 1.32),
    "curl-multi": (1.06, 1.32),
    "wee-find": (1.02, 1.21),
    "cjson32-telemetry": (1.075, 1.0655),
}


def ratio(name: str, alignment: int) -> float:
    """The better of both; infinite where the region is beyond what links reach."""
    print(f"{name}, alignment {alignment}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_trace(opened(name, Path(folder)), alignment)
        rows = compare(loaded, build_portfolio(loaded, NAMED, [])).rows
    return min(row.over_u_max or float("inf") for row in rows)


def verdict(value: float, aim: float) -> str:
    return f"{value:.4f} (aim {aim}, {'reached' if value <= aim else 'not reached'})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    wanted = parser.parse_args().only
    names = [name for name in recordings() if wanted in name]
    if not names:
        sys.exit("no recordings: set HEAPFIT_CORPUS to the folder that has heap/*.heap.gz")
    found = {name.split(".heap")[0]: {a: ratio(name, a) for a in AIMS} for name in names}
    console.print_table(
        ["program", "4 B", "8 B"],
        [[name, *(f"{value:.4f}" for value in by.values())] for name, by in found.items()],
        width=console.WIDE,
    )
    for alignment, aim in AIMS.items():
        median = statistics.median(by[alignment] for by in found.values())
        print(f"median of {len(found)} at {alignment} B: {verdict(median, aim)}")
    print(f"linked_list_allocator at 4 B, median of 28: {LINKED_LIST_MEDIAN}")
    for name, (aim, other) in SINGLE.items():
        if name in found:
            print(f"{name}: {verdict(found[name][4], aim)}; linked_list_allocator {other}")


if __name__ == "__main__":
    main()
