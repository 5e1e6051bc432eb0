# SPDX-License-Identifier: Apache-2.0
"""Exact answers without simulation, where mathematics has them.

Arrivals must be Poisson, and holding times drawn for each request: then Erlang's loss formula
serves a fixed pool and Kaufman and Roberts' recurrence chained partitions, whatever the
distribution of holding times. A request of n bytes takes as many partitions as hold it, so a
distribution of sizes becomes a few classes with exact shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.simulation.arrivals import Poisson
from heapfit.simulation.sizes import ListedSizes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heapfit.simulation.scheme import Scheme
    from heapfit.simulation.sizes import SizeLaw
    from heapfit.simulation.traffic import Traffic

_MOST_SIZES = 1 << 22  # different ones that are told apart


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Requests by the units they take: what Kaufman and Roberts need, and what bytes need."""

    units: NDArray[np.uint64]  # that a request of the class takes
    share: NDArray[np.float64]  # of all requests
    mean_size: NDArray[np.float64]  # of the requests of the class, in bytes


def size_classes(sizes: SizeLaw, unit: int) -> SizeClasses | None:
    """The classes of a size law for units of so many bytes; None if it has no distribution.

    >>> from heapfit.simulation.sizes import UniformSize
    >>> size_classes(UniformSize(80, 2000), 512).units.tolist()
    [1, 2, 3, 4]
    """
    import numpy as np

    if isinstance(sizes, ListedSizes) or _range(sizes) > _MOST_SIZES:
        return None
    values, shares = sizes.distribution()
    units, places = np.unique(
        (values + np.uint64(unit - 1)) // np.uint64(unit), return_inverse=True
    )
    share = np.bincount(places, shares).astype(float)
    occurs = share > 0
    bytes_each = np.bincount(places, shares * values)[occurs] / share[occurs]
    return SizeClasses(units[occurs], share[occurs], bytes_each)


def _range(sizes: SizeLaw) -> int:
    least = getattr(sizes, "least", None) or getattr(sizes, "ack_size", None) or 0
    return sizes.most - least if least else 0


def exact_metrics(traffic: Traffic, scheme: Scheme) -> dict[str, float] | None:
    """The metrics that have a closed form, by name; None if none applies."""
    if not isinstance(traffic.arrivals, Poisson) or traffic.sizes is None:
        return None
    mean_holding = traffic.holding.mean
    unit = _unit(scheme)
    if mean_holding is None or unit is None:
        return None
    classes = size_classes(traffic.sizes, unit)
    if classes is None:
        return None
    offered = mean_holding / traffic.arrivals.interval
    refused = _refused(scheme, unit, classes, offered)
    return _metrics(scheme, unit, classes, refused, offered)


def _unit(scheme: Scheme) -> int | None:
    """Bytes of what a request takes one or more of; None where there is no such thing."""
    if scheme.plan.allocator not in ("fixed_pool", "chained_pool"):
        return None
    plan = scheme.plan.engine()
    key = "block_size" if scheme.plan.allocator == "fixed_pool" else "partition_size"
    return math.ceil(plan.scalars[key] / plan.alignment) * int(plan.alignment)


def _refused(
    scheme: Scheme, unit: int, classes: SizeClasses, offered: float
) -> NDArray[np.float64]:
    """The share of each class that is refused. A fixed pool serves requests of one unit alone."""
    import numpy as np

    units = scheme.capacity() // unit
    if scheme.plan.allocator == "chained_pool":
        return _engine.kaufman_roberts(units, classes.units, offered * classes.share)
    fits = classes.units == 1
    blocking = _engine.erlang_b(units, offered * float(classes.share[fits].sum()))
    return np.where(fits, blocking, 1.0)


def _metrics(
    scheme: Scheme,
    unit: int,
    classes: SizeClasses,
    refused: NDArray[np.float64],
    offered: float,
) -> dict[str, float]:
    admitted = classes.share * (1 - refused)  # of all requests
    live = float(offered * (admitted * classes.mean_size).sum())
    used = float(offered * (admitted * classes.units).sum() * unit)
    by_bytes = live / float(offered * (classes.share * classes.mean_size).sum())
    return {
        "bandwidth_admission": by_bytes,
        "request_admission": float(admitted.sum()),
        "memory_utilisation": live / scheme.region,
        "pool_utilisation": live / scheme.capacity(),
        "combined_utility": by_bytes * live / scheme.region,
        "internal_fragmentation": used - live,
    }
