# SPDX-License-Identifier: Apache-2.0
"""Draws a trace from a model: blocks of consecutive requests, with replacement, phase by phase.

    recorded   | a a a a a a a a a a | b b b b b b b b b b |      phases a and b
    drawn      | a3..a6 a1..a4 a5..  | b2..b5 b6..b9 b2..  |      blocks of them, seam to seam

A block is drawn from about the same part of its phase. Of n places there, it is one of the sqrt(n)
where, when it was recorded, most nearly as many bytes were live as are at the seam. Objects that
are live at the seam take over the lives of those that were live in the recording where the block
begins, size by size and the oldest first, so that the block finds what it is going to free. Those
left over live on as they would have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.chains import Sites, tags_of
from heapfit.trace.operations import FREE
from heapfit.trace.stored import BATCH, REPLAYED, Trace, TraceInfo, write_trace
from heapfit.workloads.model import _FOREVER, COLUMNS, Model

Integers = NDArray[np.int64]

_DRAWN_FROM = "drawn from "
_FREED = -1
_PLACES_OF_A_BLOCK = 4  # where others may begin
_REACH_SHARE = 8  # of a phase, and at least so many blocks, from where the seam is
_LEAST_REACH = 4


@dataclass(frozen=True, slots=True)
class DrawnRun:
    """A run drawn from a model, in memory: read as a stored trace is."""

    model: Model
    objects: NDArray[np.uint32]  # of each event
    copied: Integers  # the recording's event that each copies; _FREED: none

    def __len__(self) -> int:
        """Events."""
        return len(self.objects)

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """The named columns in order, some 100,000 events at a time."""
        for first in range(0, len(self), BATCH):
            yield {name: self._column(name, slice(first, first + BATCH)) for name in columns}

    def events(self, sites: Sites | None = None) -> _engine.EventArray:
        """The whole run, 16 bytes an event; with `sites`, requests from there carry their tags."""
        events = _engine.EventArray()
        events.reserve(len(self))
        for batch in self.batches((*REPLAYED, "site")):
            tags = tags_of(batch["site"], sites, self.model.chains) if sites else None
            events.append(batch["op"], batch["object"], batch["size"], batch["alignment"], tags)
        return events

    @property
    def largest_alignment(self) -> int:
        """The largest alignment any request asks for; 0 where none does."""
        return int(self._column("alignment", slice(None)).max())

    def _column(self, name: str, part: slice) -> NDArray[Any]:
        if name == "object":
            return self.objects[part]
        copied = self.copied[part]
        values = self.model.columns[name][copied]
        values[copied == _FREED] = FREE if name == "op" else 0
        return values


def draw_run(model: Model, seed: int) -> DrawnRun:
    """A run drawn with this seed."""
    return DrawnRun(model, *_events(model, _draw(model, seed)))


def draw_trace(model: Model, seed: int, path: Path, info: TraceInfo) -> Trace:
    """Stores the run drawn with this seed at `path`; `info` is that of the recording."""
    drawn_info = TraceInfo(
        program=info.program,
        source=f"{_DRAWN_FROM}{info.source or 'a recording'}, seed {seed}",
        pointer_bits=info.pointer_bits,
        kind=info.kind,
        queue=info.queue,
    )
    batches = draw_run(model, seed).batches(tuple(COLUMNS))
    return write_trace(path, batches, drawn_info, lambda: model.chains)


def is_drawn(info: TraceInfo) -> bool:
    """Whether a trace is drawn: no evidence of another run."""
    return info.source.startswith(_DRAWN_FROM)


@dataclass(slots=True)
class _Drawn:
    """Which drawn object of the recording each new one is, and when it ends."""

    source: Integers
    ends: Integers  # drawn requests before it is freed
    own_ends: Integers  # without what it took over at seams
    freed_as: Integers  # the recording's object whose free it follows
    live: Integers = field(init=False)  # of those before the seam

    def __post_init__(self) -> None:
        self.live = self.source[:0]


def _draw(model: Model, seed: int) -> _Drawn:
    generator = np.random.default_rng(seed)
    count, sizes = len(model.drawn), model.sizes()
    drawn = _Drawn(*(np.zeros(count, np.int64) for _ in range(4)))
    for first, end in zip(model.phases, (*model.phases[1:], count), strict=True):
        for seam in range(first, end, model.block):
            drawn.live = drawn.live[drawn.ends[drawn.live] > seam]
            bytes_live = int(sizes[drawn.source[drawn.live]].sum())
            places = _places(model, first, end, seam)
            nearest = np.argsort(np.abs(model.live[places] - bytes_live), kind="stable")
            begin = int(places[generator.choice(nearest[: math.isqrt(len(places)) + 1])])
            _join(drawn, model, sizes, seam, begin)
            _copy(drawn, model, seam, begin, min(model.block, end - seam))
    return drawn


def _places(model: Model, first: int, end: int, seam: int) -> Integers:
    """Where a block may begin: as far into the phase as the seam, give or take a part of it."""
    last = end - model.block
    reach = max((end - first) // _REACH_SHARE, _LEAST_REACH * model.block)
    step = max(1, model.block // _PLACES_OF_A_BLOCK)
    lowest, highest = max(first, min(seam, last) - reach), min(last, seam + reach)
    return np.arange(lowest, highest + 1, step)


def _join(drawn: _Drawn, model: Model, sizes: Integers, seam: int, begin: int) -> None:
    """Hands the lives of what was live at `begin` to what is live at the seam."""
    live = drawn.live
    drawn.ends[live] = np.maximum(drawn.own_ends[live], seam)
    drawn.freed_as[live] = drawn.source[live]
    recorded = np.flatnonzero(model.ends[:begin] > begin)
    ours, theirs = _pairs(sizes[drawn.source[live]], sizes[recorded])
    drawn.ends[live[ours]] = seam + model.ends[recorded[theirs]] - begin
    drawn.freed_as[live[ours]] = recorded[theirs]


def _pairs(ours: Integers, theirs: Integers) -> tuple[Integers, Integers]:
    """Places of equal sizes, the first with the first, as far as both go."""
    our_places, our_keys = _by_size_and_rank(ours)
    their_places, their_keys = _by_size_and_rank(theirs)
    near = np.searchsorted(their_keys, our_keys)
    is_met = near < len(their_keys)
    is_met[is_met] = their_keys[near[is_met]] == our_keys[is_met]
    return our_places[is_met], their_places[near[is_met]]


def _by_size_and_rank(sizes: Integers) -> tuple[Integers, NDArray[np.uint64]]:
    """Places in order of size, and there each size with how many equal ones stand before it, as
    one number; sizes are below 2^32, and so are the places.
    """
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    places = np.arange(len(ordered))
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    rank = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return order, (ordered.astype(np.uint64) << np.uint64(32)) + rank.astype(np.uint64)


def _copy(drawn: _Drawn, model: Model, seam: int, begin: int, length: int) -> None:
    new = slice(seam, seam + length)
    drawn.source[new] = np.arange(begin, begin + length)
    drawn.freed_as[new] = drawn.source[new]
    drawn.ends[new] = seam + model.ends[begin : begin + length] - begin
    drawn.own_ends[new] = drawn.ends[new]
    drawn.live = np.append(drawn.live, np.arange(seam, seam + length))


def _events(model: Model, drawn: _Drawn) -> tuple[NDArray[np.uint32], Integers]:
    """Of each event in order its object, and the recording's event that it copies; _FREED: none.

    Between two requests stand the events that precede the second, as they followed each other in
    the recording.
    """
    requests = model.requests
    source = np.arange(requests)  # the recording's object that each is
    source[model.drawn] = model.drawn[drawn.source]
    to_clock = np.append(model.drawn, requests)  # from drawn requests to all
    is_left = drawn.ends >= len(model.drawn)
    deaths = model.deaths.copy()
    deaths[model.drawn] = np.where(
        is_left, _FOREVER, to_clock[np.minimum(drawn.ends, len(model.drawn))]
    )
    freed_at = model.freed_at.copy()
    freed_at[model.drawn] = model.freed_at[model.drawn[drawn.freed_as]]
    has_own_end = freed_at == model.freed_at[source]
    freed = np.flatnonzero(deaths <= requests)
    resized, resizes, clock = _resizes(model, source)
    stays = (clock < deaths[resized]) | ((clock == deaths[resized]) & has_own_end[resized])
    resized, resizes, clock = resized[stays], resizes[stays], clock[stays]
    moments = np.concatenate([2 * np.arange(requests) + 1, 2 * deaths[freed], 2 * clock])
    ties = np.concatenate([np.zeros(requests, np.int64), freed_at[freed], resizes])
    order = np.lexsort((ties, moments))
    copied = np.concatenate([model.births[source], np.full(len(freed), _FREED), resizes])[order]
    objects = np.concatenate([np.arange(requests), freed, resized]).astype(np.uint32)[order]
    return objects, copied


def _resizes(model: Model, source: Integers) -> tuple[Integers, Integers, Integers]:
    """Of the new objects: which, its resize's event in the recording, and requests before it."""
    counts = np.diff(model.first_resize)[source]
    resized = np.repeat(np.arange(len(source)), counts)
    firsts = np.repeat(model.first_resize[source] - (np.cumsum(counts) - counts), counts)
    events = model.resizes[firsts + np.arange(len(resized))]
    passed = np.searchsorted(model.births, events) - source[resized]  # requests since its own
    return resized, events, np.minimum(resized + passed, model.requests)
