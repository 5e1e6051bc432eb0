#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much more than the runs it was planned from another run of a program needs.

Takes NAME-1.parquet, NAME-2.parquet, ... of folders (examples/second-runs/record.py makes them).
Every plan that holds no counted blocks, plain or with its placement learned, is planned from every
choice of `--known` runs and measured on each run that was left out. What that needs beyond

    R_safe of the known runs x max(1, U_max of the run / U_max of the known)

is the margin that would have been enough. The table tells the most by kind of plan and by size of
the heap: what heapfit.comparison.margin holds, rounded up (docs/margin.md). Plans far from the best
of the known runs are left out: no fit would choose them. Nothing fails.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.margin import MarginKind, kind_of
from heapfit.design.placement.tailored_plans import layouts, tailored_candidates
from heapfit.design.robust.joined_trace import join_traces
from heapfit.plan.allocators import counts_blocks
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

SHARED = ("tlsf", "best_fit", "first_fit", "segregated_fit")
BELOW = (64 << 10, 128 << 10, 512 << 10, math.inf)  # bytes live at the peak
_FAR = 1.25  # times the best region of the known runs


@dataclass(frozen=True)
class Need:
    """One plan on one run that it had not seen."""

    program: str
    plan: str
    kind: MarginKind
    alignment: int
    u_max: int  # of the known runs
    percent: float  # beyond the growth of the load


class Program:
    """Its runs, and R_safe of plans on them, each searched once."""

    def __init__(self, name: str, paths: Sequence[Path], alignment: int) -> None:
        self.name = name
        self.runs = [load_trace(Trace.open(path), alignment) for path in paths]
        self.alignment = alignment
        self._regions: dict[tuple[int, str], float] = {}

    def region(self, run: int, plan: Plan) -> float:
        key = run, repr(plan)
        if key not in self._regions:
            loaded = self.runs[run]
            base = loaded.trace.base_alignment_for(plan.alignment)
            found = _engine.Trial(plan.engine(), loaded.events_for(plan), base).scan().r_safe
            self._regions[key] = math.inf if found is None else found
        return self._regions[key]

    def plans(self, known: Sequence[int]) -> list[tuple[str, Plan, bool]]:
        """Name, plan, and whether it learned from the known runs."""
        plain = {name: Plan(name, {"alignment": self.alignment}) for name in SHARED}
        by_address = {"alignment": self.alignment, "list": 1}
        plain |= layouts(self.alignment) | {"first_fit:list=1": Plan("first_fit", by_address)}
        with tempfile.TemporaryDirectory() as folder:
            made = tailored_candidates(self._joined(known, Path(folder)))
        learned = [
            (one.name, one.plan, True)
            for one in made
            if isinstance(one, Candidate) and one.name not in plain and not counts_blocks(one.plan)
        ]
        return [*((name, plan, False) for name, plan in plain.items()), *learned]

    def _joined(self, known: Sequence[int], folder: Path) -> LoadedTrace:
        if len(known) == 1:
            return self.runs[known[0]]
        runs = tuple(self.runs[run] for run in known)
        stored = join_traces(folder / "joined.parquet", [run.trace for run in runs])
        return replace(load_trace(stored, self.alignment), runs=runs)

    def needs(self, known: Sequence[int]) -> Iterator[Need]:
        """Of every plan near the best, on every run that is not known."""
        plans = self.plans(known)
        seen = [max(self.region(run, plan) for run in known) for _, plan, _ in plans]
        u_max = max(self.runs[run].profile.u_max for run in known)
        for (name, plan, is_trained), region in zip(plans, seen, strict=True):
            if region > _FAR * min(seen):
                continue
            for run in sorted(set(range(len(self.runs))) - set(known)):
                growth = max(1, self.runs[run].profile.u_max / u_max)
                percent = 100 * (self.region(run, plan) / (region * growth) - 1)
                kind = kind_of(plan, is_trained)
                yield Need(self.name, name, kind, self.alignment, u_max, percent)


def needs_of(folder: Path, word: str, known: int, alignment: int) -> Iterator[Need]:
    names = sorted(path.stem.removesuffix("-2") for path in folder.glob("*-2.parquet"))
    for name in names:
        if word in name:
            paths = sorted(folder.glob(f"{name}-[0-9].parquet"))
            program = Program(name, paths, alignment)
            for choice in itertools.combinations(range(len(paths)), known):
                yield from program.needs(choice)
            print(f"{name}, aligned to {alignment}", file=sys.stderr, flush=True)


def print_most(needs: Sequence[Need], known: int) -> None:
    rows = []
    for kind, (above, below) in itertools.product(MarginKind, itertools.pairwise((0, *BELOW))):
        some = [one for one in needs if one.kind == kind and above <= one.u_max < below]
        if some:
            most = max(some, key=lambda one: one.percent)
            upper = "more" if math.isinf(below) else f"{int(below) >> 10} KiB"
            where = f"{most.program}, {most.plan}, aligned to {most.alignment}"
            rows.append((kind, upper, len(some), f"{most.percent:.1f}", where))
    print(f"From {known} known runs, the most that another needed beyond its load's growth:")
    console.out_table(("kind", "peak below", "cases", "percent", "by"), rows, width=console.WIDE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--known", type=int, default=1, help="runs that plans are made from")
    parser.add_argument("--only", default="", help="programs in whose names this word occurs")
    parser.add_argument("--alignment", type=int, nargs="*", default=[4, 8], help="of every block")
    asked = parser.parse_args()
    found = [
        one
        for folder in asked.folders
        for alignment in asked.alignment
        for one in needs_of(folder, asked.only, asked.known, alignment)
    ]
    print_most(found, asked.known)


if __name__ == "__main__":
    main()
