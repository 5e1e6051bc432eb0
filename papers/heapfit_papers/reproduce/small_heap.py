# SPDX-License-Identifier: Apache-2.0
"""Short sequences of requests done to a real heap, for rows that a handful of calls decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.operations import ALLOC, FREE


def events_of(calls: Sequence[int]) -> _engine.EventArray:
    """A request of n bytes for each n above 0; for one below 1, the free of object -n.

    Objects are numbered from 0 as they are asked for.

    >>> len(events_of([100, 50, -0, -1]))
    4
    """
    born, op, objects, sizes = 0, [], [], []
    for call in calls:
        op.append(ALLOC if call > 0 else FREE)
        objects.append(born if call > 0 else -call)
        sizes.append(max(call, 0))
        born += call > 0
    events = _engine.EventArray()
    events.append(np.array(op, np.uint8), np.array(objects, np.uint32), np.array(sizes, np.uint64))
    return events


def refusals(plan: Plan, calls: Sequence[int], region: int | None = None) -> int:
    """How many of the calls the plan's heap refuses; by default in its smallest region."""
    replay = _engine.Replay(plan.engine(), region or plan.engine().smallest_region, keep_going=True)
    replay.feed(events_of(calls))
    return replay.result().refusals
