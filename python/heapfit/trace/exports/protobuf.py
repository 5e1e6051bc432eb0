# SPDX-License-Identifier: Apache-2.0
"""Fields of Protocol Buffers, as bytes: as much of the encoding as the exports need."""

from __future__ import annotations

from collections.abc import Iterable

_VARINT, _BYTES = 0, 2  # types of a field on the wire


def varint(value: int) -> bytes:
    """A number from 0 to 2^64 - 1, seven bits a byte, the lowest first.

    >>> varint(300).hex()
    'ac02'
    """
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3 | _VARINT) + varint(value)


def message(field: int, *parts: bytes) -> bytes:
    """A field with a message of these parts, or with bytes."""
    content = b"".join(parts)
    return varint(field << 3 | _BYTES) + varint(len(content)) + content


def text(field: int, value: str) -> bytes:
    """A field with text."""
    return message(field, value.encode(errors="replace"))


def numbers(field: int, values: Iterable[int]) -> bytes:
    """A field with many numbers."""
    return message(field, *map(varint, values))
