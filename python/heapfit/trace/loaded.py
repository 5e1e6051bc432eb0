# SPDX-License-Identifier: Apache-2.0
"""A recording in memory, with its profile, from one read of its file.

trace.parquet --> events, call sites, hash of the content --> profile
                  16 B an event; 4 B more where call sites are recorded
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.chains import Sites, callers_of, tags_of
from heapfit.trace.content import ContentHash
from heapfit.trace.profile import Profile, profile_events
from heapfit.trace.stored import Trace, prefix_errors

STANDARD_ALIGNMENT = 8  # bytes

_COLUMNS: dict[str, Callable[[_engine.EventArray], NDArray[Any]]] = {
    "op": _engine.EventArray.ops,
    "object": _engine.EventArray.objects,
    "size": _engine.EventArray.sizes,
    "alignment": _engine.EventArray.alignments,
}

T = TypeVar("T")
AnyTrial: TypeAlias = _engine.Trial | _engine.FleetTrial


@dataclass(frozen=True, slots=True)
class LoadedTrace:
    """The trace that candidates are made from and measured on."""

    trace: Trace
    events: _engine.EventArray  # without tags
    sites: NDArray[np.uint32]  # the call site of each event; empty if none is recorded
    content: str  # hash of what decides a replay
    profile: Profile
    alignment: int  # of every block of every candidate, in bytes: 4, 8 or 16
    runs: tuple[LoadedTrace, ...] = ()  # several recorded ones that the trace consists of
    fleet: _engine.Fleet | None = None  # all that it consists of, each to be served by itself
    threads: int = 1  # that may try plans on it at once; any number finds the same
    whole: Profile | None = None  # of the recording, where this is an excerpt of one
    # What was found of it, by what was asked: costs of calls, regions of heaps, parts.
    found: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What `make` gives, made once: what was found of the recording keeps it."""
        if key not in self.found:
            self.found[key] = make()
        found: T = self.found[key]
        return found

    @property
    def largest_alignment(self) -> int:
        """The largest alignment any request asks for; 0 where none does."""
        return self.trace.largest_alignment

    @property
    def foretelling(self) -> Profile:
        """The profile that tells of other runs: of the whole recording."""
        return self.whole or self.profile

    def live_at_peak(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The distinct sizes live at U_max, ascending, and how many blocks of each."""
        return live_sizes_at(self.events, self.profile.u_max_event)

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """The named columns of all events in one batch, as a stored trace gives its batches.

        There are no times and no threads: no replay depends on them.
        """
        yield {name: self._column(name) for name in columns}

    def _column(self, name: str) -> NDArray[Any]:
        if name == "site":
            return self.sites if len(self.sites) else np.zeros(len(self.events), np.uint32)
        return _COLUMNS[name](self.events)

    def tags(self, sites: Sites) -> NDArray[np.uint16]:
        """The tag of each event's call site; 0 where that has none."""
        if len(self.sites) == 0:
            return np.zeros(len(self.events), np.uint16)
        return tags_of(self.sites, sites, self.trace.chains)

    def reduce_to_callers(self) -> LoadedTrace:
        """The same trace with direct callers as its sites, where chains were recorded."""
        chains = self.trace.chains
        if not chains:
            return self
        return replace(self, sites=callers_of(self.sites, chains), found={})

    def trial(self, plan: Plan) -> AnyTrial:
        """A trial of a plan without call sites, on a base aligned as the trace asks for it."""
        base = self.largest_alignment
        if self.fleet is not None:
            return _engine.FleetTrial(plan.engine(), self.fleet, base)
        return _engine.Trial(plan.engine(), self.events, base)

    def events_for(self, plan: Plan) -> _engine.EventArray:
        """The events for a plan, with the tags of call sites if the plan has any."""
        return self.events.tagged(self.tags(plan.sites)) if plan.sites else self.events


def live_sizes_at(
    events: _engine.EventArray, event: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The distinct sizes live just after event number `event`, ascending, and blocks of each."""
    objects, asked = events.objects()[: event + 1], events.sizes()[: event + 1]
    live = np.zeros(int(objects.max(initial=0)) + 1, np.uint64)  # 0 once freed
    live[objects] = asked  # of several events of one object the last counts; a free has 0
    sizes, counts = np.unique(live[live > 0], return_counts=True)
    return sizes, counts.astype(np.uint64)


def load_trace(
    trace: Trace, alignment: int = STANDARD_ALIGNMENT, progress: Progress = ignore_progress
) -> LoadedTrace:
    """Reads the trace once, and profiles it."""
    events, content = _engine.EventArray(), ContentHash()
    sites: list[NDArray[np.uint32]] = []
    columns = ("alignment", "site")
    for _, batch in trace.walk(*columns, into=events, step="read events", progress=progress):
        content.take(batch)
        if not sites and batch["site"].any():
            sites.append(np.zeros(len(events) - len(batch["site"]), np.uint32))
        if sites:
            sites.append(batch["site"])
    called_from = np.concatenate(sites) if sites else np.zeros(0, np.uint32)
    with prefix_errors(trace.given):
        profile = profile_events(events, progress)
    return LoadedTrace(trace, events, called_from, content.digest(), profile, alignment)
