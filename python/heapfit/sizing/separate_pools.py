# SPDX-License-Identifier: Apache-2.0
"""Pools for a trace, each on its own: the count it needs and how often it still runs out.

None takes over what another has no block for: an upper bound, from the closed forms of run_out.py,
which also reach beyond what the trace shows. What pools that help each other out need: pools.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heapfit.design.pools.special_pools import LARGEST_POOL, pool_sizes, special_sizes
from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.demand import Demand, measure_demand, smallest_that_fits
from heapfit.sizing.pool_replay import Shape
from heapfit.sizing.run_out import RunOut, check_admission, least_count, looks
from heapfit.trace.operations import Integers
from heapfit.trace.profile import Profile, profile_trace
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class SeparatePool:
    """One pool of a trace, without help from other pools."""

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
        """The number of independent looks that the trace takes at the pool."""
        return looks(self.demand)


@dataclass(frozen=True, slots=True)
class SeparatePools:
    """Every pool of a trace for one admission."""

    admission: float
    pools: tuple[SeparatePool, ...]

    @property
    def refused(self) -> float:
        """The share of each pool's requests that may be refused."""
        return round(1 - self.admission, 15)

    @property
    def shapes(self) -> list[Shape]:
        """Size and exactness of each pool."""
        return [(pool.size, pool.is_exact) for pool in self.pools]

    @property
    def memory(self) -> int:
        """Bytes of all blocks."""
        return sum(pool.memory for pool in self.pools)

    @property
    def is_beyond(self) -> bool:
        """True if the count of any pool is extrapolated."""
        return any(pool.run_out.is_beyond for pool in self.pools)

    def bytes_of(self, counts: Integers) -> int:
        """Bytes of `counts` blocks of each pool, without any bookkeeping."""
        return int(counts @ [pool.size for pool in self.pools])

    def select(self, stretches: slice) -> SeparatePools:
        """The same pools for some stretches of the trace."""
        demands = [one.demand.select(stretches) for one in self.pools]
        return replace(self, pools=self._pools(demands, self.admission))

    def at(self, admission: float) -> SeparatePools:
        """The same pools for another admission."""
        return SeparatePools(admission, self._pools([one.demand for one in self.pools], admission))

    def curve(self) -> tuple[SeparatePools, ...]:
        """The same pools for refusals of 10 %, 3 %, 1 %, ... to 1 in 10^6."""
        refused = [first / 10**k for k in range(1, 6) for first in (1, 0.3)] + [1e-6]
        return tuple(self.at(round(1 - one, 15)) for one in refused)

    def _pools(self, demands: Sequence[Demand], admission: float) -> tuple[SeparatePool, ...]:
        return tuple(
            SeparatePool(*shape, demand, least_count(demand, admission))
            for shape, demand in zip(self.shapes, demands, strict=True)
        )


def size_separately(
    trace: Trace, admission: float, sizes: Sequence[int] = (), progress: Progress = ignore_progress
) -> SeparatePools:
    """Least counts of pools of the given sizes, else of the sizes `heapfit fit` would choose.

    Each pool admits at least that share of its own requests. Pools nobody asks are left out.
    """
    check_admission(admission, may_be_all=True)
    profile = profile_trace(trace, progress)
    if len(profile.sizes) == 0:
        raise HeapfitError(f"{trace.given}: nothing is ever allocated: there is no pool to size")
    chosen = _pool_shapes(profile, sizes)
    demands = measure_demand(trace, len(chosen), smallest_that_fits(chosen), progress)
    pools = (
        SeparatePool(size, is_exact, demand, least_count(demand, admission))
        for (size, is_exact), demand in zip(chosen, demands, strict=True)
        if demand.requests > 0
    )
    return SeparatePools(admission, tuple(pools))


def _pool_shapes(profile: Profile, sizes: Sequence[int]) -> list[tuple[int, bool]]:
    largest = max(profile.sizes.tolist())
    if not sizes:
        return pool_sizes(special_sizes(profile), largest)
    ascending = sorted(set(sizes))
    if ascending[0] < 1 or ascending[-1] > LARGEST_POOL:
        raise HeapfitError(f"pools: sizes must be 1 to {LARGEST_POOL:,} bytes")
    if ascending[-1] < largest:
        raise HeapfitError(
            f"pools: the trace asks for {largest:,} bytes, above the largest pool of "
            f"{ascending[-1]:,} (add a pool of {largest:,}; for packets in chains of such buffers: "
            f"`settings lwip`, or `compare` with chained_pool:partition_size={ascending[-1]})"
        )
    return [(size, False) for size in ascending]
