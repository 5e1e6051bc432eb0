# SPDX-License-Identifier: Apache-2.0
"""Finds the heaps of a program in its memory, by symbols, and confirms them by their own sums."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, partial, reduce
from itertools import islice, product
from typing import TypeAlias

from heapfit.fact_files import read_facts
from heapfit.images.memory import DumpedMemory, UnreadError
from heapfit.images.walk import (
    FREE,
    LIVE,
    MOST_CHUNKS,
    OWN,
    UNREAD,
    DumpedHeap,
    Layout,
    NullError,
    Paths,
    Walk,
)
from heapfit.outputs.printable import printable

_Names: TypeAlias = dict[str, int]

_MOST, _TOLD = 64, 3  # heaps of a row, and variables that may say where one ends; heaps not there
# Signs of a symbol's name; bytes of such a variable, and chunks; unread bytes that a damage weighs.
_LONGEST, _FEW, _UNSOUND = 80, 8, 256
_PATHS = ("key", "links", "base", "top", "last", "owner")  # columns that a reading needs as numbers
_BREAK = re.compile(r"used|brk|break|heap|top|end|cur", re.IGNORECASE)


@cache
def load_layouts() -> tuple[Layout, ...]:
    """The rows of layouts.toml, each with what it does not say itself."""
    table = read_facts(__file__, "layouts.toml")
    titled: dict[str, Layout] = {"": table["defaults"]}
    for row in table["heap"]:
        titled[row["title"]] = titled[row.get("like", "")] | row
    return tuple(titled.values())[1:]


def find_heaps(memory: DumpedMemory) -> tuple[list[DumpedHeap], list[str]]:
    """The heaps of all rows, and sentences on some that the program has and the dump has not."""
    found: dict[str, list[tuple[Layout, DumpedHeap]]] = {}
    missing: dict[str, str] = {}
    tried = (
        (name, names, built)
        for row in load_layouts()
        if {*row["symbols"]} <= memory.symbols.keys() and row["without"] not in memory.symbols
        for name, names in _anchors(memory, row, missing)
        for built in _builds(memory, row)
    )
    for name, names, row in tried:
        key = _describe(row, name)
        try:
            found.setdefault(key, []).append((row, _read(memory, row, names, name)))
        except LookupError as error:
            missing.setdefault(key, f"{error}{row['setting']}")
    return (
        [min(some, key=lambda one: _doubt(*one))[1] for some in found.values() if some],
        [f"{key}: {text}" for key, text in missing.items() if not found.get(key)][:_TOLD],
    )


def _describe(row: Layout, name: str) -> str:
    return f"{row['title']} ({printable(name)})"


def _builds(memory: DumpedMemory, row: Layout) -> Iterator[Layout]:
    """A row as build options may change it, but for what DWARF says is built otherwise."""
    for options in product(*row["options"]):
        built = reduce(_join, options, row)
        if all(
            memory.types.get(member, 0) == place
            for member, place in built["types"].items()
            if member.partition(".")[0] in memory.types
        ):
            yield built


def _join(row: Layout, option: Layout) -> Layout:
    """A row with what an option has instead, or beside what a table of the row has."""
    return {
        **row,
        **{one: row[one] | new if isinstance(new, dict) else new for one, new in option.items()},
    }


def _doubt(row: Layout, heap: DumpedHeap) -> tuple[int, int, int, int]:
    """The order of readings of one heap: what its sums confirm is first.

    What is assumed is more doubtful than damage, as an end before the damage would be. Of damaged
    ones less unread is sounder than fewer overwritten headers. No fence is found by chance (one
    that is not whole is damage), nor are many sizes that are all multiples of more.
    """
    unread = sum(one.span for one in heap.blocks if one.state not in (LIVE, FREE))
    wrong = 2 * len(heap.damage) - len(heap.pieces(LIVE)) if row["asked"] else bool(heap.damage)
    step = row["step"] if len(heap.blocks) > _FEW else 0
    return (
        wrong + len(heap.assumed),
        len(heap.assumed),
        unread + len(heap.damage) * _UNSOUND - step,
        -len(heap.confirmed),
    )


def _anchors(
    memory: DumpedMemory, row: Layout, missing: dict[str, str]
) -> Iterator[tuple[str, _Names]]:
    """The name of each record of this kind of heap, and what its paths may begin with.

    One that a symbol does not lead to, as the dump has not all of them, is among the missing.
    """
    first, last = (memory.symbols.get(one, (0, 0))[0] for one in row["between"])
    named = (
        (
            name[:_LONGEST],
            {"@": address, "bytes": size}
            | {one: int(digits) for one, digits in (found.groupdict() if found else {}).items()}
            | _find_beside(memory, row, name),
        )
        for name, (address, size) in memory.symbols.items()
        for found in [re.fullmatch(row["named"], name)]
        if found or (size and first <= address < last)
    )
    alone = (one for one in named if not one[1].get("instead"))
    for name, names in islice(alone, _MOST) if row["named"] else [(row["symbols"][0], {"@": 0})]:
        try:
            for i, at in enumerate(_records(memory, row, names)):
                yield f"{name}[{i}]" if row["next"] else name, names | {"@": at}
        except (UnreadError, NullError) as error:
            missing.setdefault(_describe(row, name), f"{error}{row['setting']}")


def _find_beside(memory: DumpedMemory, row: Layout, name: str) -> _Names:
    """The symbols whose names follow from that of a record, as `beside` says; 0: there is none."""
    forms = ((word, re.sub(row["named"], form, name)) for word, form in row["beside"].items())
    return {
        known: number
        for word, form in forms
        for place in [
            next(
                (place for other, place in memory.symbols.items() if fnmatchcase(other, form)),
                (0, 0),
            )
        ]
        for known, number in zip((word, f"{word}_bytes"), place, strict=True)
    }


def _records(memory: DumpedMemory, row: Layout, names: _Names) -> Iterator[int]:
    """The addresses of the records that a symbol leads to."""
    at = Paths(memory, names).sum(row["first"])
    for _ in range(_MOST if row["next"] else 1):
        if row["next"] and not Paths(memory, {"@": at}).sum(row["until"]):
            return
        yield at
        at = Paths(memory, {"@": at}).sum(row["next"] or "@")


def _read(memory: DumpedMemory, row: Layout, names: _Names, name: str) -> DumpedHeap:
    """A heap as a row lays it out; LookupError if there is none."""
    names = names | {"0": 0, "inner": 0} | {one: row[one] for one in ("align", "unit", "step")}
    paths = Paths(memory, names)
    for word, path in row["let"].items():
        names[word] = paths.sum(path)
    row = {one: names[one] if one in row["let"] else value for one, value in row.items()}
    row |= {one: paths.sum(row[one]) for one in _PATHS if row[one]}
    if any(paths.sum(path) != value for path, value in row["sign"].items()):
        raise LookupError("is of another build, or its first words are overwritten")
    start = paths.sum(row["start"])
    if start < memory.pointer or start >> 8 * memory.pointer:
        raise NullError("was not used yet")
    memory.word(start)
    ends = _find_ends(memory, row, paths, start)
    readings = [
        DumpedHeap(row["title"], name, start, end, assumed=[*row["guess"]])
        for end in ends
        if start < end <= 1 << 8 * memory.pointer
    ]
    for heap in readings:
        Walk(memory, row, paths, heap).run()
        (heap.confirmed if ends[heap.end] else heap.assumed).append(
            ends[heap.end] or "where it ends"
        )
        _confirm(heap, row, paths)
    whole = [one for one in readings if one.blocks[0].state != UNREAD or len(one.blocks) > _FEW]
    if not whole:
        raise LookupError(
            "lies otherwise than is known, or its start is overwritten"
            if readings
            else "was not used yet"
        )
    return min(whole, key=partial(_doubt, row))


def _find_ends(memory: DumpedMemory, row: Layout, paths: Paths, start: int) -> dict[int, str]:
    """Where the chunks may end, and what says so: the heap, a variable of the program, or none."""
    if row["end"]:
        return {paths.sum(row["end"]): "its own words say where it ends"}
    most = max(at + len(data) for at, data in memory.spans if at <= start < at + len(data))
    walk = Walk(memory, row, paths, DumpedHeap(row["title"], "", start, most))
    ends = {max((x[0] for x in islice(walk.chain(start, set()), MOST_CHUNKS)), default=start): ""}
    kept = (
        (name, address)
        for name, (address, size) in memory.symbols.items()
        if 0 < size <= _FEW and _BREAK.search(name) and name not in row["symbols"]
        if any(first <= address < last for first, last in memory.sections)
    )
    for name, address in islice(kept, _MOST):
        with suppress(UnreadError):
            value = memory.word(address)
            if start < (end := value + start * (value < start)) <= most:  # some keep a length
                ends[end] = f"{name} says where it ends"
    return ends


def _confirm(heap: DumpedHeap, row: Layout, paths: Paths) -> None:
    """Compares the walk with what the heap itself counts."""
    live = heap.pieces(LIVE)
    found = {
        "B free with headers": sum(one.span for one in heap.pieces(FREE)),
        "live blocks": len(live) + len(heap.pieces(OWN)),
        "live bytes": sum(one.span + (row["tail"] - row["block"]) * row["word"] for one in live),
    }
    for what, path, below in row["counts"]:
        counted = paths.sum(path) % below
        if counted == found[what] % below:
            heap.confirmed.append(f"it counts {counted:,} {what}, as were found")
        else:
            heap.assumed.append(f"it counts {counted:,} {what}, {found[what]:,} were found")
