# SPDX-License-Identifier: Apache-2.0
"""The blocks of a recording, by the events in which each begins and ends.

A block that is resized ends there, and one of the new size begins:

    event    0    1    2    3    4    5
             a0 ======== r0 ======== f0      two blocks of three and two events
                  a1 =================       never freed: it lives to the end
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import find_next_events, is_end


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


def find_blocks(
    ops: NDArray[Any], objects: NDArray[Any], sizes: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The size, the first event and the last of every block, from a trace's columns in full.

    A block that is never freed ends behind the last event.
    """
    starts = np.flatnonzero(~is_end(ops, sizes))
    return sizes[starts], starts, find_next_events(objects)[starts]


def blocks_of(loaded: LoadedTrace) -> Blocks:
    """Every block of a trace, and the peak."""
    events = loaded.events
    return Blocks(
        *find_blocks(events.ops(), events.objects(), events.sizes()), loaded.profile.u_max_event
    )
