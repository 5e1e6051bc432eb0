# SPDX-License-Identifier: Apache-2.0
"""Comparisons on many traces as jobs of a sweep: first the plans for each trace, then each plan.

A stored trace is a file that travels with its jobs; a synthetic workload is drawn anew where it is
needed, which takes less than one replay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from heapfit import _engine
from heapfit.bounds.trace_bounds import QuickBounds, quick_bounds
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import Comparison, common_ground, comparison_of, rows_to_refine
from heapfit.comparison.measuring import (
    EXACT,
    STANDARD_PRECISION,
    Ground,
    Precision,
    measure_candidate,
)
from heapfit.comparison.row import Row, rank_rows, with_work_of
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace, load_trace
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.workloads.synthetic import WorkloadSpec, generate_events, generate_workload

Source: TypeAlias = Trace | WorkloadSpec

# How many times the events of a trace are replayed, roughly.
REPLAYS_OF_A_SEARCH = 30
TIMES_FOR_PLANS = 100  # exact budgets among them
_USUAL_EVENTS = 100_000  # of a synthetic workload


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What is compared on every trace; without names and plans everything that `fit` tries."""

    allocators: tuple[str, ...] = ()  # NAME or NAME:TUNABLE=VALUE,...
    plan_files: tuple[PlanFile, ...] = ()
    alignment: int = STANDARD_ALIGNMENT  # of what says nothing else
    precision: Precision = STANDARD_PRECISION  # on each plan's regions


PlanMaker: TypeAlias = Callable[
    [LoadedTrace, ComparisonRequest, Progress], Portfolio
]  # a function of a module


@dataclass(frozen=True, slots=True)
class PreparedTrace:
    """A trace, and the plans to measure on it."""

    label: str
    source: Source
    info: TraceInfo
    ground: Ground
    portfolio: Portfolio
    bounds: QuickBounds

    def comparison(self, rows: Sequence[Row]) -> Comparison:
        """The comparison that the measured rows make."""
        return comparison_of(self.info, self.ground, rank_rows(rows), self.portfolio, self.bounds)

    def job(self, one: Candidate, precision: Precision) -> Job:
        """The job that measures a candidate in one thread; its result is a row."""
        return Job(
            f"{one.name} on {self.label}",
            _measure,
            _Measurement(
                _workload_spec(self.source), one, replace(self.ground, threads=1), precision
            ),
            _files(self.source),
            self.info.events * REPLAYS_OF_A_SEARCH,
        )


def preparation_job(label: str, source: Source, request: ComparisonRequest, make: PlanMaker) -> Job:
    """The job that makes the plans for a trace by `make`; its result is a prepared trace."""
    events = source.info.events if isinstance(source, Trace) else _USUAL_EVENTS
    times = 1 if request.allocators else TIMES_FOR_PLANS
    argument = label, source, request, make
    return Job(label, _prepare, argument, _files(source), events * times, tells=True)


@dataclass(frozen=True, slots=True)
class _Measurement:
    spec: WorkloadSpec | None  # else the trace is a file
    candidate: Candidate
    ground: Ground
    precision: Precision


def _files(source: Source) -> tuple[Path, ...]:
    return (source.path,) if isinstance(source, Trace) else ()


def _workload_spec(source: Source) -> WorkloadSpec | None:
    return None if isinstance(source, Trace) else source


def _prepare(
    argument: tuple[str, Source, ComparisonRequest, PlanMaker],
    *paths: Path,
    progress: Progress = ignore_progress,
) -> PreparedTrace:
    label, source, request, make = argument
    with scratch_folder() as folder:
        trace = (
            replace(source, path=paths[0])
            if isinstance(source, Trace)
            else generate_workload(source, Path(folder) / "drawn.parquet")
        )
        loaded = load_trace(trace, request.alignment)
        portfolio = make(loaded, request, progress)
    return prepare_trace(label, source, loaded, portfolio)


def prepare_trace(
    label: str, source: Source, loaded: LoadedTrace, portfolio: Portfolio
) -> PreparedTrace:
    """Joins a loaded trace with the plans to measure on it."""
    bounds = quick_bounds(loaded)
    return PreparedTrace(
        label,
        source,
        loaded.trace.info,
        common_ground(loaded, portfolio, bounds),
        portfolio,
        bounds,
    )


def _measure(asked: _Measurement, *paths: Path) -> Row:
    events = _read_events(asked.candidate, asked.spec, paths)
    return measure_candidate(asked.candidate, events, asked.ground, asked.precision)


def _read_events(
    one: Candidate, spec: WorkloadSpec | None, paths: Sequence[Path]
) -> _engine.EventArray:
    """The events of a stored trace or a workload, as a system's heap gets them where it is one."""
    if one.heap.is_ours:  # drawn traces have no call sites
        return generate_events(spec) if spec else Trace.open(paths[0]).events(one.plan.sites)
    with scratch_folder() as folder:
        drawn = Path(folder) / "drawn.parquet"
        trace = generate_workload(spec, drawn) if spec else Trace.open(paths[0])
        return one.heap.events(trace)


def _add_work(row: Row, before: Row | None) -> Row:
    return row if before is None else with_work_of(row, before)


def measure_rows(
    prepared: Sequence[PreparedTrace],
    precision: Precision,
    sweep: Sweep,
    progress: Progress,
    known: Sequence[Mapping[int, Row]] = (),
) -> list[list[Row]]:
    """Measures a row for each candidate, trace by trace; then refines those that may win.

    `known`: of each trace, rows that there are already, by the numbers of their candidates.
    """
    found = [dict(rows) for rows in known] or [{} for _ in prepared]
    wanted = [
        [i for i in range(len(one.portfolio.candidates)) if i not in its]
        for one, its in zip(prepared, found, strict=True)
    ]
    step, now = "compare", precision
    while True:
        jobs = [
            one.job(one.portfolio.candidates[i], now)
            for one, numbers in zip(prepared, wanted, strict=True)
            for i in numbers
        ]
        rows = iter(sweep.run(step, jobs, progress))
        for its, numbers in zip(found, wanted, strict=True):
            its |= {i: _add_work(next(rows), its.get(i)) for i in numbers}
        wanted = [
            rows_to_refine(its, one.info.events, precision)
            for one, its in zip(prepared, found, strict=True)
        ]
        if not any(wanted):
            break
        step, now = "try every size", EXACT
    return [[its[i] for i in sorted(its)] for its in found]
