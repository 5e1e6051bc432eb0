# SPDX-License-Identifier: Apache-2.0
"""The assessment of a choice: a replay of each recording in its region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from heapfit import _engine
from heapfit.comparison.trial import plain_replay
from heapfit.fitting.choice import Choice
from heapfit.fitting.workload import Recording
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace

_REPLAY = "replay recorded runs"


@dataclass(frozen=True, slots=True)
class HoldoutResult:
    """The result of one replay of each recording in just the region that is to be set."""

    seen: int  # recordings
    seen_refused: int  # of these
    events: int  # replayed for it
    recorded: int  # events of these recordings

    def __add__(self, more: HoldoutResult) -> HoldoutResult:
        """The counts of both checks."""
        return HoldoutResult(*map(sum, zip(astuple(self), astuple(more), strict=True)))


NO_RECORDING = HoldoutResult(0, 0, 0, 0)


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
    progress(_REPLAY, 0.0)
    seen = searched if choice.answer.is_kept else [one.loaded or one.trace for one in recordings]
    refused = 0
    for done, run in enumerate(seen, 1):
        refused += not _serves(choice, run, progress)
        progress(_REPLAY, done / len(seen))
    return HoldoutResult(
        len(recordings),
        refused,
        sum(len(run.events) if isinstance(run, LoadedTrace) else run.info.events for run in seen),
        sum(one.trace.info.events for one in recordings),
    )


def _serves(choice: Choice, run: LoadedTrace | Trace, progress: Progress) -> bool:
    """True if the answer's region serves a recording."""
    region, heap = choice.answer.size.region, choice.answer.heap
    if not isinstance(run, LoadedTrace):
        return plain_replay(run, heap.plan, region, progress).result().refusals == 0
    return _engine.ForkedTrial(heap.trial(run)).run(heap.region(region)).runs
