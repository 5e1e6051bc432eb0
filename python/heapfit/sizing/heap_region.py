# SPDX-License-Identifier: Apache-2.0
"""The region a trace needs on an allocator so that at most a given share of requests is refused."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.requests import (
    Requests,
    adapt_requests,
    remove_objects,
    requests_of,
)
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.buffers import one_unit
from heapfit.sizing.demand import BLOCKS, measure_demand
from heapfit.sizing.run_out import RunOut, interval, looks, rarest_shown
from heapfit.trace.operations import is_allocation
from heapfit.trace.stored import Trace

_RESOLUTION = 64  # bytes; closer regions are not distinguished


@dataclass(frozen=True, slots=True)
class HeapSizing:
    """A heap for a trace. `run_out.count` is its memory in bytes."""

    run_out: RunOut
    r_safe: int  # where, and in every larger region tried, nothing is refused
    looks: float  # independent looks the trace takes at the heap
    requests: int


def size_heap(
    trace: Trace,
    heap: SystemHeap,
    admission: float,
    elsewhere: Collection[int] = (),
    progress: Progress = ignore_progress,
) -> HeapSizing:
    """The least memory that admits so many requests, without those of sizes `elsewhere`.

    Found by bisection between the smallest region and R_safe, each step an exact replay that goes
    on after a refusal. Where the trace is too short to show so rare a refusal, it is R_safe.
    """
    stretches = _stretches(trace, heap, frozenset(elsewhere))
    engine_plan = heap.plan.engine()
    trial = _engine.Trial(engine_plan, stretches[0], trace.largest_alignment)
    (demand,) = measure_demand(trace, 1, one_unit, progress)
    r_safe = _r_safe(trace, trial, progress)
    refused = round(1 - admission, 15)
    region = r_safe
    if refused >= rarest_shown(demand):
        failing = max(engine_plan.smallest_region, _RESOLUTION)
        region = trial.bisect_refusing(refused, failing, r_safe, _RESOLUTION)
    shares = _count_refusals(engine_plan, stretches[1:], trace.largest_alignment, region)
    share = float(shares[:, 0].sum() / max(shares[:, 1].sum(), 1))
    each = shares[:, 0] / np.maximum(shares[:, 1], 1)
    lowest, highest = interval(share, each[shares[:, 1] > 0], rarest_shown(demand))
    found = RunOut(
        heap.memory(region), share, lowest, highest, refused < rarest_shown(demand), None
    )
    return HeapSizing(found, heap.memory(r_safe), looks(demand), int(shares[:, 1].sum()))


def _r_safe(trace: Trace, trial: _engine.Trial, progress: Progress) -> int:
    search = trial.scan(progress=lambda done, total: progress("region", done / max(total, 1)))
    progress("region", 1.0)
    if search.r_safe is None:
        raise HeapfitError(f"{trace.path}: no region was found in which every larger one works")
    return search.r_safe


def _count_refusals(
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


def _stretches(trace: Trace, heap: SystemHeap, without: frozenset[int]) -> list[_engine.EventArray]:
    """The whole trace, then its BLOCKS pieces, all of them without blocks of the excluded sizes."""
    try:
        served = adapt_requests(heap, _drop_sizes(requests_of(trace), without))
    except HeapfitError as error:
        raise HeapfitError(f"{trace.path}: {error}") from error
    events = len(served.op)
    if events == 0:
        raise HeapfitError(f"{trace.path}: no request is left for the heap")
    ends = [math.ceil(events * i / BLOCKS) for i in range(BLOCKS + 1)]
    return [served.engine(first, last) for first, last in [(0, events), *pairwise(ends)]]


def _drop_sizes(requests: Requests, sizes: frozenset[int]) -> Requests:
    """The requests without the blocks of these sizes."""
    if not sizes:
        return requests
    asked = requests.size[is_allocation(requests.op)]
    elsewhere = np.isin(asked, np.array(sorted(sizes), dtype=np.uint64))
    return remove_objects(requests, np.flatnonzero(elsewhere).tolist())
