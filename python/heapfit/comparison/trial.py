# SPDX-License-Identifier: Apache-2.0
"""Replays that show if a trace runs in a region: in memory, or batch by batch from its file."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.oversized import HIGHEST_REGION
from heapfit.trace.profile import SAMPLES
from heapfit.trace.stored import Trace, prefix_errors


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first request that ran out of memory, and the heap at that time. Sizes in bytes."""

    event: int  # its number, from 0
    size: int
    live: int  # as requested
    free: int  # in free blocks, wherever they lie
    largest_hole: int  # the largest of these


def serves_from(trial: _engine.Trial, region: int) -> tuple[bool, int]:
    """True if one replay proves that a region and all larger ones serve; then its events.

    False where it is not known: of allocators that tell nothing of other regions no event is
    replayed.
    """
    if trial.tells_reach:
        # In a region just large enough a block may lie where it lies in no larger one.
        result = trial.run(min(2 * region, HIGHEST_REGION))
        is_told = result.runs and bool(result.reach)
        return is_told and trial.region_for(result.reach) <= region, result.events
    if trial.asks_room:
        return trial.serves_from(region) is not None, trial.event_count
    return False, 0


def plain_replay(
    trace: Trace,
    plan: Plan,
    region: int,
    progress: Progress = ignore_progress,
    *,
    base_alignment: int = 0,
) -> _engine.Replay:
    """Replays a trace without meter and series; the result has its reach and the failed request.

    Memory follows the live blocks. The region is aligned to `base_alignment` at least.
    """
    base = trace.base_alignment_for(max(plan.alignment, base_alignment))
    return _feed(
        _engine.Replay(plan.engine(), region, base_alignment=base, metered=False),
        trace,
        plan,
        progress,
    )


def replay_trace(
    trace: Trace, plan: Plan, region_size: int, *, keep_going: bool = False
) -> _engine.ReplayResult:
    """Replays every event of the trace in a heap of `region_size` bytes and meters it.

    A failed request ends the replay and is in the result; with `keep_going` it is counted.
    """
    replay = _engine.Replay(
        plan.engine(),
        region_size,
        base_alignment=trace.largest_alignment,
        samples=SAMPLES,
        expected_events=trace.info.events,
        keep_going=keep_going,
    )
    return _feed(replay, trace, plan, ignore_progress).result()


def _feed(replay: _engine.Replay, trace: Trace, plan: Plan, progress: Progress) -> _engine.Replay:
    """Feeds a trace's events to a replay until it stops at a failed request."""
    for events, _ in trace.walk(sites=plan.sites, step="replay", progress=progress):
        with prefix_errors(trace.given):
            goes_on = replay.feed(events)
        if not goes_on:
            break
    return replay
