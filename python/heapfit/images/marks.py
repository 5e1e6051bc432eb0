# SPDX-License-Identifier: Apache-2.0
"""Bounds of chunks that a heap keeps apart from them, one reader for each kind.

map, pairs   core/src/tailored/map.h, pairs.h: marks of granules
list, bits   core/src/partitions/list.h, bits.h: a word or two bits for each partition
blocks       core/src/pools/fixed_pool.c: a bit for each block, the highest of a word first
linked       the same without bits: free blocks are linked (HFIT_SAFETY 0)
pools        core/src/pools/layout.h: the same of each pool of a plan's table

A reader is given what `from` of the row says, and `word`, which gives that at an address. It raises
LookupError where something was not captured, or is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TypeAlias

_Word: TypeAlias = Callable[[int], int]
_Chunk: TypeAlias = tuple[int, int, bool]  # its first granule, that behind it, and if it is used
# An address and its end; if it is used, None of the heap's own; what header is wrong there.
Bounds: TypeAlias = Iterable[tuple[int, int, bool | None, int | None]]

_MOST = 1 << 24  # granules of a heap
_MOST_TRIED, _MOST_LINKS = 256, 64  # sizes of blocks; links of a free list, by which one is told
_PAIRS = ("--", "U-", "-U", "UU", "FU", "F-", "-F", "UF")  # by their three bits
_PASSED = 0xC0000000
_POOL, _NO_LINK = 32, 0xFFFFFFFF  # bytes of a row of a plan's pools; the end of a free list


def _read_map(word: _Word, at: int) -> tuple[str, int]:
    """The marks of 32 granules, and how many words have the same.

    10... is a used chunk, 11, 111, 1111, 110...011 a free one; a word 0111111 k 0 says that k words
    have no marks.
    """
    bits = word(at)
    is_skip = bits >> 25 == 63
    return (32 * "0", max(bits >> 1 & 0xFFFFFF, 1)) if is_skip else (f"{bits:032b}"[::-1], 1)


def _read_pairs(word: _Word, at: int) -> tuple[str, int]:
    """What begins at each of 64 granules, by three words: a used chunk, a free one or none."""
    a, b, c = (word(3 * at + i) for i in range(3))
    if c == _PASSED and b ^ _PASSED == a:
        return 64 * "-", max(a, 1)
    bits = ((a >> i & 1, b >> i & 1, c >> i & 1) for i in range(32))
    return "".join(_PAIRS[one | two << 1 | four << 2] for one, two, four in bits), 1


def _read_list(word: _Word, at: int) -> tuple[str, int]:
    """A group of partitions: a word says its length, and if it is used."""
    length, is_used = divmod(word(at), 2)
    return ("FU"[is_used].ljust(length, "-"), length) if 0 < length < _MOST else ("?", 1)


def _read_bits(word: _Word, at: int) -> tuple[str, int]:
    """The marks of 32 partitions: a word says which are used, the next which end a group."""
    used, last = word(2 * at), word(2 * at + 1)
    return "".join("FFUL"[(used >> i & 1) * 2 + (last >> i & 1)] for i in range(32)), 1


_KINDS = {
    "map": (_read_map, 5, re.compile("(10+)|1{2,4}(?=10)|110+11(?=10)")),
    "pairs": (_read_pairs, 6, re.compile("(U-*)|F-*(?=U)")),
    "list": (_read_list, 0, re.compile("(U-*)|F-*")),
    "bits": (_read_bits, 5, re.compile("(U*L)|F+")),
    "blocks": (lambda word, at: (f"{word(at):032b}", 1), 5, re.compile("(1)|0")),
    "linked": (lambda word, at: (f"{0 * word(at):032b}", 1), 5, re.compile("(1)|0")),
}


def _chunks(kind: str, word: _Word, marks: int, first: int, count: int) -> list[_Chunk]:
    """The chunks of so many granules, numbered from `first` on; what cannot be one is left out.

    The last word read may have more than these granules: a free chunk ends with them.
    """
    read, shift, chunk = _KINDS[kind]
    count = min(count, _MOST)
    at, end, base = first >> shift, first + count >> shift, (first >> shift << shift) - first
    text = ""
    while at <= end:
        more, words = read(lambda number: word(marks + 4 * number), at)
        text += more if shift == 0 else more * min(words, end + 1 - at)
        at += words
    found = ((base + one.start(), base + one.end(), one) for one in chunk.finditer(text, -base))
    return [
        (start, min(behind, count), one[1] is not None)
        for start, behind, one in found
        if start < count and (behind <= count or not one[1])
    ]


def _place(
    word: _Word,
    head: int | None,
    *,
    ground: int,
    units: Sequence[int],
    chunks: Sequence[_Chunk],
    base: int | None = None,
) -> tuple[int, Bounds]:
    """The bytes of a granule, and chunks by their addresses.

    Of `units` the first by which the free list at `head`, if there is one, is whole. Where none is,
    that by which most free chunks lead to one; those are wrong that do not, else where it ends.
    Where links count bytes from a `base`, no bits say what is used: what is not in the list is.
    """
    free = {at for at, _, is_used in chunks if not is_used}
    links = {*free, _NO_LINK}
    looked_at = [] if head is None or base is not None else sorted(free)[:_MOST_LINKS]

    def follow(place: int, unit: int) -> float:
        at = word(place)
        return at if base is None else (at + base - ground) / unit if at else _NO_LINK

    tried: list[tuple[tuple[bool, int], int, set[float], set[float]]] = []
    for unit in units:
        wrong: set[float] = {at for at in looked_at if word(ground + at * unit) not in links}
        at, passed = _NO_LINK if head is None else follow(head, unit), dict[float, None]()
        while at in free and at not in passed:
            passed[at] = None
            at = follow(ground + int(at) * unit, unit)
        torn = (at != _NO_LINK, len(wrong))
        tried.append((torn, unit, wrong or {*[*passed][-1:]}, {*passed}))
    (is_torn, _), unit, wrong, listed = min(tried, key=itemgetter(0))
    if is_torn and follow(head or 0, unit) not in free:
        raise LookupError("keeps no bits of used blocks")
    return unit, (
        (
            ground + at * unit,
            ground + end * unit,
            is_used if base is None else at not in listed,
            ground + at * unit if is_torn and at in wrong else None,
        )
        for at, end, is_used in chunks
    )


def _count_granules(kind: str, word: _Word, *places: int) -> Bounds:
    """Granules from `first`, which lies at `ground`, to `last`."""
    marks, ground, unit, first, last = places
    return _place(
        word,
        None,
        ground=ground,
        units=[unit],
        chunks=_chunks(kind, word, marks, first, last - first),
    )[1]


def _equal(kind: str, word: _Word, *places: int) -> Bounds:
    """Equal pieces of `room` bytes, of which only the plan, that no image has, says the size.

    All multiples of `step` are tried of which so many have room, the largest first. What is left
    behind them is the heap's own.
    """
    region, ground, count, room, step = places
    units = range(room // max(count, 1) // step * step, 0, -step)[:_MOST_TRIED]
    if not count or not units:
        raise LookupError("was not used yet")
    marks, head, base = {
        "list": (20, region + 16, None),
        "bits": (20, None, None),
        "blocks": (8, region, None),
        "linked": (8, region, region),
    }[kind]
    chunks = _chunks(kind, word, region + marks, 0, count)
    unit, bounds = _place(word, head, ground=ground, units=units, chunks=chunks, base=base)
    return (*bounds, (ground + unit * count, ground + room, None, None))


def _pools(word: _Word, region: int, first: int, last: int) -> Bounds:
    """The blocks of all pools; `first` and `last` are rows of the plan's table in flash."""
    for number, row in enumerate(range(first, last + 1, _POOL)):
        count, base, size, bit = (word(row + at) for at in (4, 12, 16, 20))  # of struct hfit_pool
        chunks, head = _chunks("blocks", word, region, bit, count), region + 4 * number
        free = sum(not is_used for *_, is_used in chunks)  # where they are counted, not listed
        listed = None if word(head) == free else head
        yield from _place(word, listed, ground=region + base, units=[size], chunks=chunks)[1]


BOUNDS: Mapping[str, Callable[..., Bounds]] = {
    **{kind: partial(_count_granules, kind) for kind in ("map", "pairs")},
    **{kind: partial(_equal, kind) for kind in ("list", "bits", "blocks", "linked")},
    "pools": _pools,
}
