# SPDX-License-Identifier: Apache-2.0
"""Designs of pools alone as candidates, each with why it is tried or why it does not apply."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.pools import special_pools, static_pools
from heapfit.design.pools.best_classes import best_classes
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, takes
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import LARGEST_REGION, format_share
from heapfit.trace.loaded import LoadedTrace


def special_sizes_candidate(loaded: LoadedTrace) -> Candidate | NotApplicable:
    """Pools of special sizes: each size with 10 % of the allocations has a pool of its own."""
    name = special_pools.ALLOCATOR
    special = special_pools.special_sizes(loaded.profile)
    if special:
        return histogram_candidate(name, special, loaded, are_linked=True)
    allocations = loaded.profile.allocations
    share = int(allocations.max()) / max(int(allocations.sum()), 1)
    why = f"no size has 10 % of the allocations (the most frequent has {format_share(share)})"
    return NotApplicable(name, why)


def least_peaks_candidate(loaded: LoadedTrace) -> Candidate | NotApplicable:
    """Pools of the size classes that take least memory, whatever their number."""
    name, allocator = f"{special_pools.ALLOCATOR}_least_peaks", special_pools.ALLOCATOR
    peaks, sizes = min(best_classes(loaded), key=itemgetter(0), default=(0, ()))
    if not sizes or sizes[-1] > special_pools.LARGEST_POOL:
        return NotApplicable(name, "no pool can serve the largest request")
    shapes = [(size, False) for size in sizes]
    reason = f"the {len(shapes)} classes whose pools take least: {peaks:,} B"
    return _pools_candidate(
        name, loaded, allocator=allocator, shapes=shapes, reason=reason, are_linked=True
    )


def histogram_candidate(
    allocator: str, special: tuple[int, ...], loaded: LoadedTrace, *, are_linked: bool = False
) -> Candidate | NotApplicable:
    """Pools of these sizes, and powers of two for the rest."""
    shapes = special_pools.pool_sizes(special, max(loaded.profile.sizes.tolist(), default=1))
    shown = ", ".join(f"{size:,}" for size in special) or "none"
    reason = f"special sizes by the 10 % rule: {shown} B; powers of two for the rest"
    return _pools_candidate(
        allocator, loaded, allocator=allocator, shapes=shapes, reason=reason, are_linked=are_linked
    )


def worst_case_candidate(allocator: str, loaded: LoadedTrace) -> Candidate | NotApplicable:
    """A pool for each size, with as many blocks as are ever live at once."""
    classes = static_pools.block_sizes(loaded.profile, loaded.alignment)
    shapes = [(size, True) for size in classes]
    if len(shapes) > static_pools.MOST_POOLS:
        return NotApplicable(
            allocator,
            f"{len(shapes):,} sizes; a plan has {static_pools.MOST_POOLS:,} pools at most",
        )
    reason = "a pool for each size, at its own peak"
    made = _pools_candidate(allocator, loaded, allocator=allocator, shapes=shapes, reason=reason)
    (info,) = find_allocators([allocator])
    if isinstance(made, Candidate) and made.plan.shared is not None and not takes(info, "shared"):
        why = "no pool serves some requests (aligned ones), and it has no heap beside its pools"
        return NotApplicable(allocator, why)
    return made


def _pools_candidate(
    name: str,
    loaded: LoadedTrace,
    *,
    allocator: str,
    shapes: list[tuple[int, bool]],
    reason: str,
    are_linked: bool = False,
) -> Candidate | NotApplicable:
    """Pools of these sizes, each with as many blocks as are ever live at once."""
    try:
        plan = special_pools.special_pools_plan(allocator, loaded.events, shapes, loaded.alignment)
    except HeapfitError as error:
        return NotApplicable(name, str(error))
    heap = Heap(name, special_pools.link_free_blocks(plan) if are_linked else plan)
    return Candidate(name, heap, reason, trained_on_this_trace=True)


def equal_buffers_candidate(
    name: str, scalars: Mapping[str, int], loaded: LoadedTrace
) -> Candidate | NotApplicable:
    """One pool of equal buffers for all requests, as Elsayed and Galal compare with.

    A buffer holds the largest request, and there are as many as are ever live at once; `scalars`
    are the tunables that a user gave.
    """
    largest = max(loaded.profile.sizes.tolist(), default=1)
    tunables = {"block_size": max(largest, 1), "blocks": max(loaded.profile.live_blocks_max, 1)}
    if tunables["block_size"] * tunables["blocks"] > LARGEST_REGION:
        buffers = f"{tunables['blocks']:,} buffers of {tunables['block_size']:,} B"
        return NotApplicable(name, f"{buffers} are more than 4 GiB")
    plan = Plan(static_pools.EQUAL_BUFFERS, {"alignment": loaded.alignment, **tunables, **scalars})
    reason = "buffers of the largest request, as many as are live at once"
    return Candidate(name, Heap(name, plan), reason, trained_on_this_trace=True)
