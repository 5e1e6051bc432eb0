# SPDX-License-Identifier: Apache-2.0
"""The blocks of a recording, by the events in which each begins and ends.

A block that is resized ends there, and one of the new size begins:

    event    0    1    2    3    4    5
             a0 ======== r0 ======== f0      two blocks of three and two events
                  a1 =================       never freed: it lives to the end
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_end


@dataclass(frozen=True, slots=True)
class Blocks:
    """Every block of a trace, by the events in which it begins and ends; and the peak."""

    sizes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    peak: int  # the event after which the live bytes are U_max

    def are_live_at(self, event: int) -> NDArray[np.bool_]:
        """True for each block that is live after an event."""
        return (self.starts <= event) & (self.ends > event)


def blocks_of(loaded: LoadedTrace) -> Blocks:
    """Every block of a trace, and the peak."""
    events = loaded.events
    ops, objects, sizes = events.ops(), events.objects(), events.sizes()
    order = np.argsort(objects, kind="stable")  # each object's events side by side
    is_last = np.append(objects[order[1:]] != objects[order[:-1]], True)
    ends = np.empty(len(ops), np.int64)
    ends[order] = np.where(is_last, len(ops), np.append(order[1:], 0))
    starts = np.flatnonzero(~is_end(ops, sizes))
    return Blocks(sizes[starts], starts, ends[starts], loaded.profile.u_max_event)
