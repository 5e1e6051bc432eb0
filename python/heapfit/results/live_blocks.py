# SPDX-License-Identifier: Apache-2.0
"""The live blocks P_i(t) of each pool of a plan: the live requests that it is there for.

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
from heapfit.results.chart import Extremes
from heapfit.trace.operations import is_end
from heapfit.trace.stored import BATCH

Sizes = NDArray[np.uint64]

NO_POOL = 1 << 32  # no pool is that large


@dataclass(frozen=True, slots=True)
class LiveBlocks:
    """The live requests of the sizes of one pool."""

    pool: Pool
    blocks: Extremes

    @property
    def peak(self) -> int:
        """The most live blocks at once, P_i,max."""
        return max(self.blocks.highest, default=0)


def live_blocks(events: _engine.EventArray, plan: Plan, samples: int) -> list[LiveBlocks]:
    """The plan's pools in order, each with at least `samples` steps; one pass over the events."""
    if not plan.filled_pools:
        return []
    series = _engine.SizeSeries([pool.size for pool in plan.pools], samples)
    for some in _requests_by_pool(events, plan):
        series.feed(some)
    result = series.result()
    return [
        LiveBlocks(pool, _extremes(lowest, highest, result.bucket_width))
        for pool, (lowest, highest) in zip(plan.pools, result.blocks, strict=True)
        if pool.count > 0
    ]


def _extremes(lowest: Sizes, highest: Sizes, width: int) -> Extremes:
    return Extremes([i * width for i in range(len(lowest))], lowest.tolist(), highest.tolist())


def _requests_by_pool(events: _engine.EventArray, plan: Plan) -> Iterator[_engine.EventArray]:
    """The events, some at a time, with each request's size replaced by its pool's."""
    engine_plan = plan.engine()
    pool_sizes = np.array([*(pool.size for pool in plan.pools), NO_POOL], np.uint64)
    ops, objects, sizes = events.ops(), events.objects(), events.sizes()
    for first in range(0, len(events), BATCH):
        op, size = ops[first : first + BATCH], sizes[first : first + BATCH]
        served = pool_sizes[np.minimum(engine_plan.pools_for(size), len(plan.pools))]
        some = _engine.EventArray(first)
        some.append(op, objects[first : first + BATCH], np.where(is_end(op, size), 0, served), None)
        yield some
