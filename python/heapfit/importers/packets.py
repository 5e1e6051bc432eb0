# SPDX-License-Identifier: Apache-2.0
"""Captures (pcap, pcapng) and packet tables (.pkt) as requests to a heap.

A packet is allocated when it arrives and freed when the queue model releases it. Parsing, sizing
and queueing are the engine's; here its parts are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.importers.source import ImportOptions
from heapfit.importers.stream import ByteStream
from heapfit.trace.names import source_name
from heapfit.trace.stored import Columns, TraceInfo


@dataclass(frozen=True, slots=True)
class Packets:
    """Packets in file order: microseconds since the first, and bytes of the IP packet."""

    time: NDArray[np.uint64]
    size: NDArray[np.uint32]


def is_packets(head: bytes) -> bool:
    """Whether a file that begins so is a capture or a packet table."""
    return _engine.is_capture(head) or _engine.is_packet_table(head)


def open_packets(stream: ByteStream, options: ImportOptions) -> PacketSource:
    """The packets of a file as the source of a trace."""
    return PacketSource(stream, options.queue)


class PacketSource:
    """A capture or packet table on its way to a trace, by a queue model like `fill-drain:1000`."""

    def __init__(self, stream: ByteStream, queue: str) -> None:
        self._stream = stream
        self._queue = queue
        self._model = _engine.QueueModel(queue)
        self._reader = _reader(stream.head)

    def columns(self) -> Iterator[Columns]:
        """The events in file order, a chunk of the file at a time."""
        for packets in _batches(self._reader, self._stream):
            yield _trace_columns(*self._model.feed(packets.time, packets.size))
        yield _trace_columns(*self._model.finish())

    def info(self) -> TraceInfo:
        """What the trace is of, with the oddities counted so far."""
        return TraceInfo(
            program=source_name(self._stream.path),
            kind="packets",
            queue=self._queue,
            notes=tuple(self._reader.notes),
        )


def _reader(head: bytes) -> _engine.CaptureReader | _engine.PacketTableReader:
    return _engine.PacketTableReader() if _engine.is_packet_table(head) else _engine.CaptureReader()


def _batches(
    reader: _engine.CaptureReader | _engine.PacketTableReader, stream: ByteStream
) -> Iterator[Packets]:
    for chunk in stream.chunks():
        yield Packets(*reader.feed(chunk))
    reader.finish()


def _trace_columns(
    op: NDArray[np.uint8],
    objects: NDArray[np.uint32],
    size: NDArray[np.uint64],
    time: NDArray[np.uint64],
) -> Columns:
    unknown = np.zeros(len(op), np.uint32)
    return {
        "op": op,
        "object": objects,
        "size": size,
        "alignment": unknown,
        "time": time,
        "thread": unknown,
        "site": unknown,
    }
