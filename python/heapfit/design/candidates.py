# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring for a trace, each with why it is tried or why it does not apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.allocators import find_allocators, takes_pools
from heapfit.design import budgets, fixed_pool, special_pools, static_pools
from heapfit.errors import HeapfitError
from heapfit.named_values import named_values
from heapfit.plan import LARGEST_REGION, Plan, PlanFile
from heapfit.source_name import numbered
from heapfit.trace_content import content_hash

if TYPE_CHECKING:
    from heapfit.design.workload import Workload


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan to measure."""

    name: str
    plan: Plan
    reason: str  # why it is tried, one line
    trained_on_this_trace: bool  # made from the very trace it is measured on


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A kind of plan this trace has no use for."""

    name: str
    why: str  # one line


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The plans to measure and the kinds left out."""

    candidates: tuple[Candidate, ...]
    not_applicable: tuple[NotApplicable, ...]


def standard_portfolio(workload: Workload) -> Portfolio:
    """Every allocator a program can be given as it is, then the designs with pools.

    That leaves out baselines, which do not ship, and blocks in pieces.
    """
    plain = [
        _without_pools(info, {}, workload)
        for info in _engine.allocators()
        if info.ships and not info.in_pieces and not takes_pools(info)
    ]
    return _sorted_out([*plain, _special_pools(workload), *_budgets(workload)])


def named_portfolio(
    workload: Workload, allocators: Sequence[str], plan_files: Sequence[PlanFile]
) -> Portfolio:
    """What a user names: allocators, as NAME or NAME:TUNABLE=VALUE,..., and plans made before.

    An allocator that takes pools stands for the designs that make its pools from this trace.
    """
    found: list[Candidate | NotApplicable] = []
    for named in allocators:
        found += _named(named, workload)
    found += [candidate_from_file(plan_file, workload) for plan_file in plan_files]
    names = numbered([one.name for one in found])
    return _sorted_out([replace(one, name=name) for one, name in zip(found, names, strict=True)])


def candidate_from_file(plan_file: PlanFile, workload: Workload) -> Candidate:
    """A plan that was made before, perhaps from another trace."""
    trained_on = plan_file.trained_on
    return Candidate(
        plan_file.name,
        plan_file.plan,
        f"plan made from {trained_on.trace}",
        trained_on_this_trace=trained_on.content == content_hash(workload.trace),
    )


def _sorted_out(found: Sequence[Candidate | NotApplicable]) -> Portfolio:
    return Portfolio(
        tuple(one for one in found if isinstance(one, Candidate)),
        tuple(one for one in found if isinstance(one, NotApplicable)),
    )


def _named(named: str, workload: Workload) -> list[Candidate | NotApplicable]:
    allocator, _, settings = named.partition(":")
    (info,) = find_allocators([allocator])
    scalars = named_values(named, settings, "TUNABLE")
    if not takes_pools(info):
        return [_without_pools(info, scalars, workload)]
    if "alignment" in scalars:
        raise HeapfitError(
            f"{named}: its plan is made from the trace, at the alignment of all (--alignment)"
        )
    return [_tuned(one, scalars) for one in _with_pools(allocator, workload)]


def _with_pools(allocator: str, workload: Workload) -> list[Candidate | NotApplicable]:
    if allocator == budgets.ALLOCATOR:
        return _budgets(workload)
    if allocator == static_pools.ALLOCATOR:
        return [_worst_case(allocator, workload)]
    return [_pools_by_histogram(allocator, special_pools.special_sizes(workload.profile), workload)]


def _tuned(one: Candidate | NotApplicable, scalars: dict[str, int]) -> Candidate | NotApplicable:
    """A design with other values than the standard's."""
    name = _label(one.name, scalars)
    if isinstance(one, NotApplicable):
        return replace(one, name=name)
    return replace(one, name=name, plan=replace(one.plan, scalars={**one.plan.scalars, **scalars}))


def _label(name: str, scalars: dict[str, int]) -> str:
    return ":".join([name, *(f"{key}={value}" for key, value in scalars.items())])


