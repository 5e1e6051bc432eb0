# SPDX-License-Identifier: Apache-2.0
"""The size classes of pools alone that take least memory, by dynamic programming.

Pools of sizes s_1 < ... < s_k serve each request from the smallest that fits. What pool j takes is
s_j times the most requests in (s_j-1, s_j] that are live at once. It depends on s_j and the class
before it only, so the best k classes follow from the best k - 1. Pools do not share memory, so more
classes may need more. Mamagkakis et al. 2005 judge their rule by internal fragmentation instead,
which bench/packet_pools.py cuts alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.pools.special_pools import MOST_POOLS
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Integers
from heapfit.trace.profile import sum_by_block

# Measured 2026-11-22 on the examples and four workloads. Only djgpp_test has more sizes (7,421):
# of it 512 would take 4 % less, 128 4 % more. Others lose up to 7 % with 128.
MOST_BOUNDS = 256  # sizes tried as classes
_MOST_WORK = 20_000_000_000  # ranges looked at, of all allocations: 5 s; 5 billion took 1.1 s


def best_classes(loaded: LoadedTrace) -> list[tuple[int, tuple[int, ...]]]:
    """The best 1, 2, ... and at most 16 size classes for the pools of a trace.

    Each has the sum of its pools' own peaks in bytes, and the sizes of their blocks, ascending. Of
    many sizes 256 at most are tried, those with most live bytes.
    """
    profile = loaded.profile
    sizes, (allocations, live) = sum_by_block(
        profile.sizes, loaded.alignment, profile.allocations, profile.peaks
    )
    bounds = _select_bounds(sizes, sizes * live, _bounds_for(int(allocations.sum())))
    range_peaks = _engine.range_peaks(loaded.events, bounds.tolist())
    peaks = range_peaks.reshape(len(bounds), len(bounds)).astype(np.int64) * bounds
    return [
        (int(peaks[[0, *(end + 1 for end in last[:-1])], last].sum()), tuple(bounds[last].tolist()))
        for last in cheapest_cuts(peaks, MOST_POOLS)
    ]


def cheapest_cuts(costs: Integers, most: int) -> list[list[int]]:
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
    ends: list[Integers] = []  # of the range before the last, for 2, 3, ... ranges
    cuts = [[count - 1]]
    for _ in range(1, min(most, count)):
        # Row i: the last range begins at i + 1.
        sums = np.where(is_range[1:], costs[1:] + cheapest[:-1, None], dear)
        ends.append(np.argmin(sums, axis=0))
        cheapest = np.minimum(np.min(sums, axis=0), dear)
        cuts.append(_backtrack(ends, count - 1))
    return cuts


def _backtrack(ends: list[Integers], last: int) -> list[int]:
    cut = [last]
    for end in reversed(ends):
        cut.append(int(end[cut[-1]]))
    return cut[::-1]


def _bounds_for(allocations: int) -> int:
    """How many sizes to try: an allocation lies in a sixth of all pairs of them on average."""
    return min(MOST_BOUNDS, max(int((6 * _MOST_WORK / max(allocations, 1)) ** 0.5), MOST_POOLS))


def _select_bounds(sizes: Integers, most_live: Integers, most: int) -> Integers:
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
    return np.asarray(sizes[is_last | (most_live * half >= total)])
