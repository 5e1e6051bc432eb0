# SPDX-License-Identifier: Apache-2.0
"""The live blocks P_i(t) of each pool of a plan: the live requests that it is there for.

Every request is replaced by the size of the pool that the allocator's own rule names for it,
whatever N_i is; the engine then counts the live blocks of those sizes.
"""

from __future__ import annotations

import numpy as np

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.operations import is_end
from heapfit.trace.stored import BATCH

NO_POOL = 1 << 32  # no pool is that large


def live_blocks(
    events: _engine.EventArray, plan: Plan, samples: int
) -> list[tuple[Pool, list[int], list[int], list[int]]]:
    """The filled pools of a plan that has some, in order, each with at least `samples` steps.

    Of each pool: the events, from 1, that its steps begin with, and the fewest and the most live
    blocks within each.
    """
    sizes = [pool.size for pool in plan.pools]
    series, engine_plan = _engine.SizeSeries(sizes, samples), plan.engine()
    pool_sizes = np.array([*sizes, NO_POOL], np.uint64)
    ops, objects, asked = events.ops(), events.objects(), events.sizes()
    for first in range(0, len(events), BATCH):
        some, batch = _engine.EventArray(first), slice(first, first + BATCH)
        served = pool_sizes[np.minimum(engine_plan.pools_for(asked[batch]), len(sizes))]
        kept = np.where(is_end(ops[batch], asked[batch]), 0, served)
        some.append(ops[batch], objects[batch], kept, None)
        series.feed(some)
    result = series.result()
    return [
        (
            pool,
            [1 + i * result.bucket_width for i in range(len(lowest))],
            lowest.tolist(),
            highest.tolist(),
        )
        for pool, (lowest, highest) in zip(plan.pools, result.blocks, strict=True)
        if pool.count > 0
    ]
