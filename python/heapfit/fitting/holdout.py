# SPDX-License-Identifier: Apache-2.0
"""Whether runs are served by the region that is to be set: those recorded, and others like them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from heapfit import _engine
from heapfit.comparison.incumbents.heaps import SystemHeap
from heapfit.comparison.incumbents.requests import as_served, requests_of
from heapfit.comparison.trial import least_size, plain_replay
from heapfit.errors import HeapfitError
from heapfit.fit_result import Held
from heapfit.fitting.choice import Choice
from heapfit.progress import Progress, by_steps
from heapfit.sweep.threads import map_in_threads
from heapfit.trace.stored import Trace
from heapfit.workloads.draw import DrawnRun, draw_run
from heapfit.workloads.model import Model, fit_model

DRAWN = 16  # runs in all, from the recordings by turns
MOST_EVENTS = 2_000_000  # of a recording to draw from: it takes 200 bytes of memory an event
# Of drawn runs it is also shown what each needs, by four replays more, where these take little.
_SIZES = 15  # tried at most
_MOST_EVENTS_SIZED = 200_000
_SEED = 1
_STEP = "replay recorded and drawn runs"
_UNIT = _engine.REGION_UNIT


def held_by(
    choice: Choice,
    traces: Sequence[Trace],
    searched: Sequence[Trace],
    progress: Progress,
    threads: int = 1,
) -> Held:
    """One replay of each run in the answer's region; nothing is chosen by it.

    `searched`: the same, or excerpts of long ones. Those are replayed whole from their files, but
    in today's heap by their excerpts. Any number of threads finds the same.
    """
    progress(_STEP, 0.0)
    seen = searched if choice.answer.kept is not None else traces
    refused = sum(
        not _holds(choice, trace, is_long=trace not in searched, progress=progress)
        for trace in seen
    )
    events = sum(trace.info.events for trace in seen)
    sizes = _sizes(choice, traces)
    judged: list[_Judged] = []

    def judge(drawing: _Drawing) -> _Judged:
        run = draw_run(drawing.model, drawing.seed)
        return _judged(_tried(choice, run), sizes, len(run))

    for one in map_in_threads(threads, judge, _drawings(traces)):
        judged.append(one)
        progress(_STEP, len(judged) / DRAWN)
    progress(_STEP, 1.0)
    return Held(
        seen=len(traces),
        seen_refused=refused,
        drawn=len(judged),
        drawn_refused=sum(not one.runs for one in judged),
        events=events + sum(one.events for one in judged),
        drawn_needs=tuple(one.need for one in judged if sizes),
    )


class _Drawing(NamedTuple):
    """A run to be drawn."""

    model: Model
    seed: int


def _drawings(traces: Sequence[Trace]) -> list[_Drawing]:
    """None from recordings that are too short or too long to draw from."""
    models = [model for trace in traces if (model := _model(trace)) is not None]
    return [
        _Drawing(models[i % len(models)], _SEED + i // len(models))
        for i in range(DRAWN if models else 0)
    ]


def _model(trace: Trace) -> Model | None:
    if trace.info.events > MOST_EVENTS:
        return None
    try:
        return fit_model(trace)
    except HeapfitError:
        return None


def _sizes(choice: Choice, traces: Sequence[Trace]) -> list[int]:
    """Around the region to be set, as far on either side as its margin, twice below."""
    if max(trace.info.events for trace in traces) > _MOST_EVENTS_SIZED:
        return []
    region = choice.answer.size.region
    margin = max(region - choice.answer.size.r_safe, _SIZES * _UNIT)
    low, high = max(region - 2 * margin, _UNIT), region + margin
    steps = {low + (high - low) * i // (_SIZES - 1) // _UNIT * _UNIT for i in range(_SIZES)}
    return sorted(steps | {region})


@dataclass(frozen=True, slots=True)
class _Tried:
    """A run in the answer's heap."""

    trial: _engine.Trial
    forked: _engine.ForkedTrial  # of it
    kept: SystemHeap | None  # whose sizes are other than those of the regions replayed
    result: _engine.TrialResult  # in the region to be set

    @property
    def runs(self) -> bool:
        """Whether nothing was refused."""
        return self.result.runs

    def need(self, sizes: Sequence[int]) -> tuple[int | None, int]:
        """The least region for it, as its user sets it, and the events replayed to find it."""
        kept, events = self.kept, 0
        if kept is None and self.runs and self.result.reach:
            return self.trial.region_for(self.result.reach), 0

        def runs(size: int) -> bool:
            nonlocal events
            tried = self.forked.run(size if kept is None else kept.region(size))
            events += tried.events - tried.known
            return tried.runs

        return least_size(runs, sizes), events


class _Judged(NamedTuple):
    """What a drawn run made of the answer's region."""

    runs: bool
    need: int | None
    events: int  # replayed


def _judged(tried: _Tried, sizes: Sequence[int], events: int) -> _Judged:
    need, more = tried.need(sizes) if sizes else (None, 0)
    return _Judged(tried.runs, need, events + more)


def _holds(choice: Choice, trace: Trace, *, is_long: bool, progress: Progress) -> bool:
    """Whether a recording is served by the answer's region."""
    if not is_long:
        return _tried(choice, trace).runs
    tell = by_steps(progress, {"replay": 1.0})
    region, plan = choice.answer.size.region, choice.winner.plan
    return plain_replay(trace, plan, region, tell).result().refusals == 0


def _tried(choice: Choice, trace: Trace | DrawnRun) -> _Tried:
    region, kept, base = choice.answer.size.region, choice.answer.kept, trace.largest_alignment
    if kept is None:
        plan = choice.winner.plan
        events = trace.events(plan.sites)
        trial = _engine.Trial(plan.engine(), events, max(base, plan.alignment))
        return _tried_in(region, trial, None)
    served = as_served(kept, requests_of(trace)).engine()
    trial = _engine.Trial(kept.plan.engine(), served, base)
    return _tried_in(kept.region(region), trial, kept)


def _tried_in(region: int, trial: _engine.Trial, kept: SystemHeap | None) -> _Tried:
    forked = _engine.ForkedTrial(trial)
    return _Tried(trial, forked, kept, forked.run(region))
