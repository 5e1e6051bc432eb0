# SPDX-License-Identifier: Apache-2.0
"""Recordings that are still written to: what is new in them, look by look."""

from __future__ import annotations

import os
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np

from heapfit import _engine
from heapfit.trace.live import FollowedRecording
from heapfit.trace.table_file import Columns

_UNRECORDED, _RUNTIME = 40, 248  # offsets of numbers in a header of recorder/wire.h
_MOST_AT_ONCE = 16 << 20  # bytes of a log

# What is done beside a recording while it is made.
Listener: TypeAlias = Callable[[FollowedRecording], AbstractContextManager[None]]


@contextmanager
def ignore_recording(_: FollowedRecording) -> Iterator[None]:
    """The listener of callers who do not watch: it does nothing."""
    yield


def read_layout(file: int) -> tuple[int, int] | None:
    """The bytes before a recording's chunks, and of one; None before its first record."""
    magic, size, unit = struct.unpack("<8s4xII", os.pread(file, 20, 0).ljust(20, b"\0"))
    has_record = magic == b"hfitwire" and any(os.pread(file, 5, size)[4:])  # its tag is not 0
    return (size, unit) if has_record else None


class _Followed(ABC):
    """What a reader makes of a recording that grows."""

    reader: _engine.WireTrace | _engine.FrameTrace

    def look(self) -> Iterator[_engine.EventArray]:
        """Yields the events that are new since the last look, in batches."""
        return (self.reader.take_events() for _ in self._advance())

    def columns(self) -> Iterator[Columns]:
        """Yields all events until now, in batches."""
        with closing(self._anew()) as anew:
            yield from (anew.reader.take() for _ in anew._advance())

    def close(self) -> None:
        """Closes what is open; by itself nothing is."""
        return

    @abstractmethod
    def _anew(self) -> _Followed:
        """The same, read from its beginning."""

    @abstractmethod
    def _advance(self) -> Iterator[None]:
        """Reads on; yields wherever there are events to be taken."""


class FollowedWire(_Followed):
    """The recording of a Linux process, which its threads write to (recorder/WIRE.md).

    What it becomes by exec is followed from then on. A thread's last record may be half written:
    what two reads find alike was written before the first.
    """

    reader: _engine.WireTrace

    def __init__(self, folder: Path, process: int) -> None:
        self._folder = folder
        self._process = process
        self._image = -1  # which of its programs is followed
        self._file: int | None = None
        self.reader = _engine.WireTrace(True)
        self._open: list[int] = []  # offsets of chunks that may grow
        self._next = 0  # offset of the first chunk that nobody has begun
        self._unit = 0  # bytes of a chunk
        self.lost = 0

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            os.close(self._file)

    def _anew(self) -> FollowedWire:
        return FollowedWire(self._folder, self._process)

    def _advance(self) -> Iterator[None]:
        """Reads on; yields wherever there are events to be taken."""
        for path in self._folder.glob(f"{self._process}-*.wire"):
            self._begin(path, int(path.stem.rpartition("-")[2]))
        if self._file is None:
            return
        has_ended = not Path(f"/proc/{self._process}").exists()
        while (thread := os.pread(self._file, 4, self._next)) and any(thread):
            self._open.append(self._next)
            self._next += self._unit
        begun, self._open = self._open, []
        for place in begun:
            if not self._read(self._file, place):
                self._open.append(place)
            if self.reader.pending:
                yield
        if has_ended and self.reader.events:  # a record that a kill prevented holds up others
            self.reader.finish()
            yield
        self.lost = self._number(self._file, _UNRECORDED)

    @staticmethod
    def _number(file: int, offset: int) -> int:
        return int.from_bytes(os.pread(file, 8, offset), "little")

    def _begin(self, path: Path, image: int) -> None:
        """Reads another file from now on, if it is a later program's and has a record."""
        if image <= self._image:
            return
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        layout = read_layout(file)
        if layout is None:
            os.close(file)
            return
        self.close()
        self._file, self._image, self._open = file, image, []
        self._next, self._unit = layout
        self.reader = _engine.WireTrace(True)
        self.reader.feed(os.pread(file, self._next, 0))

    def _read(self, file: int, place: int) -> bool:
        before, after = (os.pread(file, self._unit, place) for _ in range(2))
        if before != after:
            a, b = (np.frombuffer(one, np.uint8) for one in (before, after))
            after = after[: int((a != b).argmax())]
        return self.reader.follow(after, place, self._number(file, _RUNTIME))


class FollowedFrames(_Followed):
    """The frames of a target, in a log that grows."""

    reader: _engine.FrameTrace

    def __init__(self, *logs: Path) -> None:
        self._logs = logs  # the first that is there counts
        self.reader = _engine.FrameTrace(True)
        self._read = 0

    def _anew(self) -> FollowedFrames:
        return FollowedFrames(*self._logs)

    @property
    def lost(self) -> int:
        """Events that are known to be missing."""
        return self.reader.missing

    def _advance(self) -> Iterator[None]:
        """Reads on; yields wherever there are events to be taken."""
        log = next(filter(Path.exists, self._logs), None)
        while log is not None and (new := _read_from(log, self._read)):
            self.reader.feed(new)
            self._read += len(new)
            if self.reader.pending:
                yield


def _read_from(log: Path, offset: int) -> bytes:
    """The next bytes, at most _MOST_AT_ONCE; none if the log cannot be read now."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(offset)
        return file.read(_MOST_AT_ONCE)
    return b""
