# SPDX-License-Identifier: Apache-2.0
"""Which configurations search so long on a long trace that its replays would never end.

A region search replays a trace some 130 times. Told by accesses, not by a clock, so that every
machine tries the same configurations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from heapfit import _engine
from heapfit.compare.candidate import Candidate, NotApplicable
from heapfit.plan.plan import LARGEST_REGION
from heapfit.trace.loaded import LoadedTrace

SHORT: Final = 20_000  # events; no shorter trace is probed
MOST_ACCESSES: Final = 100  # a call, over the trace
_ROOM: Final = 4  # times U_max, for heaps that wear down
_HOST_BASE: Final = 16


class Probe:
    """A trace in pieces, to try plans on until they have done too much."""

    def __init__(self, loaded: LoadedTrace) -> None:
        self._events = len(loaded.events)
        self._pieces = list(_pieces(loaded)) if self._events > SHORT else []
        self._region = min(_ROOM * loaded.profile.u_max + (1 << 20), LARGEST_REGION)
        self._base = max(_HOST_BASE, loaded.alignment, loaded.trace.largest_alignment)

    def judged(self, one: Candidate) -> Candidate | NotApplicable:
        """The candidate, unless it is too slow for the trace."""
        plan = one.plan.engine()
        if not self._pieces or self._region < plan.smallest_region:
            return one
        replay = _engine.Replay(plan, self._region, base_alignment=self._base)
        for piece in self._pieces:
            goes_on = replay.feed(piece)
            done = replay.result()
            if done.loads + done.stores > MOST_ACCESSES * self._events:
                return NotApplicable(
                    one.name,
                    f"more than {MOST_ACCESSES} metadata accesses a call (named alone it is tried)",
                )
            if not goes_on:
                break
        return one


def _pieces(loaded: LoadedTrace) -> Iterator[_engine.EventArray]:
    names = ("op", "object", "size", "alignment")
    first = 0
    for batch in loaded.trace.batches(names):
        for start in range(0, len(batch["op"]), SHORT):
            columns = [batch[name][start : start + SHORT] for name in names]
            events = _engine.EventArray(first)
            events.append(*columns)
            first += len(columns[0])
            yield events
