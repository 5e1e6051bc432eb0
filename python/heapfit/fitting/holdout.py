# SPDX-License-Identifier: Apache-2.0
"""The replay of the recordings in just the region that is to be set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit import _engine
from heapfit.comparison.incumbents.requests import adapt_requests, requests_of
from heapfit.comparison.trial import plain_replay
from heapfit.fitting.choice import Choice
from heapfit.fitting.workload import Recording
from heapfit.progress import Progress, weigh_steps
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace

_STEP = "replay recorded runs"


@dataclass(frozen=True, slots=True)
class HoldoutResult:
    """The result of one replay of each recording in just the region that is to be set."""

    seen: int  # recordings
    seen_refused: int  # of these
    events: int  # replayed for it


def check_holdout(
    choice: Choice,
    recordings: Sequence[Recording],
    searched: Sequence[LoadedTrace],
    progress: Progress,
) -> HoldoutResult:
    """Replays each recording once in the answer's region; nothing is chosen by it.

    `searched`: the recordings, or excerpts of long ones. Those are replayed whole from their files,
    but in the incumbent heap by their excerpts.
    """
    progress(_STEP, 0.0)
    seen = (
        searched if choice.answer.kept is not None else [_take_whole_run(one) for one in recordings]
    )
    refused = 0
    for done, run in enumerate(seen, 1):
        refused += not _serves(choice, run, progress)
        progress(_STEP, done / len(seen))
    return HoldoutResult(len(recordings), refused, sum(_count_events(run) for run in seen))


def _take_whole_run(recording: Recording) -> LoadedTrace | Trace:
    """The whole of a recording: in memory, or in its file where it is too long."""
    return recording.loaded or recording.trace


def _count_events(run: LoadedTrace | Trace) -> int:
    return len(run.events) if isinstance(run, LoadedTrace) else run.info.events


def _serves(choice: Choice, run: LoadedTrace | Trace, progress: Progress) -> bool:
    """True if the answer's region serves a recording."""
    region, kept, plan = choice.answer.size.region, choice.answer.kept, choice.winner.plan
    if not isinstance(run, LoadedTrace):
        replaying = weigh_steps(progress, {"replay": 1.0})
        return plain_replay(run, plan, region, replaying).result().refusals == 0
    if kept is None:
        trial = _engine.Trial(plan.engine(), run.events_for(plan), run.largest_alignment)
    else:
        served = adapt_requests(kept, requests_of(run)).engine()
        region = kept.region(region)
        trial = _engine.Trial(kept.plan.engine(), served, run.largest_alignment)
    return _engine.ForkedTrial(trial).run(region).runs
