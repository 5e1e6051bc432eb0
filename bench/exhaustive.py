# SPDX-License-Identifier: Apache-2.0
"""R_min and R_safe as compare prints them, beside what replays in every region there is show.

Workloads t2_w2 and t2_w4 cut to 2,000 events, eleven allocators each: of HEAPFIT_CORPUS where it is
set, else drawn anew from the seed printed. Every multiple of 8 B is tried from the smallest that
the plan takes, or U_max, to twice the R found: 5 to 15 thousand replays a case, a second or two.
`found` is what compare prints, `there is` what all these replays show. This exits 1 if one differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from events import cut

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.comparison import compare
from heapfit.comparison.row import Row
from heapfit.design.portfolio import build_portfolio
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

SEED = 1
EVENTS = 2_000
WORKLOADS = ("t2_w2", "t2_w4")
ALLOCATORS = (
    "tlsf",
    "best_fit",
    "first_fit",
    "segregated_fit",
    "tailored",
    "halffit",
    "buddy",
    "lea",
    "kingsley",
    "djgpp_test4",
    "djgpp_test5",
)


@dataclass(frozen=True)
class Regions:
    """Of one plan on one trace, in bytes."""

    r_min: int | None
    r_safe: int | None


@dataclass(frozen=True)
class Case:
    """What a comparison found beside what there is."""

    workload: str
    row: Row
    there_is: Regions

    @property
    def is_right(self) -> bool:
        return Regions(self.row.r_min, self.row.r_safe) == self.there_is


def every_region(loaded: LoadedTrace, row: Row) -> Regions:
    """By a replay in each multiple of 8 B up to twice the R found."""
    base = loaded.trace.base_alignment_for(row.alignment)
    trial = _engine.Trial(row.plan.engine(), loaded.events, base)
    unit = _engine.REGION_UNIT
    first = -(-max(trial.smallest_region, row.u_max) // unit) * unit
    regions = range(first, 2 * (row.replay_region or first) + 1, unit)
    runs = [trial.run(region).runs for region in regions]
    working = [region for region, does in zip(regions, runs, strict=True) if does]
    failing = [region for region, does in zip(regions, runs, strict=True) if not does]
    safe = [region for region in working if region > max(failing, default=0)]
    return Regions(min(working, default=None), min(safe, default=None))


def opened(workload: str, folder: Path) -> LoadedTrace:
    corpus = os.environ.get("HEAPFIT_CORPUS")
    whole = (
        open_any(Path(corpus) / f"synthetic/{workload}.heap.gz", ImportOptions(), folder)
        if corpus
        else generate_workload(parse_workload(workload, SEED), folder / "whole.parquet")
    )
    return load_trace(cut(whole, EVENTS, folder / "cut.parquet"))


def cases(workload: str, word: str) -> Iterator[Case]:
    """Each allocator compared by itself, so that it is among the first."""
    with tempfile.TemporaryDirectory() as folder:
        loaded = opened(workload, Path(folder))
        for allocator in ALLOCATORS:
            if word not in f"{workload} {allocator}":
                continue
            print(f"  {workload} {allocator}", file=sys.stderr, flush=True)
            (row,) = compare(loaded, build_portfolio(loaded, [allocator], [])).rows
            yield Case(workload, row, every_region(loaded, row))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", default="", help="cases in which this word occurs")
    word = arguments.parse_args().only
    print(f"traces: {os.environ.get('HEAPFIT_CORPUS') or f'own generators, seed {SEED}'}")
    found = [case for workload in WORKLOADS for case in cases(workload, word)]
    columns = ("trace", "plan", "R_min found", "there is", "R_safe found", "there is", "")
    console.print_table(
        columns,
        [
            (
                case.workload,
                case.row.name,
                case.row.r_min,
                case.there_is.r_min,
                case.row.r_safe,
                case.there_is.r_safe,
                "right" if case.is_right else "WRONG",
            )
            for case in found
        ],
        width=console.WIDE,
    )
    wrong = sum(not case.is_right for case in found)
    print(f"\n{wrong} of {len(found)} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
