# SPDX-License-Identifier: Apache-2.0
"""A pool for every size, as large as the worst case: the static allocator of Lee and Yi 2008.

No other plan has a bound as hard: sum S_i P_i,max bytes serve any order of requests that keeps to
P_i,max. It is also what traces of many sizes cannot afford.
"""

from __future__ import annotations

from heapfit import _engine
from heapfit.design.pools.special_pools import special_pools_plan
from heapfit.plan.plan import Plan
from heapfit.trace.profile import Profile, sum_by_block

ALLOCATOR = "static_pools"
EQUAL_BUFFERS = "fixed_pool"  # the allocator of one pool
MOST_POOLS = 4096  # an allocator's own limit


def block_sizes(profile: Profile, alignment: int) -> list[int]:
    """The distinct request sizes, rounded up to the alignment, ascending."""
    sizes, _ = sum_by_block(profile.sizes, alignment)
    return list(sizes.tolist())


def worst_case_plan(
    allocator: str, events: _engine.EventArray, classes: list[int], alignment: int
) -> Plan:
    """A pool of each class with as many blocks as are ever live at once."""
    return special_pools_plan(allocator, events, [(size, True) for size in classes], alignment)
