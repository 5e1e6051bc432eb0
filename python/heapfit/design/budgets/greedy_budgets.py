# SPDX-License-Identifier: Apache-2.0
"""Budgets: for chosen sizes, as many dedicated blocks as never raise the peak (Lee and Yi 2008).

Which sizes to choose is left to the user in the paper. Two selections are tried here, both after
rounding to the alignment, which folds sizes that need equal blocks into one class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heapfit.design.pools.special_pools import LARGEST_POOL, SHARED
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile, sum_by_block

ALLOCATOR = "budgeted"
LARGEST_CLASSES = 4  # the paper's number
FREQUENT_CLASSES = 16  # the best single choice on 71 real traces


def largest_classes(loaded: LoadedTrace) -> list[int]:
    """The paper's 4 sizes with most bytes at the peak."""
    sizes, counts = loaded.live_at_peak()
    return classes_with_most(sizes, sizes * counts, loaded.alignment, LARGEST_CLASSES)


def frequent_classes(profile: Profile, alignment: int) -> list[int]:
    """The 16 sizes allocated most often."""
    return classes_with_most(profile.sizes, profile.allocations, alignment, FREQUENT_CLASSES)


def classes_with_most(
    sizes: NDArray[np.uint64], weights: NDArray[np.uint64], alignment: int, count: int
) -> list[int]:
    """The `count` sizes of most weight after rounding up to `alignment`, ascending.

    >>> import numpy as np
    >>> classes_with_most(np.array([33, 40, 64]), np.array([2, 2, 4]), 8, 1)
    [40]
    """
    classes, (totals,) = sum_by_block(sizes, alignment, weights)
    order = np.lexsort((classes, -totals))  # most weight first, then the smaller size
    fitting = [i for i in order.tolist() if totals[i] > 0 and classes[i] <= LARGEST_POOL]
    return [int(classes[i]) for i in sorted(fitting[:count])]


def plan_from_budgets(sizes: Sequence[int], counts: Sequence[int], alignment: int) -> Plan | None:
    """The plan of budgets N_i over a shared allocator; None if no N_i is above zero."""
    pools = tuple(
        Pool(size, count, is_exact=True)
        for size, count in zip(sizes, counts, strict=True)
        if count > 0
    )
    if not pools:
        return None
    scalars = {"alignment": alignment}
    return Plan(ALLOCATOR, scalars, pools, Plan(SHARED, scalars))
