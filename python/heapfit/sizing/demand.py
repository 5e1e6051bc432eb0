# SPDX-License-Identifier: Apache-2.0
"""The demand of a trace on pools that never run out: the units that each request needs.

A request that finds k units of its pool live and takes u needs a pool of k + u. The shares of needs
above a count tell how often a pool of that count would have run out; docs/sizing.md defines it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.blocks import find_blocks
from heapfit.trace.operations import Integers, is_allocation
from heapfit.trace.stored import Trace

Assign: TypeAlias = Callable[[Integers], tuple[Integers, Integers]]

_US_A_DAY = 86_400_000_000
_MOST_BEHIND = 0.1  # of a capture's time, which a queue that keeps up takes after it
BLOCKS = 20  # stretches of the trace, equal in events, whose shares are compared


@dataclass(frozen=True, slots=True)
class Demand:
    """The demand on one pool. Index of `needs`: units."""

    needs: Integers  # requests of each stretch (first index) that need just so many units
    microseconds: int  # that all recordings last together
    mean_live: float  # blocks that a request finds live on average
    recordings: int = 1
    lived: int = 0  # microseconds that its blocks lived, all together

    @property
    def offered(self) -> float:
        """Blocks live on average over time, in erlangs; without times what a request finds."""
        return self.lived / self.microseconds if self.microseconds else self.mean_live

    @property
    def requests(self) -> int:
        """The number of requests to the pool."""
        return int(self.needs.sum())

    @property
    def peak(self) -> int:
        """The most units ever needed."""
        found = np.flatnonzero(self.needs.sum(axis=0))
        return int(found[-1]) if len(found) else 0

    def share_above(self, count: int) -> float:
        """Share of the requests that need more than `count` units."""
        return float(self.needs[:, count + 1 :].sum()) / max(self.requests, 1)

    def shares_above(self, count: int) -> NDArray[np.float64]:
        """The shares of `share_above` by stretch, of the stretches that have requests."""
        requests = self.needs.sum(axis=1)
        above = self.needs[:, count + 1 :].sum(axis=1)
        return np.asarray(above[requests > 0] / requests[requests > 0], dtype=np.float64)

    def looks_by_variance(self) -> float:
        """Independent needs that would make the stretches' means differ as they do."""
        needs = self.needs[self.needs.sum(axis=1) > 0]
        if len(needs) == 0:
            return 0.0
        means = needs @ np.arange(needs.shape[1]) / needs.sum(axis=1)
        _, variance = self.spread
        between = float(means.var(ddof=1)) if len(means) > 1 else variance
        return len(means) * variance / between if between > 0 else float(needs.sum())

    @property
    def spread(self) -> tuple[float, float]:
        """Mean and variance of the units that requests need: what they find live and their own."""
        units, counts = np.arange(self.needs.shape[1]), self.needs.sum(axis=0)
        mean = float(counts @ units) / max(self.requests, 1)
        return mean, float(counts @ (units - mean) ** 2) / max(self.requests, 1)

    @property
    def own_units(self) -> float:
        """Units of a block on average: of those that a request needs it has one itself."""
        return self.spread[0] / (self.mean_live + 1)

    def select(self, stretches: slice) -> Demand:
        """The demand of some stretches alone, without times."""
        return Demand(self.needs[stretches], 0, self.mean_live)

    @property
    def days(self) -> float | None:
        """The time of all recordings together, in days; None without times."""
        return self.microseconds / _US_A_DAY or None


def require_queue(source: Path, trace: Trace, queue: str | None) -> None:
    """HeapfitError where a capture was imported without a word of how long its packets stay."""
    if trace.info.kind == "packets" and trace.path != source and queue is None:
        raise HeapfitError(
            f"{source}: a capture tells when packets come, not how long they stay (add --queue "
            "fifo:N with your CPU's packets a second, or --queue link:BITS_PER_S)"
        )
    if not str(trace.info.queue).startswith(("fifo", "link")):
        return
    op, time = trace.whole("op", "time")
    arrived = time[is_allocation(op)]
    span, behind = (int(one) / 1e6 for one in (arrived[-1] - arrived[0], time[-1] - arrived[-1]))
    if span >= 1 and behind > _MOST_BEHIND * span:
        raise HeapfitError(
            f"{source}: {len(arrived) / span:,.1f} packets a second come, and {trace.info.queue} "
            f"ends {behind:,.0f} s after the last of them: they pile up, and no number of buffers "
            "lasts (give a faster queue: docs/guides/lwip-pools.md)"
        )


