#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `heapfit fit` chooses, beside every single allocator, on recorded programs and workloads.

Recorded programs need HEAPFIT_CORPUS. Shown are R_safe over U_max of tlsf, of the best single
allocator and of the plan that `design` takes, and the share of tlsf's gap to U_max that it closes.
A baseline is replayed once, half a percent below the choice: where it fails there, it needs hardly
less (newlib's small malloc needs 0.3 % less on one recording of 16 KB). Workloads without anything
to learn are drawn four times, and judged as `design` does several traces: each by a plan made
without it. `--only WORD` keeps the rows in whose names the word occurs.
Nothing fails: what is not reached says so.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from memory import opened, recordings
from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.comparison import Comparison, compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.verdict import select_row
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import standard_portfolio
from heapfit.design.robust.design import design_several
from heapfit.plan.allocators import find_allocators, takes
from heapfit.plan.plan import Plan
from heapfit.results.plans import verdicts
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

HARDLY_LESS = 0.005  # of the choice's region
MEDIAN = 0.57  # of the shares of recorded programs, of the choice
NO_POOLS_TOLD = "No pools here"
SHIFT = 1.06
SHIFTS = ("phase_shift", "phase_shift_small")
RANDOM = (
    "slotbuf:events=20000",
    "poisson_500:events=20000",
    "poisson_2000:events=20000",
    "queue_fill:packets=10000",
    "queue_slide:packets=10000",
)
DRAWS = 4
SEED = 1  # the first

Result = TypeVar("Result", "Choice", "Unseen")


@dataclass(frozen=True)
class Choice:
    """Of one trace, in bytes."""

    name: str
    u_max: int
    tlsf: int
    single: int  # the best allocator as it is
    single_name: str
    chosen: int
    chosen_name: str
    lower: tuple[str, ...]  # baselines that run in clearly less than the choice
    seconds: float

    @property
    def share(self) -> float:
        """Of tlsf's gap to U_max."""
        return (self.tlsf - self.chosen) / max(self.tlsf - self.u_max, 1)

    @property
    def is_no_worse(self) -> bool:
        return self.chosen <= self.single and not self.lower


def choice_of(name: str, trace: Trace, alignment: int = 8) -> Choice:
    started = time.perf_counter()
    loaded = load_trace(trace, alignment)
    comparison = compare(loaded, standard_portfolio(loaded))
    chosen = select_row(comparison)
    served = [row for row in comparison.rows if row.r_safe is not None]
    singles = [row for row in served if not row.trained_on_this_trace]
    single = singles[0]  # of what a heap would be set to: R_safe with its margin
    assert chosen.r_safe is not None
    return Choice(
        name=name,
        u_max=comparison.u_max,
        tlsf=next(row.r_safe or 0 for row in singles if row.name == "tlsf"),
        single=single.r_safe or 0,
        single_name=single.name,
        chosen=chosen.r_safe,
        chosen_name=told_plan(chosen.name, chosen.plan),
        lower=tuple(lower_baselines(loaded, chosen.r_safe, comparison)),
        seconds=time.perf_counter() - started,
    )


def told_plan(name: str, plan: Plan) -> str:
    shared = "" if plan.shared is None else f" over {plan.shared.allocator}"
    return f"{name}: {len(plan.pools)} pools{shared}" if plan.pools else name


def lower_baselines(loaded: LoadedTrace, region: int, comparison: Comparison) -> list[str]:
    return [
        info.name
        for info in find_allocators()
        if not (info.ships or info.in_pieces or takes(info, "pools"))
        and Heap(info.name, Plan(info.name, {"alignment": loaded.alignment}))
        .trial(loaded, comparison.base_alignment)
        .run(region - max(int(HARDLY_LESS * region), _engine.REGION_UNIT))
        .runs
    ]


def recorded(name: str) -> Choice:
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        return choice_of(name.removesuffix(".heap.gz"), opened(name, Path(folder)))


def drawn(name: str) -> Choice:
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        spec = parse_workload(name, SEED)
        return choice_of(name, generate_workload(spec, Path(folder) / "t.parquet"))


@dataclass(frozen=True)
class Unseen:
    """A workload drawn several times; regions that serve all draws, each plan made without it."""

    name: str
    u_max: int
    tlsf: int
    first: int  # the first row
    first_name: str
    chosen: int
    chosen_name: str
    says_no_pools: bool

    @property
    def share(self) -> float:
        """Of tlsf's gap to U_max."""
        return (self.tlsf - self.chosen) / max(self.tlsf - self.u_max, 1)


def unseen(name: str, draws: int = DRAWS) -> Unseen:
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        traces = [
            generate_workload(parse_workload(name, SEED + i), Path(folder) / f"{i}.parquet")
            for i in range(draws)
        ]
        loaded = [load_trace(trace) for trace in traces]
        designs, _ = design_several(loaded, PlanOptions(), is_whole=True)
    first, chosen = designs.rows[0], select_row(designs)
    return Unseen(
        name=name,
        u_max=designs.u_max,
        tlsf=next(row.needed or 0 for row in designs.rows if row.name == "tlsf"),
        first=first.needed or 0,
        first_name=first.name,
        chosen=chosen.needed or 0,
        chosen_name=told_plan(chosen.name, chosen.plan),
        says_no_pools=any(line.startswith(NO_POOLS_TOLD) for line in verdicts(designs)),
    )


def print_unseen(found: Sequence[Unseen]) -> None:
    console.print_table(
        (f"{DRAWS} draws, unseen", "tlsf", "first row", "", "chosen", "", "share", ""),
        [
            (
                one.name,
                f"{one.tlsf / one.u_max:.4f}",
                f"{one.first / one.u_max:.4f}",
                one.first_name,
                f"{one.chosen / one.u_max:.4f}",
                one.chosen_name,
                f"{one.share:.3f}",
                "no pools here" if one.says_no_pools else "",
            )
            for one in found
        ],
        width=console.WIDE,
    )


def print_choices(choices: Sequence[Choice]) -> None:
    console.print_table(
        ("trace", "tlsf", "best single", "", "chosen", "", "share", "s"),
        [
            (
                one.name,
                f"{one.tlsf / one.u_max:.4f}",
                f"{one.single / one.u_max:.4f}",
                one.single_name,
                f"{one.chosen / one.u_max:.4f}",
                one.chosen_name,
                f"{one.share:.3f}",
                f"{one.seconds:.0f}",
            )
            for one in choices
        ],
        width=console.WIDE,
    )


COLUMNS = ("trace", "R_safe / U_max of `tlsf`", "chosen", "share of tlsf's gap to U_max")


def page_figures(one: Choice) -> tuple[float, ...]:
    return one.tlsf / one.u_max, one.chosen / one.u_max, one.share


def page_rows(programs: Sequence[Choice], shifts: Sequence[Choice]) -> Iterator[tuple[str, ...]]:
    """As docs/evidence/design.md has them, the median of the recorded programs first."""
    rows = {one.name: page_figures(one) for one in (*programs, *shifts)}
    if programs:
        columns = zip(*(rows[one.name] for one in programs), strict=True)
        medians = tuple(map(statistics.median, columns))
        rows = {f"median of {len(programs)} recorded programs": medians} | rows
    for name, figures in rows.items():
        yield name, *(f"{figure:.3f}" for figure in figures)


def told(is_reached: bool) -> str:
    return "reached" if is_reached else "NOT REACHED"


def print_aims(programs: Sequence[Choice], shifts: Sequence[Choice]) -> None:
    every = [*programs, *shifts]
    worse = [f"{one.name} ({', '.join(one.lower)})" for one in every if not one.is_no_worse]
    print(f"never above the best single allocator: {told(not worse)} {' '.join(worse)}")
    if programs:
        median = statistics.median(one.share for one in programs)
        what = f"median share of {len(programs)} programs: {median:.3f} of {MEDIAN}"
        print(f"{what}: {told(median >= MEDIAN)}")
    for one in shifts:
        ratio = one.chosen / one.u_max
        print(f"{one.name}: {ratio:.4f}, at most {SHIFT}: {told(ratio <= SHIFT)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows in whose names this word occurs")
    add_option(parser)
    given = parser.parse_args()

    def each(names: Sequence[str], work: Callable[[str], Result]) -> list[Result]:
        found = []
        for name in names:
            if given.only in name:
                found.append(work(name))
                print(f"{name} {found[-1].share:.3f}", file=sys.stderr, flush=True)
        return found

    programs, shifts = each(recordings(), recorded), each(SHIFTS, drawn)
    if programs or shifts:
        print_choices([*programs, *shifts])
        print_aims(programs, shifts)
    if given.write:
        write_result("choice", COLUMNS, list(page_rows(programs, shifts)))
    drawn_anew = each(RANDOM, unseen)
    if drawn_anew:
        print_unseen(drawn_anew)


if __name__ == "__main__":
    main()
