# SPDX-License-Identifier: Apache-2.0
"""Two programs, or a program and an arena, in one heap or apart, by exact replay.

How two recordings meet is not known, so they are joined in several ways. An arena is one block of
its packing's height, for each span of time in which any of its buffers is live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import MEMORY_HEAPS
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.requests import Requests
from heapfit.importers import has_known_lifetimes, open_trace
from heapfit.importers.networks import find_tensors
from heapfit.memories.demand import live_after
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace, load_trace
from heapfit.trace.operations import ALLOC, FREE, Integers, is_allocation
from heapfit.trace.stored import Trace

# Starts of one program in equal parts of the other's span; at most so many events of all of them.
_SHIFTS, _MOST_EVENTS = 31, 4_000_000
_ARENA_EFFORT = _engine.PackingEffort(1, 5_000_000, 50_000)


@dataclass(frozen=True, slots=True)
class Program:
    """The events of a recording as columns, and what it needs by itself."""

    name: str
    alone: int  # bytes; of an arena the height of its packing
    columns: tuple[NDArray[Any], ...]  # op, object, size, alignment
    times: Integers | None  # microseconds of each event; None: unknown

    def live(self) -> Integers:
        """The bytes live after each event."""
        ops, objects, sizes, _ = self.columns
        return live_after(np.where(ops == FREE, 0, sizes), objects)


@dataclass(frozen=True, slots=True, repr=False)
class Joining:
    """What two programs need in one memory and apart."""

    programs: tuple[Program, Program]
    meetings: tuple[tuple[str, int], ...]  # each way, and the memory that serves both in it

    def __repr__(self) -> str:
        return (
            f"{' and '.join(one.name for one in self.programs)}: {self.apart:,} B apart, "
            f"{self.most:,} B in one heap in the worst meeting"
        )

    @property
    def apart(self) -> int:
        """Bytes of a heap for each."""
        return sum(one.alone for one in self.programs)

    @property
    def most(self) -> int:
        """Bytes of one heap, however the programs meet in the ways tried."""
        return max(region for _, region in self.meetings)

    @property
    def least(self) -> int:
        """Bytes of the better way, in one heap or apart."""
        return min(self.apart, self.most)


def join_programs(
    first: Trace | Path | str,
    second: Trace | Path | str,
    allocator: str = MEMORY_HEAPS[0],
    progress: Progress = ignore_progress,
) -> Joining:
    """What two recordings, or one and a file of known lifetimes, need in one heap and apart.

    HeapfitError if a file cannot be read, if there is no such allocator, or if no memory below 4
    GiB serves a recording.
    """
    heap = find_heap(allocator, STANDARD_ALIGNMENT)
    programs = [_open_program(source, heap, progress) for source in (first, second)]
    return join_recorded(programs[0], programs[1], heap)


def _open_program(source: Trace | Path | str, heap: Heap, progress: Progress) -> Program:
    given = source if isinstance(source, Trace) else Path(source)
    with open_trace(given, progress=progress) as trace:
        name, loaded = trace.given.name, load_trace(trace)
        if isinstance(given, Path) and has_known_lifetimes(given):
            return arena_of(name, loaded, has_times=not find_tensors(given))
        return program_of(name, loaded, heap)


def program_of(name: str, loaded: LoadedTrace, heap: Heap) -> Program:
    """A recorded program, with the memory that the heap needs for it."""
    return _read_program(name, loaded, measure(heap, [loaded]).require_most())


def arena_of(name: str, loaded: LoadedTrace, *, has_times: bool) -> Program:
    """An arena of known lifetimes as one block for each span in which some are live."""
    height = _engine.pack(_engine.Lifetimes(loaded.events), _ARENA_EFFORT).height
    whole = _read_program(name, loaded, height)
    is_idle = whole.live() == 0
    begins = np.flatnonzero(np.concatenate(([True], is_idle[:-1])))
    ends = np.flatnonzero(is_idle)
    places = np.stack([begins[: len(ends)], ends], 1).ravel()
    count = len(places)
    ops = np.tile(np.array([ALLOC, FREE], np.uint8), count // 2)
    sizes = np.where(ops == ALLOC, height, 0).astype(np.uint64)
    objects = np.repeat(np.arange(count // 2, dtype=np.uint32), 2)
    times = whole.times[places] if has_times and whole.times is not None else None
    return replace(whole, columns=(ops, objects, sizes, np.zeros(count, np.uint32)), times=times)


def _read_program(name: str, loaded: LoadedTrace, alone: int) -> Program:
    events = loaded.events
    columns = (events.ops(), events.objects(), events.sizes(), events.alignments())
    times = np.concatenate([batch["time"] for batch in loaded.trace.batches(["time"])])
    return Program(name, alone, columns, times.astype(np.int64) if times.any() else None)


def join_recorded(first: Program, second: Program, heap: Heap) -> Joining:
    """The memory that serves both programs in one heap, for each way in which they may meet."""
    meetings = tuple(
        (name, measure(heap, met).require_most())
        for name, orders in _WAYS.items()
        if (met := [_merge((first, second), order) for order in orders(first, second)])
    )
    return Joining((first, second), meetings)


def _merge(programs: tuple[Program, Program], order: Integers) -> Requests:
    """The events of both in an order of places, the second's behind the first's."""
    first, second = (one.columns for one in programs)
    ops, objects, sizes, alignments = (
        np.concatenate(pair) for pair in zip(first, second, strict=True)
    )
    objects[len(first[0]) :] += int(is_allocation(first[0]).sum())
    ops, objects, sizes, alignments = (one[order] for one in (ops, objects, sizes, alignments))
    numbers = np.argsort(objects[is_allocation(ops)]).astype(np.uint32)  # by their order of births
    return Requests(ops, numbers[objects], sizes, alignments)


def _order_by_clock(
    shifts: Callable[[Program, Program], Integers], first: Program, second: Program
) -> Iterator[Integers]:
    """By their clocks, the second begun later by each shift in microseconds; earlier: negative."""
    if first.times is not None and second.times is not None:
        for shift in shifts(first, second):
            yield np.argsort(np.concatenate((first.times, second.times + shift)), kind="stable")


def _find_shifts(first: Program, second: Program) -> Integers:
    """Equal parts of the span of the one that began before; fewer of long recordings."""
    count = min(_SHIFTS, _MOST_EVENTS // (len(first.columns[0]) + len(second.columns[0])))
    spans = [one.times[-1] - one.times[0] for one in (first, second) if one.times is not None]
    parts = np.arange(1, count + 1) / (count + 1)
    return np.concatenate(
        [sign * (parts * span) for sign, span in zip((1, -1), spans, strict=True)]
    )


def _insert(
    place_in: Callable[[Program], int], first: Program, second: Program
) -> Iterator[Integers]:
    """All of one behind so many events of the other."""
    ours = np.arange(len(first.columns[0]))
    theirs = np.arange(len(second.columns[0])) + len(ours)
    for one, other, place in ((ours, theirs, place_in(first)), (theirs, ours, place_in(second))):
        yield np.concatenate((one[:place], other, one[place:]))


TOGETHER: Final = "begun together, by their clocks"
# The orders of events for each way in which programs meet; none: it cannot be said.
_WAYS: Final[dict[str, Callable[[Program, Program], Iterator[Integers]]]] = {
    TOGETHER: partial(_order_by_clock, lambda *_: np.zeros(1, np.int64)),
    "one begun later, by their clocks": partial(_order_by_clock, _find_shifts),
    "one while most of the other is live": partial(
        _insert, lambda one: int(one.live().argmax()) + 1
    ),
    "one after the other": partial(_insert, lambda one: len(one.columns[0])),
}
