# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring for a trace, each with why it is tried or why it does not apply.

The standard ones are a list of makers. A user may name others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio, skip_duplicate
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_plans import heap_of_plan
from heapfit.comparison.incumbents.heaps import RUNGS, SIMULATED, is_simulated
from heapfit.comparison.incumbents.requests import (
    requests_of,
)
from heapfit.comparison.matrix import ComparisonRequest
from heapfit.design.budgets import greedy_budgets
from heapfit.design.budgets.candidates import budget_candidates
from heapfit.design.budgets.choice import PUBLISHED_BUDGETS
from heapfit.design.effort import Effort
from heapfit.design.placement.sized_plans import ALLOCATOR, LIMITED, learn_sized_ends
from heapfit.design.placement.sized_plans import TWO_ENDS as SIZED_TWO_ENDS
from heapfit.design.placement.tailored_plans import ALLOCATOR as TAILORED
from heapfit.design.placement.tailored_plans import (
    NOT_LEARNED,
    least_layout,
    list_plain_candidates,
    make_tailored_candidates,
)
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.pools.best_classes import BestClasses, best_classes
from heapfit.design.pools.candidates import (
    equal_buffers_candidate,
    histogram_candidate,
    least_peaks_candidate,
    special_sizes_candidate,
    worst_case_candidate,
)
from heapfit.design.search.replayed import search_plans
from heapfit.design.search.starts import search_starts
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, is_for_any_program, takes_pools
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.values import parse_values
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace
from heapfit.trace.names import make_distinct

SHARED_HEAPS = ("tlsf", "best_fit", "first_fit", "tailored")  # that pools are tried over

# First fit by address with boundary tags: more memory, time and code than address_first_fit.
_BEATEN = "first_fit"
_GIVEN = {"alignment", "layout"}  # scalars that no design learns from a trace

SHOWN = ("tlsf", "best_fit", *RUNGS)  # measured with every answer

PortfolioEntry: TypeAlias = Candidate | NotApplicable
CandidateMaker: TypeAlias = "Callable[[MakerInput], list[PortfolioEntry]]"


@dataclass(frozen=True, slots=True)
class MakerInput:
    """The input of a maker of candidates."""

    loaded: LoadedTrace
    options: PlanOptions
    classes: BestClasses  # the best ones of pools alone
    made: Sequence[PortfolioEntry]  # the entries of earlier makers
    progress: Progress


def makers() -> dict[str, CandidateMaker]:
    """The makers of the standard candidates, in order: allocators as they are, then designs."""
    return {
        "every allocator as it is": _list_plain_allocators,
        "sized, for sized deallocation": _make_sized,
        "pools of special sizes": lambda brief: [special_sizes_candidate(brief.loaded)],
        "pools of least peaks": lambda brief: [least_peaks_candidate(brief.classes, brief.loaded)],
        "tailored, its placement learned": _make_tailored,
        "at an alignment of 4 the same at 8": _make_coarser,
        "budgets": lambda brief: budget_candidates(
            brief.loaded, brief.options.budgets, brief.progress
        ),
        "budgets searched by replaying": _search_budgets,
    }


def standard_portfolio(
    loaded: LoadedTrace,
    options: PlanOptions | None = None,
    progress: Progress = ignore_progress,
    classes: BestClasses | None = None,
) -> Portfolio:
    """The candidates of all makers. `classes`: the best size classes, if they are known already."""
    made: list[PortfolioEntry] = []
    classes = classes or best_classes(loaded)
    options = options or PlanOptions()
    for make in makers().values():
        made += make(MakerInput(loaded, options, classes, made, progress))
    return split_applicable(made)


def _list_plain_allocators(brief: MakerInput) -> list[PortfolioEntry]:
    """Allocators that fit any program, without pools."""
    names = [
        info.name
        for info in _engine.allocators()
        if is_for_any_program(info) and not takes_pools(info) and info.name != _BEATEN
    ]
    return [one for name in names for one in _make_by_name(name, brief.loaded)]


