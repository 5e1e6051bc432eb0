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
from heapfit.trace.operations import is_end
from heapfit.trace.stored import Trace

Integers: TypeAlias = NDArray[np.int64]
Assign: TypeAlias = Callable[[Integers], tuple[Integers, Integers]]

_US_A_DAY = 86_400_000_000
BLOCKS = 20  # stretches of the trace, equal in events, whose shares are compared


@dataclass(frozen=True, slots=True)
class Demand:
    """The demand on one pool. Index of `needs` and `time_us`: units."""

    needs: Integers  # requests of each stretch (first index) that need just so many units
    time_us: Integers  # microseconds in which just so many units are live
    mean_live: float  # blocks that a request finds live on average
    recordings: int = 1

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
        units = np.arange(needs.shape[1])
        means = needs @ units / needs.sum(axis=1)
        mean = needs.sum(axis=0) @ units / needs.sum()
        variance = float(needs.sum(axis=0) @ (units - mean) ** 2 / needs.sum())
        between = float(means.var(ddof=1)) if len(means) > 1 else variance
        return len(means) * variance / between if between > 0 else float(needs.sum())

    @property
    def spread(self) -> tuple[float, float]:
        """Mean and variance of the units that requests find live: those needed but their own."""
        units, counts = np.arange(self.needs.shape[1]), self.needs.sum(axis=0)
        needed = self.own_units * (self.mean_live + 1)
        variance = float(counts @ (units - needed) ** 2) / max(self.requests, 1)
        return self.own_units * self.mean_live, variance

    @property
    def own_units(self) -> float:
        """Units of a block on average: of those that a request needs it has one itself."""
        units = self.needs.sum(axis=0) @ np.arange(self.needs.shape[1])
        return float(units) / max(self.requests, 1) / (self.mean_live + 1)

    def select(self, stretches: slice) -> Demand:
        """The demand of some stretches alone, without times."""
        return Demand(self.needs[stretches], np.zeros(1, dtype=np.int64), self.mean_live)

    @property
    def days(self) -> float | None:
        """The time of all recordings together, in days; None without times."""
        return int(self.time_us.sum()) / _US_A_DAY or None

    def time_share_from(self, count: int) -> float | None:
        """Share of the time in which `count` units or more are live; None without times."""
        total = int(self.time_us.sum())
        return float(self.time_us[count:].sum()) / total if total else None


def require_queue(source: Path, trace: Trace, queue: str | None) -> None:
    """HeapfitError where a capture was imported without a word of how long its packets stay."""
    if trace.info.kind == "packets" and trace.path != source and queue is None:
        raise HeapfitError(
            f"{source}: a capture tells when packets come, not how long they stay (add --queue "
            "fifo:N with your CPU's packets a second, or --queue link:BITS_PER_S)"
        )


def measure_demand(
    trace: Trace, pools: int, assign: Assign, progress: Progress = ignore_progress
) -> tuple[Demand, ...]:
    """The demand on each pool, in one pass; memory grows with the objects, 8 B each."""
    counts = [_PoolCount() for _ in range(pools)]
    objects = _Objects()
    first = 0
    progress("demand", 0.0)
    for batch in trace.batches(("op", "object", "size", "time")):
        steps = objects.steps(batch, assign)
        stretch = (steps.event + first) * BLOCKS // trace.info.events
        for number, count in enumerate(counts):
            of_pool = steps.pool == number
            count.take(steps, of_pool, stretch[of_pool])
        first += len(batch["op"])
        progress("demand", first / trace.info.events)
    end = int(batch["time"][-1]) if first else 0
    return tuple(count.result(end) for count in counts)


def measure_demands(
    traces: Sequence[Trace], pools: int, assign: Assign, progress: Progress = ignore_progress
) -> tuple[Demand, ...]:
    """The demand of several recordings on each pool, their stretches one behind the other."""
    each = [measure_demand(trace, pools, assign, progress) for trace in traces]
    return tuple(map(_merge, zip(*each, strict=True)))


def _merge(demands: Sequence[Demand]) -> Demand:
    requests = sum(one.requests for one in demands)
    found = sum(one.mean_live * one.requests for one in demands)
    return Demand(
        np.concatenate(_pad([one.needs for one in demands])),
        np.sum(_pad([one.time_us for one in demands]), axis=0),
        found / max(requests, 1),
        len(demands),
    )


@dataclass(frozen=True, slots=True)
class _Steps:
    """Changes of live units, in order; index of all: the change."""

    event: Integers  # place of the event in its batch
    pool: Integers
    units: Integers  # below 0 where given back
    is_request: NDArray[np.bool_]
    time: Integers


