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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heapfit import _engine
from heapfit.design.pools.special_pools import SPECIAL_PERCENT, pool_sizes
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.demand import smallest_that_fits
from heapfit.sizing.pool_replay import Shape

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


def families_for(traffic: Traffic, buffer_size: int | None = None) -> tuple[Family, ...]:
    """All families that suit a traffic; `buffer_size` is of the fixed pool, in bytes."""
    if traffic.largest is None:
        raise HeapfitError(
            "traffic: a recording is sized as a trace: heapfit size TRACE --admission A"
        )
    if buffer_size is not None and buffer_size < traffic.largest:
        raise HeapfitError(
            f"pool size: {buffer_size:,} bytes are below the largest request of {traffic.largest:,}"
        )
    largest, load = buffer_size or traffic.largest, traffic.load()
    fixed = {"block_size": largest, "blocks": 0, "overhead": 0}
    most = LARGEST_REGION // (largest + 16)
    families = [_growing("fixed_pool", Plan("fixed_pool", fixed), "blocks", most)]
    below = [size for size in PARTITION_SIZES if size < traffic.largest] or [PARTITION_SIZES[0]]
    families += [_partition_family("chained_pool", size) for size in below]
    families += [
        _partition_family("partition_pool", size)
        for size in below
        if size in _CONTIGUOUS or len(below) == 1
    ]
    if load is not None:
        is_special = load.shares >= SPECIAL_PERCENT / 100
        special = tuple(load.sizes[is_special].tolist())
        sizes = pool_sizes(special, traffic.largest)
        places, _ = smallest_that_fits(sizes)(load.sizes.astype(np.int64))
        offered = np.bincount(places, load.erlangs, minlength=len(sizes))
        families.append(_class_pools(sizes, offered.tolist()))
        if special:
            live = zip(special, load.erlangs[is_special].tolist(), strict=True)
            pools = tuple(Pool(size, max(1, int(mean)), True) for size, mean in live)
            families.append(_region_family("budgeted", Plan("budgeted", {}, pools, Plan("tlsf"))))
    return (*families, *(_region_family(name, Plan(name)) for name in ("tlsf", "best_fit")))


def _scheme(name: str, plan: Plan, region: int | None = None) -> Scheme:
    return Scheme(name, plan, plan.engine().smallest_region if region is None else region)


def _growing(name: str, plan: Plan, tunable: str, most: int) -> Family:
    """A family whose number is a tunable of its plan."""

    def make(number: int) -> Scheme:
        return _scheme(name, replace(plan, scalars={**plan.scalars, tunable: number}))

    return Family(name, make, most)


def _partition_family(allocator: str, size: int) -> Family:
    """A family of partition pools, with bitmaps and best fit where runs of partitions matter."""
    runs = {"metadata": 1, "fit": 1} if allocator == "partition_pool" else {}
    plan = Plan(allocator, {"partition_size": size, "partitions": 0, "overhead": 0, **runs})
    return _growing(
        f"{allocator} {size} B", plan, "partitions", min(1 << 24, LARGEST_REGION // (size + 8))
    )


def _class_pools(sizes: Sequence[Shape], offered: Sequence[float]) -> Family:
    """Each pool's count follows from Erlang-B for one blocking that all pools share."""

    def make(number: int) -> Scheme:
        blocking = 2.0 ** -(number / 4)
        pools = tuple(
            Pool(size, _servers(erlangs, blocking), is_exact)
            for (size, is_exact), erlangs in zip(sizes, offered, strict=True)
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


def _region_family(name: str, plan: Plan) -> Family:
    least = plan.engine().smallest_region

    def make(number: int) -> Scheme:
        return _scheme(name, plan, least + number * _REGION_STEP)

    return Family(name, make, (LARGEST_REGION - least) // _REGION_STEP)
