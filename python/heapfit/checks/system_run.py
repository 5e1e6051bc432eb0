# SPDX-License-Identifier: Apache-2.0
"""One recording in the heap of a plan, in the memory that its setting gives: one replay.

The whole recording is in memory, as a system's heap is asked other requests than the program made.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.heap import Heap, ReplayableTrace
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, region_of_plan
from heapfit.comparison.incumbents.requests import insert_probes
from heapfit.comparison.incumbents.served import ServedRequests
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress

SIZE_STEP = 8  # bytes between two sizes that are tried


@dataclass(frozen=True, slots=True)
class PlacedRequests:
    """A recording's requests in the heap of a plan."""

    recording: ReplayableTrace
    heap: Heap
    asked: ServedRequests
    region: int  # of the plan, in bytes
    base: int  # alignment of its start

    def make_replay(self, **options: bool) -> _engine.Replay | None:
        """A replay in the heap's memory, with options of its own; None if that holds no block."""
        plan = self.heap.plan.engine()
        if self.region < plan.smallest_region:
            return None
        return _engine.Replay(plan, self.region, self.base, metered=False, **options)

    def place(self) -> NDArray[np.uint32] | None:
        """Where each block lies, up to the first that is refused; None if not even one fits."""
        replay = self.make_replay(keep_offsets=True)
        if replay is None:
            return None
        replay.feed(self.heap.events(self.recording))
        return replay.offsets.astype(np.uint32)

    def find_refused(self, progress: Progress = ignore_progress) -> NDArray[np.bool_]:
        """True for each block that is refused where the replay goes on.

        Frees and resizes of refused blocks are dropped; a refused resize keeps the old block. What
        a later resize does depends on its size, so the replay is repeated until the two agree.
        """
        asked, moves = self.asked, self.heap.find_moves(self.asked.requests)
        while (replay := self.make_replay(keep_going=True)) is not None:
            replay.feed(self.heap.events_past_refusals(self.recording, moves))
            before, moves = moves, self.heap.find_moves(asked.requests, replay.refusals)
            if np.array_equal(before, moves):
                progress("count refusals", 1.0)
                return np.isin(asked.asked_at, replay.refusals)
        return np.ones(len(asked.asked_at), np.bool_)

    def find_largest_request(self) -> int:
        """The largest request, in bytes, that is served at whatever moment it comes.

        Found by halving, to 8 B: each size is asked for and freed again after every event. What is
        between two sizes that were tried may differ. 0: not even 8 B are free at some moment.
        """
        sizes = range(SIZE_STEP, self.region + SIZE_STEP, SIZE_STEP)
        return SIZE_STEP * bisect_left(sizes, True, key=lambda size: not self._serves_always(size))

    def _serves_always(self, size: int) -> bool:
        """True if a request that comes after any event, and is freed at once, is served."""
        replay, asked = self.make_replay(), self.asked
        return replay is not None and all(
            map(replay.feed, insert_probes(asked.served, asked.ends, size))
        )


def place_in_region(recording: ReplayableTrace, plan: PlanFile, base: int) -> PlacedRequests:
    """The requests of a recording for a plan's heap in its region, which starts at `base`."""
    heap = heap_of_plan(plan)
    return PlacedRequests(
        recording, heap, ServedRequests.of(heap, recording), region_of_plan(plan), base
    )
