# SPDX-License-Identifier: Apache-2.0
"""The places of a target's blocks, compared with those in the replay of its requests.

log of frames -> addresses       20008010  20008040  20008020 ...
replay        -> offsets               10        40        20 ...
                 apart by        20008000  20008000  20008000      the region's start
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.checks.system_run import place_requests
from heapfit.importers.stream import ByteStream
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.operations import FREE
from heapfit.trace.stored import Trace

Addresses: TypeAlias = NDArray[np.uint32]


def read_addresses(log: Path) -> Addresses:
    """The addresses of blocks of a byte or more, resized ones again; HeapfitError as on import."""
    reader = _engine.FrameTrace(drop_unknown=True)
    reader.keep_addresses()
    with ByteStream(log) as stream:
        for chunk in stream.chunks():
            reader.feed(chunk)
            reader.take()
    reader.finish()
    return reader.addresses


def find_first_difference(trace: Trace, plan: PlanFile, addresses: Addresses) -> int | None:
    """The number, from 0, of the first event whose block the plan's heap places elsewhere.

    None if there is none up to the end, or up to the first request that the replay refuses. The
    region's start need not be known: it is what the first block is apart by.
    """
    assert plan.region is not None, "whoever replays a plan has looked"
    base_alignment = trace.base_alignment_for(plan.base_alignment)
    if plan.heap:
        return _find_in_system_heap(trace, plan, addresses, base_alignment)
    replay = _engine.Replay(plan.plan.engine(), plan.region, base_alignment, keep_offsets=True)
    for events in trace.event_batches(plan.plan.sites):
        if not replay.feed(events):
            break
    offsets = replay.offsets.astype(np.uint32)
    apart = addresses[: len(offsets)] - offsets
    elsewhere = np.flatnonzero(apart != apart[:1])
    return None if not len(elsewhere) else _event_of(trace, int(elsewhere[0]))


def _find_in_system_heap(
    trace: Trace, plan: PlanFile, addresses: Addresses, base: int
) -> int | None:
    placed = place_requests(trace, plan, base)
    replay = placed.make_replay(keep_offsets=True)
    if replay is None:
        return int(placed.asked_at[0])
    replay.feed(placed.served.engine())
    offsets = replay.offsets[placed.marks :].astype(np.uint32)
    asked_at = placed.asked_at[: len(offsets)]
    is_block = placed.requests.size[asked_at] > 0  # a log has no addresses of others
    asked_at, offsets = asked_at[is_block], offsets[is_block]
    apart = addresses[: len(offsets)] - offsets
    elsewhere = np.flatnonzero(apart != apart[:1])
    return None if not len(elsewhere) else int(asked_at[elsewhere[0]])


def _event_of(trace: Trace, block: int) -> int:
    """The event that placed the block of this number, from 0."""
    before = 0
    for columns in trace.batches(("op", "size")):
        placing = np.flatnonzero((columns["op"] != FREE) & (columns["size"] != 0))
        if block < len(placing):
            return before + int(placing[block])
        block -= len(placing)
        before += len(columns["op"])
    raise AssertionError("each block was placed by an event")
