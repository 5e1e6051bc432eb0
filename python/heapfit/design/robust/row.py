# SPDX-License-Identifier: Apache-2.0
"""One candidate of a design for several traces: what it needs on them and on hold-out traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit import _engine
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.margin import MarginBasis, MarginKind, margin_kind
from heapfit.plan.allocators import counts_blocks
from heapfit.plan.plan import LARGEST_REGION, Plan

MARGINS = (0, 1, 2, 5, 10, 20)  # percent above the region that the seen traces ask for
_STEP = _engine.REGION_UNIT


@dataclass(frozen=True, slots=True)
class RobustRow:
    """One candidate on all traces; regions in bytes, None where none below 4 GiB works.

    In a design for the choice alone, each trace's regions and margins may be empty.
    """

    name: str
    reason: str  # why it was tried, one line
    plan: Plan  # made from all traces
    is_trained: bool  # on them; otherwise it is the same whatever the traces
    regions: tuple[int | None, ...]  # R_safe of the plan on each trace
    region: int | None  # the largest of these
    unseen_regions: tuple[int | None, ...]  # R_safe on each trace, of the plan made without it
    unseen_region: int | None  # the largest of these
    run_out: tuple[int, ...]  # hold-out traces that run out of memory at each margin
    held: tuple[bool, ...]  # true for each trace that runs in the heap set without it
    has_unseen: bool  # there are hold-out traces, each left out of making a plan
    changes: ChangeTest | None = None  # None: not tried, as it cannot win

    @property
    def is_cut(self) -> bool:
        """True if the blocks it holds were counted on the traces, as in pools and budgets."""
        return self.is_trained and counts_blocks(self.plan)

    @property
    def kind(self) -> MarginKind:
        """The kind of plan, which decides the margin that it needs."""
        return margin_kind(self.plan, self.is_trained)

    def basis(self, recordings: int, u_max: int) -> MarginBasis:
        """What the row's margin rests on, beside the recordings and their peak."""
        needed = 0.0 if self.changes is None else self.changes.needed
        return MarginBasis(recordings, u_max, self.kind, needed)

    @property
    def is_trace_specific(self) -> bool:
        """True if a small change of the program needs too much more of the plan."""
        return self.basis(1, 0).is_trace_specific

    @property
    def needed(self) -> int | None:
        """The region that ranks the row: that of hold-out traces, if there are some."""
        return self.unseen_region if self.has_unseen else self.region

    @property
    def safe_margin(self) -> int | None:
        """The least margin, in percent, from which no hold-out trace runs out of memory."""
        failing = [i for i, count in enumerate(self.run_out) if count > 0]
        first = failing[-1] + 1 if failing else 0
        return MARGINS[first] if first < len(self.run_out) else None

    @property
    def safe_region(self) -> int | None:
        """The region of all traces with the safe margin, in bytes."""
        if self.region is None or self.safe_margin is None:
            return None
        return with_margin(self.region, self.safe_margin)


def find_largest(regions: Sequence[int | None]) -> int | None:
    """The largest of some regions; None if one of them is, or there are none.

    >>> find_largest([8, 16]), find_largest([8, None]), find_largest([])
    (16, None, None)
    """
    known = [one for one in regions if one is not None]
    return max(known, default=None) if len(known) == len(regions) else None


def with_margin(region: int, percent: int) -> int:
    """The region and `percent` % more, rounded up to a multiple of 8 bytes."""
    if percent == 0:
        return region
    return min(
        -(-region * (100 + percent) // (100 * _STEP)) * _STEP, LARGEST_REGION // _STEP * _STEP
    )
