# SPDX-License-Identifier: Apache-2.0
"""A pool for every size, as large as the worst case: the static allocator of Lee and Yi 2008.

No other plan has a bound as hard: sum S_i P_i,max bytes serve any order of requests that keeps to
P_i,max. It is also what traces of many sizes cannot afford.
"""

from __future__ import annotations

from heapfit.design.pools.special_pools import LARGEST_POOL, special_pools_plan
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile, sum_by_block

ALLOCATOR = "static_pools"
EQUAL_BUFFERS = "fixed_pool"  # the allocator of one pool
MOST_SIZES = 256  # with a pool each; a plan of more is a long table in ROM
MOST_POOLS = 4096  # an allocator's own limit


def block_sizes(profile: Profile, alignment: int) -> list[int]:
    """The distinct request sizes, rounded up to the alignment, ascending."""
    sizes, _ = sum_by_block(profile.sizes, alignment)
    return list(sizes.tolist())


def worst_case_plan(allocator: str, loaded: LoadedTrace) -> Plan:
    """A pool of each size with as many blocks as are ever live at once.

    HeapfitError where the sizes are too many, or too large, or no pool serves some request.
    """
    classes = block_sizes(loaded.profile, loaded.alignment)
    if len(classes) > MOST_SIZES or classes[-1] > LARGEST_POOL:
        raise HeapfitError(
            f"{len(classes):,} sizes up to {classes[-1]:,} B are too many, or too large, for pools"
        )
    shapes = [(size, True) for size in classes]
    return special_pools_plan(allocator, loaded.events, shapes, loaded.alignment)
