# SPDX-License-Identifier: Apache-2.0
"""Exact answers without simulation, where mathematics has them.

Arrivals must be Poisson, and holding times drawn for each request: then Erlang's loss formula is
for a fixed pool, and for each of several class pools that do not help each other out; Kaufman and
Roberts' recurrence is for chained partitions. Both hold for every distribution of holding times. A
request of n bytes takes as many partitions as hold it, so a distribution of sizes becomes a few
classes with exact shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.allocators import limit_of
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.sizes import DrawnSizes, ListedSizes, SizeLaw
from heapfit.simulation.traffic import Traffic

_Floats: TypeAlias = NDArray[np.float64]
_MOST_SIZES = 1 << 22  # different ones that are counted separately


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Requests by what they take: what Kaufman and Roberts need, and what bytes need."""

    units: NDArray[np.uint64]  # that a request of the class takes; or the number of its pool
    share: _Floats  # of all requests
    mean_size: _Floats  # of the requests of the class, in bytes


# The classes of requests; the bytes that an admitted one holds, and the share that is refused.
_Losses: TypeAlias = tuple[SizeClasses, _Floats, _Floats]


def unit_classes(sizes: SizeLaw, unit: int) -> SizeClasses | None:
    """The classes of a size law by units of `unit` bytes; None if it has no distribution.

    >>> from heapfit.simulation.sizes import UniformSize
    >>> unit_classes(UniformSize(80, 2000), 512).units.tolist()
    [1, 2, 3, 4]
    """
    if not _is_listable(sizes):
        return None
    values, shares = sizes.distribution()
    return _classes_by((values + np.uint64(unit - 1)) // np.uint64(unit), values, shares)


def _classes_by(taken: NDArray[Any], values: NDArray[np.uint64], shares: _Floats) -> SizeClasses:
    """The classes of sizes that take the same, of those that occur."""
    units, places = np.unique(taken, return_inverse=True)
    share = np.bincount(places, shares).astype(float)
    occurs = share > 0
    mean_size = np.bincount(places, shares * values)[occurs] / share[occurs]
    return SizeClasses(units[occurs], share[occurs], mean_size)


def _is_listable(sizes: SizeLaw) -> TypeGuard[DrawnSizes]:
    """True if the share of each size can be listed."""
    least = getattr(sizes, "least", None) or getattr(sizes, "ack_size", None) or sizes.most
    return not isinstance(sizes, ListedSizes) and sizes.most - least <= _MOST_SIZES


def exact_metrics(traffic: Traffic, scheme: Scheme) -> dict[str, float] | None:
    """The metrics that have a closed form, by name; None if none applies."""
    solver = _SOLVERS.get(limit_of(scheme.plan))
    sizes, offered = traffic.sizes, traffic.offered if traffic.is_poisson else None
    if solver is None or sizes is None or offered is None:
        return None
    losses = solver(scheme, sizes, offered)
    return None if losses is None else _metrics(scheme, losses, offered)


def _units(
    tunable: str,
    refuse: Callable[[int, SizeClasses, float], _Floats],
    scheme: Scheme,
    sizes: SizeLaw,
    offered: float,
) -> _Losses | None:
    """The losses where a request takes whole units of the size that a tunable has."""
    plan = scheme.plan.engine()
    # Of a block the bytes that align the next one are nobody's; partitions join with theirs.
    unit = _round_up(plan.scalars[tunable], 1 if tunable == "block_size" else plan.alignment)
    classes = unit_classes(sizes, unit)
    if classes is None:
        return None
    refused = refuse(scheme.capacity() // unit, classes, offered)
    return classes, classes.units.astype(float) * unit, refused


def _refuse_by_erlang(blocks: int, classes: SizeClasses, offered: float) -> _Floats:
    """Erlang-B for the requests that fit a block; the others are never served."""
    fits = classes.units == 1
    return np.where(fits, _engine.erlang_b(blocks, offered * float(classes.share[fits].sum())), 1.0)


def _refuse_by_recurrence(units: int, classes: SizeClasses, offered: float) -> _Floats:
    """The recurrence of Kaufman and Roberts."""
    return _engine.kaufman_roberts(units, classes.units, offered * classes.share)


def _pools(scheme: Scheme, sizes: SizeLaw, offered: float) -> _Losses | None:
    """The losses by Erlang-B for each pool, if there is no fall-back to larger pools."""
    plan = scheme.plan.engine()
    if plan.scalars.get("overflow") != _REFUSE or not _is_listable(sizes):
        return None
    values, shares = sizes.distribution()
    classes = _classes_by(plan.pools_for(values), values, shares)
    if (classes.units == _engine.NO_POOL).any():
        return None  # the shared allocator serves these, or nobody
    pools = [plan.pools[number] for number in classes.units.tolist()]
    refused = [
        _engine.erlang_b(count, offered * part)
        for (_, count, _, _), part in zip(pools, classes.share.tolist(), strict=True)
    ]
    used = [float(_round_up(size, plan.alignment)) for size, _, _, _ in pools]
    return classes, np.array(used), np.array(refused)


_REFUSE = 2  # overflow, of pools that have it
# By hfit_limit (hfit/descriptor.h).
_SOLVERS: dict[str, Callable[[Scheme, SizeLaw, float], _Losses | None]] = {
    "blocks": partial(_units, "block_size", _refuse_by_erlang),
    "partitions": partial(_units, "partition_size", _refuse_by_recurrence),
    "pools": _pools,
}


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _metrics(scheme: Scheme, losses: _Losses, offered: float) -> dict[str, float]:
    classes, held, refused = losses
    admitted = classes.share * (1 - refused)  # of all requests
    live = float(offered * (admitted * classes.mean_size).sum())
    used = float(offered * (admitted * held).sum())
    by_bytes = live / float(offered * (classes.share * classes.mean_size).sum())
    return {
        "bandwidth_admission": by_bytes,
        "request_admission": float(admitted.sum()),
        "memory_utilisation": live / scheme.region,
        "pool_utilisation": live / scheme.capacity(),
        "combined_utility": by_bytes * live / scheme.region,
        "internal_fragmentation": used - live,
    }
