# SPDX-License-Identifier: Apache-2.0
"""Optimal size classes for designs of pools alone, by dynamic programming.

Pools of sizes s_1 < ... < s_k serve each request from the smallest that fits. What pool j costs
depends on s_j and the class before it only, so the best k classes follow from the best k - 1:

    least waste   cost(i, j) = bytes of internal fragmentation of all requests in (s_i, s_j]
    least peaks   cost(i, j) = s_j times the most requests in (s_i, s_j] live at once

The first is what Mamagkakis et al. 2005 judge their rule by. The second is the memory that the
pools take: they do not share it, so more classes may need more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.pools.special_pools import MOST_POOLS
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile, sum_by_block

Ints: TypeAlias = NDArray[np.int64]

# Measured 2026-11-22 on the examples and four workloads. Only djgpp_test has more sizes (7,421):
# of it 512 would take 4 % less, 128 4 % more. Others lose up to 7 % with 128.
MOST_BOUNDS = 256  # sizes tried as classes
_MOST_WORK = 20_000_000_000  # ranges looked at, of all allocations: 5 s; 5 billion took 1.1 s


@dataclass(frozen=True, slots=True)
class PoolClasses:
    """Size classes of pools, and what they cost in memory."""

    sizes: tuple[int, ...]  # of their blocks, ascending
    waste: float  # internal fragmentation over the bytes requested
    peaks: int  # sum of the pools' own peaks, in bytes


@dataclass(frozen=True, slots=True)
class BestClasses:
    """The best size classes for each number of pools, from 1."""

    least_waste: tuple[PoolClasses, ...]
    least_peaks: tuple[PoolClasses, ...]
    bounds: int  # sizes that could be a class
    sizes: int  # different ones after rounding: more than `bounds` where some were skipped

    @property
    def fewest_bytes(self) -> PoolClasses | None:
        """The classes that take least memory, whatever their number."""
        return min(self.least_peaks, key=lambda classes: classes.peaks, default=None)


def best_classes(loaded: LoadedTrace) -> BestClasses:
    """The best 1 to 16 size classes for the pools of a trace."""
    profile = loaded.profile
    requested = np.maximum(profile.sizes, 1) * profile.allocations
    columns = profile.allocations, requested, profile.peaks
    sizes, (allocations, asked, live) = sum_by_block(profile.sizes, loaded.alignment, *columns)
    bounds = _select_bounds(sizes, sizes * live, _bounds_for(int(allocations.sum())))
    waste = _waste_of_ranges(bounds, sizes, allocations, asked)
    range_peaks = _engine.range_peaks(loaded.events, bounds.tolist())
    peaks = range_peaks.reshape(len(bounds), len(bounds)).astype(np.int64) * bounds
    whole = max(int(asked.sum()), 1)

    def classes(last: list[int]) -> PoolClasses:
        ranges = list(zip([0, *[end + 1 for end in last[:-1]]], last, strict=True))
        return PoolClasses(
            tuple(bounds[last].tolist()),
            sum(int(waste[index_range]) for index_range in ranges) / whole,
            sum(int(peaks[index_range]) for index_range in ranges),
        )

    return BestClasses(
        tuple(map(classes, cheapest_cuts(waste, MOST_POOLS))),
        tuple(map(classes, cheapest_cuts(peaks, MOST_POOLS))),
        len(bounds),
        len(sizes),
    )


def classes_of(plan: Plan, profile: Profile) -> PoolClasses:
    """The size classes of a plan of pools, and their cost for the requests that they serve."""
    sizes = np.array([-(-pool.size // plan.alignment) * plan.alignment for pool in plan.pools])
    counts = np.array([pool.count for pool in plan.pools], np.int64)
    owners = plan.engine().pools_for(profile.sizes).astype(np.int64)
    is_served = owners != _engine.NO_POOL
    allocations = profile.allocations.astype(np.int64)[is_served]
    requested = int(profile.sizes.astype(np.int64)[is_served] @ allocations)
    given = int(sizes[owners[is_served]] @ allocations)
    waste = (given - requested) / max(requested, 1)
    return PoolClasses(tuple(sizes.tolist()), waste, int(sizes @ counts))


def cheapest_cuts(costs: Ints, most: int) -> list[list[int]]:
    """The last index of each range of the cheapest cut into 1, 2, ... up to `most` ranges.

    `costs[i, j]` is what the range from i to j costs, both included.

    >>> cheapest_cuts(np.array([[1, 4, 9], [0, 1, 4], [0, 0, 1]]), 3)
    [[2], [0, 2], [0, 1, 2]]
    """
    count = len(costs)
    if count == 0:
        return []
    is_range = np.tri(count, dtype=bool).T
    dear = np.int64(2**62)
    cheapest = costs[0].astype(np.int64)  # up to each index, in one range
    ends: list[Ints] = []  # of the range before the last, for 2, 3, ... ranges
    cuts = [[count - 1]]
    for _ in range(1, min(most, count)):
        # Row i: the last range begins at i + 1.
        sums = np.where(is_range[1:], costs[1:] + cheapest[:-1, None], dear)
        ends.append(np.argmin(sums, axis=0))
        cheapest = np.minimum(np.min(sums, axis=0), dear)
        cuts.append(_backtrack(ends, count - 1))
    return cuts


def _backtrack(ends: list[Ints], last: int) -> list[int]:
    cut = [last]
    for end in reversed(ends):
        cut.append(int(end[cut[-1]]))
    return cut[::-1]


def _bounds_for(allocations: int) -> int:
    """How many sizes to try: an allocation lies in a sixth of all pairs of them on average."""
    return min(MOST_BOUNDS, max(int((6 * _MOST_WORK / max(allocations, 1)) ** 0.5), MOST_POOLS))


def _select_bounds(sizes: Ints, most_live: Ints, most: int) -> Ints:
    """The largest, the heaviest and some other sizes, `most` at most.

    `most_live`: bytes of each; too many where sizes of one class peak at different times.
    """
    if len(sizes) <= most:
        return sizes
    half = most // 2 - 1
    so_far = np.cumsum(most_live)
    total = max(int(so_far[-1]), 1)
    share = so_far * half // total
    is_last: NDArray[np.bool_] = np.append(share[1:] != share[:-1], True)
    kept: Ints = sizes[is_last | (most_live * half >= total)]
    return kept


def _waste_of_ranges(bounds: Ints, sizes: Ints, allocations: Ints, requested: Ints) -> Ints:
    """Bytes of internal fragmentation if bounds[j] serves all sizes above bounds[i - 1]."""
    owner = np.searchsorted(bounds, sizes)
    counts, asked = np.zeros((2, len(bounds) + 1), np.int64)
    np.add.at(counts, owner + 1, allocations)
    np.add.at(asked, owner + 1, requested)
    counts, asked = np.cumsum(counts), np.cumsum(asked)
    inside = counts[None, 1:] - counts[:-1, None]
    waste: Ints = bounds * inside - (asked[None, 1:] - asked[:-1, None])
    return waste
