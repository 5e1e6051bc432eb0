# SPDX-License-Identifier: Apache-2.0
"""The heap map as map.js reads it: a record in JSON, and all columns in one deflated string.

A column of 32-bit numbers lies as four planes, all lowest bytes first, which deflate makes 2 to 10
times smaller than the numbers one after the other:

    starts    event at which each lifetime begins, less that of the one before
    lengths   how many events it lasts
    sizes     which of the record's sizes it has             sites   likewise, where they are known
    times     microseconds from each event to the next, where they are known
    place-h   offset in heap h in the region that it needs
    place-h-k the same in region k of the row, up to the refusal, less that in its own region as
              far as that goes
    picture-h, picture-h-k   where the run is too long for all blocks: those of the window around
              the peak are there, and of the whole run a picture, one byte a cell; that of a
              region in the row is coarser, as there are many
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.heap_map import HeapMap, MappedHeap, RegionReplay
from heapfit.drawing.number_text import size
from heapfit.outputs.printable import printable

MOST_PACKED = 330_000  # characters: a page is to stay below 600,000 bytes
MOST_CLASSES = 8  # colours
PICTURE = (960, 240)  # columns and rows
PICTURE_OF_ROW = (240, 60)  # of the slider's regions, of which there are 24 and more for each heap
_BLOCKS_OF_WINDOW = 12_000  # in addition to those that are live at the peak
_COARSER = (1, 2, 4)  # times: a picture and a window, should what is finer not fit
_DEFLATED_AT_ONCE = 1 << 16  # numbers deflated at a time

Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class ColourClasses:
    """Classes of values, each with a colour and a name."""

    labels: list[str]  # of the values
    colours: list[int]  # of each value, from 0
    names: list[str]  # of the colours


class _Columns:
    """Columns deflated one after the other, with the position of each, up to a length."""

    def __init__(self, most: float) -> None:
        self.entries: list[tuple[str, int, int]] = []  # name, count, bytes of one
        self._most = most
        self._deflate = zlib.compressobj()
        self._deflated = bytearray()

    @property
    def is_full(self) -> bool:
        """True once the limit is reached; later columns are dropped."""
        return 4 * len(self._deflated) > 3 * self._most  # base64 has 4 characters for 3 bytes

    def add(self, name: str, values: NDArray[Any]) -> None:
        """Adds 32-bit numbers as planes of bytes; larger numbers wrap."""
        words = values.astype(np.uint32)
        self._add(name, len(words), words.astype("<u4").view(np.uint8).reshape(-1, 4).T)

    def add_bytes(self, name: str, values: NDArray[np.uint8]) -> None:
        """Adds 8-bit numbers."""
        self._add(name, len(values), values.reshape(1, -1))

    def _add(self, name: str, count: int, planes: NDArray[np.uint8]) -> None:
        self.entries.append((name, count, len(planes)))
        for plane in planes:
            for first in range(0, len(plane), _DEFLATED_AT_ONCE):
                if self.is_full:
                    return
                piece = plane[first : first + _DEFLATED_AT_ONCE].tobytes()
                self._deflated += self._deflate.compress(piece)

    def pack(self) -> str | None:
        """All columns as base64, or None if they are over the limit."""
        self._deflated += self._deflate.flush()
        return None if self.is_full else base64.b64encode(self._deflated).decode("ascii")


def pack_map(
    heap_map: HeapMap, site_names: Mapping[int, str] | None = None, most: int = MOST_PACKED
) -> dict[str, Any]:
    """The map's record; with a picture and a window if all blocks are over `most` characters.

    Call sites have their names where these are known, the recorder's hash otherwise.
    """
    names = site_names or {}
    record = _pack_window(heap_map, names, (0, heap_map.events), PICTURE, most)
    for coarser in _COARSER:
        if record["packed"] is None:
            picture = (PICTURE[0] // coarser, PICTURE[1] // coarser)
            limit = most if coarser != _COARSER[-1] else math.inf
            record = _pack_window(heap_map, names, _window(heap_map, coarser), picture, limit)
    return record


def site_label(site: int, names: Mapping[int, str]) -> str:
    """The name of a call site, else its hash.

    >>> site_label(26, {}), site_label(26, {26: "parse, json.c:12"}), site_label(0, {})
    ('0000001a', 'parse, json.c:12', 'unknown')
    """
    return names.get(site, f"{site:08x}") if site else "unknown"


def _window(heap_map: HeapMap, coarser: int) -> tuple[int, int]:
    """The window around the peak: the blocks live there, and as many more as a page can hold."""
    lifetimes, peak = heap_map.lifetimes, heap_map.peak
    starts, ends = lifetimes.starts.astype(np.int64), lifetimes.ends.astype(np.int64)
    apart = np.maximum(np.maximum(starts - peak, peak - (ends - 1)), 0)
    more = min(_BLOCKS_OF_WINDOW // coarser, len(apart) // 8)
    place = min(int((apart == 0).sum()) + more, len(apart) - 1)
    reach = int(np.partition(apart, place)[place])
    return max(0, peak - reach), min(heap_map.events, peak + reach + 1)


def _pack_window(
    heap_map: HeapMap,
    names: Mapping[int, str],
    window: tuple[int, int],
    picture: tuple[int, int],
    most: float,
) -> dict[str, Any]:
    """The record with the blocks of a window of events, whose end is not included.

    Its columns are None if over `most` characters.
    """
    lifetimes, gaps, (first, end) = heap_map.lifetimes, heap_map.gaps, window
    sizes, size_of = np.unique(lifetimes.sizes, return_inverse=True)
    by_size, by_site = colour_sizes(sizes.tolist()), None
    is_listed = (lifetimes.starts < end) & (lifetimes.ends > first)
    listed_sizes, place = np.unique(size_of[is_listed], return_inverse=True)
    columns = _Columns(most)
    columns.add("starts", np.diff(lifetimes.starts[is_listed], prepend=np.uint64(0)))
    columns.add("lengths", (lifetimes.ends - lifetimes.starts)[is_listed])
    columns.add("sizes", place)
    if len(heap_map.sites) > 0:
        by_site = _add_sites(columns, heap_map.sites[is_listed], names)
    if gaps is not None:
        columns.add("times", gaps)
    _add_places(columns, heap_map, is_listed)
    if not is_listed.all():
        colours = (np.array(by_size.colours, np.uint8) + np.uint8(1))[size_of]
        _add_pictures(columns, heap_map, colours, picture)
    return {
        "events": heap_map.events,
        "window": [first, end],
        "picture": None if is_listed.all() else picture,
        "rowPicture": PICTURE_OF_ROW,
        "sizes": asdict(_select_classes(by_size, listed_sizes.tolist())),
        "sites": None if by_site is None else asdict(by_site),
        "hasTimes": gaps is not None,
        "isEven": gaps is not None and _is_even(gaps[: _last_shown(heap_map)]),
        "height": max(_heights(heap_map)),
        "isDivided": heap_map.is_divided,
        "note": heap_map.note,
        "heaps": [
            _heap_record(heap, height)
            for heap, height in zip(heap_map.heaps, _heights(heap_map), strict=True)
        ],
        "columns": columns.entries,
        "packed": columns.pack(),
    }


def _heights(heap_map: HeapMap) -> list[int]:
    """The length of each heap's axis in bytes: its largest region, or that of all."""
    own = [max(one.region for one in (heap.own, *heap.row)) for heap in heap_map.heaps]
    return own if heap_map.has_own_scales else [max(own)] * len(own)


