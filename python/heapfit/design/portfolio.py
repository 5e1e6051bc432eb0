# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring for a trace, each with why it is tried or why it does not apply.

The standard ones, and those that a user names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio, skip_duplicate
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import RUNGS, SIMULATED, is_simulated
from heapfit.comparison.incumbents.heap_plans import heap_of_plan
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.matrix import ComparisonRequest
from heapfit.design.budgets import greedy_budgets
from heapfit.design.budgets.candidates import budget_candidates
from heapfit.design.budgets.certified import Method
from heapfit.design.placement.sized_plans import ALLOCATOR, LIMITED, learn_sized_ends
from heapfit.design.placement.sized_plans import TWO_ENDS as SIZED_TWO_ENDS
from heapfit.design.placement.tailored_plans import ALLOCATOR as TAILORED
from heapfit.design.placement.tailored_plans import (
    NOT_LEARNED,
    least_layout,
    make_tailored_candidates,
)
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.pools.candidates import (
    equal_buffers_candidate,
    histogram_candidate,
    least_peaks_candidate,
    special_sizes_candidate,
    worst_case_candidate,
)
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, is_for_any_program, takes
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


def standard_portfolio(
    loaded: LoadedTrace, options: PlanOptions | None = None, progress: Progress = ignore_progress
) -> Portfolio:
    """The standard candidates: allocators as they are, then designs, after what they build on."""
    options = options or PlanOptions()
    made: list[PortfolioEntry] = [
        *list_uncounted(loaded, options, progress),
        special_sizes_candidate(loaded),
        least_peaks_candidate(loaded),
    ]
    made += budget_candidates(loaded, options.budgeting)
    return split_applicable(made)


def list_uncounted(
    loaded: LoadedTrace, options: PlanOptions, progress: Progress = ignore_progress
) -> list[PortfolioEntry]:
    """The standard candidates whose blocks are not counted on the trace, learned ones included."""
    made = [
        *_list_plain_allocators(loaded),
        *_make_sized(loaded, options, progress),
        *make_tailored_candidates(loaded, options, progress),
    ]
    return [*made, *_make_coarser(loaded, options, progress, made)]


def _list_plain_allocators(loaded: LoadedTrace) -> list[PortfolioEntry]:
    """Allocators that fit any program, without pools."""
    names = [
        info.name
        for info in _engine.allocators()
        if is_for_any_program(info) and not takes(info, "pools") and info.name != _BEATEN
    ]
    return [one for name in names for one in _make_by_name(name, loaded)]


def _make_sized(
    loaded: LoadedTrace, options: PlanOptions, progress: Progress
) -> list[PortfolioEntry]:
    """`sized` plain, with a hole limit and with two learned ends; for sized deallocation only."""
    if not options.sized:
        return []
    plain = [entry for name in (ALLOCATOR, LIMITED) for entry in _make_by_name(name, loaded)]
    if not options.learns:
        return [*plain, NotApplicable(SIZED_TWO_ENDS, NOT_LEARNED)]
    return [*plain, learn_sized_ends(loaded, options.seed, progress)]


def _make_coarser(
    loaded: LoadedTrace, options: PlanOptions, progress: Progress, made: Sequence[PortfolioEntry]
) -> list[PortfolioEntry]:
    """Lists all plans that an alignment of 8 finds, where less is asked, so that it needs no more.

    Plans with pools are left: their blocks only grow with the alignment.
    """
    if loaded.alignment >= STANDARD_ALIGNMENT:
        return []
    coarser = _align(loaded, STANDARD_ALIGNMENT)
    return [
        skip_duplicate(entry, made) if isinstance(entry, Candidate) else entry
        for entry in map(_name_coarser, list_uncounted(coarser, options, progress))
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
    made = [
        *(entry for named in allocators for entry in _make_by_name(named, loaded)),
        *(candidate_from_file(plan_file, loaded) for plan_file in plan_files),
    ]
    names = make_distinct([entry.name for entry in made])
    return split_applicable(
        [replace(entry, name=name) for entry, name in zip(made, names, strict=True)]
    )


def candidate_from_file(plan_file: PlanFile, loaded: LoadedTrace) -> Candidate:
    """The candidate of a plan file, which may have been made from another trace."""
    trained_on, plan = plan_file.trained_on, plan_file.plan
    given = {name: value for name, value in plan.scalars.items() if name in _GIVEN}
    is_learned = not plan_file.heap and plan != Plan(plan.allocator, given)
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
    scalars = parse_values(named, settings, "TUNABLE")
    if not takes(info, "pools"):
        return [_make_plain_candidate(info, scalars, loaded)]
    if "alignment" in scalars:
        raise HeapfitError(
            f"{named}: its plan is made from the trace, at the alignment of all (--alignment)"
        )
    return [_set_tunables(entry, scalars) for entry in _make_pool_designs(info.name, loaded)]


def _make_system_heap(named: str, loaded: LoadedTrace) -> PortfolioEntry:
    """The candidate of a system's heap; NotApplicable if it lacks what the trace asks for."""
    heap, requests = find_heap(named, loaded.alignment), requests_of(loaded)
    try:
        heap.serve(requests)
    except HeapfitError as error:
        return NotApplicable(named, str(error))
    reason, notes = f"{heap.title}, {SIMULATED}", tuple(heap.describe_requests(requests))
    return Candidate(named, heap, reason, trained_on_this_trace=False, notes=notes)


def _make_pool_designs(allocator: str, loaded: LoadedTrace) -> list[PortfolioEntry]:
    if allocator == greedy_budgets.ALLOCATOR:
        return budget_candidates(loaded, (Method.GREEDY,))
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
    return Candidate(
        name, Heap(name, plan), info.title, trained_on_this_trace=False, is_shown=name in SHOWN
    )
