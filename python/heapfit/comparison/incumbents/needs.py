# SPDX-License-Identifier: Apache-2.0
"""The memory that recordings need in a system's heap, and the part that no run ever frees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heapfit import _engine
from heapfit.comparison.incumbents.catalogue import LWIP_LARGEST_SHORT, LWIP_LONG_HEADER, lwip_mem
from heapfit.comparison.incumbents.heaps import describe_namesakes
from heapfit.comparison.incumbents.requests import (
    Requests,
    adapt_requests,
    describe_zero_requests,
    remove_objects,
)
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.work import limit_to_try_all
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.operations import is_allocation

_UNIT = _engine.REGION_UNIT
_ABOVE = 16  # sizes above the least one that must serve, too


@dataclass(frozen=True, slots=True)
class Permanent:
    """Requests that every run begins with and none frees. Bytes."""

    objects: tuple[int, ...]  # which of each run's first requests
    size: int  # bytes asked for
    static: int  # the same as static memory, each aligned as a block
    saved: int | None  # of heap and static memory together; None: the heap serves no such run


@dataclass(frozen=True, slots=True)
class Needs:
    """The memory that recordings need in a system's heap. Bytes."""

    heap: SystemHeap  # with the headers that it has at this size
    memories: tuple[int | None, ...]  # for each recording
    permanent: Permanent | None
    events: int  # replayed to know it
    notes: tuple[str, ...] = ()  # what it is not, and what is asked for that it refuses

    @property
    def most(self) -> int | None:
        """The memory for all recordings; None where one of them has no region."""
        known = [need for need in self.memories if need is not None]
        return max(known) if len(known) == len(self.memories) else None


def measure_memory_needs(
    heap: SystemHeap,
    recordings: Sequence[Requests],
    bases: Sequence[int],
    progress: Progress = ignore_progress,
    *,
    has_permanent: bool = True,
) -> Needs:
    """Measures by replay what recordings need; `bases` are their largest alignments.

    What no run ever frees is sought if `has_permanent`.
    """
    heap, memories, events = measure_memories(heap, recordings, bases, progress)
    known = [need for need in memories if need is not None]
    kept, more = None, 0
    if has_permanent and len(known) == len(memories):
        kept, more = measure_permanent(heap, recordings, bases, known)
    refused = [note for one in recordings for note in describe_zero_requests(heap, one)]
    notes = dict.fromkeys([*describe_namesakes(heap), *refused])
    return Needs(heap, memories, kept, events + more, tuple(notes))


def measure_memories(
    heap: SystemHeap,
    recordings: Sequence[Requests],
    bases: Sequence[int],
    progress: Progress = ignore_progress,
) -> tuple[SystemHeap, tuple[int | None, ...], int]:
    """The heap's memory for each recording, R_safe (None: none below 4 GiB serves); then events.

    A heap whose headers depend on its size comes back with those that it then has, heap_5 with the
    region that is to grow. Events are those that were replayed for it.
    """
    measured = [
        _measure_memory(heap, one, base, progress)
        for one, base in zip(recordings, bases, strict=True)
    ]
    needs, events = tuple(need for need, _ in measured), sum(events for _, events in measured)
    known = [need for need in needs if need is not None]
    if heap.typed and heap.grown < 0:
        most = max(known) if len(known) == len(needs) else None
        grown, more = _choose_region(heap, recordings, bases, most)
        events += more
    else:
        grown = grow_headers(heap, needs)
    if grown == heap:
        return heap, needs, events
    heap, needs, more = measure_memories(grown, recordings, bases, progress)
    return heap, needs, events + more


def _choose_region(
    heap: SystemHeap, recordings: Sequence[Requests], bases: Sequence[int], needed: int | None
) -> tuple[SystemHeap, int]:
    """heap_5 with that region grown which has to grow least; then the events replayed.

    typed    | region 1 | region 2 | region 3 |     serves not
    tried    | region 1 + least | region 2 | region 3 |   | region 1 | region 2 + least | ...

    `needed`: its memory where the last one grows; None: no such region is below 4 GiB.
    """
    total, events = sum(heap.typed), 0
    if needed is None or needed <= total:
        return heap, 0
    least, chosen = needed - total, heap
    for number in range(len(heap.typed) - 1):
        served = _Served(heap, recordings, bases, number)
        more = _find_least(served, least - _UNIT)
        events += served.events
        if more is not None:
            least, chosen = more, served.grow(more)
    return chosen, events


