# SPDX-License-Identifier: Apache-2.0
"""One recording in a system's own heap, in the memory that its setting gives: one replay.

The whole recording is in memory, as the heap is asked other requests than the program made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, region_of_plan
from heapfit.comparison.incumbents.requests import (
    BatchSource,
    Requests,
    find_placing_events,
    requests_of,
)
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.operations import FREE
from heapfit.trace.stored import BATCH


@dataclass(frozen=True, slots=True)
class PlacedRequests:
    """A recording's requests, and what the heap of a plan replays for them."""

    requests: Requests
    served: Requests
    asked_at: NDArray[np.int64]  # of the recording: events that ask for a block
    served_at: NDArray[np.int64]  # of the heap's: the same, in the same order
    plan: _engine.Plan
    region: int  # of the plan, in bytes
    base: int  # alignment of its start

    def make_replay(self, **options: bool) -> _engine.Replay | None:
        """A replay in the heap's memory, with options of its own; None if that holds no block."""
        if self.region < self.plan.smallest_region:
            return None
        return _engine.Replay(self.plan, self.region, self.base, metered=False, **options)

    def event_of(self, served: int) -> int:
        """The recording's event for one that the heap was asked."""
        return int(self.asked_at[np.searchsorted(self.served_at, served)])

    def live_before(self, event: int) -> int:
        """Live bytes before an event of the recording."""
        before = slice(event)
        size = np.where(self.requests.op[before] == FREE, 0, self.requests.size[before])
        last = np.zeros(int(self.requests.named.max(initial=0)) + 1, np.uint64)
        last[self.requests.named[before]] = size  # of equal indices the last one stays
        return int(last.sum())

    def find_refused(self, progress: Progress = ignore_progress) -> NDArray[np.bool_]:
        """True for each block that is refused where the replay goes on.

        Frees and resizes of refused blocks are dropped.
        """
        replay = self.make_replay(keep_going=True)
        if replay is None:
            return np.ones(len(self.asked_at), np.bool_)
        for first in range(0, len(self.served.op), BATCH):
            replay.feed(self.served.engine(first, first + BATCH))
            progress("count refusals", min(1.0, (first + BATCH) / len(self.served.op)))
        return np.isin(self.served_at, replay.refusals)


def place_requests(source: BatchSource, plan: PlanFile, base: int) -> PlacedRequests:
    """The requests of a recording for a plan's heap in its region, which starts at `base`."""
    requests = requests_of(source)
    served = heap_of_plan(plan).serve(requests)
    return PlacedRequests(
        requests,
        served,
        find_placing_events(requests),
        find_placing_events(served),
        plan.plan.engine(),
        region_of_plan(plan),
        base,
    )
