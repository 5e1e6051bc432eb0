#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a plan has not seen: planned from some runs of a program, measured on others.

Takes NAME-1.parquet, NAME-2.parquet, ... of folders (examples/second-runs/record.py makes them).
`--of` says what is measured, verdict and designs if it does not:

    verdict     what `heapfit fit` says from run 1 and, with `--known N`, from every choice of N
                runs: each run that was left out has to run in the heap that fit says, set for that
                run's peak
    designs     plans from run 1, measured on that and run 2
    needs       how much more than the runs it was planned from another run needs, by kind of plan
                and size of the heap: docs/evidence/margin.md has it, rounded up
    recordings  what the recordings are

Designs: one region must serve both runs: R is the larger R_safe, over the larger U_max. A rival is
the best of tlsf, best_fit and first_fit, chosen for each run by itself. Everything else is chosen
or learned on the first run only: the layout; the end of each size class, by the designer's rules;
the end of each call site, for programs that hand over where they ask, by the same rule. Budgets are
there to show why they are refused when one run is known. "from both" is made from both runs.
With a NAME-3.parquet it is measured on a run it has not seen, over its own U_max.

Needs: every plan that holds no counted blocks, plain or with its placement learned, is planned from
every choice of `--known` runs and measured on each run that was left out. What that needs beyond

    R_safe of the known runs x max(1, U_max of the run / U_max of the known)

is the margin that would have been enough. Plans far from the best of the known runs are left out:
no fit would choose them.

`--only WORD` keeps the programs in whose names the word occurs; `--alignment` is of every block,
`--effort` how far fit looks for plans. Nothing fails: what is not reached says so.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.margin import HeapSize, MarginKind, margin_kind
from heapfit.design.effort import Effort
from heapfit.design.placement.tailored_plans import (
    BY_SITE,
    layouts,
    make_tailored_candidates,
)
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import build_portfolio
from heapfit.design.robust.joined_trace import join_traces
from heapfit.fitting.choice import Choice
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.plan.allocators import counts_blocks
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

# Ours, of the kind of espressif's TLSF, dlmalloc and FreeRTOS heap_4, aligned as these are.
RIVALS = (("tlsf", 4), ("best_fit", 8), ("first_fit", 8))
BEST_FIT = (("best_fit", 4), ("best_fit", 8))
ALIGNMENT = 4  # bytes, of the designer's plans at least

MEDIAN = 1.045
WORST = 1.10
SHARED = ("tlsf", "best_fit", "first_fit", "segregated_fit")  # as they are, beside tailored
BELOW = (64 << 10, 128 << 10, 512 << 10, math.inf)  # bytes live at the peak
MOST = 16  # choices of known runs of a program
FAR = 1.25  # times the best region of the known runs
PARTS = ("verdict", "designs", "needs", "recordings")
PROGRAMS = Path(__file__).parents[1] / "examples/second-runs"


def names(folder: Path, word: str) -> list[str]:
    found = (path.stem.removesuffix("-2") for path in folder.glob("*-2.parquet"))
    return sorted(one for one in found if word in one and (folder / f"{one}-1.parquet").exists())


def traces_of(folder: Path, name: str) -> list[Trace]:
    """Its runs by their numbers."""
    numbers = (path.stem.removeprefix(f"{name}-") for path in folder.glob(f"{name}-*.parquet"))
    runs = sorted(int(number) for number in numbers if number.isdigit())
    return [Trace.open(folder / f"{name}-{run}.parquet") for run in runs]


