# SPDX-License-Identifier: Apache-2.0
"""A file as a stream of bytes, unpacked where its magic is a known packer's, in bounded memory."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

from heapfit.errors import HeapfitError, read_error_reason
from heapfit.importers.packed import PIECE, UNPACK_ERRORS, is_cut, is_packed, open_content

CHUNK = 1 << 20  # bytes passed on at a time
HEAD = 1 << 16  # bytes by which a format is detected

# Real traces pack 5 to 30 times, a bomb up to 1,032 times. A file that unpacks to more than this
# many times its own size, and this many bytes beyond, is refused: counted, so everywhere alike.
LARGEST_RATIO = 100
UNSUSPECTED = 24 << 20  # half a second of bzip2, which is the slowest
_LEAST_OF_BOMB = 8 << 20  # bytes after which a file that packs like others is no bomb


class _CountedFile(io.RawIOBase):
    """A file, a pipe or a file of a store that knows how many of its bytes were read."""

    count = 0

    def __init__(self, path: Path) -> None:
        self._file: Any = path.open("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 (any writable buffer)
        read: int | None = self._file.readinto(buffer)
        self.count += read or 0
        return read

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self.count = self._file.seek(offset, whence)
        return self.count

    def close(self) -> None:
        self._file.close()
        super().close()


def _utf16_decoder(head: bytes) -> codecs.IncrementalDecoder | None:
    """What decodes text that a byte order mark says is UTF-16, as Windows' shells write it."""
    if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    new = codecs.getincrementaldecoder("utf-16")
    return None if "\0" in new("replace").decode(head) else new("replace")


def _require_ratio(given: int, read: int) -> None:
    if given > UNSUSPECTED + LARGEST_RATIO * read:
        raise HeapfitError(
            f"byte {read}: unpacks to more than {LARGEST_RATIO} times its size "
            "(a decompression bomb? unpack it yourself if you trust it)"
        )


def _reject_bomb(path: Path) -> None:
    """Unpacks what is packed like a bomb as long as it is: to read it would take much longer."""
    given = 0
    with (
        suppress(*UNPACK_ERRORS),  # which are told when it is read
        _CountedFile(path) as file,
        io.BufferedReader(file, PIECE) as plain,
        open_content(plain) as content,
    ):
        while content is not plain and (piece := content.read1(PIECE)):
            given += len(piece)
            _require_ratio(given, file.count)
            if given > _LEAST_OF_BOMB and given < LARGEST_RATIO * file.count:
                return


def begins_with(path: Path, start: bytes) -> bool:
    """True of a file whose first bytes are these."""
    with path.open("rb") as file:
        return file.read(len(start)) == start


class ByteStream:
    """The content of a file, opened by `with`. `chunks` yields all of it, `head` included.

    Text is UTF-8 without a byte order mark, also of a file in UTF-16, and its lines end in LF, also
    of a file whose lines end in CR alone. A packed file that is cut
    ends there, text with its last whole line, and `damage` says so. What precedes other damage
    cannot be trusted: HeapfitError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = b""
        self.damage = ""
        self._given = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._has_cr_alone = False

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                if self.path.is_file():
                    _reject_bomb(self.path)
                self._file = stack.enter_context(_CountedFile(self.path))
                self._size = self.path.stat().st_size
                self._content = stack.enter_context(
                    open_content(stack.enter_context(io.BufferedReader(self._file, CHUNK)))
                )
                self.head = self._read_head()
                self._has_cr_alone = self.head.isascii() and not {0, 10} & {*self.head}
                self.head = self._end_lines(self.head)
                if self.damage and not self.head:
                    raise HeapfitError(self.damage)
                if is_packed(self.head):
                    raise HeapfitError("is packed twice (unpack it once)")
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
            chunk = self._end_lines(self._decode(self._read(CHUNK)))

    def _read_head(self) -> bytes:
        head = self._read(HEAD)
        self._decoder = _utf16_decoder(head)
        if self._decoder is not None:
            head += self._read(HEAD + 2)  # as much text as others have, and the mark
        if head.startswith(codecs.BOM_UTF8):
            return head.removeprefix(codecs.BOM_UTF8) + self._read(len(codecs.BOM_UTF8))
        return self._decode(head)

    def _decode(self, content: bytes) -> bytes:
        return content if self._decoder is None else self._decoder.decode(content).encode()

    def _end_lines(self, content: bytes) -> bytes:
        return content.replace(b"\r", b"\n") if self._has_cr_alone else content

    def _read(self, size: int) -> bytes:
        chunk = b"".join(self._pieces(size))
        self._given += len(chunk)
        _require_ratio(self._given, self._file.count)
        return chunk

    def _pieces(self, size: int) -> Iterator[bytes]:
        """The next bytes, `size` of them if there are so many."""
        while size and not self.damage:
            try:
                piece = self._content.read1(min(size, PIECE))
            except UNPACK_ERRORS as error:
                place = f"byte {self._file.count}: "
                if not is_cut(error):
                    raise HeapfitError(f"{place}cannot be read on: {error}") from error
                self.damage = (
                    f"{place}the packed file was cut short, or damaged there (copy it again)"
                )
                return
            if not piece:
                return
            size -= len(piece)
            yield piece


def read_chunks(path: Path) -> Iterator[bytes]:
    """The content of a file, as `ByteStream.chunks` yields it."""
    with ByteStream(path) as stream:
        yield from stream.chunks()
