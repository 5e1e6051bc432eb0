# SPDX-License-Identifier: Apache-2.0
"""The places of a target's blocks, compared with those in the replay of its requests.

log of frames -> addresses       20008010  20008040  20008020 ...
replay        -> offsets               10        40        20 ...
                 apart by        20008000  20008000  20008000      the region's start
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.checks.system_run import place_in_region
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_names import name_system_heap
from heapfit.comparison.incumbents.heap_plans import make_heap_plan
from heapfit.importers.boots import read_frames
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_event
from heapfit.trace.loaded import STANDARD_ALIGNMENT
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

Addresses: TypeAlias = NDArray[np.uint32]

# Memory in which a replay runs to its end: so often the live bytes, with so much for each block.
_AMPLE, _AMPLE_BLOCK = 4, 64
_HOST_BITS = 64


def read_addresses(log: Path) -> Addresses:
    """The addresses of blocks of a byte or more, resized ones again; HeapfitError as on import."""
    return read_frames(log)[0].addresses


def check_recorded_order(log: Path, trace: Trace) -> Iterator[str]:
    """Yields a note if the system's heap, replayed, places the recorded blocks elsewhere.

    It needs a whole log of frames that names a system whose heap takes the lowest chunk that fits:
    then no block's place depends on the heap's size, which is not known here. A log of 64 bits is
    passed over: there the system's headers are larger than on the devices whose rule is known.
    """
    is_target = trace.info.is_from_target and trace.info.pointer_bits != _HOST_BITS
    name = name_system_heap(trace.info.source) if is_target and log.is_file() else None
    heap = find_heap(name, STANDARD_ALIGNMENT) if name else None
    if heap is None:
        return
    reader, _ = read_frames(log)
    if not reader.is_whole:
        return
    profile = profile_trace(trace)
    plan = make_heap_plan(heap, _AMPLE * (profile.u_max + _AMPLE_BLOCK * profile.live_blocks_max))
    holes = plan.plan.engine().holes(profile.u_max)
    if holes is None or not holes.is_by_address:
        return
    event = find_first_difference(trace, plan, reader.addresses)
    if event is not None:
        yield (
            f"From {format_event(event)} on {heap.name}'s rule places blocks elsewhere than the "
            "device did: calls were recorded outside the heap's lock, or the device has another "
            "heap."
        )


def find_first_difference(trace: Trace, plan: PlanFile, addresses: Addresses) -> int | None:
    """The number, from 0, of the first event whose block the plan's heap places elsewhere.

    None if there is none up to the end, or up to the first request that the replay refuses. The
    region's start need not be known: it is what the first block is apart by.
    """
    assert plan.region is not None, "whoever replays a plan has looked"
    placed = place_in_region(trace, plan, trace.base_alignment_for(plan.base_alignment))
    offsets, asked = placed.place(), placed.asked
    if offsets is None:
        return int(asked.asked_at[0])
    asked_at = asked.asked_at[asked.served.size[asked.served_at] > 0][: len(offsets)]
    is_block = asked.requests.size[asked_at] > 0  # a log has no addresses of others
    asked_at, offsets = asked_at[is_block], offsets[is_block]
    apart = addresses[: len(offsets)] - offsets
    elsewhere = np.flatnonzero(apart != apart[:1])
    return int(asked_at[elsewhere[0]]) if len(elsewhere) else None
