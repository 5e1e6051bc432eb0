# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring for a trace, each with why it is tried or why it does not apply.

The standard ones are a list of makers. A user may name others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio, once
from heapfit.comparison.incumbents.heaps import SIMULATED, find_heap, is_simulated
from heapfit.comparison.incumbents.requests import as_served, requests_of
from heapfit.comparison.jobs import Contestants
from heapfit.design.budgets import greedy_budgets
from heapfit.design.budgets.candidates import budget_candidates
from heapfit.design.budgets.choice import PUBLISHED_BUDGETS
from heapfit.design.effort import Effort
from heapfit.design.placement.sized_plans import ALLOCATOR, LIMITED, sized_two_ends
from heapfit.design.placement.sized_plans import TWO_ENDS as SIZED_TWO_ENDS
from heapfit.design.placement.tailored_plans import (
    NOT_LEARNED,
    tailored_as_it_is,
    tailored_candidates,
)
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.pools.best_classes import BestClasses, best_classes
from heapfit.design.pools.candidates import (
    by_histogram,
    by_special_sizes,
    equal_buffers,
    for_worst_case,
    with_least_peaks,
)
from heapfit.design.search.replayed import search_plans
from heapfit.design.search.starts import search_starts
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, is_for_any_program, takes_pools
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.values import named_values
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import numbered

SHARED_HEAPS = ("tlsf", "best_fit", "first_fit", "tailored")  # that pools are tried over

_BY_ADDRESS = "first_fit:list=1"  # the better order (docs/design.md)

_SHOWN = ("tlsf", "best_fit", _BY_ADDRESS)  # beside every answer

Made: TypeAlias = Candidate | NotApplicable
Maker: TypeAlias = "Callable[[Brief], list[Made]]"


@dataclass(frozen=True, slots=True)
class Brief:
    """What makers are given."""

    loaded: LoadedTrace
    options: PlanOptions
    classes: BestClasses  # the best ones of pools alone
    made: Sequence[Made]  # by the makers before
    progress: Progress


def makers() -> dict[str, Maker]:
    """Who makes the standard candidates, in their order: a program's own choices, then designs."""
    return {
        "every allocator as it is": _as_they_are,
        "sized, for sized deallocation": _sized,
        "pools of special sizes": lambda brief: [by_special_sizes(brief.loaded)],
        "pools of least peaks": lambda brief: [with_least_peaks(brief.classes, brief.loaded)],
        "tailored, its placement learned": _tailored,
        "budgets": lambda brief: budget_candidates(
            brief.loaded, brief.options.budgets, brief.progress
        ),
        "budgets searched by replaying": _searched,
    }


def standard_portfolio(
    loaded: LoadedTrace,
    options: PlanOptions | None = None,
    progress: Progress = no_progress,
    classes: BestClasses | None = None,
) -> Portfolio:
    """All that the makers make. `classes`: the best ones, if they were looked for before."""
    made: list[Made] = []
    classes = classes or best_classes(loaded)
    options = options or PlanOptions()
    for make in makers().values():
        made += make(Brief(loaded, options, classes, made, progress))
    return sorted_out(made)


def _as_they_are(brief: Brief) -> list[Made]:
    """Those that any program can be given, without pools; first fit in its better order."""
    names = [
        info.name
        for info in _engine.allocators()
        if is_for_any_program(info) and not takes_pools(info)
    ]
    as_tried = {"first_fit": _BY_ADDRESS}
    return [one for name in names for one in _named(as_tried.get(name, name), brief.loaded)]


def _sized(brief: Brief) -> list[Made]:
    """Plain, with holes left that are many times a request, and with two ends that are learned;
    for programs that know sizes."""
    options = brief.options
    if not options.sized:
        return []
    plain = [one for name in (ALLOCATOR, LIMITED) for one in _named(name, brief.loaded)]
    if not options.learns:
        return [*plain, NotApplicable(SIZED_TWO_ENDS, NOT_LEARNED)]
    return [*plain, sized_two_ends(brief.loaded, options.budgets.seed, brief.progress)]


def _tailored(brief: Brief) -> list[Made]:
    options = brief.options
    if not options.learns:
        return tailored_as_it_is(brief.loaded)
    return tailored_candidates(
        brief.loaded, options.budgets.seed, brief.progress, options.call_sites
    )


