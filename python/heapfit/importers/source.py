# SPDX-License-Identifier: Apache-2.0
"""The interface of importers and of readers, and the importer made of a reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.trace.chains import Chains
from heapfit.trace.stored import BATCH, TraceInfo
from heapfit.trace.table_file import Columns


@dataclass(frozen=True, slots=True)
class OwnLines:
    """What the lines of a log look like that are calls, by words and fields such as {address}.

    docs/import-formats.md lists the fields. A text may have several descriptions, one a line; it is
    "" where a log has no such lines.
    """

    line: str  # of an allocation, or of a resize, which has {old}
    free: str = ""
    frees_newest: bool = False  # of equal blocks, where lines have no {address}

    @property
    def has_addresses(self) -> bool:
        """True if a free tells its block; else its size alone."""
        return "{address}" in self.line + self.free

    def open(self) -> _engine.HeapLogTrace:
        """What reads a log of such lines; HeapfitError names a description that says too little."""
        texts = self.line.splitlines()
        resizes = [text for text in texts if "{old}" in text]
        served = "\n".join(text for text in texts if text not in resizes)
        return _engine.HeapLogTrace(served, self.free, "\n".join(resizes), self.frees_newest)


def read_calls(
    content: bytes, own: OwnLines | None
) -> _engine.HeapLogTrace | _engine.FrameTrace | None:
    """What has read a piece of a log, or of frames, to its end; None if it has no allocation."""
    with suppress(HeapfitError):
        reader = (
            _engine.FrameTrace(True)
            if _engine.has_frame(content)
            else _engine.HeapLogTrace(True)
            if own is None
            else own.open()
        )
        reader.feed(content)
        reader.finish()
        return reader
    return None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Choices for an import; each format uses those that apply to it."""

    drop_unknown: bool = False  # drop and count events of unknown objects instead of refusing
    queue: str | None = None  # when a packet's buffer is released; None: STANDARD_QUEUE
    pointer_bits: int | None = None  # 32 or 64; overrides what the source says
    whole_frames: bool = False  # of captures: frames of any link as they are, not their IP packets
    largest_packet: int = 2**32 - 1  # bytes on the wire; larger ones of a capture are split
    own_lines: OwnLines | None = None  # of a log in a form of one's own
    boot: int | None = None  # of a log of several: its number from 1; None: the longest


class Source(Protocol):
    """A file that is read as a trace."""

    def columns(self) -> Iterator[Columns]:
        """The events in file order, in batches of bounded size."""

    def info(self) -> TraceInfo:
        """The metadata of the trace; complete once `columns` is exhausted."""

    def chains(self) -> Chains:
        """The callers of sites that stand for several; complete once `columns` is exhausted."""


class FedReader(Protocol):
    """What all have that read a file by the chunks that they are fed, which end anywhere."""

    def finish(self) -> None:
        """Ends the file; HeapfitError if it is cut, empty, or nothing of it was kept."""

    @property
    def damage(self) -> str:
        """What of the file was not read; "" if all was, or the reader cannot tell."""

    @property
    def notes(self) -> Sequence[str]:
        """What was dropped or doubtful so far, counted, one sentence each."""


class Reader(FedReader, Protocol):
    """Makes events of the bytes of a recording or log.

    HeapfitError from `feed` and `finish` names the line or byte that cannot be read.
    """

    def feed(self, chunk: bytes, /) -> None:
        """Reads the next bytes of the file."""

    def take(self) -> Columns:
        """The columns of the events read since the last call."""

    @property
    def pending(self) -> int:
        """Events read and not yet taken."""

    @property
    def program(self) -> str:
        """The recorded program; "" where the file does not say."""

    @property
    def source(self) -> str:
        """Where the events come from; "" where the file does not say."""

    @property
    def pointer_bits(self) -> int:
        """32, 64, or 0 where the file does not say."""

    @property
    def chains(self) -> Chains:
        """The callers of each site that stands for several, innermost first; 0 for none."""


class Chunks(Protocol):
    """A content in chunks of bytes, such as a file."""

    def chunks(self) -> Iterator[bytes]:
        """Yields all of it in order."""


class ReaderSource:
    """Feeds a content's bytes to a reader."""

    def __init__(self, reader: Reader, stream: Chunks, *notes: str) -> None:
        self._reader = reader
        self._stream = stream
        self._notes = notes  # beside those of the reader

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
        """The metadata of the file's header, with the oddities counted so far."""
        return TraceInfo(
            program=self._reader.program,
            source=self._reader.source,
            pointer_bits=self._reader.pointer_bits,
            notes=(*self._reader.notes, *self._notes),
        )

    def chains(self) -> Chains:
        """The callers that the reader found, without the places where it found none."""
        return {
            name: tuple(caller for caller in chain if caller)
            for name, chain in self._reader.chains.items()
        }
