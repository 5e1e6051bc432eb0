# SPDX-License-Identifier: Apache-2.0
"""The holdout check: does the region to be set serve the recordings, and resampled runs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from heapfit import _engine
from heapfit.comparison.incumbents.requests import adapt_requests, requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.trial import least_size, plain_replay
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice
from heapfit.fitting.workload import Recording
from heapfit.progress import Progress, weigh_steps
from heapfit.sweep.threads import map_in_threads
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace
from heapfit.workloads.draw import ResampledRun, resample_run
from heapfit.workloads.model import Model, fit_model

RESAMPLED_RUNS = 16  # runs in all, from the recordings by turns
MOST_EVENTS = 2_000_000  # of a recording to resample: it takes 200 bytes of memory an event
# Resampled runs are also replayed in other sizes, by about four more replays, if they are short.
_SIZES = 15  # tried at most
_MOST_EVENTS_SIZED = 200_000
_SEED = 1
_STEP = "replay recorded and resampled runs"
_UNIT = _engine.REGION_UNIT


@dataclass(frozen=True, slots=True)
class HoldoutResult:
    """The result of one replay of each run in just the region that is to be set."""

    seen: int  # recordings
    seen_refused: int  # of these
    drawn: int  # runs resampled from the recordings, which took no part in the choice; 0: none
    drawn_refused: int
    events: int  # replayed for it
    # The least region found for each resampled run; None: more than all that were tried.
    # Empty: not looked for.
    drawn_needs: tuple[int | None, ...] = ()


def check_holdout(
    choice: Choice,
    recordings: Sequence[Recording],
    searched: Sequence[LoadedTrace],
    progress: Progress,
    threads: int = 1,
) -> HoldoutResult:
    """Replays each run once in the answer's region; nothing is chosen by it.

    `searched`: the recordings, or excerpts of long ones. Those are replayed whole from their files,
    but in the incumbent heap by their excerpts. Any number of threads finds the same.
    """
    progress(_STEP, 0.0)
    sizes, drawings = _list_sizes(choice, recordings), _list_resampling_jobs(recordings)
    seen = (
        searched if choice.answer.kept is not None else [_take_whole_run(one) for one in recordings]
    )
    refused = sum(not _serves(choice, run, progress) for run in seen)
    events = sum(_count_events(run) for run in seen)
    verdicts: list[_RunVerdict] = []

    def judge(drawing: _ResamplingJob) -> _RunVerdict:
        run = resample_run(drawing.model, drawing.seed)
        return _judge_run(_try_run(choice, run), sizes, len(run))

    for one in map_in_threads(threads, judge, drawings):
        verdicts.append(one)
        progress(_STEP, len(verdicts) / RESAMPLED_RUNS)
    progress(_STEP, 1.0)
    return HoldoutResult(
        seen=len(recordings),
        seen_refused=refused,
        drawn=len(verdicts),
        drawn_refused=sum(not one.runs for one in verdicts),
        events=events + sum(one.events for one in verdicts),
        drawn_needs=tuple(one.need for one in verdicts if sizes),
    )


class _ResamplingJob(NamedTuple):
    """A model of a recording, and the seed of a run to resample from it."""

    model: Model
    seed: int


def _take_whole_run(recording: Recording) -> LoadedTrace | Trace:
    """The whole of a recording: in memory, or in its file where it is too long."""
    return recording.loaded or recording.trace


def _count_events(run: LoadedTrace | Trace) -> int:
    return len(run.events) if isinstance(run, LoadedTrace) else run.info.events


def _list_resampling_jobs(recordings: Sequence[Recording]) -> list[_ResamplingJob]:
    """The runs to resample; none from recordings that are too short or too long."""
    models = [model for one in recordings if (model := _fit_model(one)) is not None]
    return [
        _ResamplingJob(models[i % len(models)], _SEED + i // len(models))
        for i in range(RESAMPLED_RUNS if models else 0)
    ]


def _fit_model(recording: Recording) -> Model | None:
    if recording.trace.info.events > MOST_EVENTS:
        return None
    try:
        return fit_model(_take_whole_run(recording))
    except HeapfitError:
        return None


def _list_sizes(choice: Choice, recordings: Sequence[Recording]) -> list[int]:
    """Sizes around the region: from two margins below it to one margin above."""
    if max(one.trace.info.events for one in recordings) > _MOST_EVENTS_SIZED:
        return []
    region = choice.answer.size.region
    margin = max(region - choice.answer.size.r_safe, _SIZES * _UNIT)
    low, high = max(region - 2 * margin, _UNIT), region + margin
    steps = {low + (high - low) * i // (_SIZES - 1) // _UNIT * _UNIT for i in range(_SIZES)}
    return sorted(steps | {region})


@dataclass(frozen=True, slots=True)
class _RegionTrial:
    """A run in the answer's heap."""

    trial: _engine.Trial
    forked: _engine.ForkedTrial  # of it
    kept: SystemHeap | None  # whose sizes are other than those of the regions replayed
    result: _engine.TrialResult  # in the region to be set

    @property
    def runs(self) -> bool:
        """True if no request ran out of memory."""
        return self.result.runs

    def need(self, sizes: Sequence[int]) -> tuple[int | None, int]:
        """The least region for the run, as its user sets it, and the events replayed for it."""
        kept, events = self.kept, 0
        if kept is None and self.runs and self.result.reach:
            return self.trial.region_for(self.result.reach), 0

        def runs(size: int) -> bool:
            nonlocal events
            tried = self.forked.run(size if kept is None else kept.region(size))
            events += tried.events - tried.known
            return tried.runs

        return least_size(runs, sizes), events


class _RunVerdict(NamedTuple):
    """The result of a resampled run in the answer's region."""

    runs: bool
    need: int | None
    events: int  # replayed


def _judge_run(tried: _RegionTrial, sizes: Sequence[int], events: int) -> _RunVerdict:
    need, more = tried.need(sizes) if sizes else (None, 0)
    return _RunVerdict(tried.runs, need, events + more)


def _serves(choice: Choice, run: LoadedTrace | Trace, progress: Progress) -> bool:
    """True if the answer's region serves a recording."""
    if isinstance(run, LoadedTrace):
        return _try_run(choice, run).runs
    replaying = weigh_steps(progress, {"replay": 1.0})
    region, plan = choice.answer.size.region, choice.winner.plan
    return plain_replay(run, plan, region, replaying).result().refusals == 0


def _try_run(choice: Choice, run: LoadedTrace | ResampledRun) -> _RegionTrial:
    region, kept, base = choice.answer.size.region, choice.answer.kept, run.largest_alignment
    if kept is None:
        plan = choice.winner.plan
        events = run.events(plan.sites) if isinstance(run, ResampledRun) else run.events_for(plan)
        return _try_region(region, _engine.Trial(plan.engine(), events, base), None)
    served = adapt_requests(kept, requests_of(run)).engine()
    trial = _engine.Trial(kept.plan.engine(), served, base)
    return _try_region(kept.region(region), trial, kept)


def _try_region(region: int, trial: _engine.Trial, kept: SystemHeap | None) -> _RegionTrial:
    forked = _engine.ForkedTrial(trial)
    return _RegionTrial(trial, forked, kept, forked.run(region))
