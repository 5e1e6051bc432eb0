# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring on several traces, made from all of them at once.

They are those of one trace, made from the joined traces; and two kinds more, which cost most on
one trace and lose least on others: sizes set aside for their worst case, and each plan of budgets
over `best_fit`, which needs no luck with the region's end.
"""

from __future__ import annotations

from dataclasses import replace

from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio, skip_duplicate
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.budgets import greedy_budgets
from heapfit.design.effort import Effort
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.portfolio import split_applicable, standard_portfolio
from heapfit.design.space import every_plan, move_over
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace

SHARED = "best_fit"
_WORST_CASE = "a pool for each size, at its largest peak in any trace"


def robust_portfolio(
    joined: LoadedTrace, options: PlanOptions, progress: Progress = ignore_progress
) -> Portfolio:
    """All candidates for the traces that `joined` consists of."""
    portfolio = _base_portfolio(joined, options, progress)
    candidates: list[Candidate | NotApplicable] = [*portfolio.candidates, *_worst_case(joined)]
    budgeted = [candidate for candidate in portfolio.candidates if _is_over_standard(candidate)]
    candidates += [
        skip_duplicate(move_over(one, SHARED, f"_{SHARED}"), portfolio.candidates)
        for one in budgeted
    ]
    names = {one.name for one in budgeted}
    candidates += [
        replace(entry, name=f"{entry.name}_{SHARED}", same_as=f"{entry.same_as}_{SHARED}")
        for entry in portfolio.not_applicable
        if entry.same_as in names
    ]
    return split_applicable([*portfolio.not_applicable, *candidates])


def _base_portfolio(joined: LoadedTrace, options: PlanOptions, progress: Progress) -> Portfolio:
    """The candidates of one trace; equal plans may differ where a trace is left out."""
    if options.effort == Effort.LONG:
        return split_applicable(every_plan(joined, options, progress))
    return standard_portfolio(joined, options, progress)


def _worst_case(joined: LoadedTrace) -> list[Candidate | NotApplicable]:
    """The worst case as pools alone, which serve no other size, and as budgets over a heap."""
    names = f"{special_pools.ALLOCATOR}_worst_case", f"{greedy_budgets.ALLOCATOR}_worst_case"
    try:
        pools = static_pools.worst_case_plan(special_pools.ALLOCATOR, joined)
    except HeapfitError as error:
        return [NotApplicable(name, str(error)) for name in names]
    alone = special_pools.link_free_blocks(pools)
    shared = Plan(SHARED, {"alignment": joined.alignment})
    over = replace(pools, allocator=greedy_budgets.ALLOCATOR, shared=shared)
    reason = f"{_WORST_CASE}, over {SHARED}"
    return [
        Candidate(names[0], Heap(names[0], alone), _WORST_CASE, trained_on_this_trace=True),
        Candidate(names[1], Heap(names[1], over), reason, trained_on_this_trace=True),
    ]


def _is_over_standard(candidate: Candidate) -> bool:
    """True for budgets over the standard shared heap that are no setting of a grid."""
    plan = candidate.plan
    return (
        ":" not in candidate.name
        and plan.allocator == greedy_budgets.ALLOCATOR
        and plan.shared is not None
        and plan.shared.allocator == special_pools.SHARED
    )
