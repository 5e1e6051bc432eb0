# SPDX-License-Identifier: Apache-2.0
"""A recording's figures while it is made: live bytes, blocks, the largest hole of a heap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.stored import MOST_IN_MEMORY

_FIRST_REGION = 1 << 16  # bytes, of a heap whose region is not given: doubled as it fills


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """What a recording comes to so far. Sizes in bytes."""

    events: int
    live: int
    blocks: int
    peak: int  # the most that was live
    growth: int  # of the live bytes since the last figures
    region: int  # of the heap
    largest_hole: int | None  # None: it is out of memory, or the recording too long to be replayed


class LiveHeap:
    """A heap that does what a growing recording asks."""

    def __init__(
        self, plan: Plan, region: int | None = None, base: int = 16, keeps: bool = False
    ) -> None:
        self.plan = plan
        self.base = base
        self.region = region or _FIRST_REGION
        self.events = 0
        self._history: list[_engine.EventArray] = []  # to be replayed in a larger region
        self.batches: list[Mapping[str, NDArray[Any]]] | None = [] if keeps else None
        self._is_given = region is not None
        self._before = 0
        self._profile = _engine.Profile(2)
        self._replay: _engine.Replay | None = self._begin()

    def take(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Replays more events."""
        batch = _engine.EventArray(self.events)
        batch.append(columns["op"], columns["object"], columns["size"], columns["alignment"])
        self.events += len(batch)
        if not self._is_given:
            self._history.append(batch)
        if self.batches is not None:
            self.batches.append(columns)
        self._profile.feed(batch)
        if self._replay is not None and not self._replay.feed(batch):
            self._replay = None if self._is_given else self._grow()
        if self.events > MOST_IN_MEMORY and self._history:
            self._is_given, self._history = True, []  # the region stays as it is

    def figures(self) -> LiveFigures:
        """The figures now; growth counts from the last call."""
        found = self._profile.result()
        live = found.never_freed_bytes
        growth, self._before = live - self._before, live
        hole = None if self._replay is None else self._replay.blocks().largest_free
        return LiveFigures(
            found.events, live, found.never_freed, found.u_max, growth, self.region, hole
        )

    def _begin(self) -> _engine.Replay:
        return _engine.Replay(
            self.plan.engine(), self.region, base_alignment=self.base, metered=False
        )

    def _grow(self) -> _engine.Replay:
        """A replay of all events in the next region that serves them."""
        while True:
            self.region *= 2
            replay = self._begin()
            if all(map(replay.feed, self._history)):
                return replay
