# SPDX-License-Identifier: Apache-2.0
"""What the heap map shows, replayed: each block's place in two heaps, each in many regions.

A heap is replayed in the region that it needs, and in every one of a row of regions, the same for
both, up to the first request that is refused there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.compare.comparison import Row
from heapfit.compare.today.heaps import SystemHeap, heap_4
from heapfit.compare.today.requests import Requests, as_served, requests_of
from heapfit.errors import HeapfitError
from heapfit.fit_result import Fit
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import RESIZE, is_allocation

REGIONS = 24  # that both heaps are replayed in
_UNIT = _engine.REGION_UNIT
_MOST_ACCESSES = 500  # an event: a heap that makes more is too slow to be searched for a page

Offsets = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Refused:
    """The request that a heap could not serve, and what it had left. Sizes in bytes."""

    event: int
    size: int  # asked for
    live: int  # of all requests then
    free: int  # all together
    largest_free: int  # in one piece


@dataclass(frozen=True, slots=True)
class Replayed:
    """A heap in one region."""

    region: int  # bytes, as its user sets them
    offsets: Offsets  # of the trace's lifetimes in their order, up to the refusal
    refused: Refused | None  # None: nothing was

    @property
    def runs(self) -> bool:
        """Whether the whole trace was served."""
        return self.refused is None


@dataclass(frozen=True, slots=True)
class MappedHeap:
    """A heap in the region that it needs, and in those of the row."""

    name: str
    own: Replayed
    row: tuple[Replayed, ...]


@dataclass(frozen=True, slots=True)
class HeapMap:
    """The heaps, today's first where there is one, the chosen one last."""

    heaps: tuple[MappedHeap, ...]
    lifetimes: _engine.Lifetimes  # of the trace that is shown
    events: int
    peak: int  # the event at which the most bytes are live


@dataclass(frozen=True, slots=True)
class _Subject:
    """A heap to replay."""

    name: str
    plan: _engine.Plan
    events: _engine.EventArray
    base: int  # alignment of the region
    region: int  # of the plan, that it needs
    shift: int = 0  # from an offset in our region to one in the memory of its user
    begins: NDArray[np.int64] | None = None  # the trace's events that place a block of `events`
    counted: NDArray[np.bool_] | None = None  # which of these blocks are lifetimes of the trace


def map_of(fit: Fit, shown: LoadedTrace) -> HeapMap | None:
    """The map of a fit; None where blocks may lie in pieces, which a map cannot show."""
    winner = fit.winner
    if winner.is_in_pieces or winner.replay_region is None:
        return None
    subjects = [*_todays(fit, shown), _chosen(winner, shown, fit.comparison.base_alignment)]
    row = regions_of([one.region + one.shift for one in subjects], fit.profile.u_max)
    return HeapMap(
        heaps=tuple(_mapped(one, row) for one in subjects),
        lifetimes=_engine.Lifetimes(shown.events),
        events=len(shown.events),
        peak=fit.profile.u_max_event,
    )


def regions_of(needed: Sequence[int], u_max: int) -> tuple[int, ...]:
    """Regions from U_max to a little above what is needed, these among them, ascending.

    >>> len(regions_of([97_160, 90_296], 87_384)) >= REGIONS
    True
    """
    low, high = -(-u_max // _UNIT) * _UNIT, max(needed)
    high = max(high + (high - low) // 8, low + REGIONS * _UNIT)
    steps = {low + (high - low) * i // (REGIONS - 1) // _UNIT * _UNIT for i in range(REGIONS)}
    return tuple(sorted(steps | set(needed)))


def _chosen(winner: Row, shown: LoadedTrace, base: int) -> _Subject:
    assert winner.replay_region is not None
    events = shown.events_for(winner.plan)
    return _Subject(winner.name, winner.plan.engine(), events, base, winner.replay_region)


def _todays(fit: Fit, shown: LoadedTrace) -> list[_Subject]:
    """The heap that the user has, else FreeRTOS heap_4's rule; none where it cannot serve."""
    heap = fit.today.heap if fit.today else heap_4(fit.options.alignment)
    requests, base = requests_of(shown.trace), shown.trace.largest_alignment
    plan = heap.plan.engine()
    try:
        events = as_served(heap, requests).engine()
    except HeapfitError:
        return []
    trial = _engine.Trial(plan, events, base)
    if trial.exceeds(2 * fit.comparison.u_max, _MOST_ACCESSES * len(events)):
        return []
    region = trial.scan().r_safe
    if region is None:
        return []
    begins, counted = _placed_by(heap, requests)
    shift = heap.memory(region) - region
    name = heap.title if fit.today else f"{heap.title}'s rule"
    return [_Subject(name, plan, events, base, region, shift, begins, counted)]


def _placed_by(heap: SystemHeap, requests: Requests) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Of each block that a system's heap places: the event, and whether it is asked for in bytes.

    A block that stands for the mark between two regions belongs to the first event, and is not.
    """
    places = is_allocation(requests.op) | ((requests.op == RESIZE) & (requests.size > 0))
    begins = np.flatnonzero(places)
    marks = 2 * len(heap.regions)
    counted = np.concatenate([np.zeros(marks, np.bool_), requests.size[begins] > 0])
    return np.concatenate([np.zeros(marks, np.int64), begins]), counted


def _mapped(subject: _Subject, row: Sequence[int]) -> MappedHeap:
    own = _replayed(subject, subject.region + subject.shift)
    return MappedHeap(subject.name, own, tuple(_replayed(subject, one) for one in row))


def _replayed(subject: _Subject, memory: int) -> Replayed:
    nothing = np.zeros(0, np.uint64)
    try:
        replay = _engine.Replay(
            subject.plan, memory - subject.shift, base_alignment=subject.base, keep_offsets=True
        )
    except HeapfitError:  # the plan takes no such region
        return Replayed(memory, nothing, Refused(0, 0, 0, memory, 0))
    runs = replay.feed(subject.events)
    offsets = replay.offsets
    refused = None if runs else _refusal(subject, replay, len(offsets))
    if subject.counted is not None:
        offsets = offsets[subject.counted[: len(offsets)]]
    return Replayed(memory, offsets + np.uint64(subject.shift % 2**64), refused)


def _refusal(subject: _Subject, replay: _engine.Replay, placed: int) -> Refused:
    """What stopped a replay, told with the number that the event has in the trace."""
    result, blocks = replay.result(), replay.blocks()
    assert result.failed_event is not None
    assert result.failed_size is not None
    event = result.failed_event if subject.begins is None else int(subject.begins[placed])
    return Refused(event, result.failed_size, replay.live, blocks.free, blocks.largest_free)
