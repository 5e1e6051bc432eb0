# SPDX-License-Identifier: Apache-2.0
"""Starts of a program inside one recording, told by its start-up coming again.

    requests   a b c d ... x y | a b c d ... z        the first ones again, by size and call site
    blocks     ====== most are still held             no request names them any more

A recorder that goes on over a reset writes so. Each start is a recording of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_allocation
from heapfit.trace.stored import Trace, write_trace
from heapfit.trace.table_file import Columns

_STARTUP = 16  # requests that come again
_KINDS = 6  # of size and call site among them, at least: a loop has fewer
_HELD = 0.5  # of the most live bytes of a start, that it holds when the next begins
_MOST = 8  # starts; what comes again more often is work
_FORMS = ("op", "size", "site")


def find_starts(loaded: LoadedTrace) -> tuple[int, ...]:
    """The events at which the program starts anew, after the first; most recordings have none."""
    (events,) = loaded.batches(_FORMS)
    form = np.stack([events[name].astype(np.uint64) for name in _FORMS], axis=1)
    first = form[:_STARTUP]
    if len(first) < _STARTUP or len(np.unique(first, axis=0)) < _KINDS:
        return ()
    found = np.arange(1, len(form) - _STARTUP)
    for place, one in enumerate(first):
        found = found[(form[found + place] == one).all(axis=1)]
    if not 0 < len(found) < _MOST:
        return ()
    crossing, held, live = _follow_blocks(loaded)
    starts, before = list[int](), 0
    for start in found[crossing[found] == 0].tolist():
        own_peak = int(live[before:start].max()) - int(held[before])
        if held[start] - held[before] >= _HELD * own_peak:
            starts.append(start)
            before = start
    return tuple(starts)


def _follow_blocks(loaded: LoadedTrace) -> tuple[NDArray[np.int64], ...]:
    """Blocks still to be freed or resized, bytes never freed and live bytes before each event."""
    lives, count = _engine.Lifetimes(loaded.events), len(loaded.events)
    starts, ends = lives.starts.astype(np.int64), lives.ends.astype(np.int64)
    sizes, is_kept = lives.sizes.astype(np.int64), ends >= count

    def rise(places: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.int64]:
        return np.cumsum(np.bincount(places, weights, count + 2)).astype(np.int64)

    freed = np.where(is_kept, 0, 1)
    return (
        rise(starts + 1, freed) - rise(ends + 1, freed),
        rise(starts + 1, np.where(is_kept, sizes, 0)),
        rise(starts + 1, sizes) - rise(ends, sizes),
    )


def split_starts(trace: Trace, starts: Sequence[int], folder: Path) -> list[Trace]:
    """A recording in `folder` of each start; their notes say so."""
    bounds = [0, *starts, trace.info.events]
    times = f"the program starts {len(starts) + 1} times in {trace.given.name}"
    return [
        write_trace(
            folder / f"{trace.path.stem}-{number}.parquet",
            _cut(trace, first, last),
            replace(
                trace.info, notes=(*trace.info.notes, f"{times}: each is a recording of its own")
            ),
            lambda: trace.chains,
            trace.origin or trace.given,
        )
        for number, (first, last) in enumerate(pairwise(bounds), 1)
    ]


def _cut(trace: Trace, first: int, last: int) -> Iterator[Columns]:
    """The events from `first` to before `last`, with objects numbered from 0."""
    done = born = 0
    for batch in trace.batches(trace.columns):
        low, high = (min(max(one - done, 0), len(batch["op"])) for one in (first, last))
        born += int(is_allocation(batch["op"][:low]).sum()) if done < first else 0
        if low < high:
            columns = {name: values[low:high] for name, values in batch.items()}
            yield columns | {"object": columns["object"] - np.uint32(born)}
        done += len(batch["op"])
