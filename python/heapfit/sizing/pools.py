# SPDX-License-Identifier: Apache-2.0
"""Pools for a trace, each with the count it needs and how often it still runs out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.design.pools.special_pools import pool_sizes, special_sizes
from heapfit.errors import HeapfitError
from heapfit.progress import Progress, no_progress
from heapfit.sizing.demand import Demand, measure_demand, smallest_that_fits
from heapfit.sizing.run_out import RunOut, check_admission, least_count, looks
from heapfit.trace.profile import Profile, profile_trace
from heapfit.trace.stored import Trace

LARGEST_POOL = 2**31 - 64  # bytes; no block can be larger


@dataclass(frozen=True, slots=True)
class SizedPool:
    """One pool of a trace's."""

    size: int  # bytes of a block
    is_exact: bool  # for requests of just this size
    demand: Demand
    run_out: RunOut

    @property
    def memory(self) -> int:
        """Bytes of its blocks, without any bookkeeping."""
        return self.size * self.run_out.count

    @property
    def looks(self) -> float:
        """Independent looks the trace takes at it."""
        return looks(self.demand)


@dataclass(frozen=True, slots=True)
class PoolSizing:
    """Every pool of a trace for one admission."""

    admission: float
    pools: tuple[SizedPool, ...]

    @property
    def memory(self) -> int:
        """Bytes of all blocks."""
        return sum(pool.memory for pool in self.pools)

    @property
    def requests(self) -> int:
        """To all pools."""
        return sum(pool.demand.requests for pool in self.pools)

    @property
    def is_beyond(self) -> bool:
        """Whether any count is extrapolated."""
        return any(pool.run_out.is_beyond for pool in self.pools)

    def curve(self) -> tuple[PoolSizing, ...]:
        """The same pools for refusals of 10 %, 3 %, 1 %, ... to 1 in 10^6."""
        refused = [first / 10**k for k in range(1, 6) for first in (1, 0.3)] + [1e-6]
        return tuple(self.at(round(1 - one, 15)) for one in refused)

    def at(self, admission: float) -> PoolSizing:
        """The same pools for another admission."""
        check_admission(admission)
        pools = (
            SizedPool(one.size, one.is_exact, one.demand, least_count(one.demand, admission))
            for one in self.pools
        )
        return PoolSizing(admission, tuple(pools))


def size_pools(
    trace: Trace,
    admission: float,
    sizes: Sequence[int] = (),
    progress: Progress = no_progress,
) -> PoolSizing:
    """Least counts of pools of the given sizes, else of the sizes `heapfit fit` would choose.

    Each pool admits at least that share of its own requests. Pools nobody asks are left out.
    """
    check_admission(admission)
    profile = profile_trace(trace, progress)
    if len(profile.sizes) == 0:
        raise HeapfitError(f"{trace.path}: nothing is ever allocated: there is no pool to size")
    chosen = _chosen(profile, sizes)
    demands = measure_demand(trace, len(chosen), smallest_that_fits(chosen), progress)
    pools = (
        SizedPool(size, is_exact, demand, least_count(demand, admission))
        for (size, is_exact), demand in zip(chosen, demands, strict=True)
        if demand.requests > 0
    )
    return PoolSizing(admission, tuple(pools))


def _chosen(profile: Profile, sizes: Sequence[int]) -> list[tuple[int, bool]]:
    largest = max(profile.sizes.tolist())
    if not sizes:
        return pool_sizes(special_sizes(profile), largest)
    ascending = sorted(set(sizes))
    if ascending[0] < 1 or ascending[-1] > LARGEST_POOL:
        raise HeapfitError(f"pools: sizes must be 1 to {LARGEST_POOL:,} bytes")
    if ascending[-1] < largest:
        raise HeapfitError(
            f"pools: the trace asks for {largest:,} bytes, above the largest pool of "
            f"{ascending[-1]:,} (add a pool of {largest:,})"
        )
    return [(size, False) for size in ascending]
