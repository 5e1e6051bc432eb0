# SPDX-License-Identifier: Apache-2.0
"""What any heap needs for a trace, and what some allocators never exceed.

U_max  <=  proven floor  <=  best placement  <=  offline packing found   (this trace, this order)
       <=  R of an allocator   <=  its worst case               (any order within the limits)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.bounds.any_order import any_order
from heapfit.bounds.worst_cases import Limits, WorstCase, least_of_any
from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.tabular import Tabular

STANDARD_PAIRS = (
    50_000_000  # of lifetimes that overlap; see engine/include/heapfit/packing/packing.hpp
)
_QUICK_PAIRS = 2_000_000
_MOST_GREEDY = 1000  # lifetimes
_PAIRS_PER_PLACEMENT = 100  # by branch and bound, of at most 1,000 lifetimes


@dataclass(frozen=True, slots=True)
class Packing:
    """Where each lifetime of a trace may lie if all are known, without headers; checked."""

    offsets: NDArray[np.uint64]  # of few lifetimes at the alignments asked for
    height: int  # bytes
    is_aligned: bool  # all of them are


@dataclass(frozen=True, slots=True, repr=False)
class Bounds(Tabular):
    """Bounds of a trace's heap, from the least to the most that it can need."""

    u_max: int
    floor: int  # bytes that no placement is below; of few lifetimes at the alignments asked for
    packing: Packing
    search: _engine.Packing  # its effort; as low as without alignments
    greedy: int | None  # bytes; None: of more lifetimes than it is computed for
    static: int  # sum S_i P_i,max in bytes as requested: every size its own worst case
    least_of_any: int  # no allocator promises less for any sizes up to the largest
    worst_cases: tuple[WorstCase, ...]

    def __str__(self) -> str:
        return (
            f"bounds: {self.packing.height:,} B if every lifetime were known; "
            f"{self.u_max:,} B are live at most"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each bound, from the least to the most it allows for."""
        named = {
            "most live bytes": self.u_max,
            "proven least": self.floor,
            "all lifetimes known": self.packing.height,
            "a pool for each size": self.static,
            "least that any allocator can guarantee": self.least_of_any,
            **{f"{one.name}, worst case": one.size for one in self.worst_cases},
        }
        return pa.table({"bound": list(named), "size": list(named.values())})


@dataclass(frozen=True, slots=True)
class ComparisonBounds:
    """Bounds quick enough to print with every comparison. Sizes in bytes."""

    packing: int  # of lifetimes known beforehand: at most R of every plan beside it
    static: int  # sum S_i P_i,max
    # Of the best plan, once there is one, whatever comes within the trace's limits.
    worst_case: WorstCase | None = None


def find_bounds(
    loaded: LoadedTrace,
    seed: int = 1,
    pairs: int = STANDARD_PAIRS,
    progress: Progress = ignore_progress,
) -> Bounds:
    """All bounds of a trace; `pairs` limits the work on the packing.

    HeapfitError if buffers have gaps, over which they keep their places: lifetimes have their own.
    """
    if any(" with gaps freed" in note for note in loaded.trace.info.notes):  # the importer's
        raise HeapfitError(
            f"{loaded.trace.given}: a buffer keeps its place over its gaps, which no packing here "
            "knows (take out the column gaps: each is held whole)"
        )
    lifetimes = _engine.Lifetimes(loaded.events)
    search = _pack_lifetimes(lifetimes, seed, pairs, progress)
    asked = np.maximum(
        loaded.trace.whole("alignment")[0][lifetimes.starts.astype(np.int64)], 1
    ).astype(np.int64)
    place = partial(_place, lifetimes, asked)
    sizes, offsets, is_few = lifetimes.sizes, search.offsets, len(lifetimes) <= _MOST_GREEDY
    if is_few and (offsets % asked.astype(np.uint64)).any():
        random = np.random.default_rng(seed)
        drawn = (random.permutation(len(sizes)) for _ in range(20 * _MOST_GREEDY // len(sizes)))
        offsets = min(
            map(place, (np.argsort(offsets, kind="stable"), *drawn)),
            key=lambda places: (places + sizes).max(),
        )
    return Bounds(
        u_max=loaded.profile.u_max,
        floor=max(
            [search.floor]
            + [_floor_at(lifetimes, asked, one) for one in np.unique(asked) if is_few]
        ),
        packing=Packing(
            offsets,
            height=_engine.check_placement(lifetimes, offsets),
            is_aligned=not (offsets % asked.astype(np.uint64)).any(),
        ),
        search=search,
        greedy=int((place(np.argsort(-sizes.astype("i8"), kind="stable")) + sizes).max(initial=0))
        if is_few
        else None,
        static=_static(loaded),
        least_of_any=least_of_any(Limits.of_trace(loaded)),
        worst_cases=any_order(loaded),
    )


def quick_bounds(loaded: LoadedTrace) -> ComparisonBounds:
    """The bounds that take little time, compared with the replays of a comparison."""
    return ComparisonBounds(
        _pack_lifetimes(_engine.Lifetimes(loaded.events), 1, _QUICK_PAIRS, ignore_progress).height,
        _static(loaded),
    )


def _place(
    lifetimes: _engine.Lifetimes, alignments: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The places if each lifetime, in an order, takes the lowest that is free and aligned.

    With the largest first this is the rule of TFLite Micro's GreedyMemoryPlanner.
    """
    starts, ends, sizes = (
        column.astype(np.int64) for column in (lifetimes.starts, lifetimes.ends, lifetimes.sizes)
    )
    offsets = np.full(len(sizes), -1, np.int64)
    for number in order:
        is_near = (offsets >= 0) & (starts < ends[number]) & (ends > starts[number])
        place = 0
        for bottom, size in sorted(zip(offsets[is_near], sizes[is_near], strict=True)):
            if bottom >= place + sizes[number]:
                break
            place = -(-max(place, bottom + size) // alignments[number]) * alignments[number]
        offsets[number] = place
    return offsets.astype(np.uint64)


def _floor_at(lifetimes: _engine.Lifetimes, asked: NDArray[np.int64], alignment: int) -> int:
    """The least height of those that are live at once and ask for so much alignment.

    Each begins at a multiple of it, so each but the highest reaches to the next one.
    """
    sizes, is_in = lifetimes.sizes.astype(np.int64), asked >= alignment
    rounded = np.where(is_in, -(-sizes // alignment) * alignment, 0)
    taken, freed = (
        np.bincount(events.astype(np.int64), rounded, int(lifetimes.ends.max()) + 1)
        for events in (lifetimes.starts, lifetimes.ends)
    )
    return int((taken - freed).cumsum().max() - (rounded - sizes)[is_in].max())


def _static(loaded: LoadedTrace) -> int:
    """sum S_i P_i,max in bytes: blocks of a size are as far apart as the alignments it asks for."""
    sizes = loaded.profile.sizes.astype(np.int64)
    asked = np.ones_like(sizes)
    if loaded.trace.largest_alignment > loaded.alignment:
        size, alignment = loaded.trace.whole("size", "alignment")
        number = np.searchsorted(sizes, size.astype(np.int64)).clip(max=len(sizes) - 1)
        np.maximum.at(asked, number, alignment.astype(np.int64))
    return int(-(-sizes // asked) * asked @ loaded.profile.peaks.astype(np.int64))


def _pack_lifetimes(
    lifetimes: _engine.Lifetimes, seed: int, pairs: int, progress: Progress
) -> _engine.Packing:
    step = "offline packing"
    found = _engine.pack(
        lifetimes,
        _engine.PackingEffort(seed, pairs, pairs // _PAIRS_PER_PLACEMENT),
        lambda done: progress(step, done),
    )
    assert found.height == _engine.check_placement(lifetimes, found.offsets)
    progress(step, 1.0)
    return found
