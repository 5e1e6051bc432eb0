# SPDX-License-Identifier: Apache-2.0
"""A recording's figures while it is made: live bytes, blocks, the largest hole of a heap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.table_file import Columns

_LARGEST_REGION = (1 << 32) - 4096  # bytes; what of it is not used takes address space only


class FollowedRecording(Protocol):
    """A recording that grows."""

    def look(self) -> Iterator[_engine.EventArray]:
        """Yields the events that are new since the last look, in batches."""

    def columns(self) -> Iterator[Columns]:
        """Yields all events until now, in batches; `look` goes on where it was."""

    @property
    def reader(self) -> _engine.WireTrace | _engine.FrameTrace:
        """What has read the events that were yielded, and knows what is live after them."""

    @property
    def lost(self) -> int:
        """Events that are known to be missing."""

    def close(self) -> None:
        """Ends the looking."""


class LiveHeap:
    """A heap that does what a growing recording asks, in a region or as large as it gets."""

    base = _engine.LARGEST_ALIGNMENT  # of the region: what will be requested is not known yet

    def __init__(self, plan: Plan, region: int | None = None) -> None:
        self.plan = plan
        self.region = region
        self.recording: FollowedRecording | None = None  # none before it begins
        self.figures: tuple[int, int, int | None] = (0, 0, 0)  # of the last look
        self._before = 0
        self._begin()

    def _begin(self) -> None:
        """A heap in which nothing is live."""
        self._serves = True
        region = self.region or _LARGEST_REGION
        self._replay = _engine.Replay(self.plan.engine(), region, self.base, metered=False)

    def look(self, recording: FollowedRecording) -> tuple[int, int, int | None]:
        """Does what is new in the recording; growth counts from the last call.

        Bytes: the growth of what is live; the room of the heap, which is its region, or the
        footprint of one that is unbounded; the largest hole within, None if it is out of memory.
        """
        self.recording = recording
        for events in recording.look():
            if recording.reader.events == len(events):  # those that a program begins with
                self._begin()
            self._serves = self._serves and self._replay.feed(events)
        blocks, live = self._replay.blocks(), recording.reader.live_bytes
        growth, self._before = live - self._before, live
        room, hole = self.region, blocks.largest_free
        if room is None:
            room, hole = self._replay.footprint, blocks.largest_hole
        self.figures = growth, room, hole if self._serves else None
        return self.figures
