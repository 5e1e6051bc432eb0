# SPDX-License-Identifier: Apache-2.0
"""Captures and packet tables (.pkt) as requests to a heap.

A packet is allocated when it arrives and freed when the engine's queue model releases it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.source import FedReader, ImportOptions
from heapfit.importers.stream import ByteStream
from heapfit.trace.chains import Chains
from heapfit.trace.kinds import STANDARD_QUEUE
from heapfit.trace.names import source_name
from heapfit.trace.stored import TraceInfo
from heapfit.trace.table_file import Columns

_HEADERS = 40  # bytes of IP and TCP in a segment


def is_packets(head: bytes) -> bool:
    """True if a file that begins so is a capture or a packet table."""
    return _engine.is_capture(head) or _engine.is_packet_table(head)


def find_devices(sources: Sequence[Path]) -> list[str] | None:
    """The address at an end of every packet of all captures; both of two hosts; none of many.

    None where no source is a capture.
    """
    common: set[str] | None = None
    for source in filter(Path.is_file, sources):  # a pipe can be read once
        with ByteStream(source) as stream:
            if not _engine.is_capture(stream.head):
                continue
            reader: Any = _engine.CaptureReader(whole_frames=True)
            for chunk in stream.chunks():
                reader.feed(chunk)
        common = {*reader.addresses} & (common or {*reader.addresses})
    return None if common is None else sorted(common)


class PacketReader(FedReader, Protocol):
    """Makes packets of the bytes of a capture or packet table."""

    def feed(self, chunk: bytes, /) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Microseconds since the first packet, and bytes, of each IP packet in the next bytes."""


class PacketSource:
    """Reads a capture or packet table as a trace, by a queue model like `fill-drain:1000`."""

    def __init__(self, stream: ByteStream, options: ImportOptions) -> None:
        self._stream = stream
        self._queue = options.queue or STANDARD_QUEUE
        self._model = _engine.QueueModel(self._queue)
        self._largest, self._split = options.largest_packet, np.zeros(2, np.int64)
        is_table = _engine.is_packet_table(stream.head)
        if is_table and re.search(",(to|from)=", self._queue):
            raise HeapfitError(f"--queue {self._queue}: a packet table has no addresses")
        whose = [self._model] if "=" in self._queue else []  # a device's, as the model says
        self._reader: PacketReader = (
            _engine.PacketTableReader()
            if is_table
            else _engine.CaptureReader(options.whole_frames, *whose)
        )

    def columns(self) -> Iterator[Columns]:
        """The events in file order, a chunk of the file at a time."""
        names = ("op", "object", "size", "time")
        for chunk in self._stream.chunks():
            packets = self._reader.feed(chunk)
            time, size = split_packets(*packets, self._largest)
            self._split += np.array(
                [(packets[1] > self._largest).sum(), len(size) - len(packets[1])]
            )
            yield dict(zip(names, self._model.feed(time, size), strict=True))
        self._reader.finish()
        yield dict(zip(names, self._model.finish(), strict=True))

    def info(self) -> TraceInfo:
        """The trace's metadata, with the oddities counted so far."""
        merged, more = self._split.tolist()
        notes = [
            f"{merged:,} packets above {self._largest:,} B, merged by the card that captured them, "
            f"counted as the {merged + more:,} segments that the wire carries",
            *(one for one in self._reader.notes if "(offloads" not in one),
        ]
        return TraceInfo(
            program=source_name(self._stream.path),
            kind="packets",
            queue=self._queue,
            notes=tuple(notes if merged else self._reader.notes),
        )

    def chains(self) -> Chains:
        """No chains: packets have no callers."""
        return {}


def split_packets(
    time: NDArray[np.uint64], size: NDArray[np.uint32], largest: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Packets as a wire of so large ones carries them: a larger one as segments, each with headers.

    A network card merges those it receives and splits those it sends, where no capture sees it.

    >>> _, sizes = split_packets(np.array([5, 9], np.uint64), np.array([60, 2948], np.uint32), 1500)
    >>> sizes.tolist()
    [60, 1500, 1488]
    """
    sizes, room = size.astype(np.int64), largest - _HEADERS
    counts = np.where(sizes > largest, -(-(sizes - _HEADERS) // room), 1)
    segments = np.full(counts.sum(), largest)
    segments[np.cumsum(counts) - 1] = sizes - (counts - 1) * room
    return np.repeat(time, counts), segments.astype(np.uint32)
