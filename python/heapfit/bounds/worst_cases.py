# SPDX-License-Identifier: Apache-2.0
"""Worst cases: the memory a plan needs at most for any requests within limits, proven.

The limits are a profile's: its sizes, of each no more blocks live at once than P_i,max, and no more
live bytes than U_max. When an allocator that joins free neighbours refuses a request, every hole is
too small for it, and there is at most one hole more than live blocks:

    | block | hole | block | block | hole | ... | hole |      holes <= blocks + 1

So what the region holds is at most the largest sum, over the blocks the limits allow, of a block
and a hole each. That sum is bounded by filling the live bytes with the blocks that take most for
each byte asked for (the fractional knapsack of Dantzig 1957).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, log2

import numpy as np

from heapfit import _engine
from heapfit.plan.allocators import limit_of
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import RESIZE, Integers

_MOST_REFUSED = 256  # sizes tried as the one that is refused; with more, the largest alone


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that a program keeps to."""

    sizes: Integers  # bytes, ascending
    peaks: Integers  # most blocks of each size live at once, P_i,max
    live: int  # most bytes live at once, U_max
    alignment: int = 1  # the largest that a request asks for
    copied: int = 0  # the largest block that a resize may move, for a while live twice
    count: int = 0  # most blocks live at once

    @classmethod
    def of_trace(cls, loaded: LoadedTrace) -> Limits:
        """The limits that a trace kept to."""
        profile, asked = loaded.profile, loaded.trace.largest_alignment
        sizes, peaks = profile.sizes.astype(np.int64), profile.peaks.astype(np.int64)
        copied = int(sizes.max()) if profile.operations[RESIZE] else 0
        return cls(sizes, peaks, profile.u_max, asked, copied, profile.live_blocks_max)

    def max_weight(self, weights: Integers) -> int:
        """The largest total weight of any blocks within the limits.

        >>> Limits(np.array([10, 30]), np.array([2, 9]), 50).max_weight(np.array([16, 32]))
        64
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(self.sizes > 0, weights / self.sizes, np.inf)
        order = np.argsort(-worth, kind="stable")
        asked = np.cumsum(self.sizes[order] * self.peaks[order])
        whole = int(np.searchsorted(asked, self.live, side="right"))
        total = int((weights[order[:whole]] * self.peaks[order[:whole]]).sum())
        if whole < len(order):
            size, weight = int(self.sizes[order[whole]]), int(weights[order[whole]])
            left = self.live - (int(asked[whole - 1]) if whole else 0)
            total += -(-left * weight // size)
        return total

    def max_blocks(
        self, block: Callable[[Integers], Integers], unit: int, header: int, spare: int = 0
    ) -> tuple[int, int, int]:
        """Bytes of blocks live at once at most, of whatever sizes, how many, and the largest.

        `block` gives the bytes that a request takes, in whole units, `header` included; each may
        have `spare` bytes more. For every price of a byte no blocks take more than
        price * live + count * max(block(s) - price * s). Taken is the best price, which is a slope
        between two sizes from which on blocks are larger.
        """
        least, largest = block(np.array([0, asked := int(self.sizes[-1])])).tolist()
        live, count = self.live + self.copied, self.count + (self.copied > 0)
        ends = np.array([header - 1, least, largest - unit, *1 << np.arange(32)]) - header + 1
        sizes = np.unique(np.clip(ends, 0, asked))
        blocks = block(sizes)
        first, second = np.triu_indices(len(sizes), 1)
        slopes = (blocks[second] - blocks[first]) / (sizes[second] - sizes[first])
        prices = np.append(slopes, 0.0)[:, None]
        most = prices[:, 0] * live + count * (blocks - prices * sizes).max(axis=1)
        # The factor is above what floats round off.
        return int(most.min() * (1 + 1e-12)) // unit * unit + count * spare, count, largest

    def exclude_block(self, number: int) -> Limits:
        """The limits for the other blocks while one of a size is requested."""
        peaks = self.peaks.copy()
        peaks[number] -= 1
        return replace(self, peaks=peaks, live=self.live - int(self.sizes[number]))


class Premise(StrEnum):
    """The requests that a bound holds for, besides the most live bytes."""

    THIS_TRACE = "the order of this trace"
    THESE_SIZES = "any order of these blocks"
    ANY_NUMBER = "any order and number of such blocks"
    ANY_SIZES = "any order of any sizes up to the largest"


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The memory that is needed at most, whatever requests come within the premise."""

    name: str
    size: int  # bytes
    why: str  # the formula and its source
    premise: Premise


