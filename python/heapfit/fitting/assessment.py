# SPDX-License-Identifier: Apache-2.0
"""The assessment of a choice: a replay of each recording in its region, and suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from heapfit import _engine
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.trial import plain_replay
from heapfit.design.effort import Effort
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Recording
from heapfit.plan.quantities import format_share
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace

_FINER = 4  # bytes: the least alignment there is
_LEAST_SAVED = 0.005  # of the region; less is not worth a look at what needs 8
_REPLAY = "replay recorded runs"


@dataclass(frozen=True, slots=True)
class HoldoutResult:
    """The result of one replay of each recording in just the region that is to be set."""

    seen: int  # recordings
    seen_refused: int  # of these
    events: int  # replayed for it

    def __add__(self, more: HoldoutResult) -> HoldoutResult:
        """That of both."""
        return HoldoutResult(*map(sum, zip(astuple(self), astuple(more), strict=True)))


NO_RECORDING = HoldoutResult(0, 0, 0)


def suggest_next_recordings(
    choice: Choice, options: FitOptions, progress: Progress
) -> tuple[tuple[str, ...], int]:
    """What would make the answer more certain: recordings, pointer size, finer alignment.

    Then the events replayed to know it.
    """
    ways, known = [], choice.answer.known
    if known.load.runs == 1 and choice.answer.is_enough:  # else the answer asks for more
        ways.append("a second recording (`heapfit fit FIRST SECOND`)")
    info = choice.shown.trace.info
    if info.kind == "heap" and info.pointer_bits != 32:
        ways.append("a recording with the target's pointer size")
    if options.effort == Effort.QUICK:
        ways.append("a search that learns placements (`--effort standard`)")
    if choice.answer.is_kept:
        return tuple(ways), 0
    saved, events = _measure_finer_alignment(choice, options, progress)
    if saved >= _LEAST_SAVED:
        ways.append(
            f"--alignment {_FINER} saves {format_share(saved)} if no block needs "
            f"{options.alignment}"
        )
    return tuple(ways), events


def _measure_finer_alignment(
    choice: Choice, options: FitOptions, progress: Progress
) -> tuple[float, int]:
    """The share of the region that alignment to 4 bytes would save, and the events replayed.

    0 where it can have no such blocks, as some layouts take 8, or one replay shows that it is too
    little to report.
    """
    winner, plan = choice.winner, choice.winner.plan
    if options.alignment == _FINER or winner.is_cut_to_trace or winner.r_safe is None:
        return 0.0, 0
    finer = replace(winner.heap, plan=replace(plan, scalars={**plan.scalars, "alignment": _FINER}))
    try:
        tried = finer.trial(choice.shown).run(int(winner.r_safe * (1 - _LEAST_SAVED)))
    except HeapfitError:
        return 0.0, 0
    if not tried.runs:  # R_safe lies above all that fails
        return 0.0, tried.events
    finer = replace(finer, name=f"{winner.name}, aligned to {_FINER}")
    needs = measure(finer, [choice.shown], progress=progress)
    saved = 0.0 if needs.most is None else 1 - needs.most / winner.r_safe
    return saved, tried.events + needs.events


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
    is_kept = choice.answer.is_kept
    seen = searched if is_kept else [one.loaded or one.trace for one in recordings]
    refused = 0
    for done, run in enumerate(seen, 1):
        refused += not _serves(choice, run, progress)
        progress(_REPLAY, done / len(seen))
    return HoldoutResult(
        len(recordings),
        refused,
        sum(len(run.events) if isinstance(run, LoadedTrace) else run.info.events for run in seen),
    )


def _serves(choice: Choice, run: LoadedTrace | Trace, progress: Progress) -> bool:
    """True if the answer's region serves a recording."""
    region, heap = choice.answer.size.region, choice.answer.heap
    if not isinstance(run, LoadedTrace):
        return plain_replay(run, heap.plan, region, progress).result().refusals == 0
    return _engine.ForkedTrial(heap.trial(run)).run(heap.region(region)).runs