def measure_demand(
    trace: Trace, pools: int, assign: Assign, progress: Progress = ignore_progress
) -> tuple[Demand, ...]:
    """The demand on each pool, of all blocks at once: the trace is held in memory."""
    progress("demand", 0.0)
    op, named, size, time = trace.whole("op", "object", "size", "time")
    sizes, starts, ends = find_blocks(op, named, size)
    pool, units = assign(np.maximum(sizes.astype(np.int64), 1))
    times, of_pools = time.astype(np.int64), [pool == number for number in range(pools)]
    demands = tuple(_count(starts[own], ends[own], units[own], times) for own in of_pools)
    progress("demand", 1.0)
    return demands


def _count(starts: Integers, ends: Integers, units: Integers, times: Integers) -> Demand:
    """The demand of the blocks of one pool; `times` are those of all events."""
    ended = ends < len(times)
    events = np.concatenate([ends[ended], starts])  # what an event gives back, it gives back first
    order = np.argsort(events, kind="stable")
    is_request = order >= np.count_nonzero(ended)
    events, changes = events[order], np.concatenate([-units[ended], units])[order]
    needs = np.cumsum(changes)[is_request]  # live then
    width = int(needs.max(initial=0)) + 1
    places = events[is_request] * BLOCKS // len(times) * width + needs
    found = np.cumsum(np.where(is_request, 1, -1))[is_request] - 1  # live blocks
    return Demand(
        np.bincount(places, minlength=BLOCKS * width).reshape(BLOCKS, width),
        int(times[-1]),
        int(found.sum()) / max(len(needs), 1),
        lived=int((np.append(times, times[-1])[ends] - times[starts]).sum()),
    )


def measure_units(
    traces: Sequence[Trace],
    units: Callable[[Integers], Integers],
    progress: Progress = ignore_progress,
) -> Demand:
    """The demand on one pool, of which a block takes as many units as its size tells."""

    def assign(sizes: Integers) -> tuple[Integers, Integers]:
        return np.zeros_like(sizes), units(sizes)

    (demand,) = measure_demands(traces, 1, assign, progress)
    return demand


def measure_demands(
    traces: Sequence[Trace], pools: int, assign: Assign, progress: Progress = ignore_progress
) -> tuple[Demand, ...]:
    """The demand of several recordings on each pool, their stretches one behind the other."""
    each = [measure_demand(trace, pools, assign, progress) for trace in traces]
    return tuple(map(_merge, zip(*each, strict=True)))


def _merge(demands: Sequence[Demand]) -> Demand:
    requests = sum(one.requests for one in demands)
    return Demand(
        np.concatenate(_pad([one.needs for one in demands])),
        sum(one.microseconds for one in demands),
        sum(one.mean_live * one.requests for one in demands) / max(requests, 1),
        len(demands),
        sum(one.lived for one in demands),
    )


def _pad(counts: Sequence[Integers]) -> list[Integers]:
    """The arrays with zeros behind each last row or number, up to the longest."""
    most = max(one.shape[-1] for one in counts)
    return [np.pad(one, [(0, 0)] * (one.ndim - 1) + [(0, most - one.shape[-1])]) for one in counts]


def smallest_that_fits(sizes: Sequence[tuple[int, bool]]) -> Assign:
    """A unit of the exact pool of just that size, else of the smallest other that fits.

    Where no other fits, an exact pool of a larger size serves; none serves what fits nowhere.
    """
    exact = np.array([size for size, is_exact in sizes if is_exact], dtype=np.int64)
    other = np.array([size for size, is_exact in sizes if not is_exact], dtype=np.int64)
    index = {one: number for number, one in enumerate(sizes)}
    exact_index = np.array([index[size, True] for size in exact.tolist()] + [-1])
    other_index = np.array([index[size, False] for size in other.tolist()] + [-1])

    def assign(requests: Integers) -> tuple[Integers, Integers]:
        just = np.searchsorted(exact, requests)
        is_exact = np.append(exact, -1)[just] == requests
        fits = other_index[np.searchsorted(other, requests)]
        pool = np.where(is_exact | (fits < 0), exact_index[just], fits)
        return pool, np.ones(len(requests), dtype=np.int64)

    return assign
