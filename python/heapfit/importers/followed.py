# SPDX-License-Identifier: Apache-2.0
"""Recordings that are still written to: what is new in them, look by look."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from heapfit import _engine

_LOST = re.compile(r"^([\d,]+) events? (?:is|are) missing in ")
_UNRECORDED = 40  # offset of the count in a header of recorder/wire.h
_MOST_AT_ONCE = 16 << 20  # bytes of a log
_CHUNKS = 4  # of a batch: some 15,000 events, which the caches hold and the next batch replaces


class FollowedRecording(Protocol):
    """A recording that grows."""

    def look(self) -> Iterator[dict[str, Any]]:
        """Yields the events that are new since the last look, in batches."""

    @property
    def lost(self) -> int:
        """Events that are known to be missing."""

    def close(self) -> None:
        """Ends the looking."""


# What is done beside a recording while it is made.
Listener: TypeAlias = Callable[[FollowedRecording], AbstractContextManager[None]]


@contextmanager
def ignore_recording(_: FollowedRecording) -> Iterator[None]:
    """The listener of callers who do not watch: it does nothing."""
    yield


class FollowedWire:
    """The recording of a Linux process, which its threads write to (recorder/WIRE.md).

    The one of its first program: what it becomes by exec is not followed. A thread's last record
    may be half written: what two reads find alike was written before the first.
    """

    def __init__(self, folder: Path, process: int) -> None:
        self._pattern = f"{process}-*-0.wire"
        self._folder = folder
        self._file: int | None = None
        self._reader = _engine.WireTrace(True)
        self._open: list[int] = []  # offsets of chunks that may grow
        self._next = 0  # offset of the first chunk that nobody has begun
        self._unit = 0  # bytes of a chunk
        self.lost = 0

    def look(self) -> Iterator[dict[str, Any]]:
        """Yields the events that are new since the last look, in batches."""
        if self._file is None and not self._begin():
            return
        assert self._file is not None
        while (thread := os.pread(self._file, 4, self._next)) and any(thread):
            self._open.append(self._next)
            self._next += self._unit
        begun, self._open = self._open, []
        for first in range(0, len(begun), _CHUNKS):
            read = begun[first : first + _CHUNKS]
            self._open += [place for place in read if not self._read(self._file, place)]
            if self._reader.pending:
                yield self._reader.take()
        self.lost = struct.unpack("<Q", os.pread(self._file, 8, _UNRECORDED))[0]

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            os.close(self._file)

    def _begin(self) -> bool:
        """Opens the file once its header is whole."""
        for path in self._folder.glob(self._pattern):
            head = path.read_bytes()[:20] if path.stat().st_size else b""
            if head.startswith(b"hfitwire"):
                size, self._unit = struct.unpack_from("<II", head, 12)
                self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                self._reader.feed(os.pread(self._file, size, 0))
                self._next = size
                return True
        return False

    def _read(self, file: int, place: int) -> bool:
        before, after = (os.pread(file, self._unit, place) for _ in range(2))
        if before != after:
            a, b = (np.frombuffer(one, np.uint8) for one in (before, after))
            after = after[: int((a != b).argmax())]
        return self._reader.follow(after, place)


class FollowedFrames:
    """The frames of a target, in a log that grows."""

    def __init__(self, *logs: Path) -> None:
        self._logs = logs  # the first that is there counts
        self._reader = _engine.FrameTrace(True)
        self._read = 0

    def look(self) -> Iterator[dict[str, Any]]:
        """Yields the events that are new since the last look, in one batch."""
        for log in self._logs:
            with suppress(OSError), log.open("rb") as file:
                file.seek(self._read)
                if new := file.read(_MOST_AT_ONCE):
                    self._reader.feed(new)
                    self._read += len(new)
                    break
        if self._reader.pending:
            yield self._reader.take()

    @property
    def lost(self) -> int:
        """Events that are known to be missing."""
        found = (_LOST.match(note) for note in self._reader.notes)
        return sum(int(one[1].replace(",", "")) for one in found if one)

    def close(self) -> None:
        """Does nothing: no file is kept open."""
