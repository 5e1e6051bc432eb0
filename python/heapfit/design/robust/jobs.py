# SPDX-License-Identifier: Apache-2.0
"""The work of a design for several traces, as jobs of a sweep.

First each fold makes its plans. Then plans are measured: a job is one trace with as many plans as
make opening it worth while, one for a long trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from heapfit import _engine
from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import search
from heapfit.comparison.matrix import TIMES_FOR_PLANS
from heapfit.comparison.trial import runs_from_file, serves_from
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.joined_trace import join_traces
from heapfit.design.robust.portfolio import robust_portfolio
from heapfit.errors import HeapfitError
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace, TraceInfo

ReplayFunction: TypeAlias = Callable[..., Sequence[Any]]

T = TypeVar("T")

# About how many events the replays of a job take.
_EVENTS_OF_A_JOB = 2_000_000
REPLAYS_OF_A_SEARCH = 30  # about


@dataclass(frozen=True, slots=True)
class Fold:
    """Candidates made from some traces, and the hold-out traces."""

    seen: tuple[int, ...]
    unseen: tuple[int, ...]
    portfolio: Portfolio
    joined: TraceInfo  # of the traces seen
    content: str  # their hash

    def plan(self, name: str) -> Plan | None:
        """The plan of a candidate, or of the one it equals here; None if it cannot be made."""
        same = {one.name: one.same_as for one in self.portfolio.not_applicable if one.same_as}
        plans = {candidate.name: candidate.plan for candidate in self.portfolio.candidates}
        while name in same:
            name = same[name]
        return plans.get(name)


@dataclass(frozen=True, slots=True)
class TraceSet:
    """The traces of a design."""

    traces: Sequence[Trace]
    contents: tuple[str, ...]  # hash of each
    u_max: tuple[int, ...] = ()  # of each; empty: not known yet


def make_folds(
    runs: TraceSet,
    parts: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
    options: PlanOptions,
    sweep: Sweep,
    progress: Progress = ignore_progress,
) -> list[Fold]:
    """A fold for each pair of traces seen and hold-out traces."""
    jobs = [
        Job(
            f"plans of fold {number}",
            _make_fold,
            (seen, unseen, options),
            tuple(runs.traces[i].path for i in seen),
            TIMES_FOR_PLANS * sum(runs.traces[i].info.events for i in seen),
            tells=True,
        )
        for number, (seen, unseen) in enumerate(parts)
    ]
    return sweep.run("make plans", jobs, progress)


def _make_fold(
    asked: tuple[tuple[int, ...], tuple[int, ...], PlanOptions],
    *paths: Path,
    progress: Progress = ignore_progress,
) -> Fold:
    seen, unseen, options = asked
    with scratch_folder() as folder:
        traces = [Trace.open(path) for path in paths]
        joined = join_traces(Path(folder) / "joined.parquet", traces)
        if not joined.fits_in_memory:
            raise HeapfitError(
                f"{len(traces):,} recordings have {joined.info.events:,} events, more than can be "
                "held in memory together (give fewer, and the others to `heapfit check`)"
            )
        each = tuple(load_trace(trace, options.alignment) for trace in traces)
        loaded = load_trace(joined, options.alignment)
        if loaded.profile.u_max == 0:
            raise HeapfitError("nothing is ever allocated in these traces")
        fleet = _engine.Fleet(tuple(run.events for run in each))
        loaded = replace(loaded, runs=each, fleet=fleet)
        portfolio = robust_portfolio(loaded, options, progress)
        return Fold(seen, unseen, portfolio, joined.info, loaded.content)


class Replays:
    """R_safe of plans on traces, each measured once; and replays in given regions."""

    def __init__(
        self,
        runs: TraceSet,
        folds: Sequence[Fold],
        sweep: Sweep,
        progress: Progress,
    ) -> None:
        self._runs = runs
        self._traces = traces = runs.traces
        self._sweep = sweep
        self._progress = progress
        alignments = [one.plan.alignment for fold in folds for one in fold.portfolio.candidates]
        self.base_alignment = max([*alignments, *(trace.largest_alignment for trace in traces)])
        self._regions: dict[tuple[str, int], int | None] = {}
        self._served: dict[tuple[str, int, int], bool] = {}
        self._proven: dict[tuple[str, int, int], bool] = {}
        self.work = NO_WORK
        self.u_max = runs.u_max or self._profile_traces()

    def _profile_traces(self) -> tuple[int, ...]:
        jobs = [
            Job(f"trace {i}", _u_max, None, (trace.path,), trace.info.events)
            for i, trace in enumerate(self._traces, 1)
        ]
        return tuple(self._sweep.run("profile", jobs, self._progress))

    def measure(self, wanted: Iterable[tuple[Plan, int]]) -> None:
        """Searches for R_safe of plans, each on a trace, unless it is known."""
        plans = {(repr(plan), trace): (plan,) for plan, trace in wanted}
        new = {key: plan for key, plan in plans.items() if key not in self._regions}
        found = self._run_jobs("measure", _regions, new, REPLAYS_OF_A_SEARCH)
        self._regions |= {key: region for key, (region, _) in found.items()}
        self.work += Work(regions=sum(events for _, events in found.values()))

    def region(self, plan: Plan, trace: int) -> int | None:
        """R_safe of a plan on a trace, as `measure` found it; None if no region is safe."""
        return self._regions[repr(plan), trace]

    def prove(self, wanted: Iterable[tuple[Plan, int, int]]) -> None:
        """Replays plans, each on a trace in a region, to prove that all larger regions serve."""
        new = self._select_new(self._proven, wanted)
        found = self._run_jobs("measure", _proofs, new, 1)
        self._proven |= {key: is_proven for key, (is_proven, _) in found.items()}
        self.work += Work(regions=sum(events for _, events in found.values()))

    def is_proven(self, plan: Plan, trace: int, region: int) -> bool:
        """True if R_safe is known to be at most that region."""
        return self._proven[repr(plan), trace, region]

    def try_out(self, wanted: Iterable[tuple[Plan, int, int]]) -> None:
        """Replays plans, each on a trace in a region, to know if the trace runs there."""
        plans = self._select_new(self._served, wanted)
        found = self._run_jobs("try margins", _runs, plans, 1)
        self._served |= {key: runs for key, (runs, _) in found.items()}
        self.work += Work(judged=sum(events for _, events in found.values()))

    def runs(self, plan: Plan, trace: int, region: int) -> bool:
        """True if the trace ran in that region."""
        return self._served[repr(plan), trace, region]

    @staticmethod
    def _select_new(
        known: Mapping[tuple[str, int, int], bool], wanted: Iterable[tuple[Plan, int, int]]
    ) -> dict[Any, tuple[Plan, int]]:
        """Plans with the regions in which they are still to be replayed, by their keys."""
        asked = {(repr(plan), trace, region): (plan, region) for plan, trace, region in wanted}
        return {key: one for key, one in asked.items() if key not in known}

    def _run_jobs(
        self, step: str, work: ReplayFunction, wanted: dict[Any, tuple[Any, ...]], times: int
    ) -> dict[Any, Any]:
        """The result of `work` for each key, whose second part is the trace's number."""
        jobs: list[Job] = []
        keys: list[Any] = []
        of_trace: dict[int, list[Any]] = {}
        for key in wanted:
            of_trace.setdefault(key[1], []).append(key)
        for number in sorted(of_trace):
            trace = self._traces[number]
            events = times * max(trace.info.events, 1)
            for some in _chunks(of_trace[number], max(1, _EVENTS_OF_A_JOB // events)):
                name = f"{wanted[some[0]][0].allocator} on trace {number + 1}"
                argument = self.base_alignment, tuple(wanted[key] for key in some)
                jobs.append(Job(name, work, argument, (trace.path,), events * len(some)))
                keys += some
        results = self._sweep.run(step, jobs, self._progress)
        return dict(zip(keys, (answer for some in results for answer in some), strict=True))


def _u_max(_: None, path: Path) -> int:
    profile = _engine.Profile(1)
    Trace.open(path).feed(profile.feed, "profile", ignore_progress)
    return int(profile.result().u_max)


def _regions(
    argument: tuple[int, Sequence[tuple[Plan]]], path: Path
) -> list[tuple[int | None, int]]:
    """R_safe of each plan, and the events replayed to find it."""
    base, plans = argument
    trace = Trace.open(path)
    events = trace.events()
    needs = [
        search(
            Heap(plan.allocator, plan),
            _engine.Trial(plan.engine(), _events_for(plan, trace, events), base),
            threads=1,
            every_size=False,
        )
        for (plan,) in plans
    ]
    return [(need.r_safe, need.events) for need in needs]


def _proofs(argument: tuple[int, Sequence[tuple[Plan, int]]], path: Path) -> list[tuple[bool, int]]:
    """Pairs of: true if a plan's region and all larger ones serve; and the events replayed."""
    base, tries = argument
    trace = Trace.open(path)
    events = trace.events()
    return [
        serves_from(_engine.Trial(plan.engine(), _events_for(plan, trace, events), base), region)
        for plan, region in tries
    ]


def _events_for(plan: Plan, trace: Trace, untagged: _engine.EventArray) -> _engine.EventArray:
    """The events that a plan needs: with the tags of call sites if it knows some."""
    return trace.events(plan.sites) if plan.sites else untagged


def _runs(argument: tuple[int, Sequence[tuple[Plan, int]]], path: Path) -> list[tuple[bool, int]]:
    """Pairs of: true if a plan serves in its region; and the events replayed."""
    base, tries = argument
    trace = Trace.open(path)
    if len(tries) == 1:  # as for every trace that is long: see _chunks
        return [(runs_from_file(trace, *tries[0]), trace.info.events)]
    events = trace.events()
    tried = [
        _engine.Trial(plan.engine(), _events_for(plan, trace, events), base).run(region)
        for plan, region in tries
    ]
    return [(result.runs, result.events) for result in tried]


def _chunks(items: Sequence[T], length: int) -> Iterator[Sequence[T]]:
    return (items[i : i + length] for i in range(0, len(items), length))