def _searched(brief: Brief) -> list[Made]:
    """From all plans made for this trace, where a search is asked for."""
    choice = brief.options.budgets
    if choice.replayed_events == 0:
        return []
    name, seed = "searched", choice.seed
    made = [one for one in brief.made if isinstance(one, Candidate) and one.trained_on_this_trace]
    starts = [*(one.plan for one in made), *search_starts(brief.loaded, brief.progress)]
    searched = search_plans(brief.loaded, starts, choice.replayed_events, seed, brief.progress)
    if searched is None:
        return [NotApplicable(name, "no plan that it tried serves the trace")]
    candidate = Candidate(
        name,
        searched.plan,
        searched.account,
        trained_on_this_trace=True,
        replayed=searched.replayed,
        is_searched_further=brief.options.effort != Effort.LONG,
    )
    return [once(candidate, brief.made)]


def contested_portfolio(loaded: LoadedTrace, contestants: Contestants) -> Portfolio:
    """What a comparison is asked for; all that a fit tries where nothing is named."""
    if not contestants.allocators and not contestants.plan_files:
        return standard_portfolio(loaded)
    return named_portfolio(loaded, contestants.allocators, contestants.plan_files)


def named_portfolio(
    loaded: LoadedTrace, allocators: Sequence[str], plan_files: Sequence[PlanFile]
) -> Portfolio:
    """What a user names: allocators, as NAME or NAME:TUNABLE=VALUE,..., and plans made before.

    An allocator that takes pools stands for the designs that make its pools from this trace.
    """
    made: list[Made] = []
    for named in allocators:
        made += _named(named, loaded)
    made += [candidate_from_file(plan_file, loaded) for plan_file in plan_files]
    names = numbered([one.name for one in made])
    return sorted_out([replace(one, name=name) for one, name in zip(made, names, strict=True)])


def candidate_from_file(plan_file: PlanFile, loaded: LoadedTrace) -> Candidate:
    """A plan that was made before, perhaps from another trace."""
    trained_on = plan_file.trained_on
    return Candidate(
        plan_file.name,
        plan_file.plan,
        f"plan made from {trained_on.trace}",
        trained_on_this_trace=trained_on.has_seen(loaded.content),
    )


def sorted_out(made: Sequence[Made]) -> Portfolio:
    """Candidates apart from what was left out."""
    return Portfolio(
        tuple(one for one in made if isinstance(one, Candidate)),
        tuple(one for one in made if isinstance(one, NotApplicable)),
    )


def _named(named: str, loaded: LoadedTrace) -> list[Made]:
    if is_simulated(named):
        return [_make_system_heap(named, loaded)]
    allocator, _, settings = named.partition(":")
    (info,) = find_allocators([allocator])
    allocator = info.name
    scalars = named_values(named, settings, "TUNABLE")
    if not takes_pools(info):
        return [_without_pools(info, scalars, loaded)]
    if "alignment" in scalars:
        raise HeapfitError(
            f"{named}: its plan is made from the trace, at the alignment of all (--alignment)"
        )
    return [_tuned(one, scalars) for one in _with_pools(allocator, loaded)]


def _make_system_heap(named: str, loaded: LoadedTrace) -> Made:
    """A system's heap, unless it has not what the trace asks for."""
    heap = find_heap(named, loaded.alignment)
    try:
        as_served(heap, requests_of(loaded))
    except HeapfitError as error:
        return NotApplicable(named, str(error))
    reason = f"{heap.title}, {SIMULATED}"
    return Candidate(named, heap.plan, reason, trained_on_this_trace=False, heap=heap)


def _with_pools(allocator: str, loaded: LoadedTrace) -> list[Made]:
    if allocator == greedy_budgets.ALLOCATOR:
        return budget_candidates(loaded, PUBLISHED_BUDGETS, no_progress)
    if allocator == static_pools.ALLOCATOR:
        return [for_worst_case(allocator, loaded)]
    return [by_histogram(allocator, special_pools.special_sizes(loaded.profile), loaded)]


def _tuned(one: Made, scalars: dict[str, int]) -> Made:
    """A design with other values than the standard's."""
    name = _label(one.name, scalars)
    if isinstance(one, NotApplicable):
        return replace(one, name=name)
    return replace(one, name=name, plan=replace(one.plan, scalars={**one.plan.scalars, **scalars}))


def _label(name: str, scalars: dict[str, int]) -> str:
    return ":".join([name, *(f"{key}={value}" for key, value in scalars.items())])


def _without_pools(
    info: _engine.AllocatorInfo, scalars: dict[str, int], loaded: LoadedTrace
) -> Made:
    name = _label(info.name, scalars)
    if info.name == static_pools.EQUAL_BUFFERS:
        return equal_buffers(name, scalars, loaded)
    plan = Plan(info.name, {"alignment": loaded.alignment, **scalars})
    is_shown = name in _SHOWN
    return Candidate(name, plan, info.title, trained_on_this_trace=False, is_shown=is_shown)
