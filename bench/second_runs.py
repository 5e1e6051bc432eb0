# SPDX-License-Identifier: Apache-2.0
"""Runs a plan has not seen: planned from some runs of a program, measured on others.

Takes NAME-1.parquet, NAME-2.parquet, ... of a folder (examples/second-runs/record.py makes them).

First the verdict that `heapfit fit` prints, from run 1 and, with `--known N`, from every choice of
N runs: each run that was left out has to run in the heap that fit says, set for that run's peak.
`--alignment` is of every block, `--effort` how far plans are looked for; `--no-designs` leaves out
what follows.

Then the designs, from run 1, measured on that and run 2. One region must serve both runs: R is the
larger R_safe, over the larger U_max. A rival is the best of tlsf, best_fit and first_fit, chosen
for each run by itself. Everything else is chosen or learned on the first run only: the layout; the
end of each size class, by the designer's rules; the end of each call site, for programs that hand
over where they ask, by the same rule. Budgets are there to show why they are refused when one run
is known.

"from both" is made from both runs, and stacks from what they have in common; where there is none,
the same. With a NAME-3.parquet both are measured on a run they have not seen, over its own U_max.
`--only WORD` keeps the programs in whose names the word occurs.
Nothing fails: what is not reached says so.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.trial import runs_in
from heapfit.design.effort import Effort
from heapfit.design.placement.tailored_plans import BY_SITE, STACKS, layouts, tailored_candidates
from heapfit.design.portfolio import named_portfolio
from heapfit.design.robust.joined_trace import join_traces
from heapfit.fitting.choice import Choice, choose_for_one, choose_for_several
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

# Ours, of the kind of espressif's TLSF, dlmalloc and FreeRTOS heap_4, aligned as these are.
RIVALS = (("tlsf", 4), ("best_fit", 8), ("first_fit", 8))
BEST_FIT = (("best_fit", 4), ("best_fit", 8))
ALIGNMENT = 4  # bytes, of the designer's plans at least

MEDIAN = 1.045
WORST = 1.10
EXAMPLES = Path(__file__).parents[1] / "examples/second-runs/traces"


@dataclass(frozen=True)
class Runs:
    """Two runs of a program, and perhaps a third that nothing is made from."""

    name: str
    loaded: tuple[LoadedTrace, LoadedTrace]
    third: LoadedTrace | None

    @property
    def u_max(self) -> int:
        return max(loaded.profile.u_max for loaded in self.loaded)

    @property
    def peaks_differ(self) -> float:
        """The second run's U_max over the first's."""
        first, second = (loaded.profile.u_max for loaded in self.loaded)
        return second / first

    def joint(self, plan: Plan) -> float:
        """R of one region for both runs."""
        return max(region(loaded, plan) for loaded in self.loaded) / self.u_max

    def third_alone(self, plan: Plan) -> float:
        """R of a run that nothing was made from over its own U_max."""
        if self.third is None:
            return math.nan
        return region(self.third, plan) / self.third.profile.u_max


@dataclass(frozen=True)
class Row:
    """R over U_max of both runs, by what the plan was made from."""

    name: str
    peaks_differ: float
    rival: float  # chosen anew for each run
    best_fit: float
    plain: float  # tailored as it is
    two_ends: float  # by size class
    by_site: float
    budgets: float  # of the first run's sizes, over a shared heap
    second_alone: float  # with these budgets, R_safe of the second run over its own U_max
    from_both: float  # two ends, learned from both runs
    stacks: float  # before these, of what both have in common
    third: float  # from both, R of a third run over its own U_max
    third_stacks: float

    @property
    def is_better(self) -> bool:
        return self.two_ends < self.rival


def region(loaded: LoadedTrace, plan: Plan) -> float:
    """R_safe; infinite if there is none."""
    base = loaded.trace.base_alignment_for(plan.alignment)
    found = _engine.Trial(plan.engine(), loaded.events_for(plan), base).scan().r_safe
    return float("inf") if found is None else float(found)


def plans(layouts: Iterable[tuple[str, int]]) -> list[Plan]:
    return [Plan(allocator, {"alignment": alignment}) for allocator, alignment in layouts]


def chosen(loaded: LoadedTrace, candidates: Sequence[Plan]) -> Plan:
    """The one that serves this run in the smallest region."""
    return min(candidates, key=lambda plan: region(loaded, plan))


def learned(loaded: LoadedTrace) -> tuple[Plan, Plan, Plan]:
    """The best layout, with size classes placed, and with call sites, where the designer does."""
    plain = layouts(ALIGNMENT)
    best = two_ends = by_site = chosen(loaded, list(plain.values()))
    for one in tailored_candidates(loaded, call_sites=True):
        if isinstance(one, Candidate) and one.name not in plain:
            by_site = one.plan
            two_ends = two_ends if one.name == BY_SITE else one.plan
    return best, two_ends, by_site


def learned_from_both(runs: Runs) -> tuple[Plan, Plan]:
    """The best without stacks and, where the designer has some, with them."""
    plain = layouts(ALIGNMENT)
    traces = tuple(loaded.trace for loaded in runs.loaded)
    with tempfile.TemporaryDirectory() as folder:
        joined = load_trace(join_traces(Path(folder) / "joined.parquet", traces), ALIGNMENT)
        two_ends = chosen(joined, list(plain.values()))
        stacks: Plan | None = None
        for one in tailored_candidates(replace(joined, runs=tuple(runs.loaded))):
            if isinstance(one, Candidate) and one.name == STACKS:
                stacks = one.plan
            elif isinstance(one, Candidate) and one.name not in plain and not one.plan.pools:
                two_ends = one.plan
    return two_ends, stacks or two_ends


def budgets(loaded: LoadedTrace) -> Plan | None:
    """The best of the designer's budgets, by this run."""
    candidates = named_portfolio(loaded, ["budgeted"], []).candidates
    return chosen(loaded, [one.plan for one in candidates]) if candidates else None


