# SPDX-License-Identifier: Apache-2.0
"""A trace for Perfetto: live bytes over time as counters, blocks as slices.

The fields of perfetto_trace.proto by their numbers. A time is the recording's, in nanoseconds;
events of one microsecond follow one another by one. Without times an event takes a microsecond.

    process: program
      counters   live bytes, live blocks, and the live bytes of those who hold most
      slices     the largest blocks of the view under the name of who asked for them, in lanes
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.exports.protobuf import message, number, text
from heapfit.trace.exports.samples import Frame, SampledBlocks
from heapfit.trace.operations import Integers
from heapfit.trace.views import ViewedBlocks

_MOST_POINTS = 50_000  # of a counter; of a longer one the extremes of as many pieces
_MOST_TRACKS = 32  # counters of those who hold most
_MOST_SLICES = 2_000
_PROCESS = 1  # its track
_BYTES, _COUNT = 3, 2  # units of a counter
_BEGIN, _END, _COUNTER = 1, 2, 4  # types of events


def write_perfetto(holdings: SampledBlocks) -> bytes:
    """The recording as a trace of packets."""
    return b"".join(message(1, number(10, 1), packet) for packet in _packets(holdings))


def _packets(holdings: SampledBlocks) -> Iterator[bytes]:
    viewed = holdings.viewed
    times = _nanoseconds(viewed.times)
    yield message(60, number(1, _PROCESS), message(3, number(1, 1), text(6, holdings.program)))
    sizes = viewed.blocks.sizes.astype(np.int64)
    every = np.ones(len(sizes), np.bool_)
    yield from _counter(2, "live bytes", _BYTES, _changes(viewed, every, sizes), times)
    yield from _counter(3, "live blocks", _COUNT, _changes(viewed, every, every), times)
    keys = np.asarray(holdings.keys)
    tracked = holdings.by_stack()[:_MOST_TRACKS]
    for track, (one, stack) in enumerate(tracked, 4):
        changes = _changes(viewed, keys == one.key, sizes)
        yield from _counter(track, f"bytes of {_name(stack)}", _BYTES, changes, times)
    yield from _slices(4 + len(tracked), holdings, keys, times)


def _name(stack: Sequence[Frame]) -> str:
    return " < ".join(frame.name for frame in stack)


def _nanoseconds(times: NDArray[np.uint64]) -> Integers:
    """The time of each event, at most a microsecond later than it was."""
    events = np.arange(len(times))
    if times[-1] == 0:
        return events * 1000
    _, first, which = np.unique(times, return_index=True, return_inverse=True)
    return np.asarray(times.astype(np.int64) * 1000 + np.minimum(events - first[which], 999))


def _changes(
    viewed: ViewedBlocks, own: NDArray[np.bool_], weights: NDArray[np.generic]
) -> Integers:
    """The change of a sum over the live blocks at each event."""
    changes = np.zeros(viewed.events + 1, np.int64)
    np.add.at(changes, viewed.blocks.starts[own], weights[own])
    np.subtract.at(changes, viewed.blocks.ends[own], weights[own])
    return changes[:-1]


def _counter(
    track: int, name: str, unit: int, changes: Integers, times: Integers
) -> Iterator[bytes]:
    yield message(
        60, number(1, track), text(2, name), number(5, _PROCESS), message(8, number(3, unit))
    )
    events = np.flatnonzero(changes)
    values = np.cumsum(changes)[events]
    chosen = _extremes(values)
    for time, value in zip(times[events[chosen]].tolist(), values[chosen].tolist(), strict=True):
        yield _event(time, _COUNTER, track, number(30, value))


def _extremes(values: Integers) -> Integers:
    """Which of the values are drawn: all, or the lowest and highest of each piece."""
    if len(values) <= _MOST_POINTS:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), _MOST_POINTS // 2 + 1).astype(np.int64)
    pieces = [values[a:b] for a, b in itertools.pairwise(edges)]
    lowest, highest = ([int(find(one)) for one in pieces] for find in (np.argmin, np.argmax))
    return np.unique(np.concatenate([edges[:-1] + lowest, edges[:-1] + highest]))


def _event(time: int, kind: int, track: int, *fields: bytes) -> bytes:
    return number(8, time) + message(11, number(9, kind), number(11, track), *fields)


def _slices(
    first: int, holdings: SampledBlocks, keys: Integers, times: Integers
) -> Iterator[bytes]:
    """The largest blocks of the view: slices of one lane do not overlap."""
    blocks = holdings.viewed.blocks
    shown = np.flatnonzero(holdings.viewed.is_shown)
    largest = np.argsort(-blocks.sizes[shown].astype(np.int64), kind="stable")[:_MOST_SLICES]
    shown = np.sort(shown[largest])
    names = {key: _name(stack) for key, stack in holdings.stacks.items()}
    free: dict[str, list[tuple[int, int]]] = {}  # lanes of a name: the event that ends each
    track = first
    for block in shown.tolist():
        start, end = int(blocks.starts[block]), int(blocks.ends[block])
        name = names[int(keys[block])]
        lanes = free.setdefault(name, [])
        if lanes and lanes[0][0] <= start:
            lane = heapq.heappop(lanes)[1]
        else:
            lane, track = track, track + 1
            yield message(60, number(1, lane), text(2, name), number(5, _PROCESS))
        heapq.heappush(lanes, (end, lane))
        size = message(4, text(10, "bytes"), number(3, int(blocks.sizes[block])))
        yield _event(int(times[start]), _BEGIN, lane, text(23, f"{blocks.sizes[block]:,} B"), size)
        if end < holdings.viewed.events:
            yield _event(int(times[end]), _END, lane)
