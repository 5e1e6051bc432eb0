# SPDX-License-Identifier: Apache-2.0
"""What a simulation measures, each metric defined here and nowhere else.

docs/simulation.md prints these definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Observation:
    """The counts of one replication or batch after its warm-up. Sizes in bytes."""

    region: int
    capacity: int  # what the empty heap could hand out
    requests: int
    admitted: int
    requested_bytes: int
    admitted_bytes: int
    live: float  # bytes asked for by live blocks, average over time
    used: float  # bytes that live blocks hold, average over time
    external: float  # external fragmentation, average over time
    external_peak: int
    # Of each bin the largest size, the requests in it, and how many of them were lost.
    by_size: tuple[tuple[int, int, int], ...] = ()

    def admission(self) -> float | None:
        """The bytes of served requests over those of all; None without a request."""
        return _share(self.admitted_bytes, self.requested_bytes)

    def utility(self) -> float | None:
        """Its product with the share of the region that live blocks asked for."""
        admission = self.admission()
        return None if admission is None else admission * self.live / self.region


@dataclass(frozen=True, slots=True)
class Metric:
    """A number with its definition."""

    title: str
    definition: str
    of: Callable[[Observation], float | None]
    is_share: bool = True  # from 0 to 1; else bytes


METRICS = {
    "bandwidth_admission": Metric(
        "bandwidth admission",
        "Bytes of served requests over bytes of all requests.",
        Observation.admission,
    ),
    "request_admission": Metric(
        "request admission",
        "Served requests over all requests.",
        lambda seen: _share(seen.admitted, seen.requests),
    ),
    "memory_utilisation": Metric(
        "memory utilisation",
        "Bytes requested by live blocks, averaged over time, over the region: overhead included.",
        lambda seen: seen.live / seen.region,
    ),
    "pool_utilisation": Metric(
        "pool utilisation",
        "Bytes requested by live blocks, averaged over time, over the capacity: the bytes "
        "available in the empty heap.",
        lambda seen: _share(seen.live, seen.capacity),
    ),
    "combined_utility": Metric(
        "combined utility",
        "Bandwidth admission times memory utilisation. Elsayed and Galal plot a combined utility "
        "and do not define it: this is our reading.",
        Observation.utility,
    ),
    "internal_fragmentation": Metric(
        "internal fragmentation",
        "Bytes inside live blocks that nobody requested, averaged over time.",
        lambda seen: seen.used - seen.live,
        is_share=False,
    ),
    "external_fragmentation": Metric(
        "external fragmentation",
        "Free bytes outside the largest free block, averaged over time; the heap is walked at "
        "random times.",
        lambda seen: seen.external,
        is_share=False,
    ),
    "external_fragmentation_peak": Metric(
        "peak external fragmentation",
        "The most free bytes outside the largest free block that a walk of the heap found.",
        lambda seen: float(seen.external_peak),
        is_share=False,
    ),
}

OVERHEAD_RATIO = (
    "Bytes of the region beyond the capacity, over the capacity. It follows from "
    "the plan, so it has no interval."
)


def overhead_ratio(region: int, capacity: int) -> float | None:
    """The region over the capacity (OVERHEAD_RATIO); None without a capacity."""
    return _share(region - capacity, capacity)
