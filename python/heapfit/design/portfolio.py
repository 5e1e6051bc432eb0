# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring for a trace, each with why it is tried or why it does not apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heapfit import _engine
from heapfit.compare.candidate import Candidate, NotApplicable, Portfolio
from heapfit.compare.jobs import Contestants
from heapfit.design.budgets import greedy_budgets
from heapfit.design.budgets.certified import certified_budgets
from heapfit.design.budgets.choice import PUBLISHED_BUDGETS, STANDARD_BUDGETS, BudgetChoice, Method
from heapfit.design.placement.tailored_plans import tailored_candidates
from heapfit.design.pools import fixed_pool, special_pools, static_pools
from heapfit.design.pools.best_classes import BestClasses, best_classes
from heapfit.design.search.replayed import search_plans
from heapfit.design.search.starts import search_starts
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, takes_pools
from heapfit.plan.plan import LARGEST_REGION, Plan
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.values import named_values
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import numbered

SHARED_HEAPS = ("tlsf", "best_fit", "first_fit", "tailored")  # that pools are tried over


def standard_portfolio(
    loaded: LoadedTrace,
    budget_choice: BudgetChoice = STANDARD_BUDGETS,
    progress: Progress = no_progress,
    call_sites: bool = False,
    classes: BestClasses | None = None,
) -> Portfolio:
    """Every allocator a program can be given as it is, then the designs with pools.

    That leaves out baselines, which do not ship, and blocks in pieces. `call_sites`: the program
    can hand over from where it asks. `classes`: the best ones, if they were looked for before.
    """
    plain = [
        _without_pools(info, {}, loaded)
        for info in _engine.allocators()
        if info.ships and not info.in_pieces and not takes_pools(info)
    ]

    classes = classes or best_classes(loaded)
    found = [*plain, _special_pools(loaded), _least_peaks(classes, loaded)]
    found += tailored_candidates(loaded, budget_choice.seed, progress, call_sites)
    found += _budgets(loaded, budget_choice, progress)
    if budget_choice.replayed_events > 0:
        found.append(_searched(found, loaded, budget_choice, progress))
    return _sorted_out(found)


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
    found: list[Candidate | NotApplicable] = []
    for named in allocators:
        found += _named(named, loaded)
    found += [candidate_from_file(plan_file, loaded) for plan_file in plan_files]
    names = numbered([one.name for one in found])
    return _sorted_out([replace(one, name=name) for one, name in zip(found, names, strict=True)])


def candidate_from_file(plan_file: PlanFile, loaded: LoadedTrace) -> Candidate:
    """A plan that was made before, perhaps from another trace."""
    trained_on = plan_file.trained_on
    return Candidate(
        plan_file.name,
        plan_file.plan,
        f"plan made from {trained_on.trace}",
        trained_on_this_trace=trained_on.has_seen(loaded.content),
    )


def _sorted_out(found: Sequence[Candidate | NotApplicable]) -> Portfolio:
    return Portfolio(
        tuple(one for one in found if isinstance(one, Candidate)),
        tuple(one for one in found if isinstance(one, NotApplicable)),
    )


def _named(named: str, loaded: LoadedTrace) -> list[Candidate | NotApplicable]:
    allocator, _, settings = named.partition(":")
    (info,) = find_allocators([allocator])
    scalars = named_values(named, settings, "TUNABLE")
    if not takes_pools(info):
        return [_without_pools(info, scalars, loaded)]
    if "alignment" in scalars:
        raise HeapfitError(
            f"{named}: its plan is made from the trace, at the alignment of all (--alignment)"
        )
    return [_tuned(one, scalars) for one in _with_pools(allocator, loaded)]


def _with_pools(allocator: str, loaded: LoadedTrace) -> list[Candidate | NotApplicable]:
    if allocator == greedy_budgets.ALLOCATOR:
        return _budgets(loaded, PUBLISHED_BUDGETS, no_progress)
    if allocator == static_pools.ALLOCATOR:
        return [_worst_case(allocator, loaded)]
    return [_pools_by_histogram(allocator, special_pools.special_sizes(loaded.profile), loaded)]


def _tuned(one: Candidate | NotApplicable, scalars: dict[str, int]) -> Candidate | NotApplicable:
    """A design with other values than the standard's."""
    name = _label(one.name, scalars)
    if isinstance(one, NotApplicable):
        return replace(one, name=name)
    return replace(one, name=name, plan=replace(one.plan, scalars={**one.plan.scalars, **scalars}))


def _label(name: str, scalars: dict[str, int]) -> str:
    return ":".join([name, *(f"{key}={value}" for key, value in scalars.items())])


def _without_pools(
    info: _engine.AllocatorInfo, scalars: dict[str, int], loaded: LoadedTrace
) -> Candidate | NotApplicable:
    name = _label(info.name, scalars)
    if info.name == fixed_pool.ALLOCATOR:
        return _equal_buffers(info, name, scalars, loaded)
    plan = Plan(info.name, {"alignment": loaded.alignment, **scalars})
    return Candidate(name, plan, info.title, trained_on_this_trace=False)


