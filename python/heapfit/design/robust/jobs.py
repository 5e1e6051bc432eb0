# SPDX-License-Identifier: Apache-2.0
"""The work of a design for several traces, as jobs of a sweep.

First each fold makes its plans. Then plans are measured: a job is one trace with as many plans as
make opening it worth while, one for a long trace.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from heapfit import _engine
from heapfit.compare.candidate import Portfolio
from heapfit.compare.jobs import REPLAYS_OF_A_SEARCH, TIMES_FOR_PLANS
from heapfit.compare.trial import runs_from_file, runs_in
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.joined_trace import join_traces
from heapfit.design.robust.portfolio import robust_portfolio
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.workloads.draw import is_drawn

Work: TypeAlias = Callable[..., Sequence[Any]]

T = TypeVar("T")

# How many times the events of a trace are gone over, roughly.
_EVENTS_OF_A_JOB = 2_000_000


@dataclass(frozen=True, slots=True)
class Fold:
    """Candidates made from some traces, and the traces they have not seen."""

    seen: tuple[int, ...]
    unseen: tuple[int, ...]
    portfolio: Portfolio
    joined: TraceInfo  # of the traces seen
    content: str  # their hash

    def plan(self, name: str) -> Plan | None:
        """The candidate's, or that of the one it equals here; None if it cannot be made."""
        same = {one.name: one.same_as for one in self.portfolio.not_applicable if one.same_as}
        plans = {one.name: one.plan for one in self.portfolio.candidates}
        while name in same:
            name = same[name]
        return plans.get(name)


@dataclass(frozen=True, slots=True)
class _Making:
    seen: tuple[int, ...]
    unseen: tuple[int, ...]
    options: PlanOptions


def make_folds(
    traces: Sequence[Trace],
    parts: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    options: PlanOptions,
    sweep: Sweep,
    progress: Progress = no_progress,
) -> list[Fold]:
    """A fold for each pair of traces seen and not seen."""
    jobs = [
        Job(
            f"plans of fold {number}",
            _fold,
            _Making(seen, unseen, options),
            tuple(traces[i].path for i in seen),
            TIMES_FOR_PLANS * sum(traces[i].info.events for i in seen),
        )
        for number, (seen, unseen) in enumerate(parts)
    ]
    return sweep.run("make plans", jobs, progress)


def _fold(making: _Making, *paths: Path, progress: Progress = no_progress) -> Fold:
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        traces = [Trace.open(path) for path in paths]
        runs = tuple(trace for trace in traces if not is_drawn(trace.info))
        joined = join_traces(Path(folder) / "joined.parquet", traces)
        loaded = replace(load_trace(joined, making.options.alignment), runs=runs)
        if loaded.profile.u_max == 0:
            raise HeapfitError("nothing is ever allocated in these traces")
        portfolio = robust_portfolio(loaded, making.options, progress)
        return Fold(making.seen, making.unseen, portfolio, joined.info, loaded.content)


class Replays:
    """R_safe of plans on traces, each measured once; and whether they run in given regions."""

    def __init__(
        self,
        traces: Sequence[Trace],
        folds: Sequence[Fold],
        sweep: Sweep,
        progress: Progress,
        *,
        is_exact: bool = False,
    ) -> None:
        self._traces = traces
        self._sweep = sweep
        self._progress = progress
        self._is_exact = is_exact
        alignments = [one.plan.alignment for fold in folds for one in fold.portfolio.candidates]
        self.base_alignment = max([*alignments, *(trace.largest_alignment for trace in traces)])
        self._regions: dict[tuple[str, int], int | None] = {}
        self._runs: dict[tuple[str, int, int], bool] = {}
        jobs = [
            Job(f"trace {i}", _u_max, None, (trace.path,), trace.info.events)
            for i, trace in enumerate(traces, 1)
        ]
        self.u_max: tuple[int, ...] = tuple(sweep.run("profile", jobs, progress))

    def measure(self, wanted: Iterable[tuple[Plan, int]]) -> None:
        """Looks for R_safe of plans, each on a trace."""
        plans = {(repr(plan), trace): (plan, self._is_exact) for plan, trace in wanted}
        new = {key: plan for key, plan in plans.items() if key not in self._regions}
        self._regions |= self._spread("measure", _regions, new, REPLAYS_OF_A_SEARCH)

    def region(self, plan: Plan, trace: int) -> int | None:
        """R_safe, as measured."""
        return self._regions[repr(plan), trace]

    def try_out(self, wanted: Iterable[tuple[Plan, int, int]]) -> None:
        """Replays plans, each on a trace in a region."""
        plans = {
            (repr(plan), trace, region): (plan, region)
            for plan, trace, region in wanted
            if (repr(plan), trace, region) not in self._runs
        }
        self._runs |= self._spread("try margins", _runs, plans, 1)

    def runs(self, plan: Plan, trace: int, region: int) -> bool:
        """Whether the trace ran in that region."""
        return self._runs[repr(plan), trace, region]

    def _spread(
        self, step: str, work: Work, wanted: dict[Any, tuple[Any, ...]], times: int
    ) -> dict[Any, Any]:
        """What `work` makes of each of the values; the trace's number is second in the key."""
        jobs: list[Job] = []
        keys: list[Any] = []
        for number, trace in enumerate(self._traces):
            of_trace = [key for key in wanted if key[1] == number]
            events = times * max(trace.info.events, 1)
            for some in _chunks(of_trace, max(1, _EVENTS_OF_A_JOB // events)):
                name = f"{wanted[some[0]][0].allocator} on trace {number + 1}"
                argument = self.base_alignment, tuple(wanted[key] for key in some)
                jobs.append(Job(name, work, argument, (trace.path,), events * len(some)))
                keys += some
        results = self._sweep.run(step, jobs, self._progress)
        return dict(zip(keys, (one for some in results for one in some), strict=True))


def _u_max(_: None, path: Path) -> int:
    profile = _engine.Profile(1)
    for events in Trace.open(path).event_batches():
        profile.feed(events)
    return int(profile.result().u_max)


def _regions(argument: tuple[int, Sequence[tuple[Plan, bool]]], path: Path) -> list[int | None]:
    base, plans = argument
    trace = Trace.open(path)
    events = trace.events()
    return [
        _engine.Trial(plan.engine(), _events_for(plan, trace, events), base)
        .scan(every_size=is_exact)
        .r_safe
        for plan, is_exact in plans
    ]


def _events_for(plan: Plan, trace: Trace, untagged: _engine.EventArray) -> _engine.EventArray:
    """With the tags of call sites, for a plan that knows some."""
    return trace.events(plan.sites) if plan.sites else untagged


def _runs(argument: tuple[int, Sequence[tuple[Plan, int]]], path: Path) -> list[bool]:
    base, tries = argument
    trace = Trace.open(path)
    if len(tries) == 1:  # as for every trace that is long: see _chunks
        return [runs_from_file(trace, *tries[0])]
    events = trace.events()
    return [runs_in(plan, _events_for(plan, trace, events), region, base) for plan, region in tries]


def _chunks(items: Sequence[T], length: int) -> Iterator[Sequence[T]]:
    return (items[i : i + length] for i in range(0, len(items), length))