class _Served:
    """True for growths, in bytes, of one region with which all recordings are served."""

    def __init__(
        self, heap: SystemHeap, recordings: Sequence[Requests], bases: Sequence[int], number: int
    ) -> None:
        self._heap, self._number = heap, number
        self._recordings = list(zip(recordings, bases, strict=True))
        self.events = 0

    def grow(self, more: int) -> SystemHeap:
        """The heap with its region so many bytes larger."""
        sizes = list(self._heap.typed[:-1])
        sizes[self._number] += more
        return replace(self._heap, regions=tuple(sizes), grown=self._number)

    def __call__(self, more: int) -> bool:
        heap = self.grow(more)
        region = heap.region(sum(heap.typed) + more)
        for requests, base in self._recordings:
            events = adapt_requests(heap, requests).engine()
            result = _engine.Trial(heap.plan.engine(), events, base).run(region)
            self.events += result.events
            if not result.runs:
                return False
        return True


def _find_least(serves: Callable[[int], bool], most: int) -> int | None:
    """The least multiple of 8, up to `most`, with which and above which tried ones serve."""
    if most < _UNIT or not serves(most):
        return None
    low, high = 0, most // _UNIT
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle * _UNIT) else (middle, high)
    top = most // _UNIT
    above = sorted({high + (top - high) * i // _ABOVE for i in range(_ABOVE)}, reverse=True)
    failing = next((one for one in above if not serves(one * _UNIT)), None)
    return (high if failing is None else failing + 1) * _UNIT


def grow_headers(heap: SystemHeap, memories: Sequence[int | None]) -> SystemHeap:
    """The heap with the headers that it has where it needs so much memory; None: any."""
    is_short = heap == lwip_mem(heap.plan.alignment)
    if is_short and any(one is None or heap.set_to(one) > LWIP_LARGEST_SHORT for one in memories):
        return lwip_mem(heap.plan.alignment, LWIP_LONG_HEADER)
    return heap


def _measure_memory(
    heap: SystemHeap, requests: Requests, base: int, progress: Progress
) -> tuple[int | None, int]:
    """The memory for one recording, whose largest alignment is `base`; then events replayed.

    Every size is tried where that is cheap, as `compare` does: heaps whose placements depend on the
    region's end may fail in larger regions.
    """
    step = f"compare {heap.name}"
    trial = _engine.Trial(heap.plan.engine(), adapt_requests(heap, requests).engine(), base)

    def tell(done: int, total: int) -> None:
        progress(step, done / max(total, 1))

    search = trial.scan(progress=tell)
    replayed = search.events
    if 0 < search.events_left <= limit_to_try_all(len(requests.op)):
        search = trial.scan(progress=tell, every_size=True)
        replayed += search.events
    progress(step, 1.0)
    return None if search.r_safe is None else heap.memory(search.r_safe), replayed


def measure_permanent(
    heap: SystemHeap, recordings: Sequence[Requests], bases: Sequence[int], needs: Sequence[int]
) -> tuple[Permanent | None, int]:
    """The requests that begin all recordings, before any free, and stay until the end.

    Its saving is of the largest memory of all; `needs` are those with it. None if there is none.
    Then the events replayed.
    """
    objects = _find_permanent(recordings)
    if not objects:
        return None, 0
    sizes = [int(recordings[0].size[one]) for one in objects]
    unit = heap.plan.alignment
    static = sum(-(-size // unit) * unit for size in sizes)
    _, rest, events = measure_memories(
        heap, [remove_objects(one, objects) for one in recordings], bases
    )
    least = [need for need in rest if need is not None]
    saved = max(needs) - max(least) - static if len(least) == len(recordings) else None
    return Permanent(objects, sum(sizes), static, saved), events


def _find_permanent(recordings: Sequence[Requests]) -> tuple[int, ...]:
    common = min(int(np.argmin(np.append(is_allocation(one.op), False))) for one in recordings)
    first = recordings[0]
    is_kept = np.ones(common, np.bool_)
    for one in recordings:
        same = (one.size[:common] == first.size[:common]) & (
            one.alignment[:common] == first.alignment[:common]
        )
        is_kept &= np.cumprod(same).astype(np.bool_)
        touched = one.named[~is_allocation(one.op)]
        is_kept[touched[touched < common]] = False
    is_everything = all(int(is_allocation(one.op).sum()) == is_kept.sum() for one in recordings)
    return () if is_everything else tuple(np.flatnonzero(is_kept).tolist())
