# SPDX-License-Identifier: Apache-2.0
"""Which configurations search so long on a long trace that its replays would never end.

A region search replays a trace some 130 times. Told by accesses, not by a clock, so that every
machine tries the same configurations.
"""

from __future__ import annotations

from typing import Final

from heapfit import _engine
from heapfit.compare.candidate import Candidate, NotApplicable
from heapfit.plan.plan import LARGEST_REGION
from heapfit.trace.loaded import LoadedTrace

SHORT: Final = 20_000  # events; no shorter trace is probed
MOST_ACCESSES: Final = 100  # a call, over the trace
_ROOM: Final = 4  # times U_max, for heaps that wear down


class Probe:
    """A trace to try plans on until they have done too much."""

    def __init__(self, loaded: LoadedTrace) -> None:
        self._events = loaded.events
        self._region = min(_ROOM * loaded.profile.u_max + (1 << 20), LARGEST_REGION)
        self._base = max(loaded.alignment, loaded.trace.largest_alignment)

    def judged(self, one: Candidate) -> Candidate | NotApplicable:
        """The candidate, unless it is too slow for the trace."""
        if len(self._events) <= SHORT:
            return one
        trial = _engine.Trial(one.plan.engine(), self._events, self._base)
        if trial.exceeds(self._region, MOST_ACCESSES * len(self._events)):
            return NotApplicable(
                one.name,
                f"more than {MOST_ACCESSES} metadata accesses a call (named alone it is tried)",
            )
        return one
