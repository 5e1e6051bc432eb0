# SPDX-License-Identifier: Apache-2.0
"""Bounds of chunks that a heap keeps apart from them, as bits for each granule.

map      core/src/tailored/map.h: 10... a used chunk, 11, 111, 1111, 110...011 a free one; a
         word 0111111 k 0 says that k words have no marks
pairs    core/src/tailored/pairs.h: three words for 64 granules say what begins at each
pools    core/src/pools/layout.h: a bit for each block, the highest of a word first
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

_Word: TypeAlias = Callable[[int], int]

_MOST = 1 << 24  # granules of a heap
_PAIRS = ("--", "U-", "-U", "UU", "FU", "F-", "-F", "UF")  # by their three bits
_PASSED = 0xC0000000
_POOL, _NO_LINK = 32, 0xFFFFFFFF  # bytes of a row of a plan's pools; the end of a free list


def chunk_bounds(
    kind: str, word: _Word, *, first: int, last: int
) -> Iterator[tuple[int, int, bool]]:
    """The granules at which each chunk begins and ends, and whether it is used.

    `word` gives a word of the marks by its number. LookupError where one was not captured. A chunk
    whose marks cannot be is left out.
    """
    read, shift, chunk = _KINDS[kind]
    at, end = first >> shift, min(last, first + _MOST) >> shift
    base, marks = at << shift, ""
    while at <= end:
        text, count = read(word, at)
        marks += text * min(count, end + 1 - at)
        at += count
    for found in chunk.finditer(marks, first - base):
        if base + found.end() <= last:
            yield base + found.start(), base + found.end(), found[1] is not None


def pool_bounds(word: _Word, region: int, first: int, last: int) -> Iterator[tuple[int, int, bool]]:
    """Where each block of the pools begins and ends, and whether it is used.

    `word` gives a word by its address, `first` and `last` are rows of the plan's table in flash.
    LookupError where no bits of used blocks are kept.
    """
    for number, row in enumerate(range(first, last + 1, _POOL)):
        count, base, size, bit = (word(row + at) for at in (4, 12, 16, 20))  # of struct hfit_pool
        if count < word(region + 4 * number) != _NO_LINK:
            raise LookupError("keeps no bits of used blocks (safety level 0)")
        for i in range(count if size else 0):
            bits, at = word(region + (bit + i) // 32 * 4), region + base + i * size
            yield at, at + size, bool(bits >> 31 - (bit + i) % 32 & 1)


def _read_map(word: _Word, at: int) -> tuple[str, int]:
    """The marks of 32 granules, and how many words have the same."""
    bits = word(at)
    is_skip = bits >> 25 == 63
    return (32 * "0", max(bits >> 1 & 0xFFFFFF, 1)) if is_skip else (f"{bits:032b}"[::-1], 1)


def _read_pairs(word: _Word, at: int) -> tuple[str, int]:
    """What begins at each of 64 granules: a used chunk, a free one or none."""
    a, b, c = (word(3 * at + i) for i in range(3))
    if c == _PASSED and b ^ _PASSED == a:
        return 64 * "-", max(a, 1)
    places = range(32)
    return "".join(_PAIRS[a >> i & 1 | (b >> i & 1) << 1 | (c >> i & 1) << 2] for i in places), 1


_KINDS = {
    "map": (_read_map, 5, re.compile("(10+)|1{2,4}(?=10)|110+11(?=10)")),
    "pairs": (_read_pairs, 6, re.compile("(U-*)|F-*(?=U)")),
}
