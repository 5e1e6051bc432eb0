# SPDX-License-Identifier: Apache-2.0
"""What every importer offers and takes, and the one made from an engine reader fed with bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from heapfit import _engine
from heapfit.importers.stream import ByteStream
from heapfit.trace.chains import Chains
from heapfit.trace.stored import BATCH, Columns, TraceInfo

STANDARD_QUEUE = "fill-drain:1000"

Reader: TypeAlias = (
    _engine.TextTrace
    | _engine.RepTrace
    | _engine.CsvTrace
    | _engine.LifetimeTrace
    | _engine.WireTrace
    | _engine.FrameTrace
    | _engine.HeapLogTrace
    | _engine.HeaptrackTrace
)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Choices for an import; each format uses those that mean something to it."""

    drop_unknown: bool = False  # drop and count events of unknown objects instead of refusing
    queue: str | None = (
        None  # for packets: when a packet's buffer is released; None: STANDARD_QUEUE
    )
    pointer_bits: int | None = None  # 32 or 64; overrides what the source says


class Source(Protocol):
    """A trace on its way in."""

    def columns(self) -> Iterator[Columns]:
        """The events in file order, in batches of bounded size."""

    def info(self) -> TraceInfo:
        """What the source tells of itself; complete once `columns` is exhausted."""

    def chains(self) -> Chains:
        """The callers of sites that stand for several; likewise."""


class ReaderSource:
    """Feeds a file's bytes to one of the engine's readers."""

    def __init__(self, reader: Reader, stream: ByteStream) -> None:
        self._reader = reader
        self._stream = stream

    def columns(self) -> Iterator[Columns]:
        """The events in file order, in batches of bounded size."""
        for chunk in self._stream.chunks():
            self._reader.feed(chunk)
            if self._reader.pending >= BATCH:  # a batch may exceed it by a chunk's
                yield self._reader.take()
        self._reader.finish()
        if self._reader.pending:
            yield self._reader.take()

    def info(self) -> TraceInfo:
        """What the file's header says, with the oddities counted so far."""
        return TraceInfo(
            program=self._reader.program,
            source=self._reader.source,
            pointer_bits=self._reader.pointer_bits,
            notes=tuple(self._reader.notes),
        )

    def chains(self) -> Chains:
        """Recordings alone tell of more than the direct caller."""
        if not isinstance(self._reader, _engine.WireTrace):
            return {}
        chains = self._reader.chains.items()
        return {name: tuple(caller for caller in chain if caller) for name, chain in chains}
