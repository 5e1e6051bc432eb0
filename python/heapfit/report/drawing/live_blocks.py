# SPDX-License-Identifier: Apache-2.0
"""P_i(t) of each pool of a plan: how many of the requests it is there for are live.

Every request is replaced by the size of the pool that the allocator's own rule names for it,
whatever N_i is; the engine then counts the live blocks of those sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit.report.drawing.figure import Extremes
from heapfit.trace.stored import Trace

Sizes = NDArray[np.uint64]

NO_POOL = 1 << 32  # no pool is that large
RESIZE = 3  # number of the op; a resize to 0 bytes is a free


@dataclass(frozen=True, slots=True)
class LiveBlocks:
    """The live requests of one pool's sizes."""

    pool: Pool
    blocks: Extremes

    @property
    def peak(self) -> int:
        """P_i,max."""
        return max(self.blocks.highest, default=0)


def live_blocks(trace: Trace, plan: Plan, samples: int) -> list[LiveBlocks]:
    """The plan's pools in order, each with at least `samples` steps; one pass over the trace."""
    if not plan.pools:
        return []
    series = _engine.SizeSeries([pool.size for pool in plan.pools], samples)
    for events in _requests_by_pool(trace, plan):
        series.feed(events)
    found = series.result()
    return [
        LiveBlocks(pool, _extremes(lowest, highest, found.bucket_width))
        for pool, (lowest, highest) in zip(plan.pools, found.blocks, strict=True)
    ]


def _extremes(lowest: Sizes, highest: Sizes, width: int) -> Extremes:
    return Extremes([i * width for i in range(len(lowest))], lowest.tolist(), highest.tolist())


def _requests_by_pool(trace: Trace, plan: Plan) -> Iterator[_engine.EventArray]:
    """The trace's events with the size of its pool for each request."""
    engine_plan = plan.engine()
    pool_sizes = np.array([*(pool.size for pool in plan.pools), NO_POOL], np.uint64)
    first = 0
    for batch in trace.batches(("op", "object", "size")):
        size = batch["size"]
        is_freed = (size == 0) & (batch["op"] >= RESIZE)
        served = pool_sizes[np.minimum(engine_plan.pools_for(size), len(plan.pools))]
        events = _engine.EventArray(first)
        events.append(batch["op"], batch["object"], np.where(is_freed, 0, served), None)
        yield events
        first += len(size)
