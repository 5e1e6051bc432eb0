# SPDX-License-Identifier: Apache-2.0
"""Schemes that grow: for each kind of allocator one number that makes it larger.

fixed_pool        buffers of the largest request       the number of buffers
chained_pool      partitions of one size, scattered    the number of partitions
partition_pool    partitions of one size, in runs      the number of partitions
class_pools       powers of two and special sizes      how rarely each pool may be full
budgeted          special sizes, the rest shared       the region
tlsf, best_fit    any size                             the region
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.pools.special_pools import SPECIAL_PERCENT, pool_sizes
from heapfit.errors import HeapfitError
from heapfit.plan.plan import LARGEST_REGION, Plan, Pool
from heapfit.simulation.arrivals import ArrivalLaw, OnOff, Periodic, Poisson
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.sizes import ListedSizes
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.demand import smallest_that_fits

PARTITION_SIZES = (32, 64, 128, 256, 512, 1024)  # bytes; those below the largest request are tried
_CONTIGUOUS = (64, 256)  # the same for runs, which must be simulated
_MOST_QUARTERS = 200  # class_pools' number: each pool blocks 2^-(number / 4) of Poisson arrivals
_REGION_STEP = 64  # bytes


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of scheme; `make` makes the scheme of a number, larger for larger numbers."""

    name: str
    make: Callable[[int], Scheme]
    most: int  # the largest number there can be


@dataclass(frozen=True, slots=True)
class Load:
    """The mean load of a traffic, where it is known."""

    largest: int  # bytes
    offered: float | None  # erlangs: requests live at once if none were refused
    sizes: NDArray[np.uint64] | None  # different ones
    shares: NDArray[np.float64] | None  # of requests


def load_of(traffic: Traffic) -> Load:
    """The traffic's load; HeapfitError where even its sizes are not known."""
    sizes = traffic.sizes
    if sizes is None:
        raise HeapfitError(
            "traffic: a recording is sized as a trace: heapfit size TRACE --admission A"
        )
    distribution = None if isinstance(sizes, ListedSizes) else sizes.distribution()
    interval = _mean_interval(traffic.arrivals)
    mean = traffic.holding.mean
    offered = mean / interval if mean and interval else None
    if distribution is None:
        return Load(sizes.most, offered, None, None)
    return Load(sizes.most, offered, *distribution)


def _mean_interval(arrivals: ArrivalLaw) -> float | None:
    """Seconds between two arrivals, averaged over all time; None where it takes more to know."""
    if isinstance(arrivals, OnOff):
        return arrivals.interval * (arrivals.on + arrivals.off) / arrivals.on
    return arrivals.interval if isinstance(arrivals, Poisson | Periodic) else None


def families_for(load: Load, buffer_size: int | None = None) -> tuple[Family, ...]:
    """All families that suit the load; `buffer_size` is of the fixed pool, in bytes."""
    if buffer_size is not None and buffer_size < load.largest:
        raise HeapfitError(
            f"pool size: {buffer_size:,} bytes are below the largest request of {load.largest:,}"
        )
    below = [size for size in PARTITION_SIZES if size < load.largest] or [PARTITION_SIZES[0]]
    families = [_family_of_fixed_pools(buffer_size or load.largest)]
    families += [_partition_family("chained_pool", size) for size in below]
    families += [
        _partition_family("partition_pool", size)
        for size in below
        if size in _CONTIGUOUS or len(below) == 1
    ]
    if load.sizes is not None and load.offered is not None:
        families.append(_class_pools(load))
        budgeted = _family_with_budgets(load)
        families += [budgeted] if budgeted is not None else []
    return (*families, _any_size("tlsf"), _any_size("best_fit"))


def _scheme(name: str, plan: Plan, region: int | None = None) -> Scheme:
    return Scheme(name, plan, plan.engine().smallest_region if region is None else region)


def _family_of_fixed_pools(largest: int) -> Family:
    def make(number: int) -> Scheme:
        scalars = {"block_size": largest, "blocks": number}
        return _scheme("fixed_pool", Plan("fixed_pool", scalars))

    return Family("fixed_pool", make, LARGEST_REGION // (largest + 16))


def _partition_family(allocator: str, size: int) -> Family:
    """A family of partition pools, with bitmaps and best fit where runs of partitions matter."""
    name = f"{allocator} {size} B"
    runs: Mapping[str, int] = {"metadata": 1, "fit": 1} if allocator == "partition_pool" else {}

    def make(number: int) -> Scheme:
        scalars = {"partition_size": size, "partitions": number, **runs}
        return _scheme(name, Plan(allocator, scalars))

    return Family(name, make, min(1 << 24, LARGEST_REGION // (size + 8)))


def _special(load: Load) -> tuple[int, ...]:
    assert load.sizes is not None and load.shares is not None
    return tuple(load.sizes[load.shares >= SPECIAL_PERCENT / 100].tolist())


def _class_pools(load: Load) -> Family:
    """Each pool's count follows from Erlang-B for one blocking that all pools share."""
    assert load.sizes is not None and load.shares is not None and load.offered is not None

    sizes = pool_sizes(_special(load), load.largest)
    places, _ = smallest_that_fits(sizes)(load.sizes.astype(np.int64))
    offered = load.offered * np.bincount(places, load.shares, minlength=len(sizes))

    def make(number: int) -> Scheme:
        blocking = 2.0 ** -(number / 4)
        pools = tuple(
            Pool(size, _servers(erlangs, blocking), is_exact)
            for (size, is_exact), erlangs in zip(sizes, offered.tolist(), strict=True)
            if erlangs > 0
        )
        return _scheme("class_pools", Plan("class_pools", {"search": 1}, pools))

    return Family("class_pools", make, _MOST_QUARTERS)


def _servers(offered: float, blocking: float) -> int:
    """The least number of servers whose Erlang-B blocking is at most `blocking`."""
    low, high = 1, 2 + int(offered)
    while _engine.erlang_b(high, offered) > blocking:
        low, high = high, 2 * high
    return low + bisect_left(
        range(low, high), True, key=lambda count: _engine.erlang_b(count, offered) <= blocking
    )


def _family_with_budgets(load: Load) -> Family | None:
    """A family with blocks for each special size, as many as live on average; None without any."""
    assert load.sizes is not None and load.shares is not None and load.offered is not None
    special = [
        (size, share)
        for size, share in zip(load.sizes.tolist(), load.shares.tolist(), strict=True)
        if share >= SPECIAL_PERCENT / 100
    ]
    if not special:
        return None
    pools = tuple(Pool(size, max(1, int(load.offered * share)), True) for size, share in special)
    plan = Plan("budgeted", {}, pools, Plan("tlsf"))
    return _region_family("budgeted", plan)


def _any_size(allocator: str) -> Family:
    return _region_family(allocator, Plan(allocator))


def _region_family(name: str, plan: Plan) -> Family:
    least = plan.engine().smallest_region

    def make(number: int) -> Scheme:
        return _scheme(name, plan, least + number * _REGION_STEP)

    return Family(name, make, (LARGEST_REGION - least) // _REGION_STEP)