def choices(runs: int, known: int) -> list[tuple[int, ...]]:
    """Of so many known runs; where there are more than MOST, some of them, evenly spread."""
    every = list(itertools.combinations(range(runs), known))
    return [every[i * len(every) // MOST] for i in range(MOST)] if len(every) > MOST else every


def set_of(folder: Path) -> str:
    """What the recordings of a folder are called on pages."""
    return folder.resolve().parent.name if folder.name == "traces" else folder.name


def region(loaded: LoadedTrace, plan: Plan) -> float:
    """R_safe; infinite if there is none."""
    base = loaded.trace.base_alignment_for(plan.alignment)
    found = _engine.Trial(plan.engine(), loaded.events_for(plan), base).scan().r_safe
    return math.inf if found is None else float(found)


def joined(runs: Sequence[LoadedTrace], alignment: int, folder: Path) -> LoadedTrace:
    """One after the other, as a plan from several runs is made from them."""
    if len(runs) == 1:
        return runs[0]
    traces = tuple(one.trace for one in runs)
    whole = load_trace(join_traces(folder / "joined.parquet", traces), alignment)
    return replace(whole, runs=tuple(runs))


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
    loaded = [load_trace(trace, options.alignment) for trace in traces_of(folder, name)]
    found = []
    for seen in [(0,)] if known == 1 else choices(len(loaded), known):
        choice = chosen_from(name, [loaded[i] for i in seen], options)
        for unseen in sorted(set(range(len(loaded))) - set(seen)):
            found.append(promise(name, seen, unseen, choice, loaded[unseen]))
    return found


def chosen_from(name: str, loaded: Sequence[LoadedTrace], options: FitOptions) -> Choice:
    """As the command does it."""
    names = [name] if len(loaded) == 1 else [f"{name} {number}" for number in range(len(loaded))]
    return choose(loaded, names, options=options)


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
        _engine.Trial(plan.engine(), loaded.events_for(plan), base).run(set_to).runs,
    )


PROMISES = ("recordings", "programs", "known", "aligned to", "unseen runs", "ran out",
            "margin: median, %", "margin: most, %", "needed beyond growth: most, %",
            "R over U_max: median", "R over U_max: worst")  # fmt: skip


def promise_row(folder: Path, known: int, alignment: int, found: Sequence[Promise]) -> list[object]:
    """What became of all of them, as docs/evidence/margin.md has it."""
    margins, joint = [one.margin for one in found], [one.joint for one in found]
    return [
        *(set_of(folder), len({one.name for one in found}), known, alignment),
        *(len(found), sum(not one.held for one in found)),
        *(f"{statistics.median(margins):g}", f"{max(margins):g}"),
        f"{max(one.needed for one in found):.1f}",
        *(f"{statistics.median(joint):.4f}", f"{max(joint):.4f}"),
    ]


def print_promises(found: Sequence[Promise]) -> None:
    columns = ("program", "known", "unseen", "plan", "margin", "peak over known",
               "needed", "joint R / U_max", "held")  # fmt: skip
    console.print_table(
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
    third: float  # from both, R of a third run over its own U_max

    @property
    def is_better(self) -> bool:
        return self.two_ends < self.rival


def plans(layouts: Iterable[tuple[str, int]]) -> list[Plan]:
    return [Plan(allocator, {"alignment": alignment}) for allocator, alignment in layouts]


def chosen(loaded: LoadedTrace, candidates: Sequence[Plan]) -> Plan:
    """The one that serves this run in the smallest region."""
    return min(candidates, key=lambda plan: region(loaded, plan))


def learned(loaded: LoadedTrace) -> tuple[Plan, Plan, Plan]:
    """The best layout, with size classes placed, and with call sites, where the designer does."""
    plain = layouts(ALIGNMENT)
    best = two_ends = by_site = chosen(loaded, list(plain.values()))
    for one in make_tailored_candidates(loaded, PlanOptions(call_sites=True)):
        if isinstance(one, Candidate) and one.name not in plain:
            by_site = one.plan
            two_ends = two_ends if one.name == BY_SITE else one.plan
    return best, two_ends, by_site


def learned_from_both(runs: Runs) -> Plan:
    """The best of the designer's plans for both."""
    plain = layouts(ALIGNMENT)
    with tempfile.TemporaryDirectory() as folder:
        both = joined(runs.loaded, ALIGNMENT, Path(folder))
        two_ends = chosen(both, list(plain.values()))
        for one in make_tailored_candidates(both):
            if isinstance(one, Candidate) and one.name not in plain and not one.plan.pools:
                two_ends = one.plan
    return two_ends


def budgets(loaded: LoadedTrace) -> Plan | None:
    """The best of the designer's budgets, by this run."""
    candidates = build_portfolio(loaded, ["budgeted"], []).candidates
    return chosen(loaded, [one.plan for one in candidates]) if candidates else None


def row(runs: Runs) -> Row:
    print(runs.name, file=sys.stderr, flush=True)
    first, second = runs.loaded
    rivals = [min(region(loaded, plan) for plan in plans(RIVALS)) for loaded in runs.loaded]
    budgeted = budgets(first)
    plain, two_ends, by_site = learned(first)
    from_both = learned_from_both(runs)
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
        runs.third_alone(from_both),
    )


def opened(folder: Path, name: str) -> Runs:
    paths = [folder / f"{name}-{number}.parquet" for number in (1, 2, 3)]
    first, second, *third = [
        load_trace(Trace.open(path), ALIGNMENT) for path in paths if path.exists()
    ]
    return Runs(name, (first, second), third[0] if third else None)


def print_rows(rows: list[Row]) -> None:
    columns = ("program", "peak 2 / 1", "best rival", "best_fit", "tailored", "two ends",
               "by site", "two ends are", "budgets", "on run 2 alone",
               "from both", "third, from both")  # fmt: skip
    console.print_table(
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
                f"{one.third:.4f}",
            )
            for one in rows
        ],
        width=console.WIDE,
    )
    for name in ("rival", "best_fit", "plain", "two_ends", "by_site", "budgets",
                 "from_both", "third"):  # fmt: skip
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