def _equal_buffers(
    info: _engine.AllocatorInfo, name: str, scalars: dict[str, int], loaded: LoadedTrace
) -> Candidate | NotApplicable:
    found = fixed_pool.scalars_for(loaded.profile)
    if found["block_size"] * found["blocks"] > LARGEST_REGION:
        buffers = f"{found['blocks']:,} buffers of {found['block_size']:,} B"
        return NotApplicable(name, f"{buffers} are more than 4 GiB")
    plan = Plan(info.name, {"alignment": loaded.alignment, **found, **scalars})
    reason = "buffers of the largest request, as many as are live at once"
    return Candidate(name, plan, reason, trained_on_this_trace=True)


def _special_pools(loaded: LoadedTrace) -> Candidate | NotApplicable:
    name = special_pools.ALLOCATOR
    special = special_pools.special_sizes(loaded.profile)
    if special:
        found = _pools_by_histogram(name, special, loaded)
        linked = {**found.plan.scalars, **special_pools.LINKED}
        return replace(found, plan=replace(found.plan, scalars=linked))
    allocations = loaded.profile.allocations
    share = int(allocations.max()) / max(int(allocations.sum()), 1)
    why = f"no size has 10% of the allocations (the most frequent has {share:.1%})"
    return NotApplicable(name, why)


def _least_peaks(classes: BestClasses, loaded: LoadedTrace) -> Candidate | NotApplicable:
    name = f"{special_pools.ALLOCATOR}_least_peaks"
    best = classes.fewest_bytes
    if best is None or best.sizes[-1] > special_pools.LARGEST_POOL:
        return NotApplicable(name, "no pool can serve the largest request")
    shapes = [(size, False) for size in best.sizes]
    plan = special_pools.special_pools_plan(
        special_pools.ALLOCATOR, loaded.events, shapes, loaded.alignment
    )
    plan = replace(plan, scalars={**plan.scalars, **special_pools.LINKED})
    reason = f"the {len(shapes)} classes whose pools take least: {best.peaks:,} B"
    return Candidate(name, plan, reason, trained_on_this_trace=True)


def _pools_by_histogram(allocator: str, special: tuple[int, ...], loaded: LoadedTrace) -> Candidate:
    sizes = special_pools.pool_sizes(special, max(loaded.profile.sizes.tolist(), default=1))
    plan = special_pools.special_pools_plan(allocator, loaded.events, sizes, loaded.alignment)
    shown = ", ".join(f"{size:,}" for size in special) or "none"
    reason = f"special sizes by the 10% rule: {shown} B; powers of two for the rest"
    return Candidate(allocator, plan, reason, trained_on_this_trace=True)


def _worst_case(allocator: str, loaded: LoadedTrace) -> Candidate | NotApplicable:
    classes = static_pools.size_classes(loaded.profile, loaded.alignment)
    if len(classes) > static_pools.MOST_POOLS:
        return NotApplicable(
            allocator,
            f"{len(classes):,} sizes; a plan has {static_pools.MOST_POOLS:,} pools at most",
        )
    plan = static_pools.worst_case_plan(allocator, loaded.events, classes, loaded.alignment)
    reason = "every size set aside for its own worst case"
    return Candidate(allocator, plan, reason, trained_on_this_trace=True)


def _selections(loaded: LoadedTrace) -> Iterator[tuple[str, list[int], str]]:
    """Which sizes to budget: a name, the sizes, and the choice in words."""
    largest = greedy_budgets.largest_classes(loaded)
    yield "budgeted_4_largest", largest, "the 4 sizes with most bytes at the peak"
    frequent = greedy_budgets.frequent_classes(loaded.profile, loaded.alignment)
    yield "budgeted_16_frequent", frequent, "the 16 most frequent sizes"


def _budgets(
    loaded: LoadedTrace, choice: BudgetChoice, progress: Progress
) -> list[Candidate | NotApplicable]:
    """Budgets for two selections of sizes; each plan only once."""
    found: list[Candidate | NotApplicable] = []
    for method in choice.methods:
        for name, sizes, chosen in _selections(loaded):
            suffix = "" if method is Method.GREEDY else f"_{method}"
            certified = certified_budgets(
                loaded.events, sizes, loaded.alignment, method, choice.seconds, progress
            )
            plan = greedy_budgets.budgeted_plan(sizes, certified.counts, loaded.alignment)
            made = f"{method} budgets for {chosen}: {certified.told}"
            found.append(
                NotApplicable(f"{name}{suffix}", f"no budget for {chosen} leaves the peak as it is")
                if plan is None
                else once(
                    Candidate(f"{name}{suffix}", plan, made, trained_on_this_trace=True), found
                )
            )
    return found


def _searched(
    found: Sequence[Candidate | NotApplicable],
    loaded: LoadedTrace,
    choice: BudgetChoice,
    progress: Progress,
) -> Candidate | NotApplicable:
    name = "searched"
    made = [one for one in found if isinstance(one, Candidate) and one.trained_on_this_trace]
    starts = [*(one.plan for one in made), *search_starts(loaded, progress)]
    searched = search_plans(loaded, starts, choice.replayed_events, choice.seed, progress)
    if searched is None:
        return NotApplicable(name, "interrupted before any plan was measured")
    return once(Candidate(name, searched.plan, searched.told, trained_on_this_trace=True), found)


def once(one: Candidate, before: Sequence[Candidate | NotApplicable]) -> Candidate | NotApplicable:
    """A candidate, unless its plan is there already."""
    for other in before:
        if isinstance(other, Candidate) and other.plan == one.plan:
            return NotApplicable(one.name, f"the same plan as {other.name}", other.name)
    return one
