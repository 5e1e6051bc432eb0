# SPDX-License-Identifier: Apache-2.0
"""The heap map of each memory of a plan, with what a recording has there."""

from __future__ import annotations

import numpy as np

from heapfit import _engine
from heapfit.comparison.heap_map import (
    ELSEWHERE,
    HeapMap,
    MappedHeap,
    RegionReplay,
    find_gaps,
    sites_of,
)
from heapfit.memories.demand import RecordingRequests
from heapfit.memories.placing import Placing


def map_memories(placing: Placing, demand: RecordingRequests) -> HeapMap:
    """The map of each memory of the plan, with what the recording has there."""
    plan, events = placing.plan, demand.loaded.events
    replay = plan.replay(demand.loaded.largest_alignment, keeps_places=True)
    replay.feed(events, demand.requests(plan))
    is_there = demand.sizes[demand.asks][: len(replay.numbers)] > 0
    numbers, offsets = replay.numbers[is_there], replay.offsets[is_there].astype(np.uint64)
    heaps = []
    for number, (memory, use) in enumerate(zip(plan.memories, replay.shares(), strict=True)):
        region = memory.size if number == 0 else max(use.footprint, 1)
        own = RegionReplay(region, np.where(numbers == number, offsets, ELSEWHERE), None)
        heaps.append(
            MappedHeap(memory.name, own, (own,), len(events), demand.loaded.profile.u_max_event)
        )
    lifetimes, gaps = _engine.Lifetimes(events), find_gaps(demand.loaded)
    sites = sites_of(demand.loaded, lifetimes)
    return HeapMap(
        tuple(heaps),
        lifetimes,
        sites,
        gaps,
        True,
        has_own_scales=True,
        note="Each memory is drawn to its highest byte in use, at a scale of its own.",
    )