@dataclass(frozen=True)
class Need:
    """One plan on one run that it had not seen."""

    recordings: str
    program: str
    plan: str
    kind: str
    alignment: int
    u_max: int  # of the known runs
    percent: float  # beyond the growth of the load


class Program:
    """Its runs, and R_safe of plans on them, each searched once."""

    def __init__(self, folder: Path, name: str, alignment: int) -> None:
        self.recordings = set_of(folder)
        self.name = name
        self.runs = [load_trace(trace, alignment) for trace in traces_of(folder, name)]
        self.alignment = alignment
        self._regions: dict[tuple[int, str], float] = {}

    def region(self, run: int, plan: Plan) -> float:
        key = run, repr(plan)
        if key not in self._regions:
            self._regions[key] = region(self.runs[run], plan)
        return self._regions[key]

    def plans(self, known: Sequence[int]) -> list[tuple[str, Plan, bool]]:
        """Name, plan, and whether it learned from the known runs."""
        plain = {name: Plan(name, {"alignment": self.alignment}) for name in SHARED}
        by_address = {"alignment": self.alignment, "list": 1}
        plain |= layouts(self.alignment) | {"first_fit:list=1": Plan("first_fit", by_address)}
        with tempfile.TemporaryDirectory() as folder:
            runs = [self.runs[run] for run in known]
            made = make_tailored_candidates(joined(runs, self.alignment, Path(folder)))
        learned = [
            (one.name, one.plan, True)
            for one in made
            if isinstance(one, Candidate) and one.name not in plain and not counts_blocks(one.plan)
        ]
        return [*((name, plan, False) for name, plan in plain.items()), *learned]

    def needs(self, known: Sequence[int]) -> Iterator[Need]:
        """Of every plan near the best, on every run that is not known."""
        plans = self.plans(known)
        seen = [max(self.region(run, plan) for run in known) for _, plan, _ in plans]
        u_max = max(self.runs[run].profile.u_max for run in known)
        for (name, plan, is_trained), needed in zip(plans, seen, strict=True):
            if needed > FAR * min(seen):
                continue
            for run in sorted(set(range(len(self.runs))) - set(known)):
                growth = max(1, self.runs[run].profile.u_max / u_max)
                percent = 100 * (self.region(run, plan) / (needed * growth) - 1)
                kind = margin_kind(plan, is_trained)
                yield Need(self.recordings, self.name, name, kind, self.alignment, u_max, percent)


def needs_of(folder: Path, programs: Sequence[str], known: int, alignment: int) -> Iterator[Need]:
    for name in programs:
        program = Program(folder, name, alignment)
        for seen in choices(len(program.runs), known):
            yield from program.needs(seen)
        print(f"{name}, aligned to {alignment}", file=sys.stderr, flush=True)


NEEDS = ("recordings", "kind of plan", "bytes live at the peak", "cases", "most, %", "by",
         "99th percentile, %")  # fmt: skip


