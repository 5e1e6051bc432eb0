# SPDX-License-Identifier: Apache-2.0
"""A file as a stream of bytes, unpacked where its magic is a known packer's, in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

import pyarrow as pa

from heapfit.errors import HeapfitError, read_error_reason

CHUNK = 1 << 20  # bytes passed on at a time
_PIECE = 1 << 16  # bytes unpacked at a time: of a damaged file as many are lost at most
HEAD = 1 << 16  # bytes by which a format is detected

# Real traces pack 5 to 30 times, a bomb up to 1,032 times. A file that unpacks to more than this
# many times its own size, and this many bytes beyond, is refused: counted, so everywhere alike.
LARGEST_RATIO = 100
UNSUSPECTED = 64 << 20

_LONGEST_MAGIC = 6


class _CountedFile(io.FileIO):
    """A file, or a pipe, that knows how many of its bytes were read."""

    count = 0

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 (any writable buffer)
        read = super().readinto(buffer)
        self.count += read or 0
        return read


def _unpack_by_arrow(codec: str) -> Callable[[BinaryIO], io.BufferedIOBase]:
    return lambda plain: pa.CompressedInputStream(pa.PythonFile(plain, "r"), codec)


_PACKERS: tuple[tuple[bytes, Callable[[BinaryIO], io.BufferedIOBase]], ...] = (
    (b"\x1f\x8b", lambda plain: gzip.GzipFile(fileobj=plain)),
    (b"\x28\xb5\x2f\xfd", _unpack_by_arrow("zstd")),
    (b"\x04\x22\x4d\x18", _unpack_by_arrow("lz4")),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
)


def _unpack(plain: io.BufferedReader[_CountedFile], head: bytes) -> io.BufferedIOBase:
    """Opens the content of a file whose first bytes are `head`, unpacked if it is packed."""
    for magic, opened in _PACKERS:
        if head.startswith(magic):
            return opened(plain)
    return plain


def _is_cut(error: Exception) -> bool:
    """True if what was unpacked before is whole: the rest is missing, or is something else."""
    told = ("Truncated compressed stream", "Not a gzipped file")
    return isinstance(error, EOFError) or any(one in str(error) for one in told)


class ByteStream:
    """The content of a file, opened by `with`. `chunks` yields all of it, `head` included.

    A packed file that is cut ends there, text with its last whole line, and `damage` says so. What
    precedes other damage cannot be trusted: HeapfitError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = b""
        self.damage = ""
        self._given = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                self._file = stack.enter_context(_CountedFile(self.path))
                self._size = self.path.stat().st_size
                plain = stack.enter_context(io.BufferedReader(self._file, CHUNK))
                first = plain.peek(_LONGEST_MAGIC)
                self._content = _unpack(plain, first)
                stack.enter_context(self._content)
                self.head = self._read(HEAD)
                if self.damage and not self.head:
                    raise HeapfitError(self.damage)
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
        """All bytes in order, some CHUNK at a time."""
        if b"\0" in self.head:
            yield from self._chunks()
            return
        rest = b""
        for chunk in self._chunks():
            end = chunk.rfind(b"\n") + 1 or (len(chunk) if len(rest) >= CHUNK else 0)
            if end:
                yield rest + chunk[:end]
                rest = b""
            rest += chunk[end:]
        if rest and not self.damage:
            yield rest

    def _chunks(self) -> Iterator[bytes]:
        chunk = self.head
        while chunk:
            yield chunk
            chunk = self._read(CHUNK)

    def _read(self, size: int) -> bytes:
        chunk = b"".join(self._pieces(size))
        self._given += len(chunk)
        if self._given > UNSUSPECTED + LARGEST_RATIO * self._file.count:
            raise HeapfitError(
                f"byte {self._file.count}: unpacks to more than {LARGEST_RATIO} times its size "
                "(a decompression bomb? unpack it yourself if you trust it)"
            )
        return chunk

    def _pieces(self, size: int) -> Iterator[bytes]:
        """The next bytes, `size` of them if there are so many."""
        while size and not self.damage:
            try:
                piece = self._content.read1(min(size, _PIECE))
            except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
                place = f"byte {self._file.count}: "
                if not _is_cut(error):
                    raise HeapfitError(f"{place}cannot be read on: {error}") from error
                self.damage = (
                    f"{place}the packed file was cut short, or damaged there (copy it again)"
                )
                return
            if not piece:
                return
            size -= len(piece)
            yield piece
