# SPDX-License-Identifier: Apache-2.0
"""The work of a design for several traces, as jobs of a sweep.

First each fold makes its plans, those that learn from the same traces as one job. Then plans are
measured: a job is one trace with as many plans as make opening it worth while, one for a long
trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import find_known, search
from heapfit.comparison.matrix import TIMES_FOR_PLANS
from heapfit.comparison.trial import serves_from
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design.placement.remembered import TRIALS
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.joined_trace import join_traces
from heapfit.design.robust.portfolio import robust_portfolio
from heapfit.errors import HeapfitError
from heapfit.forecast.load import Load
from heapfit.grouping import group
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace, TraceInfo

Part: TypeAlias = tuple[Sequence[int], Sequence[int]]  # traces seen, and hold-out ones
Pair: TypeAlias = tuple[Plan, int]  # a plan and a trace's number
Trial: TypeAlias = tuple[Plan, int, int]  # likewise, and a region
# The answer of a plan's trial, in a region, and the events replayed to know it.
Answer: TypeAlias = tuple[Any, int]
Question: TypeAlias = Callable[[_engine.Trial, Plan, int], Answer]

_EVENTS_OF_A_JOB = 2_000_000  # about, in its replays
REPLAYS_OF_A_SEARCH = 30  # about
_HARDEST = 2  # traces of a fold, by their most live bytes, that placement is learned from


@dataclass(frozen=True, slots=True)
class Fold:
    """Candidates made from some traces, and the hold-out traces."""

    seen: Sequence[int]
    unseen: Sequence[int]
    portfolio: Portfolio
    joined: TraceInfo  # of the traces seen
    content: str  # their hash

    def pair_seen(self, name: str) -> list[tuple[Plan | None, int]]:
        """Each trace seen with the candidate's plan; None where none could be made."""
        return [(self.portfolio.plan(name), trace) for trace in self.seen]

    def pair_unseen(self, name: str) -> list[tuple[Plan | None, int]]:
        """Likewise each hold-out trace, with the plan that was made without it."""
        return [(self.portfolio.plan(name), trace) for trace in self.unseen]


def make_folds(
    recordings: Sequence[LoadedTrace],
    parts: Sequence[Part],
    options: PlanOptions,
    sweep: Sweep,
    progress: Progress = ignore_progress,
) -> list[Fold]:
    """A fold for each pair of traces seen and hold-out traces.

    Those that learn from the same traces are one job, which tries no plan on them twice.
    """
    groups = group((_find_hardest(recordings, *part), part) for part in parts)
    jobs = list[Job]()
    for hardest, alike in groups.items():
        used = sorted({i for seen, _ in alike for i in seen})
        jobs.append(
            Job(
                f"plans of {len(jobs) + 1}",
                _make_group,
                (hardest, alike, used, options),
                tuple(recordings[i].trace.path for i in used),
                TIMES_FOR_PLANS * sum(len(recordings[i].events) for i in used),
                tells=True,
            )
        )
    made: list[list[Fold]] = sweep.run("make plans", jobs, progress)
    found = {tuple(fold.unseen): fold for folds in made for fold in folds}
    return [found[tuple(unseen)] for _, unseen in parts]


def _find_hardest(
    recordings: Sequence[LoadedTrace], seen: Sequence[int], unseen: Sequence[int]
) -> tuple[int, ...]:
    """The traces that a fold learns from: all of the plan to use, of what judges it the hardest."""
    ranked = sorted(seen, key=lambda i: -recordings[i].profile.u_max)
    return tuple(ranked[: _HARDEST if unseen else None])


def _make_group(
    asked: tuple[tuple[int, ...], Sequence[Part], Sequence[int], PlanOptions],
    *paths: Path,
    progress: Progress = ignore_progress,
) -> list[Fold]:
    hardest, group, used, options = asked
    traces = [load_trace(Trace.open(path), options.alignment) for path in paths]
    each, known = dict(zip(used, traces, strict=True)), dict[Any, Any]()
    folds, whole = list[Fold](), WeightedProgress(progress, {str(one): 1.0 for _, one in group})
    for seen, unseen in group:
        loaded = _join([each[i] for i in seen], options)
        fleet = _engine.Fleet(tuple(each[i].events for i in hardest))
        loaded = replace(loaded, fleet=fleet, found={TRIALS: known})
        portfolio = robust_portfolio(loaded, options, whole.part(str(unseen)))
        folds.append(Fold(seen, unseen, portfolio, loaded.trace.info, loaded.content))
    return folds


