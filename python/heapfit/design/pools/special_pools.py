# SPDX-License-Identifier: Apache-2.0
"""Pools by the shape of the size histogram (Mamagkakis et al., section 4).

Every size with at least 10 % of the allocations is special and has a pool of its own; powers of two
from 64 serve the rest. A request takes its exact special pool, else the smallest power of two that
fits (39 -> 64), else the smallest special that fits (1200 -> 1500).
"""

from __future__ import annotations

from dataclasses import replace

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.profile import Profile, sum_by_block

ALLOCATOR = "class_pools"
SHARED = "tlsf"
_LINKED = {"search": 1}
SPECIAL_PERCENT = 10  # of the allocations
SMALLEST_POWER = 64  # bytes; the paper's
MOST_POOLS = 16  # requests too large for them go to the shared allocator
LARGEST_POOL = 2**31 - 64  # bytes; no block can be larger


def special_sizes(profile: Profile) -> tuple[int, ...]:
    """The sizes with at least 10 % of all allocations, ascending."""
    sizes, (counts,) = sum_by_block(profile.sizes, 1, profile.allocations)
    least = max(SPECIAL_PERCENT * int(counts.sum()), 1)
    return tuple(sizes[(100 * counts >= least) & (sizes <= LARGEST_POOL)].tolist())


def pool_sizes(special: tuple[int, ...], largest: int) -> list[tuple[int, bool]]:
    """(size, is_exact) of every pool, ascending, for requests of up to `largest` bytes.

    Powers of two run to the first that is not below `largest`; that one is dropped where a special
    size covers it, since it would take 1200 away from 1500. A special size that is a power of two
    shares that power's pool.

    >>> pool_sizes((40, 1500), 1500)[-2:]
    [(1024, False), (1500, True)]
    """
    below = (max(largest - 1, 0) // SMALLEST_POWER).bit_length()  # powers
    count = below + (not special or special[-1] < largest)
    powers = [SMALLEST_POWER << i for i in range(count)]
    exact = [size for size in special if size not in powers]
    general = powers[: MOST_POOLS - len(exact)]
    return sorted([(size, True) for size in exact] + [(size, False) for size in general])


def link_free_blocks(plan: Plan) -> Plan:
    """The plan with its free blocks linked, as firmware has it; the paper traverses a pool."""
    return replace(plan, scalars={**plan.scalars, **_LINKED})


def special_pools_plan(
    allocator: str, events: _engine.EventArray, sizes: list[tuple[int, bool]], alignment: int
) -> Plan:
    """The plan whose counts are the most blocks of each pool ever live at once.

    Pools that no request uses are dropped; a shared allocator is there only if requests are left.
    Raises HeapfitError if the pools would end beyond 2 GiB.
    """
    peaks = _engine.pool_peaks(events, sizes, alignment, allocator)
    pools = tuple(
        Pool(size, count, is_exact)
        for (size, is_exact), count in zip(sizes, peaks.counts, strict=True)
        if count > 0
    )
    shared = Plan(SHARED, {"alignment": alignment}) if peaks.shared_requests > 0 else None
    return Plan(allocator, {"alignment": alignment}, pools, shared)