def _last_shown(heap_map: HeapMap) -> int:
    """The last event that is drawn: that of the last failure in a heap's own region, or the end."""
    refusals = [heap.own.refused for heap in heap_map.heaps]
    return max(one.event if one else heap_map.events for one in refusals)


def _heap_record(heap: MappedHeap, height: int) -> dict[str, Any]:
    return {
        "name": heap.name,
        "events": heap.events,
        "peak": heap.peak,
        "height": height,
        "own": _region_record(heap.own),
        "row": [_region_record(one) for one in heap.row],
    }


def _region_record(one: RegionReplay) -> dict[str, Any]:
    return {"region": one.region, "refused": asdict(one.refused) if one.refused else None}


def _select_classes(classes: ColourClasses, values: Sequence[int]) -> ColourClasses:
    """The classes of the values at these indices."""
    labels, colours = classes.labels, classes.colours
    return ColourClasses([labels[i] for i in values], [colours[i] for i in values], classes.names)


def colour_sizes(sizes: Sequence[int]) -> ColourClasses:
    """The classes of sizes: powers of two, the smallest merged if there are too many.

    >>> colour_sizes([16, 24, 500]).names == [f"16 to 24{chr(160)}B", f"500{chr(160)}B"]
    True
    """
    powers = [one.bit_length() for one in sizes]
    known = sorted(set(powers))
    lowest = known[max(0, len(known) - MOST_CLASSES)] if known else 0
    places = {power: place for place, power in enumerate(one for one in known if one >= lowest)}
    colours = [places[max(power, lowest)] for power in powers]
    names = []
    for place in range(len(places)):
        own = [one for one, colour in zip(sizes, colours, strict=True) if colour == place]
        names.append(size(own[0]) if len(own) == 1 else f"{own[0]:,} to {size(own[-1])}")
    return ColourClasses([f"{one:,}" for one in sizes], colours, names)


