# SPDX-License-Identifier: Apache-2.0
"""Requests that no region of a 32-bit heap can hold, such as -1 as an unsigned size."""

from __future__ import annotations

import numpy as np

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.plan import LARGEST_REGION
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_allocation
from heapfit.trace.profile import profile_events

_HIGHEST = LARGEST_REGION // _engine.REGION_UNIT * _engine.REGION_UNIT  # region, in bytes


def reject_oversized(loaded: LoadedTrace, name: str) -> None:
    """HeapfitError names the first request of 4 GiB or nearly so, and the peak without such."""
    if loaded.profile.u_max < _HIGHEST:
        return
    sizes = loaded.events.sizes()
    events = np.flatnonzero(sizes >= _HIGHEST)
    if not len(events):
        return
    count = f", the first of {len(events):,} such requests" if len(events) > 1 else ""
    raise HeapfitError(
        f"{name}: event {int(events[0])}: asks for {int(sizes[events[0]]):,} B{count} (-1 as a "
        "size?): no heap below 4 GiB serves it. Leave it out of the recording: the rest has "
        f"{_peak_without(loaded):,} B live at most"
    )


def _peak_without(loaded: LoadedTrace) -> int:
    ops, objects = loaded.events.ops(), loaded.events.objects()
    sizes, alignments = loaded.events.sizes(), loaded.events.alignments()
    is_over, begins = sizes >= _HIGHEST, is_allocation(ops)
    kept = ~is_over & ~np.isin(objects, objects[is_over & begins])
    ordinal = np.cumsum(kept[begins], dtype=np.uint32) - np.uint32(1)
    left = _engine.EventArray()
    left.append(ops[kept], ordinal[objects[kept]], sizes[kept], alignments[kept])
    return profile_events(left).u_max
