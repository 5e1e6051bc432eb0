# SPDX-License-Identifier: Apache-2.0
"""Resamples a trace from a model: its resampled objects block by block, the kept ones between.

The blocks are drawn by the engine, and told in engine/include/heapfit/workload/block_draw.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.chains import Sites, tags_of
from heapfit.trace.operations import FREE
from heapfit.trace.origin import Maker, Origin
from heapfit.trace.stored import BATCH, REPLAYED, Trace, TraceInfo, write_trace
from heapfit.workloads.model import _FOREVER, COLUMNS, Model

Integers = NDArray[np.int64]

_FREED = -1


@dataclass(frozen=True, slots=True)
class ResampledRun:
    """A resampled run in memory, read as a stored trace is."""

    model: Model
    objects: NDArray[np.uint32]  # of each event
    copied: Integers  # the recording's event that each copies; _FREED: none

    def __len__(self) -> int:
        """The number of events."""
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


def resample_run(model: Model, seed: int) -> ResampledRun:
    """Resamples a run with this seed."""
    return ResampledRun(model, *_events(model, _draw(model, seed)))


def resample_trace(model: Model, seed: int, path: Path, info: TraceInfo) -> Trace:
    """Stores the run resampled with this seed at `path`; `info` is that of the recording."""
    drawn_info = TraceInfo(
        program=info.program,
        source=f"resampled from {info.source or 'a recording'}, seed {seed}",
        pointer_bits=info.pointer_bits,
        kind=info.kind,
        queue=info.queue,
    )
    batches = resample_run(model, seed).batches(tuple(COLUMNS))
    origin = Origin(Maker.RESAMPLING, seed)
    return write_trace(path, batches, drawn_info, lambda: model.chains, origin)


def is_drawn(trace: Trace) -> bool:
    """True if a trace is resampled from another and so no evidence of another run."""
    return trace.origin is not None and trace.origin.maker is Maker.RESAMPLING


@dataclass(frozen=True, slots=True)
class _ResampledObjects:
    """The recorded object that each resampled object copies, and when it ends."""

    source: Integers
    ends: Integers  # drawn requests before it is freed
    freed_as: Integers  # the recording's object whose free it follows


def _draw(model: Model, seed: int) -> _ResampledObjects:
    blocks = _engine.BlockDraw(len(model.drawn), model.phases, model.block)
    picks = np.random.default_rng(seed).integers(0, blocks.choices())
    recorded = (model.sizes(), model.ends, model.live)
    drawn = blocks.draw(*(column.view(np.uint64) for column in (*recorded, picks)))
    return _ResampledObjects(*(column.view(np.int64) for column in drawn))


def _events(model: Model, drawn: _ResampledObjects) -> tuple[NDArray[np.uint32], Integers]:
    """The object of each event in order, and the recording's event that it copies; _FREED: none.

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
    before = np.concatenate([deaths[freed], clock])  # requests before each end or resize
    ties = np.concatenate([freed_at[freed], resizes])
    order = np.argsort(before * (len(model.columns["op"]) + 1) + ties, kind="stable")
    places = before[order] + np.arange(len(order))
    is_request = np.ones(requests + len(order), np.bool_)
    is_request[places] = False
    objects, copied = np.empty(len(is_request), np.uint32), np.empty(len(is_request), np.int64)
    objects[is_request], copied[is_request] = np.arange(requests), model.births[source]
    objects[places] = np.concatenate([freed, resized])[order]
    copied[places] = np.concatenate([np.full(len(freed), _FREED), resizes])[order]
    return objects, copied


def _resizes(model: Model, source: Integers) -> tuple[Integers, Integers, Integers]:
    """New objects that are resized, each resize's recorded event, and requests before it."""
    counts = np.diff(model.first_resize)[source]
    resized = np.repeat(np.arange(len(source)), counts)
    firsts = np.repeat(model.first_resize[source] - (np.cumsum(counts) - counts), counts)
    events = model.resizes[firsts + np.arange(len(resized))]
    passed = np.searchsorted(model.births, events) - source[resized]  # requests since its own
    return resized, events, np.minimum(resized + passed, model.requests)
