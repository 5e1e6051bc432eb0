# SPDX-License-Identifier: Apache-2.0
"""The content of packed files: gzip, zstd, lz4, xz and bzip2, each told by its first bytes.

Whatever the packer, an error comes after all that was unpacked before it.
"""

from __future__ import annotations

import bz2
import io
import lzma
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Protocol

import pyarrow as pa

from heapfit.errors import HeapfitError

PIECE = 1 << 16  # bytes unpacked at a time
LONGEST_MAGIC = 10
_BZIP2 = rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"
UNPACK_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error)

# A member takes microseconds to begin, whatever is in it: bgzip's have some 64 KiB.
_MOST_MEMBERS = 10_000  # of a file, and one more for each so many bytes of its content:
_LEAST_OF_MEMBER = 1024

# How what is no frame of zstd or lz4 behind one, or a missing end, is told.
_CUT = ("Truncated compressed stream", "Unknown frame descriptor", "ERROR_frameType_unknown")


def is_packed(head: bytes) -> bool:
    """True if a file that begins so is packed."""
    return any(re.match(magic, head) for magic, _ in _PACKERS)


def open_content(plain: io.BufferedReader[Any]) -> io.BufferedIOBase:
    """The content of a file, unpacked if it is packed."""
    head = plain.peek(LONGEST_MAGIC)
    opened = next((one for magic, one in _PACKERS if re.match(magic, head)), None)
    return opened(plain) if opened else plain


def is_cut(error: Exception) -> bool:
    """True if what was unpacked before is whole: the rest is missing, or is something else."""
    return isinstance(error, EOFError) or any(one in str(error) for one in _CUT)


class _Unpacker(Protocol):
    """A decompressor of one member, as bz2 and lzma have it."""

    def decompress(self, data: bytes, size: int, /) -> bytes:
        """The next bytes of the content, at most `size`."""

    @property
    def eof(self) -> bool:
        """True behind the member's end."""

    @property
    def needs_input(self) -> bool:
        """True if no more comes of the bytes that were given."""

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the member's end."""


class _GzipMember:
    """A decompressor of one member of gzip, with the face of those of bz2 and lzma."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self.needs_input = True

    def decompress(self, data: bytes, size: int, /) -> bytes:
        """The next bytes of the content, at most `size`."""
        piece = self._inflate.decompress(self._inflate.unconsumed_tail + data, size)
        self.needs_input = len(piece) < size and not self._inflate.unconsumed_tail
        return piece

    @property
    def eof(self) -> bool:
        """True behind the member's end."""
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the member's end."""
        return self._inflate.unused_data


class _Members(io.BufferedIOBase):
    """The content of members one behind the other, as of gzip, bzip2 and xz.

    EOFError where one is cut, or where something else than zeros follows. HeapfitError where they
    are many for what is in them.
    """

    def __init__(self, plain: BinaryIO, magic: bytes, opened: Callable[[], _Unpacker]) -> None:
        self._plain, self._magic, self._opened = plain, magic, opened
        self._member, self._rest = opened(), b""
        self._left = _MOST_MEMBERS * _LEAST_OF_MEMBER  # bytes, as if they were content

    def read1(self, size: int = -1, /) -> bytes:
        """The next bytes of the content, at most `size`; b"" at its end."""
        piece = b""
        while not piece and not (self._member.eof and not self._begins_another()):
            packed = b""
            if self._member.needs_input:
                packed, self._rest = self._rest or self._plain.read(PIECE), b""
                if not packed:
                    raise EOFError
            piece = self._member.decompress(packed, size)
        self._left += len(piece)
        return piece

    def _begins_another(self) -> bool:
        rest = self._member.unused_data.lstrip(b"\0")
        while len(rest) < len(self._magic) and (more := self._plain.read(PIECE)):
            rest = (rest + more).lstrip(b"\0")
        if rest and not rest.startswith(self._magic):
            raise EOFError
        if rest:
            self._member, self._rest = self._opened(), rest
            self._left -= _LEAST_OF_MEMBER
        if self._left < 0:
            raise HeapfitError(
                f"consists of more than {_MOST_MEMBERS:,} packed members with next to nothing in "
                "them (a decompression bomb? unpack it yourself if you trust it)"
            )
        return bool(rest)


class _ArrowStream(io.BufferedIOBase):
    """What pyarrow unpacks. Its errors lose the bytes of their call: these are read once more."""

    def __init__(self, plain: BinaryIO, codec: str) -> None:
        self._plain, self._codec = plain, codec
        self._given = 0
        self._content = self._open()  # dropped, one closes the file, which _read_again reads last
        self._error: OSError | None = None  # of the next call

    def _open(self) -> pa.CompressedInputStream:
        return pa.CompressedInputStream(pa.PythonFile(self._plain, "r"), self._codec)

    def read1(self, size: int = -1, /) -> bytes:
        """The next bytes of the content, at most `size`; b"" at its end."""
        if self._error is not None:
            raise self._error
        try:
            piece: bytes = self._content.read(size)
        except OSError as error:
            if not self._plain.seekable():
                raise
            self._error = error
            piece = self._read_again(size)
            if not piece:
                raise
        self._given += len(piece)
        return piece

    def _read_again(self, size: int) -> bytes:
        self._plain.seek(0)
        content = self._open()
        rest = self._given
        while rest and (given := content.read(min(PIECE, rest))):
            rest -= len(given)
        piece = bytearray()
        with suppress(OSError):
            while len(piece) < size:
                piece += content.read(1)
        return bytes(piece)


# Text may begin with BZh: behind it bzip2 has the magic of its first block, or of its end.
_PACKERS: tuple[tuple[bytes, Callable[[BinaryIO], io.BufferedIOBase]], ...] = (
    (rb"\x1f\x8b", lambda plain: _Members(plain, b"\x1f\x8b", _GzipMember)),
    (rb"\x28\xb5\x2f\xfd", lambda plain: _ArrowStream(plain, "zstd")),
    (rb"\x04\x22\x4d\x18", lambda plain: _ArrowStream(plain, "lz4")),
    (rb"\xfd7zXZ\0", lambda plain: _Members(plain, b"\xfd7z", lzma.LZMADecompressor)),
    (_BZIP2, lambda plain: _Members(plain, b"BZh", bz2.BZ2Decompressor)),
)
