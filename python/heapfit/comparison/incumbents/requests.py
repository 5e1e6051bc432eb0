# SPDX-License-Identifier: Apache-2.0
"""The requests of a recording in memory, and parts of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, REPLAYED, is_allocation


@dataclass(frozen=True, slots=True)
class Requests:
    """Columns of events, as in a stored trace."""

    op: NDArray[np.uint8]
    named: NDArray[np.uint32]  # the object: how many were allocated before it
    size: NDArray[np.uint64]  # bytes
    alignment: NDArray[np.uint32]
    moves: int = field(
        default=0, kw_only=True
    )  # how resizes are served: the mark of EventArray.moving

    def engine(self, first: int = 0, last: int | None = None) -> _engine.EventArray:
        """The events from `first` on, up to `last`, for the engine to replay."""
        part = slice(first, last)
        events = _engine.EventArray(first)
        events.append(self.op[part], self.named[part], self.size[part], self.alignment[part])
        return _move_all(events, self.moves)

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


def describe_zero_requests(requests: Requests, ending: str) -> Iterator[str]:
    """A sentence on the requests of 0 B, if there are any; `ending`: what becomes of them."""
    asks = is_allocation(requests.op)
    zero, count = int((asks & (requests.size == 0)).sum()), int(asks.sum())
    if zero:
        yield f"{zero:,} of {count:,} requests {'is' if zero == 1 else 'are'} of 0 B, {ending}"


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
    requests: Requests, ends: NDArray[np.bool_], size: int, batch: int = 1 << 17
) -> Iterator[_engine.EventArray]:
    """The requests in batches, after each that `ends` an event one that is freed at once.

    It is for `size` bytes.
    """
    allocating, before = (
        np.flatnonzero(is_allocation(requests.op)),
        np.cumsum(ends, dtype=np.int64) - ends,
    )
    for first in range(0, len(requests.op), batch):
        part = slice(first, first + batch)
        named, number = requests.named[part], np.arange(len(requests.op))[part]
        probe = before[part] + np.searchsorted(allocating, number, side="right")
        is_kept = _alternate("?", True, ends[part], ends[part])
        columns = (
            _alternate("u1", requests.op[part], ALLOC, FREE),
            _alternate("u4", named + before[allocating[named]], probe, probe),
            _alternate("u8", requests.size[part], size, 0),
            _alternate("u4", requests.alignment[part], 0, 0),
        )
        events = _engine.EventArray(first + 2 * int(before[first]))
        events.append(*(column[is_kept] for column in columns))
        yield _move_all(events, requests.moves)


def _move_all(events: _engine.EventArray, mark: int) -> _engine.EventArray:
    """The events with this mark on each resize."""
    return events.moving(np.full(len(events), mark, np.uint16)) if mark else events


def _alternate(kind: str, *values: NDArray[Any] | int) -> NDArray[Any]:
    """The first of all values, then the second of all, and so on."""
    return np.stack(np.broadcast_arrays(*values), axis=1).ravel().astype(kind)
