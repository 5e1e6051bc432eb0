# SPDX-License-Identifier: Apache-2.0
"""What to set a heap to: the region that its recordings need, for a peak, and a margin.

A recording is not the future. Beyond the growth of its load, another run of the same program needs
somewhat more, since its requests come in another order; how much was measured (docs/margin.md, by
bench/second_runs.py) and depends on how many runs are known, how large the heap is, and whether
the plan learned from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import LARGEST_REGION, Plan
from heapfit.plan.plan_file import MOST_MARGIN

UNIT = 8  # bytes: regions are multiples of it
SMALL_PEAK = 64 * 1024  # bytes live: below, a few blocks that lie elsewhere change the region
ENOUGH_OF_SMALL = 4  # recordings that carry an answer for a small heap
_LISTS_AXIS = 3  # of an allocator's axes (hfit/descriptor.h): which free lists there are
_ONE_LIST = ("one", "exact sizes and one general")


@dataclass(frozen=True, slots=True)
class Known:
    """What a margin depends on."""

    runs: int  # recordings that the plan was chosen by
    u_max: int  # most live bytes of any of them
    kind: str  # of the plan: PLAIN, PLACED, ADDRESSED or LISTED


PLAIN = "plain"
PLACED = "placed"
ADDRESSED = "by address"
LISTED = "listed"


@dataclass(frozen=True, slots=True)
class _Margins:
    """Percent, from one recording, two, three, and four or more."""

    below: float  # bytes live at the peak
    plain: tuple[float, float, float, float]  # no size or site is treated as the recordings say
    placed: tuple[float, float, float, float]  # where blocks go was learned from them
    addressed: tuple[float, float, float, float]  # large holes lie in one list, by address
    listed: tuple[float, float, float, float]  # likewise, in no order


# Where each figure comes from, and how far beyond it other plans went: docs/margin.md.
_TABLE = (
    _Margins(SMALL_PEAK, (19, 17, 17, 11), (18, 14, 14, 11), (19, 17, 17, 11), (19, 17, 17, 11)),
    _Margins(128 * 1024, (2, 2, 2, 2), (5, 3, 3, 3), (5, 3, 3, 3), (51, 51, 51, 51)),
    _Margins(512 * 1024, (2, 2, 2, 2), (3.5, 2, 2, 2), (4, 2, 2, 2), (51, 51, 51, 51)),
    _Margins(math.inf, (2, 2, 2, 2), (2, 2, 2, 2), (4, 2, 2, 2), (34, 34, 34, 34)),
)


def kind_of(plan: Plan, is_trained: bool) -> str:
    """Which column of the margins holds for a plan; `is_trained` on the recordings."""
    if is_trained:
        return PLACED
    (info,) = find_allocators([plan.allocator])
    if info.axes[_LISTS_AXIS].text not in _ONE_LIST:
        return PLAIN
    return ADDRESSED if plan.scalars.get("list", 0) else LISTED


def margin_for(known: Known) -> float:
    """Percent that another run may need beyond the growth of its load."""
    margins = next(one for one in _TABLE if known.u_max < one.below)
    by_runs: tuple[float, ...] = {
        PLAIN: margins.plain,
        PLACED: margins.placed,
        ADDRESSED: margins.addressed,
        LISTED: margins.listed,
    }[known.kind]
    return by_runs[min(known.runs, len(by_runs)) - 1]


def enough_recordings(u_max: int) -> int:
    """How many recordings carry an answer for a heap with so many bytes live at the peak."""
    return ENOUGH_OF_SMALL if u_max < SMALL_PEAK else 1


def is_enough(known: Known) -> bool:
    """Whether so many recordings carry an answer for a heap of this size."""
    return known.runs >= enough_recordings(known.u_max)


@dataclass(frozen=True, slots=True)
class HeapSize:
    """What to set a heap to, and what that is made of; bytes, but for the margin."""

    r_safe: int  # what the recordings need: the largest of their R_safe
    u_max: int  # most live bytes of any of them
    peak: int  # live bytes that the heap is for; at least u_max
    margin: float  # percent

    @property
    def region(self) -> int:
        """R_safe / U_max x peak x (1 + margin), up to a multiple of 8.

        A smaller peak makes no smaller region, as smaller heaps are relatively more broken up.

        >>> HeapSize(90_296, 87_384, 87_384, 2).region
        92104
        """
        return self.region_with(self.margin)

    def region_with(self, margin: float) -> int:
        """The region with another margin."""
        growth = Fraction(max(self.peak, self.u_max), max(self.u_max, 1))
        exact = self.r_safe * growth * (1 + Fraction(str(margin)) / 100)
        return min(math.ceil(exact / UNIT) * UNIT, LARGEST_REGION // UNIT * UNIT)


def heap_size(
    r_safe: int, known: Known, peak: int | None = None, margin: float | None = None
) -> HeapSize:
    """For the recordings' own peak with the measured margin, unless others are asked for."""
    percent = margin_for(known) if margin is None else min(margin, MOST_MARGIN)
    return HeapSize(r_safe, known.u_max, max(peak or 0, known.u_max), percent)


def largest_r_safe(
    region: int, known: Known, peak: int | None = None, margin: float | None = None
) -> int:
    """The largest R_safe whose `heap_size` has at most such a region; a multiple of 8.

    >>> largest_r_safe(92_104, Known(1, 87_384, PLAIN)), heap_size(90_304, Known(1, 87_384, PLAIN))
    (90296, HeapSize(r_safe=90304, u_max=87384, peak=87384, margin=2))
    """
    fits, exceeds = 0, region // UNIT + 1  # multiples: what fits with its margin, what does not
    while exceeds - fits > 1:
        middle = (fits + exceeds) // 2
        is_in = heap_size(middle * UNIT, known, peak, margin).region <= region
        fits, exceeds = (middle, exceeds) if is_in else (fits, middle)
    return fits * UNIT