class _Objects:
    """Where each object is live; 4 B for the pool and 4 B for the units."""

    def __init__(self) -> None:
        self._pool = np.full(1 << 16, -1, dtype=np.int32)
        self._units = np.zeros(1 << 16, dtype=np.int32)

    def steps(self, batch: dict[str, NDArray[np.generic]], assign: Assign) -> _Steps:
        """The changes that the events of a batch make; also updates the objects."""
        op, time = batch["op"], batch["time"].astype(np.int64)
        named = batch["object"].astype(np.int64)
        size = batch["size"].astype(np.int64)
        self._grow(int(named.max()) + 1)
        gives_up = is_end(op, size)
        pool, units = assign(np.maximum(size, 1))
        pool, units = np.where(gives_up, -1, pool), np.where(gives_up, 0, units)
        old_pool, old_units = self._previous(named, pool, units)
        event = np.arange(len(op), dtype=np.int64)
        leaves, enters = old_pool >= 0, pool >= 0
        order = np.argsort(np.concatenate([event[leaves], event[enters]]), kind="stable")
        return _Steps(
            event=np.concatenate([event[leaves], event[enters]])[order],
            pool=np.concatenate([old_pool[leaves], pool[enters]])[order],
            units=np.concatenate([-old_units[leaves], units[enters]])[order],
            is_request=np.concatenate([np.zeros(leaves.sum(), bool), np.ones(enters.sum(), bool)])[
                order
            ],
            time=np.concatenate([time[leaves], time[enters]])[order],
        )

    def _previous(
        self, named: Integers, pool: Integers, units: Integers
    ) -> tuple[Integers, Integers]:
        """Pool and units of each event's object before it; an event earlier in the batch wins."""
        order = np.argsort(named, kind="stable")
        is_again = np.zeros(len(named), dtype=bool)
        is_again[1:] = named[order][1:] == named[order][:-1]
        previous = np.roll(order, 1)
        old_pool = np.where(is_again, pool[previous], self._pool[named[order]])
        old_units = np.where(is_again, units[previous], self._units[named[order]])
        result = (np.empty_like(pool), np.empty_like(units))
        result[0][order], result[1][order] = old_pool, old_units
        self._pool[named[order]] = pool[order]  # the last of equal objects stays
        self._units[named[order]] = units[order]
        return result

    def _grow(self, size: int) -> None:
        if size > len(self._pool):
            more = max(size, 2 * len(self._pool)) - len(self._pool)
            self._pool = np.concatenate([self._pool, np.full(more, -1, dtype=np.int32)])
            self._units = np.concatenate([self._units, np.zeros(more, dtype=np.int32)])


class _PoolCount:
    """The units of one pool, counted along the trace."""

    def __init__(self) -> None:
        self._live = 0
        self._last_time = 0
        self._needs: list[Integers] = [np.zeros(1, dtype=np.int64) for _ in range(BLOCKS)]
        self._time_us: Integers = np.zeros(1, dtype=np.int64)
        self._blocks = 0
        self._found = 0  # live blocks, summed over requests

    def take(self, steps: _Steps, chosen: NDArray[np.bool_], stretch: Integers) -> None:
        """Counts the next changes of this pool."""
        units, is_request, time = (
            steps.units[chosen],
            steps.is_request[chosen],
            steps.time[chosen],
        )
        if len(units) == 0:
            return
        after = self._live + np.cumsum(units)
        before = after - units
        self._time_us = _sum(
            self._time_us, _count_by_value(before, np.diff(time, prepend=self._last_time))
        )
        needs, stretch = after[is_request], stretch[is_request]
        for number in np.unique(stretch).tolist():
            counts = np.bincount(needs[stretch == number])
            self._needs[number] = _sum(self._needs[number], counts)
        blocks = self._blocks + np.cumsum(np.where(is_request, 1, -1))
        self._found += int((blocks[is_request] - 1).sum())
        self._live, self._last_time = int(after[-1]), int(time[-1])
        self._blocks = int(blocks[-1])

    def result(self, end: int) -> Demand:
        """The demand counted up to the time `end`."""
        last = _count_by_value(np.array([self._live]), np.array([end - self._last_time]))
        needs = np.array(_pad(self._needs))
        return Demand(needs, _sum(self._time_us, last), self._found / max(int(needs.sum()), 1))


def _count_by_value(values: Integers, weights: Integers) -> Integers:
    """Weights by value, as whole numbers."""
    return np.rint(np.bincount(values, weights=weights)).astype(np.int64)


def _sum(one: Integers, other: Integers) -> Integers:
    return np.asarray(np.sum(_pad([one, other]), axis=0))


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