def need_rows(needs: Sequence[Need]) -> Iterator[tuple[object, ...]]:
    """The most of each kind, size and set of recordings."""
    kinds = tuple(kind for kind in MarginKind if kind is not MarginKind.UNKNOWN)
    sets = dict.fromkeys(one.recordings for one in needs)
    sizes = itertools.pairwise((0, *BELOW))
    for kind, (above, below), recordings in itertools.product(kinds, sizes, sets):
        some = [
            one
            for one in needs
            if (one.kind, one.recordings) == (kind, recordings) and above <= one.u_max < below
        ]
        if some:
            most = max(some, key=lambda one: one.percent)
            size = "more" if math.isinf(below) else f"below {int(below) >> 10} KiB"
            where = f"{most.program}, {most.plan}, aligned to {most.alignment}"
            percents = sorted(one.percent for one in some)
            usual = percents[math.ceil(0.99 * len(percents)) - 1]
            row = recordings, kind, size, len(some), f"{most.percent:.1f}", where
            yield *row, f"{usual:.1f}"


FIGURES = [f"{figure} of run {run}" for figure in ("events", "U_max") for run in (1, 2, 3)]
RECORDINGS = ("program", "what it does", "the second run differs in", *FIGURES)


def recording_rows(folder: Path, programs: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Of those that examples/second-runs records."""
    known = tomllib.loads((PROGRAMS / "programs.toml").read_text())["program"]
    for one in known:
        if one["name"] in programs:
            traces = traces_of(folder, one["name"])
            peaks = [profile_trace(trace).u_max for trace in traces]
            events = [trace.info.events for trace in traces]
            none = [""] * (3 - len(traces))
            yield one["name"], one["about"], one["second"], *events, *none, *peaks, *none


def measure_verdict(asked: argparse.Namespace, folder: Path, programs: Sequence[str]) -> None:
    for alignment in asked.alignment:
        print(f"What fit says from {asked.known} of the runs, blocks aligned to {alignment}:")
        options = FitOptions(alignment, effort=asked.effort)
        found = []
        for name in programs:
            found += promises(folder, name, asked.known, options)
            print(name, file=sys.stderr, flush=True)
        print_promises(found)
        if asked.write:
            table = [promise_row(folder, asked.known, alignment, found)]
            write_result("promises", PROMISES, table, keys=4)


def measure_designs(_: argparse.Namespace, folder: Path, programs: Sequence[str]) -> None:
    rows = [row(opened(folder, name)) for name in programs]
    print_rows(rows)
    print_aims(rows)


def measure_needs(asked: argparse.Namespace, folder: Path, programs: Sequence[str]) -> None:
    found = [
        one
        for alignment in asked.alignment
        for one in needs_of(folder, programs, asked.known, alignment)
    ]
    print(f"From {asked.known} known runs, the most that another needed beyond its load's growth:")
    rows = list(need_rows(found))
    console.print_table(NEEDS, rows, width=console.WIDE)
    if asked.write:
        write_result(f"needs-from-{asked.known}", NEEDS, rows, keys=3)


def measure_recordings(asked: argparse.Namespace, folder: Path, programs: Sequence[str]) -> None:
    rows = list(recording_rows(folder, programs))
    console.print_table(RECORDINGS, rows, width=console.WIDE)
    if asked.write:
        write_result("second-runs", RECORDINGS, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[PROGRAMS / "traces"])
    parser.add_argument("--of", nargs="+", choices=PARTS, default=PARTS[:2], help="what to measure")
    parser.add_argument("--only", default="", help="programs in whose names this word occurs")
    parser.add_argument("--known", type=int, default=1, help="runs that plans are made from")
    parser.add_argument("--effort", type=Effort, default=Effort.STANDARD)
    parser.add_argument("--alignment", type=int, nargs="*", default=[4, 8], help="of every block")
    add_option(parser)
    asked = parser.parse_args()
    measures = (measure_verdict, measure_designs, measure_needs, measure_recordings)
    for folder in asked.folders:
        programs = names(folder, asked.only)
        if not programs:
            sys.exit(f"{folder}: no program recorded twice")
        for part, measure in zip(PARTS, measures, strict=True):
            if part in asked.of:
                measure(asked, folder, programs)


if __name__ == "__main__":
    main()
