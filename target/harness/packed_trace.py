# SPDX-License-Identifier: Apache-2.0
"""A trace packed for an image; target/replay/packed_trace.h draws the form."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.chains import sites_with_tags
from heapfit.trace.operations import ALIGNED, FREE, RESIZE, may_be_tagged
from heapfit.trace.stored import Trace

_MAGIC = 0x31544648
_FREES_BY_SIZE, _WRITES_AFTER_FREE = 1, 2
_LARGEST = 2**32 - 1  # bytes; a request no 32-bit target can serve stays one


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """A trace's events, as an image reads them."""

    events: NDArray[np.uint32]  # a row of two an event
    objects: NDArray[np.uint32]  # of the events, in the numbers of the trace
    slots: int
    writes_after_free: bool = False  # to the first word of each block, which it still uses

    def save(self, path: Path, frees_by_size: bool = False) -> None:
        """Writes the trace; frees are done by free_sized if `frees_by_size`."""
        flags = _FREES_BY_SIZE * frees_by_size | _WRITES_AFTER_FREE * self.writes_after_free
        header = struct.pack("<4I", _MAGIC, len(self.events), self.slots, flags)
        path.write_bytes(header + self.events.astype("<u4").tobytes())

    def runs(self) -> Iterator[tuple[bool, PackedTrace]]:
        """The trace in pieces of nothing but aligned requests (True) and of none (False)."""
        what = self.events[:, 0]
        is_aligned = (what >> 29 == ALIGNED) & (what >> 24 & 31 != 0)
        ends = [*(np.flatnonzero(np.diff(is_aligned)) + 1).tolist(), len(self.events)]
        start = 0
        for end in filter(None, ends):
            yield bool(is_aligned[start]), self._part(start, end)
            start = end

    def engine_events(self) -> _engine.EventArray:
        """The same events as the engine reads them."""
        ops = (self.events[:, 0] >> 29).astype(np.uint8)
        details = self.events[:, 0] >> 24 & 31
        events = _engine.EventArray()
        events.append(
            ops,
            self.objects,
            self.events[:, 1].astype(np.uint64),
            np.where(ops == ALIGNED, np.uint32(1) << details, np.uint32(0)),
            np.where(may_be_tagged(ops), details, np.uint32(0)).astype(np.uint16),
        )
        return events

    def first(self, count: int) -> PackedTrace:
        """The trace's first events alone."""
        return self._part(0, count)

    def _part(self, start: int, end: int) -> PackedTrace:
        return replace(self, events=self.events[start:end], objects=self.objects[start:end])


def pack(trace: Trace, sites: Mapping[int, int] | None = None) -> PackedTrace:
    """Gives each object a slot, which is free for another once the object is freed.

    `sites` are the tags of a plan's call sites.
    """
    slots = _Slots()
    tags = sites_with_tags(sites or {}, trace.chains)
    rows: list[tuple[int, int]] = []
    objects: list[int] = []
    for op, number, size, alignment, site in _events(trace):
        ends = op == FREE or (op == RESIZE and size == 0)
        slot = slots.end(number) if ends else slots.slot_of(number)
        tag = tags.get(site, 0) if op < ALIGNED else 0
        detail = max(alignment.bit_length() - 1, 0) | tag
        what = slot | detail << 24 | (FREE if ends else op) << 29
        rows.append((what, min(size, _LARGEST)))
        objects.append(number)
    events = np.array(rows, np.uint32).reshape(-1, 2)
    return PackedTrace(events, np.array(objects, np.uint32), slots.count)


def _events(trace: Trace) -> Iterator[tuple[Any, ...]]:
    columns = ("op", "object", "size", "alignment", "site")
    for batch in trace.batches(columns):
        yield from zip(*(batch[name].tolist() for name in columns), strict=True)


class _Slots:
    """Which slot each live object has."""

    def __init__(self) -> None:
        self.count = 0
        self._taken: dict[int, int] = {}
        self._left: list[int] = []

    def slot_of(self, number: int) -> int:
        if number not in self._taken:
            if not self._left:
                self._left.append(self.count)
                self.count += 1
            self._taken[number] = self._left.pop()
        return self._taken[number]

    def end(self, number: int) -> int:
        slot = self._taken.pop(number)
        self._left.append(slot)
        return slot
