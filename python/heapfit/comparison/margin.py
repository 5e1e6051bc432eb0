# SPDX-License-Identifier: Apache-2.0
"""What to set a heap to: the region that its recordings need, for a peak, and a margin.

A recording is not the future. Beyond the growth of its load, another run of the same program needs
somewhat more, since its requests come in another order; how much was measured (docs/margin.md, by
bench/second_runs.py) and depends on how many runs are known, how large the heap is, and whether
the plan learned from them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Final

from heapfit.plan.allocators import find_allocators, scalars_of
from heapfit.plan.plan import LARGEST_REGION, Plan
from heapfit.plan.plan_file import MOST_MARGIN

UNIT = 8  # bytes: regions are multiples of it
SMALL_PEAK = 64 * 1024  # bytes live: below, a few blocks that lie elsewhere change the region
ENOUGH_OF_SMALL = 4  # recordings that carry an answer for a small heap
TRACE_SPECIFIC: Final = 10  # percent: a plan that changes of the program cost more is not advised


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
    """What a margin depends on: recordings, their peak, the kind of plan, and its own changes."""

    runs: int  # recordings that the plan was chosen by
    u_max: int  # most live bytes of any of them
    kind: MarginKind  # of the plan
    changes: float = 0.0  # percent that changed programs needed beyond R_safe / U_max; 0: untried

    @property
    def limit(self) -> float:
        """Percent that changes may cost at most; a heap that learned nothing suits any program."""
        may_have_learned = self.kind in (MarginKind.PLACED, MarginKind.UNKNOWN)
        return TRACE_SPECIFIC if may_have_learned else math.inf

    @property
    def is_trace_specific(self) -> bool:
        """True if the plan serves the recorded program and not its changes."""
        return self.changes > self.limit


_KINDS: Final = (MarginKind.PLAIN, MarginKind.PLACED, MarginKind.BY_ADDRESS, MarginKind.LISTED)
# Below so many bytes live at the peak, for each of these kinds: percent for one, two, three, and
# four or more recordings. Where each comes from, and how far beyond it others went: docs/margin.md.
_TABLE: Final[tuple[tuple[float, tuple[tuple[float, ...], ...]], ...]] = (
    (SMALL_PEAK, ((19, 18, 18, 12), (19, 18, 18, 12), (19, 18, 18, 12), (23, 22, 22, 21))),
    (128 * 1024, ((2, 2, 2, 2), (5, 3, 3, 3), (5, 3, 3, 3), (51, 51, 51, 51))),
    (512 * 1024, ((2, 2, 2, 2), (3.5, 2, 2, 2), (4, 2, 2, 2), (51, 51, 51, 51))),
    (math.inf, ((2, 2, 2, 2), (2, 2, 2, 2), (4, 2, 2, 2), (34, 34, 34, 34))),
)


def margin_kind(plan: Plan, is_trained: bool) -> MarginKind:
    """The kind of margin that a plan needs; `is_trained`: it learned from the recordings."""
    (info,) = find_allocators([plan.allocator])
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


def margin_for(known: MarginBasis) -> float:
    """Percent that another run, or a changed program, may need beyond the growth of its load.

    >>> margin_for(MarginBasis(1, 87_384, MarginKind.PLACED, changes=8.11))
    8.2
    """
    columns = next(columns for below, columns in _TABLE if known.u_max < below)
    by_kind = dict(zip(_KINDS, columns, strict=True))
    by_runs: tuple[float, ...] = by_kind.get(known.kind) or tuple(map(max, *columns))
    return max(
        by_runs[min(known.runs, len(by_runs)) - 1], math.ceil(round(10 * known.changes, 6)) / 10
    )


def enough_recordings(u_max: int) -> int:
    """How many recordings suffice for a heap with `u_max` bytes live at the peak."""
    return ENOUGH_OF_SMALL if u_max < SMALL_PEAK else 1


def is_enough(known: MarginBasis) -> bool:
    """True if so many recordings suffice for a heap of this size."""
    return known.runs >= enough_recordings(known.u_max)


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


def heap_size(
    r_safe: int, known: MarginBasis, peak: int | None = None, margin: float | None = None
) -> HeapSize:
    """The heap size, by default for the recordings' peak and with the measured margin."""
    percent = margin_for(known) if margin is None else min(margin, MOST_MARGIN)
    return HeapSize(r_safe, known.u_max, max(peak or 0, known.u_max), percent)


def largest_r_safe(
    region: int, known: MarginBasis, peak: int | None = None, margin: float | None = None
) -> int:
    """The largest R_safe whose `heap_size` has at most such a region; a multiple of 8.

    >>> known = MarginBasis(1, 87_384, MarginKind.PLAIN)
    >>> largest_r_safe(92_104, known), heap_size(90_304, known)
    (90296, HeapSize(r_safe=90304, u_max=87384, peak=87384, margin=2))
    """
    return UNIT * bisect_left(
        range(1, region // UNIT + 1),
        True,
        key=lambda units: heap_size(units * UNIT, known, peak, margin).region > region,
    )
