# SPDX-License-Identifier: Apache-2.0
"""The requests of a recording as a system's heap gets them, adapted to what the heap offers.

resize of 3 to 80 B   where it cannot   request of 80 B as 7, free of 3; later 3 is 7
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, REPLAYED, RESIZE, is_allocation, is_end


@dataclass(frozen=True, slots=True)
class Requests:
    """Columns of events, as in a stored trace."""

    op: NDArray[np.uint8]
    named: NDArray[np.uint32]  # the object: how many were allocated before it
    size: NDArray[np.uint64]  # bytes
    alignment: NDArray[np.uint32]

    def engine(self, first: int = 0, last: int | None = None) -> _engine.EventArray:
        """The events from `first` on, up to `last`, for the engine to replay."""
        part = slice(first, last)
        events = _engine.EventArray(first)
        events.append(self.op[part], self.named[part], self.size[part], self.alignment[part])
        return events

    def events_for(self, _: Plan) -> _engine.EventArray:
        """The requests for any plan: they have no call sites."""
        return self.engine()

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """The named columns in one batch."""
        own: dict[str, NDArray[Any]] = {
            "op": self.op, "object": self.named, "size": self.size, "alignment": self.alignment
        }  # fmt: skip
        yield {name: own[name] for name in columns}

    @property
    def largest_alignment(self) -> int:
        """The largest alignment any request asks for; 0 where none does."""
        return int(self.alignment[self.op == ALIGNED].max(initial=0))


class BatchSource(Protocol):
    """A stored trace, or something that is read like one."""

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """The named columns in order."""


def requests_of(trace: BatchSource) -> Requests:
    """All of a recording, in memory: 17 B an event."""
    batches = list(trace.batches(REPLAYED))
    return Requests(*(np.concatenate([batch[name] for batch in batches]) for name in REPLAYED))


def remove_objects(requests: Requests, objects: Collection[int]) -> Requests:
    """The requests without some objects; the others are renumbered."""
    kept = ~np.isin(requests.named, np.array(sorted(objects), np.uint32))
    ordinal = np.cumsum(kept[is_allocation(requests.op)], dtype=np.uint32) - np.uint32(1)
    return Requests(
        requests.op[kept],
        ordinal[requests.named[kept]],
        requests.size[kept],
        requests.alignment[kept],
    )


def insert_probes(
    requests: Requests, size: int, batch: int = 1 << 17
) -> Iterator[_engine.EventArray]:
    """The requests in batches, after each of them one for `size` bytes that is freed at once."""
    allocating = np.flatnonzero(is_allocation(requests.op))
    for first in range(0, len(requests.op), batch):
        part = slice(first, first + batch)
        named = requests.named[part]
        number = np.arange(first, first + len(named))
        probe = number + np.searchsorted(allocating, number, side="right")
        events = _engine.EventArray(3 * first)
        events.append(
            _alternate("u1", requests.op[part], ALLOC, FREE),
            _alternate("u4", named + allocating[named], probe, probe),
            _alternate("u8", requests.size[part], size, 0),
            _alternate("u4", requests.alignment[part], 0, 0),
        )
        yield events


def _alternate(kind: str, *values: NDArray[Any] | int) -> NDArray[Any]:
    """The first of all values, then the second of all, and so on."""
    return np.stack(np.broadcast_arrays(*values), axis=1).ravel().astype(kind)


def find_placing_events(requests: Requests) -> NDArray[np.int64]:
    """The events that ask for a block; a heap is asked the same number, in the same order."""
    return np.flatnonzero(~is_end(requests.op, requests.size))


def find_last_sizes(requests: Requests, refused: NDArray[np.uint64] | None) -> NDArray[np.uint64]:
    """The size of each event's object before it; `refused` events change no size."""
    size, by_object = requests.size, np.argsort(requests.named, kind="stable")
    served = ~np.isin(by_object, () if refused is None else refused)
    last = np.maximum.accumulate(np.where(served, np.arange(len(size)), 0))
    last_size = np.zeros(len(size), np.uint64)
    last_size[by_object[1:]] = size[by_object[last[:-1]]]
    return last_size


def replace_resizes(requests: Requests, moves: NDArray[np.bool_]) -> Requests:
    """Replaces each resize that a heap does not serve in place by a request, a copy and a free."""
    op, size = requests.op, requests.size
    by_object = np.argsort(requests.named, kind="stable")
    begins = is_allocation(op) | moves
    ordinal = np.cumsum(begins, dtype=np.uint32) - np.uint32(1)
    now, before = _incarnations(begins[by_object], ordinal[by_object])
    named, old = np.empty_like(requests.named), np.empty_like(requests.named)
    named[by_object], old[by_object] = now, before
    op = np.where(moves, np.uint8(ALLOC), op)
    op = np.where((op == RESIZE) & (size == 0), np.uint8(FREE), op)
    slots = np.flatnonzero(moves) + 1
    return Requests(
        np.insert(op, slots, np.uint8(FREE)),
        np.insert(named, slots, old[moves]),
        np.insert(size, slots, np.uint64(0)),
        np.insert(np.where(moves, np.uint32(0), requests.alignment), slots, np.uint32(0)),
    )


def _incarnations(
    begins: NDArray[np.bool_], ordinal: NDArray[np.uint32]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The block numbers after and before each event, for events in order of their objects."""
    now = ordinal[np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))]
    return now, np.concatenate([now[:1], now[:-1]])