def _make_sized(brief: MakerInput) -> list[PortfolioEntry]:
    """`sized` plain, with a hole limit and with two learned ends; for sized deallocation only."""
    options = brief.options
    if not options.sized:
        return []
    plain = [entry for name in (ALLOCATOR, LIMITED) for entry in _make_by_name(name, brief.loaded)]
    if not options.learns:
        return [*plain, NotApplicable(SIZED_TWO_ENDS, NOT_LEARNED)]
    return [*plain, learn_sized_ends(brief.loaded, options.budgets.seed, brief.progress)]


def _make_tailored(brief: MakerInput) -> list[PortfolioEntry]:
    options = brief.options
    if not options.learns:
        return list_plain_candidates(brief.loaded)
    return make_tailored_candidates(
        brief.loaded, options.budgets.seed, brief.progress, options.call_sites
    )


def _make_coarser(brief: MakerInput) -> list[PortfolioEntry]:
    """Lists all plans that an alignment of 8 finds, where less is asked, so that it needs no more.

    Plans with pools are left: their blocks only grow with the alignment.
    """
    if brief.loaded.alignment >= STANDARD_ALIGNMENT:
        return []
    coarser = replace(brief, loaded=_align(brief.loaded, STANDARD_ALIGNMENT), made=())
    found = [
        _name_coarser(entry)
        for make in (_list_plain_allocators, _make_sized, _make_tailored)
        for entry in make(coarser)
    ]
    return [
        skip_duplicate(entry, brief.made) if isinstance(entry, Candidate) else entry
        for entry in found
    ]


def _align(loaded: LoadedTrace, alignment: int) -> LoadedTrace:
    """The same trace for plans of another alignment."""
    runs = tuple(_align(run, alignment) for run in loaded.runs)
    return replace(loaded, alignment=alignment, runs=runs)


def _name_coarser(entry: PortfolioEntry) -> PortfolioEntry:
    """The entry under the name of its alignment, beside that of the alignment asked for."""
    name = _label(entry.name, {"alignment": STANDARD_ALIGNMENT})
    if isinstance(entry, Candidate):
        return replace(entry, name=name, is_shown=False)
    same_as = entry.same_as and _label(entry.same_as, {"alignment": STANDARD_ALIGNMENT})
    return replace(entry, name=name, same_as=same_as)


def _search_budgets(brief: MakerInput) -> list[PortfolioEntry]:
    """The budgets found by replaying from all plans made for this trace, if a search is wanted."""
    choice = brief.options.budgets
    if choice.replayed_events == 0:
        return []
    name, seed = "searched", choice.seed
    made = [one for one in brief.made if isinstance(one, Candidate) and one.trained_on_this_trace]
    starts = [*(entry.plan for entry in made), *search_starts(brief.loaded, brief.progress)]
    searched = search_plans(brief.loaded, starts, choice.replayed_events, seed, brief.progress)
    if searched is None:
        return [NotApplicable(name, "no plan that it tried serves the trace")]
    candidate = Candidate(
        name,
        Heap(name, searched.plan),
        searched.account,
        trained_on_this_trace=True,
        replayed=searched.replayed,
        is_searched_further=brief.options.effort != Effort.LONG,
    )
    return [skip_duplicate(candidate, brief.made)]


def comparison_portfolio(
    loaded: LoadedTrace, contestants: ComparisonRequest, progress: Progress = ignore_progress
) -> Portfolio:
    """The plans that a comparison names; all that `fit` tries if it names none.

    `tailored` without a layout is the one that needs least, as in a fit.
    """
    if not contestants.allocators and not contestants.plan_files:
        return standard_portfolio(loaded, progress=progress)
    portfolio = build_portfolio(loaded, contestants.allocators, contestants.plan_files)
    if TAILORED not in contestants.allocators:
        return portfolio
    least = least_layout(loaded)
    candidates = [least if one.name == TAILORED else one for one in portfolio.candidates]
    return replace(portfolio, candidates=tuple(candidates))


def build_portfolio(
    loaded: LoadedTrace, allocators: Sequence[str], plan_files: Sequence[PlanFile]
) -> Portfolio:
    """The plans that a user names: NAME or NAME:TUNABLE=VALUE,... of allocators, and plan files.

    An allocator that takes pools means the designs that make its pools from this trace.
    """
    made: list[PortfolioEntry] = []
    for named in allocators:
        made += _make_by_name(named, loaded)
    made += [candidate_from_file(plan_file, loaded) for plan_file in plan_files]
    names = make_distinct([entry.name for entry in made])
    return split_applicable(
        [replace(entry, name=name) for entry, name in zip(made, names, strict=True)]
    )


