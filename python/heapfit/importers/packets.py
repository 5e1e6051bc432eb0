# SPDX-License-Identifier: Apache-2.0
"""Captures (pcap, pcapng) and packet tables (.pkt), plain or gzip, as requests to a heap.

A packet is allocated when it arrives and freed when the queue model releases it. Parsing, sizing
and queueing are the engine's; here a file is read, unpacked and handed over in chunks.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from heapfit.errors import HeapfitError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heapfit import _engine

    Columns = dict[str, NDArray[np.unsignedinteger]]

CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
# Captures and tables pack to a tenth or so. A file that still unpacks to more than this many times
# its size beyond this many bytes is not traffic, and would keep the reader busy for hours.
LARGEST_RATIO = 100
UNPACKED_FREELY = 1 << 30


@dataclass(frozen=True, slots=True)
class Packets:
    """Packets in file order: microseconds since the first, and bytes of the IP packet."""

    time: NDArray[np.uint64]
    size: NDArray[np.uint32]


def is_packets(source: Path) -> bool:
    """Whether the file is a capture or a packet table, by its first bytes."""
    from heapfit import _engine

    try:
        front = next(_chunks(source), b"")
    except HeapfitError:
        return False
    return _engine.is_capture(front) or _engine.is_packet_table(front)


class PacketSource:
    """One capture or packet table; `notes` and `packets` are complete once it was read to its end.

    Read it once: by `batches` for the packets alone, or by `columns` for the events of a heap.
    """

    def __init__(self, source: Path) -> None:
        self.source = source
        self.packets = 0
        self.notes: tuple[str, ...] = ()

    def batches(self) -> Iterator[Packets]:
        """The packets, a chunk of the file at a time."""
        chunks = _chunks(self.source)
        front = next(chunks, b"")
        reader = _reader(self.source, front)
        yield Packets(*reader.feed(front))
        for chunk in chunks:
            yield Packets(*reader.feed(chunk))
        reader.finish()
        self.packets = reader.packets
        self.notes = tuple(reader.notes)

    def columns(self, queue: str) -> Iterator[Columns]:
        """Columns of the stored trace, by a queue model such as `fill-drain:1000`."""
        from heapfit import _engine

        model = _engine.QueueModel(queue)
        for packets in self.batches():
            yield _trace_columns(*model.feed(packets.time, packets.size))
        yield _trace_columns(*model.finish())


def load_packets(source: Path) -> Packets:
    """All packets of a file at once: 12 bytes each."""
    import numpy as np

    batches = list(PacketSource(source).batches())
    return Packets(
        np.concatenate([batch.time for batch in batches]),
        np.concatenate([batch.size for batch in batches]),
    )


def _reader(source: Path, front: bytes) -> _engine.CaptureReader | _engine.PacketTableReader:
    from heapfit import _engine

    if _engine.is_capture(front):
        return _engine.CaptureReader(source.name)
    if _engine.is_packet_table(front):
        return _engine.PacketTableReader(source.name)
    raise HeapfitError(
        f"{source.name}: offset 0: neither a capture (pcap, pcapng) nor a packet table"
    )


def _trace_columns(
    op: NDArray[np.uint8],
    objects: NDArray[np.uint32],
    size: NDArray[np.uint64],
    time: NDArray[np.uint64],
) -> Columns:
    import numpy as np

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


def _chunks(source: Path) -> Iterator[bytes]:
    try:
        with source.open("rb") as file:
            is_packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            yield from _unpacked(source, file) if is_packed else iter(lambda: file.read(CHUNK), b"")
    except OSError as error:
        raise HeapfitError(f"{source}: cannot be read: {error.strerror or error}") from error


def _unpacked(source: Path, file: BinaryIO) -> Iterator[bytes]:
    size = 0
    with gzip.GzipFile(fileobj=file) as stream:
        while True:
            try:
                chunk = stream.read(CHUNK)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise HeapfitError(
                    f"{source.name}: offset {file.tell()}: damaged or cut gzip data ({error})"
                ) from error
            if not chunk:
                return
            size += len(chunk)
            if size > UNPACKED_FREELY and size > LARGEST_RATIO * file.tell():
                raise HeapfitError(
                    f"{source.name}: offset {file.tell()}: unpacks to more than {LARGEST_RATIO} "
                    "times its size (if it is sound, unpack it with gunzip first)"
                )
            yield chunk
