# SPDX-License-Identifier: Apache-2.0
"""P_i(t) of each pool of a plan: how many of the requests it is there for are live.

Every request is replaced by the size of its pool, whatever N_i is; the engine then counts the live
blocks of those sizes. test_report.py holds the choice made here against the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapfit.report.figure import Extremes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heapfit import _engine
    from heapfit.plan import Plan, Pool
    from heapfit.trace import Trace

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


def live_blocks(trace: Trace, plan: Plan, alignment: int, samples: int) -> list[LiveBlocks]:
    """The plan's pools in their order, each with at least `samples` steps; one pass over the trace.

    `alignment` is that of the plan's blocks, in bytes.
    """
    from heapfit import _engine

    if not plan.pools:
        return []
    series = _engine.SizeSeries([pool.size for pool in plan.pools], samples)
    for events in _requests_by_pool(trace, plan, alignment):
        series.feed(events)
    found = series.result()
    return [
        LiveBlocks(pool, _extremes(lowest, highest, found.bucket_width))
        for pool, (lowest, highest) in zip(plan.pools, found.blocks, strict=True)
    ]


def _extremes(lowest: Sizes, highest: Sizes, width: int) -> Extremes:
    return Extremes([i * width for i in range(len(lowest))], lowest.tolist(), highest.tolist())


def _requests_by_pool(trace: Trace, plan: Plan, alignment: int) -> Iterator[_engine.EventArray]:
    """The trace's events with the size of its pool for each request."""
    import numpy as np

    from heapfit import _engine

    first = 0
    for batch in trace.batches(("op", "object", "size")):
        size = batch["size"]
        is_freed = (size == 0) & (batch["op"] >= RESIZE)
        served = pool_of(np.maximum(size, 1), plan, alignment)
        events = _engine.EventArray(first)
        events.append(batch["op"], batch["object"], np.where(is_freed, 0, served), None)
        yield events
        first += len(size)


def pool_of(asked: Sizes, plan: Plan, alignment: int) -> Sizes:
    """For each request the size of the pool that is there for it, or NO_POOL."""
    import numpy as np

    from heapfit.design.budgets import ALLOCATOR as BUDGETED

    exact = np.array([pool.size for pool in plan.pools if pool.is_exact], np.uint64)
    if plan.allocator == BUDGETED:
        block, blocks = _round_up(asked, alignment), _round_up(exact, alignment)
        pools = np.append(exact, np.uint64(NO_POOL))[np.searchsorted(blocks, block)]
        return np.where(_smallest_from(block, blocks) == block, pools, np.uint64(NO_POOL))
    general = np.array([pool.size for pool in plan.pools if not pool.is_exact], np.uint64)
    special, fitting = _smallest_from(asked, exact), _smallest_from(asked, general)
    return np.where((special == asked) | (fitting == NO_POOL), special, fitting)


def _smallest_from(asked: Sizes, sizes: Sizes) -> Sizes:
    """The smallest of the ascending `sizes` that is not below what is asked, else NO_POOL."""
    import numpy as np

    return np.append(sizes, np.uint64(NO_POOL))[np.searchsorted(sizes, asked)]


def _round_up(sizes: Sizes, alignment: int) -> Sizes:
    import numpy as np

    unit = np.uint64(alignment)
    return (sizes + unit - np.uint64(1)) // unit * unit