def _without_pools(
    info: _engine.AllocatorInfo, scalars: dict[str, int], workload: Workload
) -> Candidate | NotApplicable:
    name = _label(info.name, scalars)
    if info.name == fixed_pool.ALLOCATOR:
        return _equal_buffers(info, name, scalars, workload)
    plan = Plan(info.name, {"alignment": workload.alignment, **scalars})
    return Candidate(name, plan, info.title, trained_on_this_trace=False)


def _equal_buffers(
    info: _engine.AllocatorInfo, name: str, scalars: dict[str, int], workload: Workload
) -> Candidate | NotApplicable:
    found = fixed_pool.scalars_for(workload.profile)
    if found["block_size"] * found["blocks"] > LARGEST_REGION:
        buffers = f"{found['blocks']:,} buffers of {found['block_size']:,} B"
        return NotApplicable(name, f"{buffers} are more than 4 GiB")
    plan = Plan(info.name, {"alignment": workload.alignment, **found, **scalars})
    reason = "buffers of the largest request, as many as are live at once"
    return Candidate(name, plan, reason, trained_on_this_trace=True)


def _special_pools(workload: Workload) -> Candidate | NotApplicable:
    name = special_pools.ALLOCATOR
    special = special_pools.special_sizes(workload.profile)
    if special:
        found = _pools_by_histogram(name, special, workload)
        linked = {**found.plan.scalars, **special_pools.LINKED}
        return replace(found, plan=replace(found.plan, scalars=linked))
    allocations = workload.profile.allocations
    share = int(allocations.max()) / max(int(allocations.sum()), 1)
    why = f"no size has 10% of the allocations (the most frequent has {share:.1%})"
    return NotApplicable(name, why)


def _pools_by_histogram(allocator: str, special: tuple[int, ...], workload: Workload) -> Candidate:
    sizes = special_pools.pool_sizes(special, max(workload.profile.sizes.tolist(), default=1))
    plan = special_pools.special_pools_plan(allocator, workload.events, sizes, workload.alignment)
    shown = ", ".join(f"{size:,}" for size in special) or "none"
    reason = f"special sizes by the 10% rule: {shown} B; powers of two for the rest"
    return Candidate(allocator, plan, reason, trained_on_this_trace=True)


def _worst_case(allocator: str, workload: Workload) -> Candidate | NotApplicable:
    classes = static_pools.size_classes(workload.profile, workload.alignment)
    if len(classes) > static_pools.MOST_POOLS:
        return NotApplicable(
            allocator,
            f"{len(classes):,} sizes; a plan has {static_pools.MOST_POOLS:,} pools at most",
        )
    plan = static_pools.worst_case_plan(allocator, workload.events, classes, workload.alignment)
    reason = "every size set aside for its own worst case"
    return Candidate(allocator, plan, reason, trained_on_this_trace=True)


def _budgets(workload: Workload) -> list[Candidate | NotApplicable]:
    """Budgets for two selections of sizes; the second only where it makes a different plan."""
    largest = _budgeted(
        "budgeted_4_largest",
        budgets.largest_classes(workload.trace, workload.profile, workload.alignment),
        "the 4 sizes with most bytes at the peak",
        workload,
    )
    frequent = _budgeted(
        "budgeted_16_frequent",
        budgets.frequent_classes(workload.profile, workload.alignment),
        "the 16 most frequent sizes",
        workload,
    )
    if _is_one_plan(largest, frequent):
        frequent = NotApplicable(frequent.name, f"the same plan as {largest.name}")
    return [largest, frequent]


def _is_one_plan(one: Candidate | NotApplicable, other: Candidate | NotApplicable) -> bool:
    if isinstance(one, NotApplicable) or isinstance(other, NotApplicable):
        return False
    return one.plan == other.plan


def _budgeted(
    name: str, sizes: list[int], chosen: str, workload: Workload
) -> Candidate | NotApplicable:
    plan = budgets.budgeted_plan(workload.events, sizes, workload.alignment)
    if plan is None:
        return NotApplicable(name, f"no budget for {chosen} leaves the peak as it is")
    reason = f"greedy budgets for {chosen}"
    return Candidate(name, plan, reason, trained_on_this_trace=True)
