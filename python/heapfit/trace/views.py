# SPDX-License-Identifier: Apache-2.0
"""Views of a recording's blocks: which are looked at, and who asked for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heapfit.trace.blocks import Blocks, blocks_of
from heapfit.trace.kinds import View
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Mask, find_next_events

STARTUP = 10  # the first tenth of a recording is its start-up

Numbers: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Holder:
    """The blocks that one call site or task holds in a view, beside all that it asked for."""

    key: int
    blocks: int
    size: int  # bytes of these
    least: int  # bytes, of one; 0 where it holds none
    most: int
    requests: int  # all, resizes among them
    requested: int  # bytes, of all
    mean_life: float  # events from a request to its block's end or next resize, of all


@dataclass(frozen=True, slots=True)
class ViewedBlocks:
    """All blocks of a recording, which of them a view shows, and who asked for each."""

    view: View
    blocks: Blocks
    is_shown: Mask
    sites: Numbers  # 0 where unknown
    tasks: Numbers  # likewise
    events: int
    times: NDArray[np.uint64]  # us, of the events; all 0 where none is known

    def find_holders(self, keys: Numbers | NDArray[np.uint64]) -> tuple[Holder, ...]:
        """The holders by a key of each block, those with the most bytes in the view first."""
        sizes = self.blocks.sizes.astype(np.int64)
        shown = pa.array(sizes, mask=~self.is_shown)
        lives = self.blocks.ends - self.blocks.starts
        table = pa.table({"key": keys, "shown": shown, "size": sizes, "life": lives})
        held = [("shown", how) for how in ("count", "sum", "min", "max")]
        held += [("size", "count"), ("size", "sum"), ("life", "mean")]
        columns = table.group_by("key").aggregate(held).columns
        rows = zip(*(column.fill_null(0).to_pylist() for column in columns), strict=True)
        holders = [Holder(*row) for row in rows]
        return tuple(sorted(holders, key=lambda one: (-one.size, -one.requested, one.key)))


def view_blocks(loaded: LoadedTrace, view: View) -> ViewedBlocks:
    """The blocks of a recording in a view."""
    blocks = blocks_of(loaded)
    times, threads = loaded.trace.whole("time", "thread")
    events = len(times)
    shown: Mapping[View, Callable[[], Mask]] = {
        View.HELD: lambda: blocks.ends == events,
        View.LATER: lambda: (blocks.ends == events) & (blocks.starts >= events // STARTUP),
        View.TEMPORARY: lambda: (
            (blocks.ends < events) & (blocks.ends == find_next_events(threads)[blocks.starts])
        ),
    }
    is_shown = shown.get(view, lambda: blocks.are_live_at(blocks.peak))()
    sites = loaded.sites[blocks.starts] if len(loaded.sites) else np.zeros(len(blocks.starts), "u4")
    return ViewedBlocks(view, blocks, is_shown, sites, threads[blocks.starts], events, times)