def _add_sites(columns: _Columns, asked_by: Numbers, known: Mapping[int, str]) -> ColourClasses:
    """Adds call sites; returns their classes, in which the busiest have their own colours."""
    sites, site_of, counts = np.unique(asked_by, return_inverse=True, return_counts=True)
    columns.add("sites", site_of)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    labels = [printable(site_label(site, known)) for site in sites.tolist()]
    named = [labels[one] for one in order[: MOST_CLASSES - 1].tolist()]
    names = [*named, "all others"] if len(labels) > len(named) else named
    return ColourClasses(labels, np.minimum(rank, MOST_CLASSES - 1).tolist(), names)


def _is_even(gaps: NDArray[np.uint64]) -> bool:
    """True if a map over time is readable: the longest hundredth of the gaps is below half."""
    return 2 * int(np.sort(gaps)[-max(1, len(gaps) // 100) :].sum()) < int(gaps.sum())


def _add_places(columns: _Columns, heap_map: HeapMap, is_listed: NDArray[np.bool_]) -> None:
    for h, heap in enumerate(heap_map.heaps):
        own = heap.own.offsets
        columns.add(f"place-{h}", own[is_listed[: len(own)]])
        for k, one in enumerate(heap.row):
            there = min(len(one.offsets), len(own))
            apart = one.offsets.copy()
            apart[:there] -= own[:there]
            columns.add(f"place-{h}-{k}", apart[is_listed[: len(apart)]])


def _add_pictures(
    columns: _Columns, heap_map: HeapMap, colours: NDArray[np.uint8], cells_of: tuple[int, int]
) -> None:
    for h, (heap, height) in enumerate(zip(heap_map.heaps, _heights(heap_map), strict=True)):
        shape = (heap_map.events, height)
        own, of_row = (_engine.Picture(*one, *shape) for one in (cells_of, PICTURE_OF_ROW))
        cells = own.paint(heap_map.lifetimes, heap.own.offsets, colours)
        columns.add_bytes(f"picture-{h}", cells)
        for k, one in enumerate(heap.row):
            cells = of_row.paint(heap_map.lifetimes, one.offsets, colours)
            columns.add_bytes(f"picture-{h}-{k}", cells)
