# SPDX-License-Identifier: Apache-2.0
"""What the checked recordings say of the next ones: the bytes they need, and the margin's end.

    bytes that all need  --> one reserve, as `fit` has it --> what 9 of 10 and 99 of 100 need
    bytes that each needs --> trend --> recordings until the heap is too small

What a recording needs is its own R where that was searched, else its peak times what the plan needs
for a byte of its own peak. The second tells a trend, but no bytes: `fit` searches every R, and one
heap has one need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.checks.margin import peak_of_plan
from heapfit.comparison.margin import MarginBasis, heap_size, margin_for
from heapfit.forecast.load import OWN_RUNS, RARE, USUAL
from heapfit.forecast.trend import find_trend
from heapfit.plan.plan_file import PlanFile

_CLEAR = 0.01  # p below which the needs have a trend


@dataclass(frozen=True, slots=True)
class MarginEnd:
    """When the region is too small, if needs grow as from one recording to the next."""

    growth: float  # bytes from one recording to the next
    after: float  # further recordings
    earliest: float
    latest: float | None  # None: it may not come


@dataclass(frozen=True, slots=True)
class Prospect:
    """What the recordings say of the next one."""

    runs: int  # that differ
    failed: int
    needed: tuple[int, int] | None  # bytes in which 9 of 10 and 99 of 100 further runs run
    margin_end: MarginEnd | None  # None: too few, or no trend


def find_prospect(
    needs: Sequence[float], failed: int, region: int, known: MarginBasis | None = None
) -> Prospect:
    """The prospect from the bytes that recordings need, in their order, of which some failed.

    `known`: what `fit` would take for these recordings; None: the needs were not all searched. Then
    there are no bytes, nor where the recordings are few or have a trend.
    """
    runs = len(needs)
    if runs < OWN_RUNS:
        return Prospect(runs, failed, None, None)
    end = _find_margin_end(needs, region)
    if end is not None or known is None:
        return Prospect(runs, failed, None, end)
    usual, rare = (
        heap_size(int(max(needs)), known, margin=margin_for(known, chance=one)).region
        for one in (USUAL, RARE)
    )
    return Prospect(runs, failed, (usual, rare), None)


def estimate_need(plan: PlanFile, peak: int, r_safe: int | None) -> float:
    """The bytes of region that a recording of this peak needs; `r_safe` where it was searched."""
    if r_safe is not None:
        return float(r_safe)
    planned = peak_of_plan(plan)
    if plan.margin is not None and plan.region is not None and planned:
        return peak * plan.region / (1 + plan.margin / 100) / planned
    return peak * plan.r_safe / plan.u_max if plan.r_safe and plan.u_max else float(peak)


def _find_margin_end(needs: Sequence[float], region: int) -> MarginEnd | None:
    trend = find_trend(needs)
    if trend.slope <= 0 or trend.p >= _CLEAR:
        return None
    levels = sorted(need + trend.slope * i for i, need in enumerate(reversed(needs)))
    left = max(0.0, region - levels[len(levels) // 2])
    latest = left / trend.low if trend.low > 0 else None
    return MarginEnd(trend.slope, left / trend.slope, left / trend.high, latest)
