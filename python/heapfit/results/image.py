# SPDX-License-Identifier: Apache-2.0
"""What a snapshot of a heap shows: where blocks and holes lie, why requests fail, who has what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

import numpy as np

from heapfit import _engine
from heapfit.comparison.heap_map import ELSEWHERE, HeapMap, Hole, MappedHeap, RegionReplay
from heapfit.drawing.document import Document
from heapfit.drawing.parts import (
    Column,
    Fields,
    HeapMapView,
    Line,
    Note,
    Part,
    Section,
    Table,
    hide_unless,
    object_of,
    which_hold,
)
from heapfit.grouping import group
from heapfit.images.snapshot import Snapshot
from heapfit.images.walk import FREE, LIVE, OWN, UNREAD, Block, DumpedHeap
from heapfit.outputs.printable import printable
from heapfit.plan.quantities import format_count, format_share
from heapfit.results.packed_map import pack_map

_SHOWN, _WIDTH, _MOST_ROWS = 12, 64, 16  # rows of a table, and damages; cells of the map
_TEXT = '"'  # what a block's text begins with
_LABELS, _MARKS = {1: "referenced", 2: "not referenced", 3: "unread"}, {OWN: "=", UNREAD: "?"}


class _Row(NamedTuple):
    """Blocks of one size that begin with the same."""

    size: int
    about: str
    blocks: int
    more: int  # of them that are not referenced, or that an earlier snapshot has not
    at: int  # address of one, not referenced if there is such a one


def image_parts(snapshot: Snapshot, before: Snapshot | None = None) -> list[Part]:
    """A snapshot as a command prints it; with an earlier one, first what grew since then."""
    return [
        Fields(
            {
                "snapshot": snapshot.source,
                "notes": snapshot.notes,
                "heaps": [
                    asdict(heap)
                    | {
                        "blocks": [one._asdict() for one in heap.blocks],
                        "damage": [one._asdict() for one in heap.damage],
                        "holes": [object_of(HOLES, one) for one in _list_holes(heap)],
                    }
                    for heap in snapshot.heaps
                ],
            }
        ),
        *_growth_parts(before, snapshot),
        *[
            part
            for heap in snapshot.heaps
            for part in (*map(Line, ("", *describe_heap(heap), "", *_draw(heap))), *_tables(heap))
        ][1:],
        *(Note(f"{printable(note)}.") for note in snapshot.notes),
    ]


def describe_heap(heap: DumpedHeap) -> list[str]:
    """What a heap holds, why requests fail, and what is damaged; one sentence a line."""
    holes, live = [one.size for one in heap.pieces(FREE)], heap.pieces(LIVE)
    free, largest = sum(holes), max(holes, default=0)
    unread = sum(one.span for one in heap.pieces(UNREAD))
    lost = [one.size for one in live if not one.is_referenced]
    return [
        f"{heap.title} ({printable(heap.name)}), {heap.end - heap.start:,} B at {heap.start:#x}: "
        f"{format_count(len(live), 'block')} live with {sum(one.size for one in live):,} B, "
        f"{free:,} B free{f', {unread:,} B unread, which may be live' * bool(unread)}.",
        *(
            f"DAMAGED: what the heap keeps at {at:#x} is overwritten"
            f"{f', likely by the {size:,} B at {neighbour or 0:#x} before it' * bool(neighbour)}."
            for at, neighbour, size in heap.damage[:_SHOWN]
        ),
        *which_hold(
            (
                len(holes) > 1,
                f"A request above {largest:,} B fails with {free:,} B free, as they lie in "
                f"{len(holes):,} holes: {format_share(1 - largest / max(free, 1))} of them outside "
                "the largest.",
            ),
            (len(holes) == 1, f"A request above {largest:,} B fails: the free bytes are one hole."),
            (
                lost,
                f"{format_count(len(lost), 'live block')} with {sum(lost):,} B: not referenced.",
            ),
            (heap.confirmed, f"Confirmed: {'; '.join(map(printable, heap.confirmed))}."),
            (heap.assumed, f"Not confirmed: {'; '.join(map(printable, heap.assumed))}."),
        ),
    ]


def _draw(heap: DumpedHeap) -> Iterator[str]:
    """The heap from its start upwards; a hole is blank."""
    cell = max(-(-(heap.end - heap.start) // (_WIDTH * _MOST_ROWS)), 16)
    cells = np.full(-(-(heap.end - heap.start) // cell), " ")
    for one in (one for one in heap.blocks if one.state != FREE):
        first, end = max(one.chunk - heap.start, 0), one.chunk + one.span - heap.start
        cells[first // cell : -(-end // cell)] = _MARKS.get(one.state, "o#"[one.is_referenced])
    yield f"{cell:,} B each: # live, o not referenced, = the heap's own, ? unread, blank free"
    for row in range(0, len(cells), _WIDTH):
        yield f"{heap.start + row * cell:#010x} {''.join(cells[row : row + _WIDTH])}"


def _list_holes(heap: DumpedHeap) -> list[Hole]:
    """The holes, the largest first, each between what lies below it and above it."""
    nothing = Block(0, 0, 0, 0, "")
    pieces = [nothing, *sorted(heap.blocks), nothing]
    found = [
        Hole(hole.chunk, hole.size, _name_neighbour(below), _name_neighbour(above))
        for below, hole, above in zip(pieces, pieces[1:], pieces[2:], strict=False)
        if hole.state == FREE
    ]
    return sorted(found, key=lambda one: -one.size)


def _name_neighbour(one: Block) -> str:
    return {LIVE: f"{one.size:,} B {one.about}".rstrip(), OWN: "the heap's own"}.get(one.state, "-")


HOLES: tuple[Column[Hole], ...] = (
    Column("address", "hole at", shown=lambda one: f"{one.address:#x}"),
    Column("size", "bytes"),
    Column("below", "below it"),
    Column("above", "above it"),
)


def _group(block: Block) -> tuple[int, str]:
    """By what blocks are counted: their size and what they begin with, all texts as one."""
    return block.size, "".join(block.about.partition(_TEXT)[:2])


def _place(one: Block) -> tuple[int, int, str]:
    """By what it is the same block in two snapshots: address, size and, if known, who asked."""
    return one.address, one.size, "" if _TEXT in one.about else one.about * (", " in one.about)


def _rows(blocks: Iterable[Block], known: Iterable[Block]) -> list[_Row]:
    """What there is, first that of which there is more than is `known`; one text stands for all."""
    groups, before = group((_group(x), x) for x in blocks), Counter(map(_group, known))
    rows = (
        _Row(
            size,
            found[0].about + f" and {format_count(others, 'other text')}" * bool(others),
            len(found),
            len(found) - before[size, about],
            min((one.is_referenced, one.address) for one in found)[1],
        )
        for (size, about), found in groups.items()
        for others in [len({one.about for one in found}) - 1]
    )
    return sorted(rows, key=lambda row: (-row.size * row.more, -row.size * row.blocks, row))


def _table(title: str, more: str, rows: Sequence[_Row]) -> list[Part]:
    columns: list[Column[_Row]] = [
        Column("size", "size"),
        Column("blocks", "blocks"),
        Column("", "bytes", lambda row: row.size * row.blocks),
        Column("more", more),
        Column("at", "one at", shown=lambda row: f"{row.at:#x}"),
        Column("about", "begins with"),
    ]
    cut = f" ({_SHOWN} of {len(rows):,} rows)" * (len(rows) > _SHOWN)
    return [Line(""), Line(f"{title}{cut}:"), Table(columns, rows[:_SHOWN])] if rows else []


def _tables(heap: DumpedHeap) -> list[Part]:
    """Live blocks by size and content, those that are not referenced first."""
    live = heap.pieces(LIVE)
    rows, holes = _rows(live, [one for one in live if one.is_referenced]), _list_holes(heap)
    return [
        *_table("Live blocks, not referenced ones first", "not referenced", rows),
        *hide_unless(
            bool(holes), [Line(""), Line("Holes, the largest first:"), Table(HOLES, holes[:_SHOWN])]
        ),
    ]


def _growth_parts(before: Snapshot | None, after: Snapshot) -> list[Part]:
    """What the later snapshot has more of, by size and content."""
    if before is None:
        return []
    was, now = ([one for heap in x.heaps for one in heap.pieces(LIVE)] for x in (before, after))
    same = {_place(one): one for one in now}  # what such a block begins with may change
    rows = [row for row in _rows(now, (same.get(_place(x), x) for x in was)) if row.more > 0]
    (held, lost), (holds, loses) = (
        (sum(x.size for x in taken), sum(not x.is_referenced for x in taken))
        for taken in (was, now)
    )
    return [
        Fields({"live_before": held, "live": holds, "grew": [one._asdict() for one in rows]}),
        Line(
            f"Live: {held:,} B in {printable(before.source)}, {holds:,} B in "
            f"{printable(after.source)}: {holds - held:+,} B and {len(now) - len(was):+,} blocks"
            + f"; not referenced: {lost:,} before, {loses:,} now" * bool(lost or loses)
            + "."
        ),
        *_table("What grew, the most bytes first", "more", rows),
        Line(""),
    ]


def image_page(snapshot: Snapshot, before: Snapshot | None = None) -> Document:
    """A snapshot as a page, with the map of its heaps."""
    growth = Section("growth", "What grew", _growth_parts(before, snapshot))
    return Document(
        command="profile",
        title="A heap in a memory image",
        source=snapshot.source,
        sentences=[line for heap in snapshot.heaps for line in describe_heap(heap)],
        sections=[
            HeapMapView(pack_map(_map(snapshot), _LABELS) | {"is_dump": True}),
            *([growth] if growth.parts else []),
            *[Section(f"heap-{i}", x.title, _tables(x)) for i, x in enumerate(snapshot.heaps)],
        ],
    )


def _map(snapshot: Snapshot) -> HeapMap:
    pieces = [
        (one.address - heap.start, max(one.size, 1), i, 2 - one.is_referenced)
        if one.state == LIVE
        else (one.chunk - heap.start, one.span, i, 3)
        for i, heap in enumerate(snapshot.heaps)
        for one in heap.blocks
        if one.state in (LIVE, UNREAD)
    ]
    offsets, sizes, owners, sites = np.array(pieces, np.uint64).reshape(-1, 4).T.copy()
    starts = np.zeros(len(pieces), np.uint64)
    lifetimes = _engine.Lifetimes(starts, starts + np.uint64(1), sizes)
    heaps = [
        MappedHeap(heap.title, RegionReplay(heap.end - heap.start, places, None), (), 1, 0)
        for i, heap in enumerate(snapshot.heaps)
        for places in [np.where(owners == i, offsets, ELSEWHERE)]
    ]
    return HeapMap(
        tuple(heaps), lifetimes, sites.astype(np.uint32), None, len(heaps) > 1, len(heaps) > 1
    )
