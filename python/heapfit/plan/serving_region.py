# SPDX-License-Identifier: Apache-2.0
"""The smallest region in which an allocator serves anything."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from heapfit import _engine
from heapfit.plan.allocators import ALIGNMENTS, find_allocators, takes

SMALL_REQUEST: Final = 8  # bytes
_LARGEST_TRIED: Final = 1 << 20  # bytes of a region


@cache
def serving_region(name: str, alignment: int) -> int | None:
    """The smallest region, in bytes, that serves one 8 B block with the standard plan.

    An allocator of pools gets one pool of one such block. None: no region up to 1 MiB does.
    """
    (info,) = find_allocators([name])
    pools = [(SMALL_REQUEST, 1, True)] if takes(info, "pools") else []
    plan = _engine.Plan(name, {"alignment": alignment}, pools)
    request = one_request(SMALL_REQUEST)
    for size in range(plan.smallest_region, _LARGEST_TRIED + 1, min(ALIGNMENTS)):
        replay = _engine.Replay(plan, size)
        if replay.feed(request):
            return size
    return None


def one_request(size: int) -> _engine.EventArray:
    """The shortest trace: one block of `size` bytes."""
    events = _engine.EventArray()
    events.append(np.zeros(1, np.uint8), np.zeros(1, np.uint32), np.array([size], np.uint64))
    return events
