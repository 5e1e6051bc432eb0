# SPDX-License-Identifier: Apache-2.0
"""The region a trace needs on an allocator so that at most a given share of requests is refused."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.sizing.buffers import one_unit
from heapfit.sizing.demand import BLOCKS, measure_demand
from heapfit.sizing.run_out import RunOut, interval, looks, rarest_shown
from heapfit.trace.stored import Trace

_RESOLUTION = 64  # bytes; regions closer than that are not told apart
_LAST_ALLOCATION = 2  # ops 0 to 2 allocate


@dataclass(frozen=True, slots=True)
class HeapSizing:
    """A heap for a trace. `run_out.count` is the region in bytes."""

    run_out: RunOut
    r_safe: int  # where, and in every larger region tried, nothing is refused
    looks: float  # independent looks the trace takes at the heap
    requests: int


def size_heap(
    trace: Trace,
    plan: Plan,
    admission: float,
    without: Collection[int] = (),
    progress: Progress = no_progress,
) -> HeapSizing:
    """The least region by which so many requests are admitted; sizes `without` live elsewhere.

    Found by bisection between the smallest region and R_safe, each step an exact replay that goes
    on after a refusal. Where the trace is too short to show so rare a refusal, it is R_safe.
    """
    stretches = _stretches(trace, frozenset(without))
    engine_plan = plan.engine()
    trial = _engine.Trial(engine_plan, stretches[0], trace.largest_alignment)
    (demand,) = measure_demand(trace, 1, one_unit, progress)
    r_safe = _r_safe(trace, trial, progress)
    refused = round(1 - admission, 15)
    region = r_safe
    if refused >= rarest_shown(demand):
        failing = max(engine_plan.smallest_region, _RESOLUTION)
        region = trial.bisect_refusing(refused, failing, r_safe, _RESOLUTION)
    shares = _refused_shares(engine_plan, stretches[1:], trace.largest_alignment, region)
    share = float(shares[:, 0].sum() / max(shares[:, 1].sum(), 1))
    each = shares[:, 0] / np.maximum(shares[:, 1], 1)
    lowest, highest = interval(share, each[shares[:, 1] > 0], rarest_shown(demand))
    found = RunOut(region, share, lowest, highest, refused < rarest_shown(demand), None)
    return HeapSizing(found, r_safe, looks(demand), int(shares[:, 1].sum()))


def _r_safe(trace: Trace, trial: _engine.Trial, progress: Progress) -> int:
    search = trial.scan(progress=lambda done, total: progress("region", done / max(total, 1)))
    progress("region", 1.0)
    if search.r_safe is None:
        raise HeapfitError(f"{trace.path}: no region was found in which every larger one works")
    return search.r_safe


def _refused_shares(
    plan: _engine.Plan, stretches: Sequence[_engine.EventArray], base: int, region: int
) -> NDArray[np.float64]:
    """Refusals and requests of each stretch."""
    replay = _engine.Replay(plan, region, base_alignment=base, keep_going=True)
    counts = [(0, 0)]
    for events in stretches:
        replay.feed(events)
        result = replay.result()
        counts.append((result.refusals, result.allocations + result.resizes))
    return np.diff(np.array(counts, dtype=np.float64), axis=0)


def _stretches(trace: Trace, without: frozenset[int]) -> list[_engine.EventArray]:
    """The whole trace, then its BLOCKS pieces; blocks of the sizes `without` are left out."""
    columns = _kept(trace, without)
    events = len(columns[0])
    if events == 0:
        raise HeapfitError(f"{trace.path}: no request is left for the heap")
    ends = [math.ceil(events * i / BLOCKS) for i in range(BLOCKS + 1)]
    bounds = [(0, events), *pairwise(ends)]
    arrays = []
    for first, last in bounds:
        array = _engine.EventArray(first)
        array.append(*(column[first:last] for column in columns))
        arrays.append(array)
    return arrays


def _kept(trace: Trace, without: frozenset[int]) -> list[NDArray[Any]]:
    """Columns op, object, size and alignment of what is left, its objects numbered anew."""
    names = ("op", "object", "size", "alignment")
    batches = list(trace.batches(names))
    op, named, size, alignment = (
        np.concatenate([batch[name] for batch in batches]) for name in names
    )
    if not without:
        return [op, named, size, alignment]
    allocates = op <= _LAST_ALLOCATION
    is_kept = ~np.isin(size[allocates], np.array(sorted(without), dtype=np.uint64))
    ordinal = np.cumsum(is_kept, dtype=np.uint32) - np.uint32(1)
    kept = is_kept[named]
    return [op[kept], ordinal[named[kept]], size[kept], alignment[kept]]
