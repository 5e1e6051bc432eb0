# SPDX-License-Identifier: Apache-2.0
"""Reads and writes FlatBuffers, the form of TFLite models.

root ..> table ..> vtable: the place of each field in the table; 0: the field is not there
           field ..> vector, text or table: references point forward, in bytes
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

_LARGEST_ALIGNMENT = 64  # of anything in a model


@dataclass(frozen=True, slots=True)
class FlatTable:
    """A table of a FlatBuffer; a field that is not there is 0 or empty."""

    content: bytes
    place: int

    @classmethod
    def root(cls, content: bytes) -> FlatTable:
        """The table that a FlatBuffer begins with."""
        return cls(content, _word(content, 0))

    def number(self, slot: int, form: str = "<I") -> int:
        """A number, in a form of the module struct."""
        place = self._field(slot)
        return int(struct.unpack_from(form, self.content, place)[0]) if place else 0

    def target(self, slot: int) -> int:
        """The place that a field refers to; 0 if the field is not there."""
        place = self._field(slot)
        return place + _word(self.content, place) if place else 0

    def count(self, slot: int) -> int:
        """The elements of a vector, or the bytes of a text."""
        place = self.target(slot)
        return _word(self.content, place) if place else 0

    def numbers(self, slot: int) -> tuple[int, ...]:
        """A vector of signed whole numbers of 32 bits."""
        return struct.unpack_from(f"<{self.count(slot)}i", self.content, self.target(slot) + 4)

    def tables(self, slot: int) -> list[FlatTable]:
        """A vector of tables."""
        first = self.target(slot) + 4
        places = range(first, first + 4 * self.count(slot), 4)
        return [FlatTable(self.content, place + _word(self.content, place)) for place in places]

    def text(self, slot: int) -> str:
        """A text; bytes that are none are replaced."""
        (text,) = struct.unpack_from(f"{self.count(slot)}s", self.content, self.target(slot) + 4)
        return str(text, errors="replace")

    def _field(self, slot: int) -> int:
        """The place of a field; 0 if it is not there."""
        vtable = self.place - int(struct.unpack_from("<i", self.content, self.place)[0])
        if 4 + 2 * slot >= struct.unpack_from("<H", self.content, vtable)[0]:
            return 0
        offset = int(struct.unpack_from("<H", self.content, vtable + 4 + 2 * slot)[0])
        return self.place + offset if offset else 0


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in what a builder has written, in bytes to its end."""

    to_end: int


class Builder:
    """Writes a FlatBuffer from its end to its start, before content that it may refer to."""

    def __init__(self, tail: bytes = b"") -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = self._put(tail, _LARGEST_ALIGNMENT)

    def refer(self, place: int) -> Reference:
        """A place in the content that was there before."""
        return Reference(self._tail.to_end - place)

    def data(self, content: bytes, alignment: int = 4) -> Reference:
        """Writes a vector of bytes."""
        self._put(content, alignment)
        return self._put(struct.pack("<I", len(content)))

    def text(self, text: str) -> Reference:
        """Writes a text."""
        content = text.encode()
        self._put(content + b"\0")
        return self._put(struct.pack("<I", len(content)))

    def numbers(self, numbers: Sequence[int]) -> Reference:
        """Writes a vector of signed whole numbers of 32 bits."""
        return self._put(struct.pack(f"<I{len(numbers)}i", len(numbers), *numbers))

    def tables(self, tables: Sequence[Reference]) -> Reference:
        """Writes a vector of tables."""
        return self.numbers(self._offsets(tables))

    def table(self, *fields: int | Reference | None) -> Reference:
        """Writes a table; None: the field is not there. Each field takes four bytes."""
        count = len(fields)
        words = (*fields, None) if count % 2 else fields  # whole words in the vtable
        offsets = self._offsets(fields)
        slots = (0 if one is None else 4 + 4 * i for i, one in enumerate(words))
        head = struct.pack(f"<HH{len(words)}H", 4 + 2 * len(words), 4 + 4 * count, *slots)
        place = self._put(struct.pack(f"<i{count}I", len(head), *offsets))
        self._put(head)
        return place

    def finish(self, root: Reference, identifier: bytes) -> bytes:
        """The FlatBuffer as a whole."""
        self._put(b"", _LARGEST_ALIGNMENT)
        padding = bytes(_LARGEST_ALIGNMENT - 8)
        size = self._size + _LARGEST_ALIGNMENT
        parts = [struct.pack("<I", size - root.to_end), identifier, padding, *self._parts[::-1]]
        return b"".join(parts)

    def _put(self, part: bytes, alignment: int = 4) -> Reference:
        padding = -(self._size + len(part)) % alignment
        self._parts.append(part + bytes(padding))
        self._size += len(part) + padding
        return Reference(self._size)

    def _offsets(self, fields: Sequence[int | Reference | None]) -> list[int]:
        """The words of fields that are written next, with nothing after them."""
        top = self._size + 4 * len(fields)
        return [
            top - 4 * i - one.to_end if isinstance(one, Reference) else one or 0
            for i, one in enumerate(fields)
        ]


def _word(content: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", content, place)[0])