def _join(runs: Sequence[LoadedTrace], options: PlanOptions) -> LoadedTrace:
    """Recordings as one that plans are made from."""
    with scratch_folder() as folder:
        joined = join_traces(Path(folder) / "joined.parquet", [run.trace for run in runs])
        if not joined.fits_in_memory:
            raise HeapfitError(
                f"{len(runs):,} recordings have {joined.info.events:,} events, more than can be "
                "held in memory together (give fewer, and the others to `heapfit check`)"
            )
        loaded = load_trace(joined, options.alignment)
    if loaded.profile.u_max == 0:
        raise HeapfitError("nothing is ever allocated in these traces")
    return replace(loaded, runs=tuple(runs))


class ReplayCache:
    """R_safe of plans on traces, and replays in given regions, each done once."""

    def __init__(
        self,
        traces: Sequence[Trace],
        load: Load,
        *,
        base_alignment: int,
        sweep: Sweep,
        progress: Progress = ignore_progress,
    ) -> None:
        self.load = load  # of all
        self.base_alignment = base_alignment
        self._traces = traces
        self._sweep = sweep
        self._progress = progress
        self._known: dict[tuple[Question, str, int, int], Any] = {}
        self._work = NO_WORK

    def take_work(self) -> Work:
        """What was replayed since this was asked last."""
        done, self._work = self._work, NO_WORK
        return done

    def take_known(
        self, candidates: Iterable[Candidate], recordings: Sequence[LoadedTrace]
    ) -> None:
        """Takes what was found of the recordings before, of heaps that programs have."""
        for one in candidates:
            for i, recording in enumerate(recordings):
                found = find_known(one.heap, recording, self.base_alignment)
                if found is not None:
                    self._known[_find_need, repr(one.plan), i, 0] = found

    def measure(self, wanted: Iterable[Pair]) -> None:
        """Searches for R_safe of plans, each on a trace."""
        trials = ((plan, trace, 0) for plan, trace in wanted)
        events = self._ask(_find_need, trials, "measure", REPLAYS_OF_A_SEARCH)
        self._work += Work(regions=events)

    def region(self, plan: Plan, trace: int) -> int | None:
        """R_safe of a plan on a trace, as `measure` found it; None if no region is safe."""
        found: int | None = self._known[_find_need, repr(plan), trace, 0]
        return found

    def prove(self, wanted: Iterable[Trial]) -> None:
        """Replays plans, each on a trace in a region, to prove that all larger regions serve.

        One that was measured needs no replay.
        """
        new = [one for one in wanted if (_find_need, repr(one[0]), one[1], 0) not in self._known]
        self._work += Work(regions=self._ask(_prove, new, "measure"))

    def is_proven(self, plan: Plan, trace: int, region: int) -> bool:
        """True if R_safe is known to be at most that region."""
        name = repr(plan)
        if (_find_need, name, trace, 0) in self._known:
            need = self.region(plan, trace)
            return need is not None and need <= region
        return bool(self._known[_prove, name, trace, region])

    def _ask(self, question: Question, wanted: Iterable[Trial], step: str, replays: int = 1) -> int:
        """Answers what is not known yet, by so many replays each, about; the events of them."""
        new = {
            (question, repr(plan), trace, region): (plan, region) for plan, trace, region in wanted
        }
        of_trace = group((key[2], key) for key in new if key not in self._known)
        jobs, keys = list[Job](), list[tuple[Question, str, int, int]]()
        for number, asked in sorted(of_trace.items()):
            trace = self._traces[number]
            events = replays * max(trace.info.events, 1)
            many = max(1, _EVENTS_OF_A_JOB // events)
            for some in (asked[i : i + many] for i in range(0, len(asked), many)):
                name = f"{new[some[0]][0].allocator} on trace {number + 1}"
                argument = question, self.base_alignment, [new[key] for key in some]
                jobs.append(Job(name, _answer, argument, (trace.path,), events * len(some)))
                keys += some
        found = [answer for some in self._sweep.run(step, jobs, self._progress) for answer in some]
        self._known |= {key: answer for key, (answer, _) in zip(keys, found, strict=True)}
        return sum(events for _, events in found)


def _answer(argument: tuple[Question, int, Sequence[tuple[Plan, int]]], path: Path) -> list[Answer]:
    question, base, asked = argument
    trace = Trace.open(path)
    untagged = trace.events()
    answers = []
    for plan, region in asked:
        events = trace.events(plan.sites) if plan.sites else untagged
        answers.append(question(_engine.Trial(plan.engine(), events, base), plan, region))
    return answers


def _find_need(trial: _engine.Trial, plan: Plan, _: int) -> Answer:
    """Searches R_safe of a plan."""
    need = search(
        Heap(plan.allocator, plan), trial, threads=1, every_size=False, is_safe_alone=True
    )
    return need.r_safe, need.events


def _prove(trial: _engine.Trial, _: Plan, region: int) -> Answer:
    """True if a region and all larger ones are known to serve."""
    return serves_from(trial, region)
