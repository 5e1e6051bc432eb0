# SPDX-License-Identifier: Apache-2.0
"""The share of a plan's margin, kept for runs that were not recorded, that a recording uses.

    region = R / U_max of the recordings x peak x (1 + margin)
             |------ without the margin ------|-- margin --|

A higher peak takes from it as the region is reckoned. What a fragmented heap takes is seen only in
a search of the recording's own R.
"""

from __future__ import annotations

from heapfit.plan.plan_file import PlanFile


def margin_eaten(plan: PlanFile, peak: int, r_safe: int | None) -> float | None:
    """The share of the margin that is used, in percent: 0 and less are none, above 100 is all.

    `peak` is the recording's, in bytes; `r_safe` its own on the plan, None if it was not searched.
    None where the plan does not tell what it is reckoned from, or has no margin.
    """
    planned = peak_of_plan(plan)
    if not plan.margin or not planned or plan.region is None:
        return None
    by_load = 100 * (100 * (peak - planned) / planned) / plan.margin
    if r_safe is None:
        return by_load
    without = plan.region / (1 + plan.margin / 100)
    return max(by_load, (r_safe - without) / (plan.region - without) * 100)


def peak_of_plan(plan: PlanFile) -> int:
    """The live bytes that the plan's region is for; 0 if it does not say."""
    return plan.u_max if plan.peak is None else plan.peak
