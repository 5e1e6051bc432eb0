# SPDX-License-Identifier: Apache-2.0
"""Which blocks something points to, and what the first words of a block say.

Pointers are looked for in registers, in data and bss, in stacks from their pointer on, and in what
damage left unread, then in all blocks that were reached, until no more are. A pointer into a
block's middle counts. What is kept encoded, in a peripheral or in memory that was not captured is
not seen.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

import numpy as np

from heapfit.images.find import load_layouts
from heapfit.images.memory import DumpedMemory, Numbers
from heapfit.images.walk import LIVE, UNREAD, Block, DumpedHeap
from heapfit.outputs.printable import printable

_FIRST_BYTES = 32  # of a block, that may say what it is
_TEXT = re.compile(rb"[\x20-\x7e]{4,}")
_DEEPEST_STACK = 1 << 16  # bytes above a stack pointer


def mark_references(
    memory: DumpedMemory, heaps: Sequence[DumpedHeap], known: Mapping[int, str]
) -> None:
    """Marks the live blocks that nothing points to, and says what each is.

    By what is `known` of its address (the lower 32 bits), else by what its first words say.
    """
    live = sorted(one for heap in heaps for one in heap.pieces(LIVE))
    starts, ends = (
        np.array([(one.address, one.chunk + one.span) for one in live], np.uint64).reshape(-1, 2).T
    )
    reached = np.zeros(len(live) + 1, bool)  # of no block, too
    pointers = _roots(memory, heaps)
    while len(pointers) and live:
        place = np.searchsorted(starts, pointers, side="right").astype(np.int64) - 1
        found = np.unique(np.where(pointers < ends[place], place, -1))
        fresh = found[~reached[found]]
        reached[fresh] = True
        inside = (
            memory.words(live[i].address, live[i].address + live[i].size)
            for i in fresh.tolist()
            if i >= 0
        )
        pointers = np.concatenate([np.zeros(0, np.uint64), *inside])
    reachable = dict(zip(live, reached.tolist(), strict=False))
    names = _Names(memory, heaps, known)
    for heap in heaps:
        heap.blocks = [
            one._replace(is_referenced=reachable[one], about=names.about(one))
            if one in reachable
            else one
            for one in heap.blocks
        ]


def _roots(memory: DumpedMemory, heaps: Sequence[DumpedHeap]) -> Numbers:
    """The words of registers, data, bss, stacks and unread bytes; none of the heaps' own words.

    Where no stack pointer is known, as of raw memory or of Xtensa, all memory may be a stack.
    """
    stacks = [int(one[memory.stack]) for one in memory.registers if memory.stack < len(one)]
    places = (
        [*memory.sections, *((at, at + _DEEPEST_STACK) for at in stacks)]
        if stacks
        else [(at, at + len(data)) for at, data in memory.spans]
    )
    variables = (
        (at, at + size)
        for name in {name for row in load_layouts() for name in row["symbols"]}
        | {name for name in memory.symbols if name.endswith("_heap_seen")}  # blocks of --for guard
        for at, size in [memory.symbols.get(name, (0, 0))]
    )
    gaps = [*((one.start, one.end) for one in heaps), *variables]
    bounds = sorted({bound for part in (*places, *gaps) for bound in part})
    parts = [
        memory.words(start, end)
        for start, end in pairwise(bounds)
        if _lies_in(places, start) and not _lies_in(gaps, start)
    ]
    unread = (
        memory.words(one.chunk, one.chunk + one.span)
        for heap in heaps
        for one in heap.pieces(UNREAD)
    )
    return np.concatenate([np.zeros(0, np.uint64), *memory.registers, *parts, *unread])


def _lies_in(parts: Sequence[tuple[int, int]], address: int) -> bool:
    return any(start <= address < end for start, end in parts)


class _Names:
    """What the words of a block stand for."""

    def __init__(
        self, memory: DumpedMemory, heaps: Sequence[DumpedHeap], known: Mapping[int, str]
    ) -> None:
        self._memory, self._known = memory, known
        self._sizes = {one.address: one.size for heap in heaps for one in heap.pieces(LIVE)}
        self._symbols = sorted(  # without those that the heaps lie in, which tell nothing
            (at, size, name)
            for name, (at, size) in memory.symbols.items()
            if size and not any(at < one.end and one.start < at + size for one in heaps)
        )

    def about(self, block: Block) -> str:
        """What is known of a block, its text, or what its first words point to; "": nothing.

        These are names of the program, else a text in another block.
        """
        first = block.address
        words = self._words(first).tolist()
        behind = (f"points to {text}" for text in map(self._text, words) if text)
        named = filter(None, map(self._name, words[:4]))
        return (
            self._known.get(first & 0xFFFFFFFF)
            or self._text(first)
            or next(chain(named, behind), "")
        )

    def _words(self, address: int) -> Numbers:
        """The first words of the live block that begins there; none if none does."""
        size = min(self._sizes.get(address, 0), _FIRST_BYTES)
        return self._memory.words(address, address + size)

    def _text(self, address: int) -> str:
        text = _TEXT.match(self._words(address).astype(self._memory.kind).tobytes())
        return f'"{text[0].decode()}"' if text else ""

    def _name(self, word: int) -> str:
        at = bisect_right(self._symbols, (word + 1,)) - 1
        start, size, name = self._symbols[at] if at >= 0 else (0, 0, "")
        return printable(name) if word > 1 and start <= word < start + size else ""
