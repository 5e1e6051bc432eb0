# SPDX-License-Identifier: Apache-2.0
"""Comparisons on many traces as jobs of a sweep: first the plans for each trace, then each plan.

A stored trace is a file that travels with its jobs; a synthetic workload is drawn anew where it is
needed, which takes less than one replay.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from heapfit.bounds.trace_bounds import QuickBounds, quick_bounds
from heapfit.compare.candidate import Candidate, Portfolio
from heapfit.compare.comparison import Comparison, Row, base_alignment, measure_candidate, ranked
from heapfit.plan.plan_file import PlanFile
from heapfit.sweep import Job
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace, load_trace
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.workloads.synthetic import WorkloadSpec, drawn_events, generate_workload

Source: TypeAlias = Trace | WorkloadSpec

# How many times the events of a trace are gone over, roughly.
REPLAYS_OF_A_SEARCH = 30
TIMES_FOR_PLANS = 100  # exact budgets among them
_USUAL_EVENTS = 100_000  # of a synthetic workload


@dataclass(frozen=True, slots=True)
class Contestants:
    """What is compared on every trace; without names and plans all that fit tries."""

    allocators: tuple[str, ...] = ()  # NAME or NAME:TUNABLE=VALUE,...
    plan_files: tuple[PlanFile, ...] = ()
    alignment: int = STANDARD_ALIGNMENT  # of what says nothing else


PlanMaker: TypeAlias = Callable[[LoadedTrace, Contestants], Portfolio]  # a function of a module


@dataclass(frozen=True, slots=True)
class Prepared:
    """A trace, and what is to be measured on it."""

    label: str
    source: Source
    info: TraceInfo
    u_max: int
    base_alignment: int
    portfolio: Portfolio
    bounds: QuickBounds | None = None

    def compared(self, rows: Sequence[Row]) -> Comparison:
        """The results of the jobs together."""
        best_first = ranked(rows)
        best = best_first[0].plan if best_first else None
        return Comparison(
            self.info,
            self.u_max,
            self.base_alignment,
            best_first,
            self.portfolio.not_applicable,
            None if self.bounds is None else self.bounds.beside(best),
        )

    def jobs(self) -> list[Job]:
        """One for each candidate; its result is a row."""
        return [
            Job(
                f"{one.name} on {self.label}",
                _measured,
                _Measurement(_drawn(self.source), one, self.u_max, self.base_alignment),
                _files(self.source),
                self.info.events * REPLAYS_OF_A_SEARCH,
            )
            for one in self.portfolio.candidates
        ]


def preparation(label: str, source: Source, contestants: Contestants, make: PlanMaker) -> Job:
    """Whose result is a Prepared, with the plans that `make` has for the trace."""
    events = source.info.events if isinstance(source, Trace) else _USUAL_EVENTS
    times = 1 if contestants.allocators else TIMES_FOR_PLANS
    argument = label, source, contestants, make
    return Job(label, _prepared, argument, _files(source), events * times)


@dataclass(frozen=True, slots=True)
class _Measurement:
    spec: WorkloadSpec | None  # else the trace is a file
    candidate: Candidate
    u_max: int
    base_alignment: int


def _files(source: Source) -> tuple[Path, ...]:
    return (source.path,) if isinstance(source, Trace) else ()


def _drawn(source: Source) -> WorkloadSpec | None:
    return None if isinstance(source, Trace) else source


def _prepared(argument: tuple[str, Source, Contestants, PlanMaker], *paths: Path) -> Prepared:
    label, source, contestants, make = argument
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        trace = (
            replace(source, path=paths[0])
            if isinstance(source, Trace)
            else generate_workload(source, Path(folder) / "drawn.parquet")
        )
        loaded = load_trace(trace, contestants.alignment)
        portfolio = make(loaded, contestants)
    base = base_alignment(trace, portfolio)
    u_max = loaded.profile.u_max
    return Prepared(label, source, trace.info, u_max, base, portfolio, quick_bounds(loaded))


def _measured(asked: _Measurement, *paths: Path) -> Row:
    sites = asked.candidate.plan.sites  # drawn traces have none
    events = drawn_events(asked.spec) if asked.spec else Trace.open(paths[0]).events(sites)
    return measure_candidate(asked.candidate, events, asked.u_max, asked.base_alignment)


def rows_of(prepared: Sequence[Prepared], found: Sequence[Row]) -> list[list[Row]]:
    """The results of the jobs of all, trace by trace."""
    rows = iter(found)
    return [[next(rows) for _ in one.portfolio.candidates] for one in prepared]
