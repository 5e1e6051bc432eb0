# SPDX-License-Identifier: Apache-2.0
"""The walk over a heap's chunks, one for all heaps: a row of layouts.toml says how they lie.

    start                                                              end
    +--------+-----------+--------+-- ... --+--------+-----------------+- - - -+
    | header | block     | header | free    | header | block           | rest  |
    +--------+-----------+--------+-- ... --+--------+-----------------+- - - -+

A header that cannot be true is damage: it is reported with the block before it, which most often
wrote beyond its end, and the walk goes on where chunks lead to the heap's end again.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from heapfit.images.marks import BOUNDS
from heapfit.images.memory import DumpedMemory, UnreadError

Layout: TypeAlias = Mapping[str, Any]  # a row of layouts.toml, with its defaults

MOST_CHUNKS = 1 << 20  # of a heap
_MOST_TRIED = 1 << 16  # places at which a damaged heap may go on
# Sound chunks in a row; bytes of one behind what was asked for, at most; damages of a heap of which
# it is looked for whether the size of the chunk before is wrong.
_ENOUGH, _SPARE, _MOST_SEARCHED = 2, 64, 64
LIVE, FREE, OWN, UNREAD = "live", "free", "own", "unread"
_STATES = {True: LIVE, False: FREE, None: OWN}


class Block(NamedTuple):
    """A piece of a heap: a block, a hole, the heap's own words, or bytes that are not known."""

    chunk: int  # address of its header
    span: int  # bytes with the header
    address: int  # of what the program has
    size: int  # bytes that it may use
    state: str  # LIVE, FREE, OWN or UNREAD
    is_referenced: bool = True
    about: str = ""  # what its first words say


class Damage(NamedTuple):
    """A header that cannot be true, and the last whole block or hole before it."""

    address: int
    neighbour: int  # its address; 0: there is none
    size: int  # its bytes


@dataclass(slots=True)
class DumpedHeap:
    """A heap as the walk found it. Addresses, and sizes in bytes."""

    title: str
    name: str  # of the symbol by which it was found
    start: int
    end: int
    blocks: list[Block] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)  # what nothing in the dump confirms
    confirmed: list[str] = field(default_factory=list)  # by which of the heap's own sums

    def pieces(self, state: str) -> list[Block]:
        """The pieces in this state, by address."""
        return [one for one in self.blocks if one.state == state]


_STEPS: Mapping[str, Callable[[DumpedMemory, int, int], int]] = {
    "*": lambda memory, at, _: memory.word(at),
    "+": lambda memory, at, words: at + words * memory.pointer,
    "b": lambda _, at, count: at + count,
    "w": lambda memory, at, number: memory.word(at + 4 * number, 4),
    "~": lambda _, value, __: ~value & 0xFFFFFFFF,
    "x": lambda _, value, factor: value * factor,
    "/": lambda _, value, divisor: value // divisor,
    "s": lambda _, value, bits: value - (value >> bits - 1 << bits),
    "r": lambda _, value, bits: value >> bits,
    "a": lambda _, at, unit: at + -at % unit,
}


class NullError(LookupError):
    """A pointer on the way is NULL: what it leads to was not made yet."""


class Paths:
    """Computes the addresses that a row names."""

    def __init__(self, memory: DumpedMemory, names: Mapping[str, int]) -> None:
        self._memory, self._names = memory, names

    def sum(self, text: str) -> int:
        """The sum of paths such as "ram *", and steps from it; LookupError of what is not there."""
        parts, _, steps = text.partition("|")
        return self._follow(sum(map(self._path, parts.split("&"))), steps.split())

    def _path(self, text: str) -> int:
        first, *steps = text.split()
        known = self._names.get(first)
        return self._follow(self._memory.symbols[first][0] if known is None else known, steps)

    def _follow(self, value: int, steps: Sequence[str]) -> int:
        for step in steps:
            if step[0] in "*w" and value == 0:
                raise NullError("was not used yet")
            name, _, otherwise = step[1:].partition("=")
            known = self._names.get(name, self._memory.types.get(name))
            number = int(otherwise or name or 0) if known is None else known
            value = _STEPS[step[0]](self._memory, value, number)
        return value


