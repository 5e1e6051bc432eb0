# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring on several traces, made from all of them at once.

They are those of one trace, made from the joined traces; and two kinds more, which cost most on
one trace and lose least on others: sizes set aside for their worst case, and each plan of budgets
over `best_fit`, which needs no luck with the region's end.
"""

from __future__ import annotations

from dataclasses import replace

from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio, once
from heapfit.design.budgets import greedy_budgets
from heapfit.design.effort import Effort
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.portfolio import sorted_out, standard_portfolio
from heapfit.design.space import every_plan
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace

SHARED = "best_fit"
MOST_SIZES = 256  # with a pool each; a plan of more is a long table in ROM
_WORST_CASE = "a pool for each size, at its largest peak in any trace"


def robust_portfolio(
    joined: LoadedTrace, options: PlanOptions, progress: Progress = no_progress
) -> Portfolio:
    """All candidates for the traces that `joined` consists of."""
    portfolio = _of_one(joined, options, progress)
    candidates: list[Candidate | NotApplicable] = [*portfolio.candidates, *_worst_case(joined)]
    budgeted = [one for one in portfolio.candidates if _is_over_standard(one)]
    candidates += [once(_over_best_fit(one), portfolio.candidates) for one in budgeted]
    names = {one.name for one in budgeted}
    candidates += [
        replace(one, name=f"{one.name}_{SHARED}", same_as=f"{one.same_as}_{SHARED}")
        for one in portfolio.not_applicable
        if one.same_as in names
    ]
    return Portfolio(
        tuple(one for one in candidates if isinstance(one, Candidate)),
        (*portfolio.not_applicable, *(one for one in candidates if isinstance(one, NotApplicable))),
    )


def _of_one(joined: LoadedTrace, options: PlanOptions, progress: Progress) -> Portfolio:
    """Those of one trace; plans that are equal here may differ where a trace is left out."""
    if options.effort == Effort.LONG:
        return sorted_out(every_plan(joined, options, progress))
    return standard_portfolio(joined, options, progress)


def _worst_case(joined: LoadedTrace) -> list[Candidate | NotApplicable]:
    """Pools alone, which refuse what they were not made for; and budgets, which need not."""
    names = f"{special_pools.ALLOCATOR}_worst_case", f"{greedy_budgets.ALLOCATOR}_worst_case"
    classes = static_pools.size_classes(joined.profile, joined.alignment)
    if len(classes) > MOST_SIZES or classes[-1] > special_pools.LARGEST_POOL:
        why = (
            f"{len(classes):,} sizes up to {classes[-1]:,} B are too many, or too large, for pools"
        )
        return [NotApplicable(name, why) for name in names]
    pools = static_pools.worst_case_plan(
        special_pools.ALLOCATOR, joined.events, classes, joined.alignment
    )
    alone = special_pools.linked(pools)
    shared = Plan(SHARED, {"alignment": joined.alignment})
    over = replace(pools, allocator=greedy_budgets.ALLOCATOR, shared=shared)
    reason = f"{_WORST_CASE}, over {SHARED}"
    return [
        Candidate(names[0], alone, _WORST_CASE, trained_on_this_trace=True),
        Candidate(names[1], over, reason, trained_on_this_trace=True),
    ]


def _is_over_standard(one: Candidate) -> bool:
    """Budgets over the shared heap that all have if nothing better is known; none of a grid."""
    plan = one.plan
    return (
        ":" not in one.name
        and plan.allocator == greedy_budgets.ALLOCATOR
        and plan.shared is not None
        and plan.shared.allocator == special_pools.SHARED
    )


def _over_best_fit(one: Candidate) -> Candidate:
    plan = replace(one.plan, shared=Plan(SHARED, {"alignment": one.plan.scalars["alignment"]}))
    return replace(
        one, name=f"{one.name}_{SHARED}", plan=plan, reason=f"{one.reason}; over {SHARED}"
    )