def row(runs: Runs) -> Row:
    print(runs.name, file=sys.stderr, flush=True)
    first, second = runs.loaded
    rivals = [min(region(loaded, plan) for plan in plans(RIVALS)) for loaded in runs.loaded]
    budgeted = budgets(first)
    plain, two_ends, by_site = learned(first)
    from_both, stacks = learned_from_both(runs)
    return Row(
        runs.name,
        runs.peaks_differ,
        max(rivals) / runs.u_max,
        runs.joint(chosen(first, plans(BEST_FIT))),
        runs.joint(plain),
        runs.joint(two_ends),
        runs.joint(by_site),
        runs.joint(budgeted) if budgeted else float("nan"),
        region(second, budgeted) / second.profile.u_max if budgeted else float("nan"),
        runs.joint(from_both),
        runs.joint(stacks),
        runs.third_alone(from_both),
        runs.third_alone(stacks),
    )


@dataclass(frozen=True)
class Promise:
    """What fit said from some runs, and what became of it on one that it had not seen."""

    name: str
    known: tuple[int, ...]  # runs, counted from 1
    unseen: int
    plan: str
    margin: float  # percent, as printed
    peaks_differ: float  # U_max of the unseen run over that of those known
    needed: float  # percent beyond the growth of the load; infinite where no region would do
    joint: float  # R of one region for all of them over the largest U_max
    held: bool


def promises(folder: Path, name: str, known: int, options: FitOptions) -> list[Promise]:
    """Every choice of so many known runs, on each run that was left out; of one, run 1 alone."""
    paths = sorted(folder.glob(f"{name}-[0-9].parquet"))
    loaded = [load_trace(Trace.open(path), options.alignment) for path in paths]
    choices = [(0,)] if known == 1 else list(itertools.combinations(range(len(loaded)), known))
    found = []
    for seen in choices:
        choice = chosen_from(name, [loaded[i] for i in seen], options)
        for unseen in sorted(set(range(len(loaded))) - set(seen)):
            found.append(promise(name, seen, unseen, choice, loaded[unseen]))
    return found


def chosen_from(name: str, loaded: Sequence[LoadedTrace], options: FitOptions) -> Choice:
    """As the command does it."""
    if len(loaded) == 1:
        return choose_for_one(loaded[0], name, options)
    names = [f"{name} {number}" for number in range(len(loaded))]
    return choose_for_several(loaded, names, options)


def promise(
    name: str, seen: tuple[int, ...], unseen: int, choice: Choice, loaded: LoadedTrace
) -> Promise:
    size, plan = choice.answer.size, choice.plan_file.plan
    u_max, needed = loaded.profile.u_max, region(loaded, plan)
    grown = HeapSize(size.r_safe, size.u_max, max(u_max, size.u_max), 0)
    set_to = HeapSize(size.r_safe, size.u_max, grown.peak, size.margin).region
    base = loaded.trace.base_alignment_for(plan.alignment)
    return Promise(
        name,
        tuple(number + 1 for number in seen),
        unseen + 1,
        choice.winner.name,
        size.margin,
        u_max / size.u_max,
        100 * (needed / (size.r_safe * grown.peak / size.u_max) - 1),
        max(needed, size.r_safe) / grown.peak,
        runs_in(plan, loaded.events_for(plan), set_to, base),
    )