def least_of_any(limits: Limits) -> int:
    """The least memory that any allocator can promise for programs within the limits, in bytes.

    M (1 + log2(n) / 2) - n + 1 for sizes that are powers of two from 1 to n, in units of the
    smallest size, M a multiple of n (Robson 1974, "Bounds for some functions concerning dynamic
    storage allocation").

    >>> least_of_any(Limits(np.array([8, 70]), np.array([1, 1]), 560))  # n = 8, M = 64
    1224
    """
    asked = limits.sizes[(limits.sizes > 0) & (limits.peaks > 0)]
    if len(asked) == 0:
        return limits.live
    unit = int(asked.min())
    n = 1 << ((int(asked.max()) // unit).bit_length() - 1)
    return max(limits.live, robson(limits.live // (unit * n) * (unit * n), unit * n, unit))


def robson(live: int, largest: int, unit: int = 8) -> int:
    """M (1 + log2(n) / 2) - n + 1 for powers of two in units of some bytes (Robson 1974).

    >>> robson(64, 32)  # 8 units live, the largest of 4: 8 (1 + 1) - 4 + 1
    104
    """
    units, most = -(-live // unit), max(largest // unit, 1)
    return unit * ceil(units * (1 + log2(most) / 2) - most + 1)


def worst_case(plan: Plan, limits: Limits) -> WorstCase | None:
    """The least region that is proven to serve all within the limits, control included.

    None where nothing is proven: allocators that do not join free neighbours, pools that may run
    out with nothing behind them, requests that ask for more than the plan's alignment.
    """
    if len(limits.sizes) == 0 or limits.alignment > plan.alignment:
        return None
    engine, heap, before = plan.engine(), plan, ""
    limits = replace(limits, live=limits.live + limits.copied)
    if plan.pools or limit_of(plan) == "blocks":
        if _can_serve_all(plan, engine, limits):
            why = "no pool can run out: each has as many blocks as the limits allow"
            return WorstCase(plan.allocator, engine.smallest_region, why, Premise.THESE_SIZES)
        if plan.shared is None:
            return None
        heap, before = plan.shared, "pools, and "
        limits = limits if engine.tries_other_pools else _limit_shared_heap(engine, limits)
    room = _room_of(heap, limits)
    region = None if room is None else _region_with_room(engine, room[0])
    if room is None or region is None:
        return None
    return WorstCase(plan.allocator, region, before + room[1], Premise.THESE_SIZES)


def _can_serve_all(plan: Plan, engine: _engine.Plan, limits: Limits) -> bool:
    if limit_of(plan) == "blocks":
        size, blocks = engine.scalars["block_size"], engine.scalars["blocks"]
        return (
            int(limits.sizes[-1]) <= size
            and limits.max_weight(np.ones_like(limits.sizes)) <= blocks
        )
    first = engine.pools_for(limits.sizes.astype(np.uint64))
    if (first[limits.peaks > 0] == _engine.NO_POOL).any():
        return False
    counts = (limits.max_weight((first == i).astype(np.int64)) for i in range(len(engine.pools)))
    return all(needed <= pool[1] for needed, pool in zip(counts, engine.pools, strict=True))


def _limit_shared_heap(engine: _engine.Plan, limits: Limits) -> Limits:
    """The limits for a shared heap behind budgets: of a pool's only size at most P_i - N_i.

    A request goes there only while its pool is full.
    """
    first = engine.pools_for(limits.sizes.astype(np.uint64))
    peaks = limits.peaks.copy()
    for i, pool in enumerate(engine.pools):
        (members,) = np.nonzero(first == i)
        if len(members) == 1:
            peaks[members[0]] = max(0, int(peaks[members[0]]) - pool[1])
    return replace(limits, peaks=peaks)


def _room_of(plan: Plan, limits: Limits) -> tuple[int, str] | None:
    """Bytes of chunks that serve all requests, and the reason; without control structures."""
    holes, unit = plan.engine().holes(limits.live), plan.alignment
    if holes is None:
        return None
    chunks = chunk_sizes(limits.sizes, holes, unit)
    found = chunks + (chunks >> holes.class_log2) if holes.class_log2 else chunks
    room = _with_holes(limits, chunks, found, unit, holes.spare)
    if holes.is_by_address:
        return min(room, _bound_first_fit(limits, chunks + holes.spare, unit))
    return room


def chunk_sizes(sizes: Integers, holes: _engine.Holes, unit: int) -> Integers:
    """The bytes of chunks for requests, in whole units."""
    rounded: Integers = -(-(np.maximum(sizes, 1) + holes.header) // unit) * unit
    return np.maximum(rounded, holes.smallest_chunk)


def _with_holes(
    limits: Limits, chunks: Integers, found: Integers, unit: int, spare: int
) -> tuple[int, str]:
    """The bytes of the live blocks with a hole each and one more hole, smaller than `found`.

    `spare`: bytes at most that a chunk is larger than asked for, as they were not split off.
    """
    (asked,) = np.nonzero(limits.peaks > 0)
    if len(asked) == 0:
        return 0, "nothing is requested"
    if len(asked) > _MOST_REFUSED:
        hole = _largest_chunk_below(int(found[asked].max()), unit)
        needed = limits.max_weight(chunks + spare + hole) + hole + int(chunks[asked].max())
    else:
        needed = max(
            limits.exclude_block(number).max_weight(chunks + spare + hole) + hole + unit
            for number in asked.tolist()
            for hole in [_largest_chunk_below(int(found[number]), unit)]
        )
    return needed, "when a request fails, every hole is too small and has a live neighbour"


def _bound_first_fit(limits: Limits, chunks: Integers, unit: int) -> tuple[int, str]:
    largest = int(chunks[limits.peaks > 0].max()) // unit
    return (
        limits.max_weight(chunks) * (1 + ceil(log2(largest))),
        "M (1 + ceil(log2 n)) for first fit by address (Robson 1977)",
    )


def _largest_chunk_below(found: int, unit: int) -> int:
    """The largest chunk of fewer than `found` bytes."""
    return (found - 1) // unit * unit


def _region_with_room(engine: _engine.Plan, needed: int) -> int | None:
    """The least region found whose largest free chunk is `needed` bytes when nothing is live."""
    region = max(engine.smallest_region, needed)
    while region <= LARGEST_REGION:
        missing = needed - _engine.largest_free(engine, region)
        if missing <= 0:
            return region
        region += -(-missing // 8) * 8
    return None
