# SPDX-License-Identifier: Apache-2.0
"""A trace loaded for design: its events in memory, its profile and the alignment asked for."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.trace.profile import Profile, profile_trace
from heapfit.trace.stored import Trace

STANDARD_ALIGNMENT = 8  # bytes


@dataclass(frozen=True, slots=True)
class LoadedTrace:
    """What candidates are made from and measured on."""

    trace: Trace
    events: _engine.EventArray
    profile: Profile
    alignment: int  # of every block of every candidate, in bytes: 4, 8 or 16
    runs: tuple[Trace, ...] = ()  # several recorded ones that the trace consists of

    def events_for(self, plan: Plan) -> _engine.EventArray:
        """With the tags of call sites, for a plan that knows some."""
        return events_for(plan, self.trace, self.events)


def events_for(plan: Plan, trace: Trace, untagged: _engine.EventArray) -> _engine.EventArray:
    """The trace's events, with the tags of call sites for a plan that knows some."""
    return trace.events(plan.sites) if plan.sites else untagged


def load_trace(
    trace: Trace, alignment: int = STANDARD_ALIGNMENT, progress: Progress = no_progress
) -> LoadedTrace:
    """Profiles the trace and reads its events: 16 bytes of memory for each."""
    profile = profile_trace(trace, progress)
    progress("read events", 0.0)
    events = trace.events()
    progress("read events", 1.0)
    return LoadedTrace(trace, events, profile, alignment)
