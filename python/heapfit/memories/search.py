# SPDX-License-Identifier: Apache-2.0
"""The least first memory in which a rule serves all that needs it, and enough of the rest.

A rule says which requests are tried in the first memory before the others; the others are tried
there last. What needs something goes to the memories that offer it. Sizes are of memories, as the
heap's users count them; a plan has the region in each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.bisection import bisect_least
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.work import limit_to_try_all
from heapfit.memories.demand import RecordingRequests, find_memories
from heapfit.memories.joint import Joint, replay_jointly
from heapfit.plan.memories import MemoriesPlan, Memory, MemoryRule, Order
from heapfit.plan.plan import Plan

RESERVE = "reserve"  # the part of the first memory that serves requests with needs only
_UNIT = _engine.REGION_UNIT
_ABOVE = 6  # sizes tried above a candidate's least one
_LARGEST = 2**63 - 1
_POWERS = (1.5, 2, 3)  # of a call site's weight over the bytes that it keeps live
OURS = Heap("", Plan(""))  # the memory of a heap of ours is its region


@dataclass(frozen=True, slots=True)
class InsideRule:
    """The requests that are tried in the first memory first, besides those that need it."""

    up_to: int = 0  # bytes of a request; 0: none by its size
    sites: tuple[int, ...] = ()  # call sites, whatever the size
    reserve: int = 0  # bytes of the first memory for requests with needs only
    is_recorded: bool = False  # those that were served there when recorded, and no others

    def widen(self, size: int, wider: int) -> InsideRule:
        """The rule of a first memory of `size` bytes for a wider one: its reserve grows, too."""
        wanted = -(-self.reserve * wider // size)
        return replace(self, reserve=-(-wanted // _UNIT) * _UNIT)


@dataclass(frozen=True, slots=True)
class FoundRule:
    """A rule in the least first memory that was found for it."""

    rule: InsideRule
    size: int  # bytes of the first memory, the reserve included
    plan: MemoriesPlan
    joint: Joint

    @property
    def inside(self) -> Order:
        """The memories that the first one consists of."""
        return (self.plan.memories[0].name, RESERVE)

    @property
    def share(self) -> float:
        """The share served inside of the requests that are counted."""
        return self.joint.share(self.inside)

    @property
    def requests_share(self) -> float:
        """The share of requests served inside."""
        return self.joint.requests_share(self.inside)

    @property
    def byte_share(self) -> float:
        """The share of bytes x events served inside."""
        return self.joint.byte_share(self.inside)


def plan_for(
    memories: Sequence[Memory], rule: InsideRule, size: int, heap: Heap = OURS
) -> MemoriesPlan:
    """The plan of a rule with a first memory of `size` bytes, each with such a heap."""
    first, *others = memories
    rest = tuple(one.name for one in others if one.has_bytes)
    inwards, outwards = (first.name, *rest), (*rest, first.name)
    kept: tuple[Memory, ...] = (
        (replace(first, name=RESERVE, size=rule.reserve),) if rule.reserve else ()
    )
    by_size: tuple[tuple[int, Order], ...] = ((_LARGEST, outwards),)
    if rule.up_to:
        by_size = ((rule.up_to, inwards), *by_size)
    return MemoriesPlan(
        tuple(
            replace(one, size=heap.region(one.size))
            for one in (replace(first, size=size - rule.reserve), *others, *kept)
        ),
        MemoryRule(
            of_needs=tuple(one.name for one in (*kept, *memories)),
            by_size=by_size,
            by_tag=(inwards,) if rule.sites or rule.is_recorded else (),
            sites=dict.fromkeys(rule.sites, 1),
        ),
    )


@dataclass(frozen=True)
class MemorySearch:
    """The memories and the recordings that rules are tried on."""

    memories: tuple[Memory, ...]  # the first one is to be small; its size is the most it may have
    demands: tuple[RecordingRequests, ...]
    heap: Heap = OURS  # in each of them
    _columns: dict[Any, list[NDArray[np.uint16]]] = field(default_factory=dict)  # of rules

    @cached_property
    def smallest_region(self) -> int:
        """Bytes of the region that a heap in the first memory needs to start."""
        return int(self.memories[0].plan.engine().smallest_region)

    def point(self, rule: InsideRule, size: int) -> FoundRule:
        """A rule in a first memory of this size, replayed."""
        plan = plan_for(self.memories, rule, size, self.heap)
        key = rule.is_recorded or rule.sites
        if key not in self._columns:
            self._columns[key] = [one.requests(plan) for one in self.demands]
            if rule.is_recorded:
                self._columns[key] = [
                    np.where(at > 0, np.uint16(0), one | (at == 0))
                    for one, at in zip(self._columns[key], self._served_in, strict=True)
                ]
        return FoundRule(rule, size, plan, replay_jointly(plan, self.demands, self._columns[key]))

    @cached_property
    def _served_in(self) -> list[NDArray[np.int64]]:
        """The memory of each request when it was recorded, by number; -1: unknown, or none."""
        return [
            np.where(one.asks, find_memories(self.memories, one.served), -1) for one in self.demands
        ]

    @cached_property
    def recorded(self) -> FoundRule | None:
        """The least first memory from which on it serves what the recorded firmware served there.

        None where a recording does not tell it, or if the memory is too small for that.
        """
        if not all((at >= 0).any() for at in self._served_in):
            return None
        weights = np.concatenate([one.weights[one.asks] for one in self.demands])
        is_inside = np.concatenate(
            [at[one.asks] == 0 for at, one in zip(self._served_in, self.demands, strict=True)]
        )
        share = float(weights[is_inside].sum() / max(weights.sum(), 1e-9))
        return (found := self.least(InsideRule(is_recorded=True), share)) and self.confirm(
            found, share
        )

    def least(
        self, rule: InsideRule, share: float = 0.0, near: int = 0, most: int | None = None
    ) -> FoundRule | None:
        """A rule in the least memory found; None if it does not do in `most` bytes.

        By default that is the whole memory. `near` is a size from which on it may do.
        """

        def works(size: int) -> bool:
            return self._does(self.point(rule, size), share)

        most = (self.memories[0].size if most is None else most) // _UNIT * _UNIT
        low = -(-(rule.reserve + self.heap.memory(self.smallest_region)) // _UNIT) * _UNIT
        if low > most or not works(most):
            return None
        if works(low):
            return self.point(rule, low)
        for high in _rising(max(near, low), most):
            if works(high):
                break
            low = high
        return self.point(rule, bisect_upwards(works, low, high, most))

    def confirm(self, point: FoundRule, share: float = 0.0) -> FoundRule:
        """The same rule in the least memory from which on all sizes tried above do.

        As few rules are confirmed, twice the events that a heap alone is given are replayed.
        """

        def trial(size: int) -> tuple[bool, int, int, int]:
            tried = self.point(point.rule, size)
            taken = max(tried.joint.uses[0].footprint, self.smallest_region)
            used = self.heap.memory(taken) + point.rule.reserve
            return self._does(tried, share), used, used, events

        low = point.rule.reserve + self.heap.memory(self.smallest_region)
        events = sum(len(one.asks) for one in self.demands)
        found = _engine.search_regions(
            trial, low, max(point.size, low), most_events=2 * limit_to_try_all(events)
        )
        return self.point(point.rule, found.r_safe) if found.r_safe else point

    @staticmethod
    def _does(point: FoundRule, share: float) -> bool:
        return point.joint.refusal is None and point.share >= share - 1e-9


def _rising(start: int, most: int) -> Iterator[int]:
    """Sizes from the start to the most, by steps that double."""
    size, step = start, max(start // 64 // _UNIT, 8) * _UNIT
    while size < most:
        yield size
        size, step = size + step, 2 * step
    yield most


def bisect_upwards(works: Callable[[int], bool], fails: int, does: int, most: int) -> int:
    """The least size found above which sizes do: bisected, then tried above and bisected again."""
    while True:
        least = bisect_least(works, fails, does=does, unit=_UNIT)
        step = max(least // 8 // _ABOVE // _UNIT, 1) * _UNIT
        above = range(least + step, most, step)[:_ABOVE]
        failed = [size for size in above if not works(size)]
        if not failed:
            return least
        fails = failed[-1]
        does = next((size for size in above if size > fails), most)


@dataclass(frozen=True, slots=True)
class JoinedRequests:
    """The requests of all recordings, one after the other."""

    sizes: NDArray[np.uint64]
    sites: NDArray[np.uint32]
    is_needing: NDArray[np.bool_]
    weights: NDArray[np.float64]
    byte_events: NDArray[np.float64]

    @property
    def needing_share(self) -> float:
        """The share of weights that needs something."""
        return float(self.weights[self.is_needing].sum() / max(self.weights.sum(), 1e-9))

    def threshold(self, share: float) -> int:
        """The least size up to which requests, with those that need something, are a share."""
        free = ~self.is_needing
        sizes, places = np.unique(self.sizes[free], return_inverse=True)
        if not len(sizes):
            return 0
        reached = np.cumsum(np.bincount(places, self.weights[free]))
        missing = share * self.weights.sum() - self.weights[self.is_needing].sum()
        return int(sizes[min(np.searchsorted(reached, missing - 1e-9), len(sizes) - 1)])

    def choose_sites(self, share: float) -> Iterator[tuple[int, ...]]:
        """Call sites that serve a share of all: by weight for each byte kept live, or few of them.

        Of weights to the power of 1.5, 2 and 3, a larger one prefers sites of many requests.
        """
        free = ~self.is_needing & (self.sites != 0)
        sites, places = np.unique(self.sites[free], return_inverse=True)
        if not len(sites):
            return
        weights = np.bincount(places, self.weights[free])
        costs = np.bincount(places, self.byte_events[free]) + 1
        missing = share * self.weights.sum() - self.weights[self.is_needing].sum() - 1e-9
        for power in _POWERS:
            order = np.argsort(-(weights**power) / costs, kind="stable")
            count = int(np.searchsorted(np.cumsum(weights[order]), missing)) + 1
            yield tuple(sorted(sites[order[:count]].tolist()))


def join_requests(demands: Sequence[RecordingRequests]) -> JoinedRequests:
    """The requests of all demands, one after the other."""

    def join(column: Callable[[RecordingRequests], NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([column(one)[one.asks] for one in demands])

    return JoinedRequests(
        join(lambda one: one.sizes),
        join(lambda one: one.sites),
        join(lambda one: one.needs) != 0,
        join(lambda one: one.weights),
        join(lambda one: one.byte_events),
    )
