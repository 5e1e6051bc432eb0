# SPDX-License-Identifier: Apache-2.0
"""The region that a heap needs in each window of a recording: its extents.

    offset 0                                              end of the region
    | placed from below |        never used        | placed from the end |
                        ^ top                      ^ bottom
    needed at a time: the live blocks' top, and from their bottom to the end

The recording is replayed in a region so large that placement is that of every larger one. What
headers and tables add is known for the whole recording, whose region is, and taken for all windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.forecast.windows import Windows
from heapfit.plan.plan import Plan

Integers: TypeAlias = NDArray[np.int64]

_ROOMY = 8  # times the region that serves the recording
_CELLS = 16  # of a window, in which low and high blocks are looked at apart


class PlacedRun(Protocol):
    """A recording that a heap can place in a region of any size."""

    @property
    def events(self) -> _engine.EventArray:
        """The events, with the bytes asked for."""

    def place(self, region: int) -> Integers | None:
        """The offset of each request, so low that it ends at 0 if it lies elsewhere.

        None if a request is refused.
        """


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """A recording as a heap serves it."""

    events: _engine.EventArray  # of the bytes asked for
    served: _engine.EventArray  # likewise, as the plan is replayed on them
    plan: Plan
    base_alignment: int

    def place(self, region: int) -> Integers | None:
        """The offset of each request; None if one is refused."""
        plan, base = self.plan.engine(), self.base_alignment
        replay = _engine.Replay(plan, region, base_alignment=base, keep_offsets=True, metered=False)
        return replay.offsets.astype(np.int64) if replay.feed(self.served) else None


def measure_extents(run: PlacedRun, region: int, windows: Windows) -> Integers | None:
    """The bytes of region needed in each window, if the recording needs `region` in all.

    None where the heap does not serve the recording in a larger region as it does in this one.
    """
    roomy = _ROOMY * region // _engine.REGION_UNIT * _engine.REGION_UNIT
    offsets = run.place(roomy)
    if offsets is None:
        return None
    cells = _find_needs(run.events, offsets, roomy, windows)
    cells += region - int(cells.max())
    first = len(cells) - len(windows) * _CELLS
    return np.asarray(cells[first:].reshape(-1, _CELLS).max(axis=1))


def _find_needs(
    events: _engine.EventArray, offsets: Integers, region: int, windows: Windows
) -> Integers:
    """Bytes needed in each cell of the windows, and of what lies before them."""
    lives = _engine.Lifetimes(events)
    start = int(windows.starts[0])
    before = -(-start * _CELLS // windows.events)
    count = before + len(windows) * _CELLS

    def cells(event: NDArray[Any]) -> Integers:
        moved = (event.astype(np.int64) - start) * _CELLS // windows.events + before
        return np.clip(moved, 0, count - 1)

    first, last = cells(lives.starts), cells(lives.ends - 1)
    is_high = offsets >= region // 2
    reach = np.where(is_high, region - offsets, offsets + lives.sizes.astype(np.int64))
    needed = np.zeros(count, np.int64)
    for side in (is_high, ~is_high):
        placed = find_maxima(first[side], first[side], reach[side], count)
        other = find_maxima(first[~side], last[~side], reach[~side], count)
        np.maximum(needed, np.where(placed > 0, placed + other, 0), out=needed)
    return needed


def find_maxima(first: Integers, last: Integers, values: Integers, count: int) -> Integers:
    """The largest value over each of `count` cells; each value spans its first to last cell.

    A span is the union of two whose length is a power of two: each is entered once, in the row of
    its length, and rows are then handed down from the longest.

    >>> find_maxima(np.array([0, 2]), np.array([3, 2]), np.array([5, 9]), 5).tolist()
    [5, 5, 9, 5, 0]
    """
    row = np.frexp((last - first + 1).astype(np.float64))[1] - 1
    table = np.zeros((int(row.max(initial=0)) + 1, count), np.int64)
    np.maximum.at(table, (row, first), values)
    np.maximum.at(table, (row, last + 1 - (1 << row)), values)
    for longer in range(len(table) - 1, 0, -1):
        half = 1 << longer - 1
        np.maximum(table[longer - 1], table[longer], out=table[longer - 1])
        np.maximum(table[longer - 1, half:], table[longer, :-half], out=table[longer - 1, half:])
    return np.asarray(table[0])
