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
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.allocators import limit_of
from heapfit.plan.quantities import round_up
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.traffic import OfferedLoad, Traffic

_Floats: TypeAlias = NDArray[np.float64]
# Upper bounds of the bins that the engine counts sizes in: 1, 2, 3, 4, 6, 8, 12, ...
_BOUNDS = np.array([1, 2, *((3 + k % 2) << k // 2 for k in range(62))], np.uint64)


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Requests by what they take, and by the bin of their sizes."""

    units: NDArray[np.uint64]  # that a request of the class takes; or the number of its pool
    bins: NDArray[np.uint64]
    share: _Floats  # of all requests
    size: _Floats  # share times the mean size of the class, in bytes
    offered: _Floats  # erlangs
    live: _Floats  # bytes of them live at once on average if none were refused

    def refuse_by_erlang(self, blocks: int) -> _Floats:
        """Erlang-B for the requests that fit a block; the others are never served."""
        fits = self.units == 1
        return np.where(fits, _engine.erlang_b(blocks, float(self.offered[fits].sum())), 1.0)

    def refuse_by_recurrence(self, units: int) -> _Floats:
        """The recurrence of Kaufman and Roberts."""
        return _engine.kaufman_roberts(units, self.units, self.offered)


# The classes of requests; the bytes that an admitted one holds, and the share that is refused.
_Losses: TypeAlias = tuple[SizeClasses, _Floats, _Floats]


def unit_classes(load: OfferedLoad, unit: int) -> SizeClasses:
    """The classes of a load by units of `unit` bytes."""
    return _classes_by((load.sizes + np.uint64(unit - 1)) // np.uint64(unit), load)


def _classes_by(taken: NDArray[Any], load: OfferedLoad) -> SizeClasses:
    bins = np.searchsorted(_BOUNDS, load.sizes).astype(np.uint64)
    width = np.uint64(len(_BOUNDS))
    kinds, places = np.unique(taken.astype(np.uint64) * width + bins, return_inverse=True)
    sums = (load.shares, load.shares * load.sizes, load.erlangs, load.erlangs * load.sizes)
    return SizeClasses(
        kinds // width, kinds % width, *(np.bincount(places, one).astype(float) for one in sums)
    )


def exact_metrics(traffic: Traffic, scheme: Scheme) -> dict[str, float] | None:
    """The metrics that have a closed form, by name; None if none applies."""
    losses = _losses(traffic, scheme)
    return None if losses is None else _metrics(scheme, *losses)


def exact_refusals(traffic: Traffic, scheme: Scheme) -> list[tuple[int, float, float]]:
    """The largest size of each bin, the share of requests in it, and how many of all are lost."""
    losses = _losses(traffic, scheme)
    if losses is None:
        return []
    classes, _, refused = losses
    parts = (np.bincount(classes.bins, one) for one in (classes.share, classes.share * refused))
    rows = zip(_BOUNDS.tolist(), *(part.tolist() for part in parts), strict=False)
    return [row for row in rows if row[1]]


def _losses(traffic: Traffic, scheme: Scheme) -> _Losses | None:
    solver, load = _SOLVERS.get(limit_of(scheme.plan)), traffic.load()
    return solver(scheme, load) if solver and load and traffic.is_poisson else None


def _units(
    tunable: str, refuse: Callable[[SizeClasses, int], _Floats], scheme: Scheme, load: OfferedLoad
) -> _Losses:
    """The losses where a request takes whole units of the size that a tunable has."""
    plan = scheme.plan.engine()
    # Of a block the bytes that align the next one are nobody's; partitions join with theirs.
    unit = round_up(plan.scalars[tunable], 1 if tunable == "block_size" else plan.alignment)
    classes = unit_classes(load, unit)
    refused = refuse(classes, scheme.capacity() // unit)
    return classes, classes.units.astype(float) * unit, refused


def _pools(scheme: Scheme, load: OfferedLoad) -> _Losses | None:
    """The losses by Erlang-B for each pool, if there is no fall-back to larger pools."""
    plan = scheme.plan.engine()
    classes = _classes_by(plan.pools_for(load.sizes), load)
    refuses = plan.scalars.get("overflow") == _REFUSE or scheme.lacks_shared_heap
    if not refuses or (classes.units == _engine.NO_POOL).any():
        return None  # the shared allocator or a larger pool serves these, or nobody
    offered = np.bincount(classes.units, classes.offered)
    pools = [plan.pools[number] for number in classes.units.tolist()]
    refused = [
        _engine.erlang_b(count, float(offered[number]))
        for (_, count, _, _), number in zip(pools, classes.units.tolist(), strict=True)
    ]
    used = [float(round_up(size, plan.alignment)) for size, _, _, _ in pools]
    return classes, np.array(used), np.array(refused)


_REFUSE = 2  # overflow, of pools that have it
# By hfit_limit (hfit/descriptor.h).
_SOLVERS: dict[str, Callable[[Scheme, OfferedLoad], _Losses | None]] = {
    "blocks": partial(_units, "block_size", SizeClasses.refuse_by_erlang),
    "partitions": partial(_units, "partition_size", SizeClasses.refuse_by_recurrence),
    "pools": _pools,
}


def _metrics(
    scheme: Scheme, classes: SizeClasses, held: _Floats, refused: _Floats
) -> dict[str, float]:
    admitted = 1 - refused
    live = float((classes.live * admitted).sum())
    by_bytes = float((classes.size * admitted).sum() / classes.size.sum())
    return {
        "bandwidth_admission": by_bytes,
        "request_admission": float((classes.share * admitted).sum()),
        "memory_utilisation": live / scheme.region,
        "pool_utilisation": live / scheme.capacity(),
        "combined_utility": by_bytes * live / scheme.region,
        "internal_fragmentation": float((classes.offered * admitted * held).sum()) - live,
    }
