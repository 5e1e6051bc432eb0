# SPDX-License-Identifier: Apache-2.0
"""A file as a stream of bytes, unpacked where its magic is gzip's or zstd's, in bounded memory."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa

from heapfit.errors import HeapfitError, read_error_reason

CHUNK = 1 << 20  # bytes passed on at a time
HEAD = 1 << 16  # bytes by which a format is detected

# Real traces pack 5 to 30 times, a bomb up to 1,032 times. A file that unpacks to more than this
# many times its own size, and this many bytes beyond, is refused: counted, so everywhere alike.
LARGEST_RATIO = 100
UNSUSPECTED = 64 << 20

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class _CountedFile(io.FileIO):
    """A file, or a pipe, that knows how many of its bytes were read."""

    count = 0

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 (any writable buffer)
        read = super().readinto(buffer)
        self.count += read or 0
        return read


def _unpack(plain: BinaryIO, head: bytes) -> BinaryIO | gzip.GzipFile:
    """Opens the content of a file whose first bytes are `head`, unpacked if it is packed."""
    if head.startswith(_GZIP_MAGIC):
        return gzip.GzipFile(fileobj=plain)
    if head.startswith(_ZSTD_MAGIC):
        unpacked: BinaryIO = pa.CompressedInputStream(pa.PythonFile(plain, "r"), "zstd")
        return unpacked
    return plain


class ByteStream:
    """The content of a file, opened by `with`. `chunks` yields all of it, `head` included."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = b""
        self._given = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                self._file = stack.enter_context(_CountedFile(self.path))
                self._size = self.path.stat().st_size
                plain = stack.enter_context(io.BufferedReader(self._file, CHUNK))
                first = plain.peek(len(_ZSTD_MAGIC))
                self._content = _unpack(plain, first)
                stack.enter_context(self._content)
                self.head = self._read(HEAD)
            except OSError as error:
                raise HeapfitError(f"{self.path}: {read_error_reason(error)}") from error
            except HeapfitError as error:
                raise HeapfitError(f"{self.path}: {error}") from error
            self._open_files = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open_files.close()

    @property
    def done(self) -> float:
        """The share of the file that has been read, from 0 to 1."""
        return min(1.0, self._file.count / self._size) if self._size else 0.0

    def chunks(self) -> Iterator[bytes]:
        """All bytes in order, at most CHUNK at a time."""
        chunk = self.head
        while chunk:
            yield chunk
            chunk = self._read(CHUNK)

    def _read(self, size: int) -> bytes:
        try:
            chunk = self._content.read(size)
        except (EOFError, zlib.error, OSError) as error:
            raise HeapfitError(f"byte {self._file.count}: cannot be read on: {error}") from error
        self._given += len(chunk)
        if self._given > UNSUSPECTED + LARGEST_RATIO * self._file.count:
            raise HeapfitError(
                f"byte {self._file.count}: unpacks to more than {LARGEST_RATIO} times its size "
                "(a decompression bomb? unpack it yourself if you trust it)"
            )
        return chunk
