# SPDX-License-Identifier: Apache-2.0
"""Inputs made from others: a few edits of bytes, words or spans each, drawn by a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_MOST_EDITS = 6
_LONGEST_SPAN = 64
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]


def mutated(draw: random.Random, pool: Sequence[bytes], words: Sequence[bytes], most: int) -> bytes:
    """One of the pool after 1 to 6 edits, cut to `most` bytes; some of it may be another's."""
    content = bytearray(draw.choice(pool))
    for _ in range(draw.randint(1, _MOST_EDITS)):
        edit = draw.choice((_flip, _number, _erase, _repeat, _join, _insert, _replace))
        edit(draw, content, draw.choice(pool), draw.choice(words))
    return bytes(content[:most])


def _flip(draw: random.Random, content: bytearray, _other: bytes, _word: bytes) -> None:
    if content:
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)


def _number(draw: random.Random, content: bytearray, _other: bytes, _word: bytes) -> None:
    """An edge of a range, or a neighbour of it, over 1, 2, 4 or 8 bytes in either order."""
    size = draw.choice((1, 2, 4, 8))
    value = (draw.choice(_EDGES) + draw.randint(-1, 1)) % (1 << 8 * size)
    at = draw.randint(0, len(content))
    content[at : at + size] = value.to_bytes(size, draw.choice(("little", "big")))


def _erase(draw: random.Random, content: bytearray, _other: bytes, _word: bytes) -> None:
    del content[_span(draw, content)]


def _repeat(draw: random.Random, content: bytearray, _other: bytes, _word: bytes) -> None:
    span = _span(draw, content)
    content[span.stop : span.stop] = content[span] * draw.choice((1, 1, 2, 40))


def _join(draw: random.Random, content: bytearray, other: bytes, _word: bytes) -> None:
    content[_span(draw, content)] = other[_span(draw, other)]


def _insert(draw: random.Random, content: bytearray, _other: bytes, word: bytes) -> None:
    at = draw.randint(0, len(content))
    content[at:at] = word


def _replace(draw: random.Random, content: bytearray, _other: bytes, word: bytes) -> None:
    """A word for a word, so that what stands around it stays sound."""
    at = draw.randint(0, len(content))
    token = _TOKEN.search(content, at)
    if token:
        content[token.start() : token.end()] = word


def _span(draw: random.Random, content: bytes | bytearray) -> slice:
    start = draw.randint(0, len(content))
    return slice(start, min(len(content), start + draw.randint(0, _LONGEST_SPAN)))
