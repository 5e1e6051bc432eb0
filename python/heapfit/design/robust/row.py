# SPDX-License-Identifier: Apache-2.0
"""One candidate of a design for several traces: what it needs on those seen and not seen."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit import _engine
from heapfit.comparison.margin import MarginKind, margin_kind
from heapfit.plan.allocators import counts_blocks
from heapfit.plan.plan import LARGEST_REGION, Plan

MARGINS = (0, 1, 2, 5, 10, 20)  # percent above the region that the seen traces ask for
_STEP = _engine.REGION_UNIT


@dataclass(frozen=True, slots=True)
class RobustRow:
    """One candidate on all traces; regions in bytes, None where none below 4 GiB works.

    Of a design for the choice alone, what decides nothing is empty: each trace's regions, margins.
    """

    name: str
    reason: str  # why it was tried, one line
    plan: Plan  # made from all traces
    is_trained: bool  # on them; otherwise it is the same whatever the traces
    regions: tuple[int | None, ...]  # R_safe of the plan on each trace
    region: int | None  # what the objective says of these
    unseen_regions: tuple[int | None, ...]  # R_safe on each trace, of the plan made without it
    unseen_region: int | None  # what the objective says of these
    run_out: tuple[int, ...]  # traces, of those not seen, that run out at each margin
    held: tuple[bool, ...]  # each trace in the heap that was to be set without it, for its peak
    has_unseen: bool  # some traces were left out, each from the making of a plan

    @property
    def is_cut(self) -> bool:
        """Whether the blocks it holds were counted on the traces, as in pools and budgets."""
        return self.is_trained and counts_blocks(self.plan)

    @property
    def kind(self) -> MarginKind:
        """Which margin it needs."""
        return margin_kind(self.plan, self.is_trained)

    @property
    def needed(self) -> int | None:
        """What ranks it: the region of unseen traces, where some were left out."""
        return self.unseen_region if self.has_unseen else self.region

    @property
    def safe_margin(self) -> int | None:
        """The least margin, in percent, from which no unseen trace runs out."""
        failing = [i for i, count in enumerate(self.run_out) if count > 0]
        first = failing[-1] + 1 if failing else 0
        return MARGINS[first] if first < len(self.run_out) else None

    @property
    def safe_region(self) -> int | None:
        """The region of all traces with that margin."""
        if self.region is None or self.safe_margin is None:
            return None
        return with_margin(self.region, self.safe_margin)


def with_margin(region: int, percent: int) -> int:
    """The region and so many percent more, which makes it a multiple of 8 bytes."""
    if percent == 0:
        return region
    return min(
        -(-region * (100 + percent) // (100 * _STEP)) * _STEP, LARGEST_REGION // _STEP * _STEP
    )