def print_promises(found: Sequence[Promise]) -> None:
    columns = ("program", "known", "unseen", "plan", "margin", "peak over known",
               "needed", "joint R / U_max", "held")  # fmt: skip
    console.out_table(
        columns,
        [
            (
                one.name,
                "+".join(map(str, one.known)),
                one.unseen,
                one.plan,
                f"{one.margin:g} %",
                f"{one.peaks_differ:.2f}",
                f"{one.needed:+.1f} %",
                f"{one.joint:.4f}",
                "yes" if one.held else "RAN OUT",
            )
            for one in found
        ],
        width=console.WIDE,
    )
    out = sum(not one.held for one in found)
    joint = [one.joint for one in found]
    margins = [one.margin for one in found]
    print(f"run out: {out} of {len(found)}, aim 0: {verdict(out == 0)}")
    print(f"joint R / U_max: median {statistics.median(joint):.4f}, worst {max(joint):.4f}")
    print(f"margin: median {statistics.median(margins):g} %, most {max(margins):g} %")
    print(f"needed beyond the load's growth: most {max(one.needed for one in found):.1f} %")


def opened(folder: Path, name: str) -> Runs:
    paths = [folder / f"{name}-{number}.parquet" for number in (1, 2, 3)]
    first, second, *third = [
        load_trace(Trace.open(path), ALIGNMENT) for path in paths if path.exists()
    ]
    return Runs(name, (first, second), third[0] if third else None)


def names(folder: Path, word: str) -> list[str]:
    found = (path.stem.removesuffix("-2") for path in folder.glob("*-2.parquet"))
    return sorted(one for one in found if word in one and (folder / f"{one}-1.parquet").exists())


def print_rows(rows: list[Row]) -> None:
    columns = ("program", "peak 2 / 1", "best rival", "best_fit", "tailored", "two ends",
               "by site", "two ends are", "budgets", "on run 2 alone",
               "from both", "stacks", "third, from both", "third, stacks")  # fmt: skip
    console.out_table(
        columns,
        [
            (
                one.name,
                f"{one.peaks_differ:.2f}",
                f"{one.rival:.4f}",
                f"{one.best_fit:.4f}",
                f"{one.plain:.4f}",
                f"{one.two_ends:.4f}",
                f"{one.by_site:.4f}",
                "better" if one.is_better else "not better",
                f"{one.budgets:.4f}",
                f"{one.second_alone:.4f}",
                f"{one.from_both:.4f}",
                f"{one.stacks:.4f}",
                f"{one.third:.4f}",
                f"{one.third_stacks:.4f}",
            )
            for one in rows
        ],
        width=console.WIDE,
    )
    for name in ("rival", "best_fit", "plain", "two_ends", "by_site", "budgets",
                 "from_both", "stacks", "third", "third_stacks"):  # fmt: skip
        values = [value for one in rows if not math.isnan(value := getattr(one, name))]
        if values:
            print(
                f"{name}: median {statistics.median(values):.4f}, "
                f"mean {statistics.mean(values):.4f}, worst {max(values):.4f}"
            )


def verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "not reached"


def print_aims(rows: list[Row]) -> None:
    print(
        f"two ends better than the best rival: {sum(one.is_better for one in rows)} of {len(rows)}"
    )
    for name in ("two_ends", "by_site"):
        values = [getattr(one, name) for one in rows]
        median, worst = statistics.median(values), max(values)
        print(f"{name}: median {median:.4f}, aim {MEDIAN}: {verdict(median <= MEDIAN)}")
        print(f"{name}: worst {worst:.4f}, aim {WORST}: {verdict(worst <= WORST)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=EXAMPLES)
    parser.add_argument("--only", default="", help="programs in whose names this word occurs")
    parser.add_argument("--known", type=int, default=1, help="runs that fit is given")
    parser.add_argument("--effort", type=Effort, default=Effort.STANDARD)
    parser.add_argument("--alignment", type=int, nargs="*", default=[4, 8], help="of every block")
    parser.add_argument("--no-designs", action="store_true", help="the verdict alone")
    asked = parser.parse_args()
    programs = names(asked.folder, asked.only)
    if not programs:
        sys.exit(f"{asked.folder}: no program recorded twice")
    for alignment in asked.alignment:
        print(f"What fit says from {asked.known} of the runs, blocks aligned to {alignment}:")
        found = []
        for name in programs:
            options = FitOptions(alignment, effort=asked.effort)
            found += promises(asked.folder, name, asked.known, options)
            print(name, file=sys.stderr, flush=True)
        print_promises(found)
    if not asked.no_designs:
        rows = [row(opened(asked.folder, name)) for name in programs]
        print_rows(rows)
        print_aims(rows)


if __name__ == "__main__":
    main()
