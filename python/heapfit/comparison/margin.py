# SPDX-License-Identifier: Apache-2.0
"""What to set a heap to: the region that its recordings need, for a peak, and one reserve.

A recording is not the future. The reserve answers at once for another run as long, for longer ones
where a length is asked for, and for changes of the program: by the load (forecast/load.py), by how
the allocator keeps its free blocks, and by trials of changed programs (docs/margin.md).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final

import numpy as np

from heapfit.forecast.load import RARE, Load
from heapfit.plan.allocators import info_of, scalars_of
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import LARGEST_REGION, MOST_MARGIN

UNIT = 8  # bytes: regions are multiples of it
SMALL_PEAK = 64 * 1024  # bytes live: below, a few blocks that lie elsewhere change the region
ENOUGH_OF_SMALL = 4  # recordings that carry an answer for a small heap


class MarginKind(StrEnum):
    """What a plan learned from the recordings, or how its allocator keeps free blocks."""

    PLAIN = "plain"  # no size or site is treated as the recordings say
    PLACED = "placed"  # where blocks go was learned from the recordings
    BY_ADDRESS = "by address"  # large holes lie in one list, by address
    LISTED = "listed"  # large holes lie in one list, in no order
    UNKNOWN = "unknown"  # the allocator's descriptor leaves it out


_KIND_BY_LISTS: Final = {  # hfit_free_lists (hfit/descriptor.h)
    "none": MarginKind.PLAIN,
    "classes": MarginKind.PLAIN,
    "single": MarginKind.LISTED,
    "unknown": MarginKind.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class MarginBasis:
    """What a margin depends on: the recorded load, the kind of plan, and its own changes."""

    load: Load
    kind: MarginKind  # of the plan
    changes: float = 0.0  # percent that changed programs needed beyond R_safe / U_max; 0: untried

    @property
    def is_enough(self) -> bool:
        """True if so many recordings suffice for a heap of this size."""
        return self.load.runs >= enough_recordings(self.load.u_max) and not self.load.is_start


# Percent that a heap needs in any run, by how it keeps large holes: where order is left to chance,
# runs differ more (docs/margin.md, by bench/second_runs.py).
_FLOORS: Final = {
    MarginKind.PLAIN: ((0.0,), (2.0,)),
    MarginKind.PLACED: ((0.0,), (2.0,)),
    MarginKind.BY_ADDRESS: ((0.0,), (4.0,)),
    MarginKind.LISTED: ((16.0, 17.0, 19.0, 20.0), (23.0, 51.0, 51.0, 34.0)),  # at 2^16 bytes live
}
_FLOORS[MarginKind.UNKNOWN] = _FLOORS[MarginKind.LISTED]


def margin_kind(plan: Plan, is_trained: bool) -> MarginKind:
    """The kind of margin that a plan needs; `is_trained`: it learned from the recordings."""
    info = info_of(plan)
    kind = _KIND_BY_LISTS[info.free_lists]
    if kind is MarginKind.UNKNOWN:
        return kind
    if is_trained:
        return MarginKind.PLACED
    is_by_address = info.address_order is not None and scalars_of(plan)[info.address_order] != 0
    return MarginKind.BY_ADDRESS if is_by_address else kind


def adapt_basis(known: MarginBasis, plan: Plan, changes: float = 0.0) -> MarginBasis:
    """What the margin of another heap for the same recordings rests on; it did not learn from them.

    `changes`: percent that changed programs needed of it; 0: untried.
    """
    return replace(known, kind=margin_kind(plan, False), changes=changes)


def margin_for(known: MarginBasis, times: float = 1.0, chance: float = RARE) -> float:
    """Percent that another run, or a changed program, may need beyond the growth of its load.

    A run `times` as long as the recordings needs more with this chance, on average over loads.

    >>> margin_for(MarginBasis(Load((87_384,)), MarginKind.PLACED, changes=18.11))
    19.0
    """
    percent = max(
        float(np.interp(math.log2(max(known.load.u_max, 1)), *_FLOORS[known.kind])),
        known.changes,
        known.load.reserve(times, chance),
    )
    return math.ceil(round(10 * percent, 6)) / 10


def enough_recordings(u_max: int) -> int:
    """How many recordings suffice for a heap with `u_max` bytes live at the peak."""
    return ENOUGH_OF_SMALL if u_max < SMALL_PEAK else 1


@dataclass(frozen=True, slots=True)
class HeapSize:
    """What to set a heap to, and the figures behind it; bytes, but for the margin."""

    r_safe: int  # what the recordings need: the largest of their R_safe
    u_max: int  # most live bytes of any of them
    peak: int  # live bytes that the heap is for; at least u_max
    margin: float  # percent

    @property
    def region(self) -> int:
        """R_safe / U_max x peak x (1 + margin), up to a multiple of 8.

        A smaller peak makes no smaller region, as smaller heaps are relatively more fragmented.

        >>> HeapSize(90_296, 87_384, 87_384, 2).region
        92104
        """
        return self.region_with(self.margin)

    def region_with(self, margin: float) -> int:
        """The region with another margin."""
        growth = Fraction(max(self.peak, self.u_max), max(self.u_max, 1))
        exact = self.r_safe * growth * (1 + Fraction(str(margin)) / 100)
        return min(math.ceil(exact / UNIT) * UNIT, LARGEST_REGION // UNIT * UNIT)

    def margin_to(self, region: int) -> float:
        """The least margin, in steps of 0.1 %, that makes at least such a region.

        >>> HeapSize(90_296, 87_384, 87_384, 2).margin_to(99_000)
        9.7
        """
        steps = (step / 10 for step in range(10 * MOST_MARGIN))
        return next((one for one in steps if self.region_with(one) >= region), MOST_MARGIN)


def divide_by_peak(r_safe: int | None, u_max: int) -> float | None:
    """R_safe over the most live bytes, 1 or more; None where no region is safe, or none is live."""
    return r_safe / u_max if r_safe is not None and u_max else None


def heap_size(
    r_safe: int, known: MarginBasis, peak: int | None = None, margin: float | None = None
) -> HeapSize:
    """The heap size, by default for the recordings' peak and with the measured margin."""
    percent = margin_for(known) if margin is None else min(margin, MOST_MARGIN)
    return HeapSize(r_safe, known.load.u_max, max(peak or 0, known.load.u_max), percent)


def largest_r_safe(
    region: int, known: MarginBasis, peak: int | None = None, margin: float | None = None
) -> int:
    """The largest R_safe whose `heap_size` has at most such a region; a multiple of 8.

    >>> known = MarginBasis(Load((87_384,)), MarginKind.PLAIN)
    >>> largest_r_safe(107_456, known), heap_size(90_304, known)
    (90296, HeapSize(r_safe=90304, u_max=87384, peak=87384, margin=19.0))
    """
    return UNIT * bisect_left(
        range(1, region // UNIT + 1),
        True,
        key=lambda units: heap_size(units * UNIT, known, peak, margin).region > region,
    )