# Its end; if it is used, None of the heap's own; a header that is wrong.
Chunk: TypeAlias = tuple[int, bool | None, int | None]


class Walk:
    """Walks the chunks of one heap from `start` to `end`."""

    def __init__(
        self, memory: DumpedMemory, layout: Layout, paths: Paths, heap: DumpedHeap
    ) -> None:
        self._memory, self._layout, self._heap = memory, layout, heap
        self._word = layout["word"] or memory.pointer
        self._free: set[int] = set()  # the chunks of the free list
        last, at = 0, (paths.sum(layout["free_list"]) ^ layout["key"]) + layout["links"]
        stop = paths.sum(layout["stop"]) or layout["links"]
        bounds = range(0 if layout["next"] else heap.start, max(stop, heap.end))
        while at != stop and last < at in bounds and self._is_captured(at):  # in order of addresses
            last, at = at, self._next(at)
            self._free.add(last)
        is_whole, is_left = at == stop, not last < at in bounds
        self._torn = last if is_left and not is_whole else None  # where the list leaves the heap
        self._order = sorted({*(self._free if is_whole else ()), heap.end})  # none lies in a chunk
        heap.assumed += (
            []
            if is_whole
            else [
                "free blocks behind a lost link"
                + ", which may be listed as live" * (layout["where"] == "list")
            ]
        )
        self._bounds: dict[int, Chunk] = (
            self._read_marks(paths) if layout["marks"] else {layout["top"]: (heap.end, False, None)}
        )
        self._waiting = {
            paths.sum("inner") + int(word)
            for word in memory.words(paths.sum(layout["waits"]), paths.sum("inner"))
        }

    def _read_marks(self, paths: Paths) -> dict[int, Chunk]:
        """The chunks of a heap that keeps their bounds apart."""
        read = partial(BOUNDS[self._layout["marks"]], partial(self._memory.word, size=4))
        return {
            start: (end, is_used, wrong)
            for start, end, is_used, wrong in islice(
                read(*map(paths.sum, self._layout["from"])), MOST_CHUNKS
            )
            if start < end <= self._heap.end
        }

    def _is_captured(self, chunk: int, end: int = 0) -> bool:
        """True if a chunk's header and first link lie in the dump, and those at its end, if any."""
        header = max(self._layout["block"], 2) * self._word
        return any(
            at <= chunk and max(chunk, end) + header <= at + len(data)
            for at, data in self._memory.spans
        )

    def _is_read(self, chunk: int) -> bool:
        """True if all that tells of a chunk lies in the dump, or its header is not sound."""
        end = self.end_of(chunk) if self._is_captured(chunk) else chunk
        return self._is_captured(
            chunk, end if chunk < end < self._heap.end + self._layout["before_last"] else chunk
        )

    def _field(self, chunk: int, place: int, width: int = 0) -> int:
        return self._memory.word(chunk + place * self._word, width or self._word)

    def _next(self, chunk: int) -> int:
        """The free chunk that a free one links to, or what stands there behind the last one."""
        return int(
            (self._field(chunk, self._layout["link"]) ^ self._layout["key"]) + self._layout["links"]
        )

    def end_of(self, chunk: int, bits: int = 0) -> int:
        """The address behind a chunk, as its header says; with these bits set in it, too."""
        layout, value = self._layout, self._plain(chunk, self._layout["size"]) | bits
        is_apart = layout["base"] != "" and not (layout["coded"] and value & 1)
        return (
            (int(layout["base"]) if is_apart else chunk)
            + self._bytes(value)
            + int(layout["plus"]) * self._word
        )

    def _plain(self, chunk: int, place: int) -> int:
        """A header's word, which may stand as its negative."""
        value = self._field(chunk, place)
        return -value & 0xFFFFFFFF if self._layout["coded"] and value & 1 else value

    def _bytes(self, value: int) -> int:
        """What a header's word says of bytes, without its flags."""
        return int((value & ~self._layout["flags"]) >> self._layout["shift"]) * int(
            self._layout["unit"]
        )

    def look(self, chunk: int) -> Chunk | None:
        """A chunk; None if its header cannot be one."""
        layout, heap = self._layout, self._heap
        if layout["marks"] or chunk == layout["top"]:
            return self._bounds.get(chunk)
        try:
            end = heap.end if chunk == layout["last"] else self.end_of(chunk)
            if not chunk + layout["least"] <= end <= heap.end or (
                (end - heap.start) % layout["step"] and end != heap.end
            ):
                return None
            place = end if layout["where"] == "next" else chunk
            flag = place != heap.end and self._field(place, layout["mark"], layout["width"])
            is_used = (
                chunk not in self._free
                if layout["where"] == "list"
                else place != heap.end and bool(flag & layout["bit"]) is layout["used"]
            )
            behind = sum(self._place(chunk, end, is_used=is_used))
            if end - behind > _SPARE or self._order[bisect(self._order, chunk)] < end:
                return None
            wrong = self._find_wrong(chunk, end, behind, is_used=is_used)
            return end, None if layout["own"] and chunk == heap.start else is_used, wrong
        except UnreadError:
            return None

    def _find_wrong(self, chunk: int, end: int, fence: int, *, is_used: bool) -> int | None:
        """The chunk whose header is wrong: this one, the next one or neither; or a wrong fence."""
        layout = self._layout
        is_held = all(self._field(chunk, at) ^ layout["key"] == one for at, one in layout["holds"])
        is_lost = self._torn is None and self._free and (chunk in self._free) is is_used
        if (
            chunk == self._torn
            or is_lost
            or (is_used and not is_held)
            or (chunk == layout["last"] and self.end_of(chunk) != end)
        ):
            return chunk
        if is_used and layout["asked"] and self._memory.word(fence, 4) != layout["fence"]:
            return fence
        is_other = (  # the next one's flag says otherwise
            layout["after"]
            and end not in (self._heap.end, layout["top"])
            and bool(self._plain(end, layout["size"]) & layout["after"]) is is_used
        )
        is_told = (
            layout["before"]
            and (layout["before_last"] or end != self._heap.end)
            and not (layout["before_free"] and is_used)
        )
        return end if is_other or (is_told and not self._follows(chunk, end)) else None

    def _follows(self, chunk: int, end: int) -> bool:
        """Whether a word before or in the chunk at `end` names this as the one before it."""
        back = self._plain(end, self._layout["before_at"])
        first = {
            "size": end - back * self._layout["unit"],
            "offset": self._heap.start + back,
            "address": back,
            "header": end - self._bytes(back),
        }
        return bool(first[self._layout["before"]] == chunk)

    def _place(self, chunk: int, end: int, *, is_used: bool | None) -> tuple[int, int]:
        """The address of a chunk's block, and its bytes: those asked for, if a word says them."""
        layout, pointer = self._layout, self._memory.pointer
        address = chunk + layout["block"] * self._word
        address += -address % layout["align"]
        size = max(end + layout["tail"] * self._word - address, 0)
        if is_used and layout["asked"]:
            size = min(size, max(self._field(chunk, layout["asked"]) - layout["less"], 0))
        owned = pointer * bool(
            is_used
            and layout["owner"] != ""
            and layout["owner"] in self._memory.words(address, address + pointer)
        )
        return address + owned, max(size - owned, 0)

    def chain(self, place: int, passed: set[int]) -> Iterator[Chunk]:
        """The chunks from a place on, each where the one before ends, up to one in `passed`."""
        while place not in passed and (chunk := self.look(place)):
            yield chunk
            passed.add(place)
            place = chunk[0]

    def _leads_on(self, place: int, passed: set[int]) -> bool:
        """Whether sound chunks lead from a place to the end, or far enough.

        Two free ones side by side are not sound where nothing else tells what lies before one.
        """
        is_free = False
        for count, (end, is_used, wrong) in enumerate(self.chain(place, passed), 1):
            is_sound = wrong is None and not (is_free and is_used is False)
            if not is_sound or count == _ENOUGH or end == self._heap.end:
                return is_sound
            is_free = is_used is False and self._layout["before"] == ""
        return place == self._heap.end

    def _places(self, at: int) -> range:
        """Where a chunk may begin behind `at`."""
        step, last = (
            self._layout["step"],
            max(start + len(data) for start, data in self._memory.spans),
        )
        return range(at + step, min(self._heap.end, last, at + _MOST_TRIED * step), step)

    def _find_next(self, at: int) -> int:
        """The chunk that names the one at `at` as that before it; 0: there is none."""
        return next(
            (
                one
                for one in (self._places(at) if self._layout["before"] else ())
                if self._is_captured(one - self._word) and self._follows(at, one)
                if self._leads_on(one, set())
            ),
            0,
        )

    def _resume(self, at: int) -> int:
        """Where chunks lead on behind `at`: from one that names it as that before it, if there is
        one, else from the first place, else from the heap's end.
        """
        passed = set[int]()
        return self._find_next(at) or next(
            (one for one in self._places(at) if self._leads_on(one, passed)), self._heap.end
        )

    def _is_cut(self, end: int) -> bool:
        """True if the lowest byte of the last chunk's size is 0, and another would lead to `end`.

        What wrote a text with its 0 one byte too long leaves that.
        """
        return any(
            self._plain(one.chunk, self._layout["size"]) & 255 == 0
            and self.end_of(one.chunk) < end <= self.end_of(one.chunk, 255)
            for one in self._heap.blocks[-1:]
            if one.state != UNREAD and not self._layout["marks"]
            if self._layout["before_free"] or not self._layout["before"]  # else that tells
        )

    def run(self) -> None:
        """Fills the heap's blocks and damage."""
        heap, at, wrong = self._heap, self._heap.start, None
        while at < heap.end and len(heap.blocks) < MOST_CHUNKS:
            chunk = self.look(at)
            # What wrote over a header may have left a size that a chunk can have.
            is_trusted = self._layout["marks"] or not (wrong or (chunk and chunk[2] == at))
            found = chunk if chunk and (is_trusted or self._leads_on(chunk[0], set())) else None
            _, is_used, wrong = found or (0, False, at if self._is_read(at) else None)
            end = found[0] if found else self._resume(at)
            if not found and self._is_cut(end):
                at = wrong = heap.blocks.pop().chunk
                heap.damage = [one for one in heap.damage if one.address < at]
            elif (
                wrong == end
                and len(heap.damage) < _MOST_SEARCHED
                and not (self._layout["before_free"] and is_used)
                and (after := self._find_next(at)) not in (0, end)
            ):
                found, wrong, end = None, at, after
            address, size = self._place(at, end, is_used=is_used)
            state = OWN if address in self._waiting else _STATES[is_used] if found else UNREAD
            heap.blocks.append(Block(at, end - at, address, size, state))
            if wrong is not None and wrong not in [one.address for one in heap.damage[-1:]]:
                whole = (
                    one[2:4]
                    for one in reversed(heap.blocks)
                    if one.state != UNREAD and one.chunk < wrong
                )
                heap.damage.append(Damage(wrong, *next(whole, (0, 0))))
            at = end
        if self._torn and self._layout["where"] == "list":
            lost = self._find_lost(self._torn)
            heap.blocks = [
                one._replace(state=FREE) if one.chunk in lost else one for one in heap.blocks
            ]

    def _find_lost(self, torn: int) -> set[int]:
        """The chunks behind a torn link that most links of their own lead through to the end.

        A list is in order of addresses, and its chunks do not touch. One that nothing leads to and
        whose link is the last may as well be a block that begins with 0.
        """
        counts, found = {int(self._layout["links"]): 0}, set[int]()
        links = (
            (one, self._next(one.chunk))
            for one in reversed(self._heap.blocks)
            if one.state == LIVE and one.chunk > torn and self._is_captured(one.chunk)
        )
        for one, behind in links:
            if behind in counts and behind != one.chunk + one.span:
                counts[one.chunk] = counts[behind] + 1
        at = max(counts, key=counts.__getitem__)
        while counts[at]:
            found.add(at)
            at = self._next(at)
        return found if len(found) > 1 else set()
