# SPDX-License-Identifier: Apache-2.0
"""Bounds of chunks that a heap keeps apart from them, one reader for each kind.

map, pairs   core/src/tailored/map.h, pairs.h: marks of granules
list, bits   core/src/partitions/list.h, bits.h: a word or two bits for each partition
blocks       core/src/pools/fixed_pool.c: a bit for each block, the highest of a word first
linked       the same without bits: free blocks are linked (HFIT_SAFETY 0)
pools        core/src/pools/layout.h: the same of each pool of a plan's table
tree         core/src/sized/by_address.h: free chunks, and live_map.h: a bit where a block begins

A reader is given what `from` of the row says, and `word`, which gives that at an address. It raises
LookupError where something was not captured, or is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import TypeAlias

_Word: TypeAlias = Callable[[int], int]
_Chunk: TypeAlias = tuple[int, int, bool]  # its first granule, that behind it, and if it is used
# An address and its end; if it is used, None of the heap's own; what header is wrong there.
Bounds: TypeAlias = Iterable[tuple[int, int, bool | None, int | None]]

_MOST = 1 << 24  # granules of a heap
_PAIRS = ("--", "U-", "-U", "UU", "FU", "F-", "-F", "UF")  # by their three bits
_PASSED = 0xC0000000
_POOL, _NO_LINK = 32, 0xFFFFFFFF  # bytes of a row of a plan's pools; the end of a free list
_LINKS = 1 << 21  # granules that a link of a tree can lead to


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


def _granules(kind: str, word: _Word, *places: int) -> Bounds:
    """So many granules of `unit` bytes from `first` on, which lie from `ground` on.

    One is overwritten that is free and leads to none, or where the free list at `head`, if there is
    one, ends otherwise. Where links count bytes from a `base`, no bits say what is used: what is
    not in the list is. What is left behind them is the heap's own.
    """
    marks, ground, first, count, unit, last, head, base = (*places, 0, 0)[:8]
    chunks = _chunks(kind, word, marks, first, count)
    free = {at for at, _, is_used in chunks if not is_used}
    links = {*free, _NO_LINK}
    wrong: set[float] = {
        at for at in free if head and not base and word(ground + at * unit) not in links
    }

    def follow(place: int) -> float:
        at = word(place)
        return at if not base else (at + base - ground) / max(unit, 1) if at else _NO_LINK

    at, listed, torn = follow(head) if head else _NO_LINK, set[float](), set[float]()
    while at in free and at not in listed:
        listed.add(at)
        at, torn = follow(ground + int(at) * unit), {at}
    if at != _NO_LINK and not listed:
        raise LookupError("keeps no bits of used blocks")
    # It leads out, or ends too early.
    wrong = wrong or (torn if at != _NO_LINK or (head and not base and listed != free) else set())
    bounds = (
        (
            ground + at * unit,
            ground + end * unit,
            at not in listed if base else is_used,
            ground + at * unit if at in wrong else None,
        )
        for at, end, is_used in chunks
    )
    return (*bounds, (ground + unit * count, last, None, None))


def _pool(word: _Word, region: int, head: int, *places: int) -> Bounds:
    """The blocks of a pool; the free ones are listed from `head` on, or counted there."""
    count, base, size, bit = places
    is_counted = word(head) == sum(
        not is_used for *_, is_used in _chunks("blocks", word, region, bit, count)
    )
    ground, end = region + base, region + base + count * size
    return _granules(
        "blocks", word, region, ground, bit, count, size, end, 0 if is_counted else head
    )


def _pools(word: _Word, region: int, first: int, last: int) -> Bounds:
    """The blocks of all pools; `first` and `last` are rows of the plan's table in flash."""
    for number, row in enumerate(range(first, last + 1, _POOL)):
        yield from _pool(  # by struct hfit_pool
            word, region, region + 4 * number, *(word(row + at) for at in (4, 12, 16, 20))
        )


def _tree(word: _Word, region: int, unit: int, *places: int) -> Bounds:
    """Free chunks, which hang from roots as the bits of their granules say, and what is used.

    A chunk is overwritten that leads to one which cannot hang there, or ends behind the next one's
    start. In a map `bits` say where blocks begin; 0: none do, and what lies between is one.
    """
    first, top, behind, end, bits, *roots = places
    free = {0: first, top: behind}  # where each begins and ends, with the heap's own words
    slots = [(root, 0, 1 << end.bit_length(), 0) for root in roots]
    for slot, low, high, holder in slots:
        at = word(slot) % _LINKS
        if max(low, first) <= at < min(high, end) and at not in free:
            chunk, middle = region + unit * at, (low + high) // 2
            size = word(chunk) // _LINKS | word(chunk + 4) // _LINKS % 1024 * 2048
            free[at] = at + (size or _LINKS)
            slots += [(chunk, low, middle, at), (chunk + 4, middle, high, at)]
        elif at:
            free[holder] = _LINKS
    for (start, at), (after, _) in pairwise([*sorted(free.items()), (end, end)]):
        inner = range(start + 1, after if bits else 0)
        begins = [one for one in inner if word(bits + one // 32 * 4) >> one % 32 & 1]
        used = at if at <= after else min(begins, default=after)
        pieces = [used, *filter(used.__lt__, begins), after]
        for one, other in pairwise(pieces if used < at else [start, *pieces]):
            yield region + unit * one, region + unit * other, one >= used, None


BOUNDS: Mapping[str, Callable[..., Bounds]] = {
    **{kind: partial(_granules, kind) for kind in _KINDS},
    "pool": _pool,
    "pools": _pools,
    "tree": _tree,
}
