# SPDX-License-Identifier: Apache-2.0
"""The requests of a recording as a system's heap gets them, adapted to what the heap offers.

resize of 3 to 80 B   where it cannot   request of 80 B as 7, free of 3; later 3 is 7
heap_5's regions      at the start      | free ... | mark | free ... | mark | free ...
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.catalogue import HEAP_4_LINK
from heapfit.comparison.incumbents.system_heap import MARK, Resizes, SystemHeap
from heapfit.errors import HeapfitError
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE, is_allocation

_NAMES = ("op", "object", "size", "alignment")


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


class BatchSource(Protocol):
    """A stored trace, or something that is read like one."""

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """The named columns in order."""


def requests_of(trace: BatchSource) -> Requests:
    """All of a recording, in memory: 17 B an event."""
    batches = list(trace.batches(_NAMES))
    return Requests(*(np.concatenate([batch[name] for batch in batches]) for name in _NAMES))


def remove_objects(requests: Requests, objects: Collection[int]) -> Requests:
    """The requests without some objects; the others are renumbered."""
    kept = ~np.isin(requests.named, np.array(sorted(objects), np.uint32))
    allocates = is_allocation(requests.op)
    ordinal = np.cumsum(kept[allocates], dtype=np.uint32) - np.uint32(1)
    return Requests(
        requests.op[kept],
        ordinal[requests.named[kept]],
        requests.size[kept],
        requests.alignment[kept],
    )


def adapt_requests(heap: SystemHeap, requests: Requests) -> Requests:
    """The requests for the heap's plan to replay; HeapfitError if the heap cannot serve one."""
    if not heap.frees:
        _require_no_free(heap, requests)
    if not heap.aligns:
        _require_unaligned(heap, requests)
    if heap.resizes is not Resizes.IN_PLACE:
        requests = _replace_resizes(requests, heap)
    has_size = (requests.op != FREE) & ((requests.op != RESIZE) | (requests.size > 0))
    least = np.where(has_size, np.uint64(heap.least), np.uint64(0))
    requests = replace(requests, size=np.maximum(requests.size, least))
    return _add_region_marks(heap.regions, requests)


def describe_zero_requests(heap: SystemHeap, requests: Requests) -> Iterator[str]:
    """A sentence on the requests of 0 B, if there are any that the heap refuses."""
    asks = is_allocation(requests.op)
    zero, count = int((asks & (requests.size == 0)).sum()), int(asks.sum())
    if zero and heap.refuses_zero:
        verb = "is" if zero == 1 else "are"
        yield (
            f"{zero:,} of {count:,} requests {verb} of 0 B, which {heap.title} refuses (as where "
            "memory runs out); they are replayed as its smallest block"
        )


def find_placing_events(requests: Requests) -> NDArray[np.int64]:
    """The events that ask for a block; a heap is asked the same number, in the same order."""
    resizes = (requests.op == RESIZE) & (requests.size > 0)
    return np.flatnonzero(is_allocation(requests.op) | resizes)


def _require_no_free(heap: SystemHeap, requests: Requests) -> None:
    frees = (requests.op == FREE) | (requests.op == RESIZE)
    if frees.any():
        raise HeapfitError(
            f"event {int(np.argmax(frees)) + 1}: frees a block, which {heap.title} never does"
        )


def _require_unaligned(heap: SystemHeap, requests: Requests) -> None:
    is_beyond = (requests.op == ALIGNED) & (requests.alignment > heap.plan.alignment)
    if is_beyond.any():
        first = int(np.argmax(is_beyond))
        raise HeapfitError(
            f"event {first + 1}: asks for an alignment of {requests.alignment[first]}, which "
            f"{heap.title} cannot serve"
        )


def _moves(
    heap: SystemHeap, size: NDArray[np.uint64], old: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """True where the heap serves a resize from `old` to `size` by a new block."""
    if heap.resizes is Resizes.SHRINK:
        return size > old
    if heap.resizes is Resizes.MOVE:
        return np.ones(len(size), np.bool_)
    new, own = _round_up(heap, size), _round_up(heap, np.maximum(old, np.uint64(heap.least)))
    return np.asarray((new != own) & (new + np.uint64(heap.least_cut) > own))


def _round_up(heap: SystemHeap, sizes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    unit = np.uint64(heap.plan.alignment)
    return np.asarray((sizes + unit - np.uint64(1)) // unit * unit)


def _replace_resizes(requests: Requests, heap: SystemHeap) -> Requests:
    """Replaces each resize that the heap cannot serve in place by a request, a copy and a free."""
    op, size = requests.op, requests.size
    by_object = np.argsort(requests.named, kind="stable")
    last_size = np.zeros(len(op), np.uint64)
    last_size[by_object[1:]] = size[by_object[:-1]]
    moves = (op == RESIZE) & (size > 0) & _moves(heap, size, last_size)
    begins = is_allocation(op) | moves
    ordinal = np.cumsum(begins, dtype=np.uint32) - np.uint32(1)
    now, before = _incarnations(begins[by_object], ordinal[by_object])
    named = np.empty_like(requests.named)
    old = np.empty_like(requests.named)
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
    last = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
    now = ordinal[last]
    return now, np.concatenate([now[:1], now[:-1]])


def mark_sizes(regions: Sequence[int]) -> list[int]:
    """Sizes of the blocks before the first request: heap_5's regions, each freed, and marks."""
    return [size for region in regions for size in (region - 2 * HEAP_4_LINK, MARK - HEAP_4_LINK)]


def _add_region_marks(regions: tuple[int, ...], requests: Requests) -> Requests:
    """Puts used chunks before the requests that stand for the marks between heap_5's regions."""
    count, sizes = len(regions), mark_sizes(regions)
    if count == 0:
        return requests
    op = np.repeat(np.array([ALLOC, FREE], np.uint8), [2 * count, count])
    named = [*range(2 * count), *range(0, 2 * count, 2)]
    return Requests(
        np.concatenate([op, requests.op]),
        np.concatenate([np.array(named, np.uint32), requests.named + np.uint32(2 * count)]),
        np.concatenate([np.array(sizes + [0] * count, np.uint64), requests.size]),
        np.concatenate([np.zeros(3 * count, np.uint32), requests.alignment]),
    )
