# SPDX-License-Identifier: Apache-2.0
"""Designs of pools alone as candidates, each with why it is tried or why it does not apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.pools.best_classes import BestClasses
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, takes_shared
from heapfit.plan.plan import LARGEST_REGION, Plan
from heapfit.plan.quantities import format_share
from heapfit.trace.loaded import LoadedTrace


def special_sizes_candidate(loaded: LoadedTrace) -> Candidate | NotApplicable:
    """Pools of special sizes: each size with 10 % of the allocations has a pool of its own."""
    name = special_pools.ALLOCATOR
    special = special_pools.special_sizes(loaded.profile)
    if special:
        made = histogram_candidate(name, special, loaded)
        if isinstance(made, NotApplicable):
            return made
        return replace(made, heap=Heap(name, special_pools.link_free_blocks(made.plan)))
    allocations = loaded.profile.allocations
    share = int(allocations.max()) / max(int(allocations.sum()), 1)
    why = f"no size has 10 % of the allocations (the most frequent has {format_share(share)})"
    return NotApplicable(name, why)


def least_peaks_candidate(classes: BestClasses, loaded: LoadedTrace) -> Candidate | NotApplicable:
    """Pools of the size classes that take least memory, whatever their number."""
    name = f"{special_pools.ALLOCATOR}_least_peaks"
    best = classes.fewest_bytes
    if best is None or best.sizes[-1] > special_pools.LARGEST_POOL:
        return NotApplicable(name, "no pool can serve the largest request")
    shapes = [(size, False) for size in best.sizes]
    try:
        plan = special_pools.special_pools_plan(
            special_pools.ALLOCATOR, loaded.events, shapes, loaded.alignment
        )
    except HeapfitError as error:
        return NotApplicable(name, str(error))
    reason = f"the {len(shapes)} classes whose pools take least: {best.peaks:,} B"
    return Candidate(name, Heap(name, special_pools.link_free_blocks(plan)), reason, True)


def histogram_candidate(
    allocator: str, special: tuple[int, ...], loaded: LoadedTrace
) -> Candidate | NotApplicable:
    """Pools of these sizes, and powers of two for the rest."""
    sizes = special_pools.pool_sizes(special, max(loaded.profile.sizes.tolist(), default=1))
    try:
        plan = special_pools.special_pools_plan(allocator, loaded.events, sizes, loaded.alignment)
    except HeapfitError as error:
        return NotApplicable(allocator, str(error))
    shown = ", ".join(f"{size:,}" for size in special) or "none"
    reason = f"special sizes by the 10 % rule: {shown} B; powers of two for the rest"
    return Candidate(allocator, Heap(allocator, plan), reason, trained_on_this_trace=True)


def worst_case_candidate(allocator: str, loaded: LoadedTrace) -> Candidate | NotApplicable:
    """A pool for each size, with as many blocks as are ever live at once."""
    classes = static_pools.block_sizes(loaded.profile, loaded.alignment)
    if len(classes) > static_pools.MOST_POOLS:
        return NotApplicable(
            allocator,
            f"{len(classes):,} sizes; a plan has {static_pools.MOST_POOLS:,} pools at most",
        )
    try:
        plan = static_pools.worst_case_plan(allocator, loaded.events, classes, loaded.alignment)
    except HeapfitError as error:
        return NotApplicable(allocator, str(error))
    (info,) = find_allocators([allocator])
    if plan.shared is not None and not takes_shared(info):
        why = "no pool serves some requests (aligned ones), and it has no heap beside its pools"
        return NotApplicable(allocator, why)
    reason = "a pool for each size, at its own peak"
    return Candidate(allocator, Heap(allocator, plan), reason, trained_on_this_trace=True)


def equal_buffers_candidate(
    name: str, scalars: Mapping[str, int], loaded: LoadedTrace
) -> Candidate | NotApplicable:
    """One pool of equal buffers; `scalars` are the tunables that a user gave."""
    tunables = static_pools.equal_buffer_scalars(loaded.profile)
    if tunables["block_size"] * tunables["blocks"] > LARGEST_REGION:
        buffers = f"{tunables['blocks']:,} buffers of {tunables['block_size']:,} B"
        return NotApplicable(name, f"{buffers} are more than 4 GiB")
    plan = Plan(static_pools.EQUAL_BUFFERS, {"alignment": loaded.alignment, **tunables, **scalars})
    reason = "buffers of the largest request, as many as are live at once"
    return Candidate(name, Heap(name, plan), reason, trained_on_this_trace=True)