def _list_given(scalars: Mapping[str, int]) -> dict[str, int]:
    """The scalars that are given, whatever the trace: alignment and layout."""
    return {name: value for name, value in scalars.items() if name in _GIVEN}


def candidate_from_file(plan_file: PlanFile, loaded: LoadedTrace) -> Candidate:
    """The candidate of a plan file, which may have been made from another trace."""
    trained_on, plan = plan_file.trained_on, plan_file.plan
    is_learned = not plan_file.heap and plan != Plan(plan.allocator, _list_given(plan.scalars))
    return Candidate(
        plan_file.name,
        heap_of_plan(plan_file),
        f"plan made from {trained_on.trace}",
        trained_on_this_trace=is_learned and trained_on.has_seen(loaded.content),
    )


def split_applicable(made: Sequence[PortfolioEntry]) -> Portfolio:
    """The portfolio of these entries: the candidates, and the plans that do not apply."""
    return Portfolio(
        tuple(entry for entry in made if isinstance(entry, Candidate)),
        tuple(entry for entry in made if isinstance(entry, NotApplicable)),
    )


def _make_by_name(named: str, loaded: LoadedTrace) -> list[PortfolioEntry]:
    if is_simulated(named):
        return [_make_system_heap(named, loaded)]
    allocator, _, settings = named.partition(":")
    (info,) = find_allocators([allocator])
    allocator = info.name
    scalars = parse_values(named, settings, "TUNABLE")
    if not takes_pools(info):
        return [_make_plain_candidate(info, scalars, loaded)]
    if "alignment" in scalars:
        raise HeapfitError(
            f"{named}: its plan is made from the trace, at the alignment of all (--alignment)"
        )
    return [_set_tunables(entry, scalars) for entry in _make_pool_designs(allocator, loaded)]


def _make_system_heap(named: str, loaded: LoadedTrace) -> PortfolioEntry:
    """The candidate of a system's heap; NotApplicable if it lacks what the trace asks for."""
    heap, requests = find_heap(named, loaded.alignment), requests_of(loaded)
    try:
        heap.serve(requests)
    except HeapfitError as error:
        return NotApplicable(named, str(error))
    notes = tuple(heap.describe_zero_requests(requests))
    reason = f"{heap.title}, {SIMULATED}"
    return Candidate(named, heap, reason, trained_on_this_trace=False, notes=notes)


def _make_pool_designs(allocator: str, loaded: LoadedTrace) -> list[PortfolioEntry]:
    if allocator == greedy_budgets.ALLOCATOR:
        return budget_candidates(loaded, PUBLISHED_BUDGETS, ignore_progress)
    if allocator == static_pools.ALLOCATOR:
        return [worst_case_candidate(allocator, loaded)]
    return [histogram_candidate(allocator, special_pools.special_sizes(loaded.profile), loaded)]


def _set_tunables(entry: PortfolioEntry, scalars: dict[str, int]) -> PortfolioEntry:
    """The entry with these tunables set, and named after them."""
    name = _label(entry.name, scalars)
    if isinstance(entry, NotApplicable):
        return replace(entry, name=name)
    plan = replace(entry.plan, scalars={**entry.plan.scalars, **scalars})
    return replace(entry, name=name, heap=Heap(name, plan))


def _label(name: str, scalars: dict[str, int]) -> str:
    return ":".join([name, *(f"{key}={value}" for key, value in scalars.items())])


def _make_plain_candidate(
    info: _engine.AllocatorInfo, scalars: dict[str, int], loaded: LoadedTrace
) -> PortfolioEntry:
    name = _label(info.name, scalars)
    if info.name == static_pools.EQUAL_BUFFERS:
        return equal_buffers_candidate(name, scalars, loaded)
    plan = Plan(info.name, {"alignment": loaded.alignment, **scalars})
    is_shown = name in SHOWN
    return Candidate(
        name, Heap(name, plan), info.title, trained_on_this_trace=False, is_shown=is_shown
    )
