# SPDX-License-Identifier: Apache-2.0
"""Does a plan survive the next build? It is replayed on recordings of changed programs.

    region to set  x  peak of the changed program / peak      one replay of each recording
                                                              only where it fails: what it needs

The changed program's peak is that of all its recordings. Changed sizes always count; what changes
the number or the order of blocks counts unless the peak rises by more than MOST_GROWTH, which is
another load. What the counted ones need beyond R_safe / U_max is the least margin of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from heapfit import _engine
from heapfit.comparison.margin import TRACE_SPECIFIC, HeapSize, MarginBasis, heap_size
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import MOST_MARGIN
from heapfit.sweep.threads import map_in_threads
from heapfit.trace.chains import Chains, tags_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import REPLAYED
from heapfit.workloads.changes import COLUMNS, Change, Columns, list_changes

MOST_GROWTH: Final = 5  # percent of the peak
_TENTHS: Final = 10  # of a percent: the steps in which a margin is sought up to TRACE_SPECIFIC
_COARSE: Final = 10  # of these steps beyond it


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The result of one change of a program in one plan's heap."""

    name: str
    growth: float  # of the peak, in percent
    is_counted: bool
    holds: bool  # in the region with the margin of the plan's kind, for the changed peak
    needed: float = 0.0  # percent beyond R_safe / U_max, where it counts and does not hold


@dataclass(frozen=True, slots=True)
class ChangeTest:
    """The results of all changes of a program in one plan's heap."""

    results: tuple[ChangeResult, ...] = ()  # of those that change anything
    events: int = 0  # replayed

    @property
    def needed(self) -> float:
        """Percent beyond R_safe / U_max that counted changes need; 0: the kind's margin will do."""
        return max((one.needed for one in self.results), default=0.0)

    @property
    def counted(self) -> tuple[ChangeResult, ...]:
        """The results that decide the margin."""
        return tuple(one for one in self.results if one.is_counted)

    @property
    def broken(self) -> tuple[ChangeResult, ...]:
        """The counted results that the margin of the kind does not cover, the worst first."""
        broken = (one for one in self.counted if not one.holds)
        return tuple(sorted(broken, key=lambda one: -one.needed))


@dataclass(frozen=True, slots=True)
class ChangedPrograms:
    """Recordings of one program and its changes, which are made anew for each plan."""

    recordings: tuple[LoadedTrace, ...]
    changes: tuple[Change, ...]
    u_max: int  # of all recordings

    @classmethod
    def from_recordings(cls, recordings: Sequence[LoadedTrace]) -> ChangedPrograms:
        """Takes the changes from the recording with the most live bytes."""
        most = max(recordings, key=lambda one: one.profile.u_max)
        return cls(tuple(recordings), list_changes(most), most.profile.u_max)

    def test(self, plan: Plan, r_safe: int, known: MarginBasis) -> ChangeTest:
        """Replays a plan on every change; `r_safe`: what the recordings need of it.

        Where the margin has to grow, all that counts is tried again: a larger region may fail.
        """
        size = heap_size(r_safe, replace(known, changes=0.0))
        results: dict[str, ChangeResult] = {}
        events, asked, found = 0, self.changes, ChangeTest()
        while asked:
            for result, replayed in self._try_all(asked, plan, size):
                results[result.name] = _join(results.get(result.name), result)
                events += replayed
            found = ChangeTest(tuple(results.values()), events)
            is_settled = found.needed <= size.margin or found.needed > TRACE_SPECIFIC
            counted = {one.name for one in found.counted}
            asked = () if is_settled else tuple(one for one in asked if one.name in counted)
            size = replace(size, margin=max(size.margin, found.needed))
        return found

    def _try_all(
        self, changes: Sequence[Change], plan: Plan, size: HeapSize
    ) -> Iterator[tuple[ChangeResult, int]]:
        threads = self.recordings[0].threads
        found = map_in_threads(threads, lambda one: self._try_change(one, plan, size), changes)
        return (one for one in found if one is not None)

    def _try_change(
        self, change: Change, plan: Plan, size: HeapSize
    ) -> tuple[ChangeResult, int] | None:
        """The result of a change, and the events replayed for it; None if it changes nothing."""
        before = [next(one.batches(COLUMNS)) for one in self.recordings]
        after = [change.apply(columns) for columns in before]
        if all(map(_are_equal, before, after)):
            return None
        runs = _ChangedRuns.replaying(plan, after, self.recordings)
        growth = 100 * (runs.peak / self.u_max - 1)
        is_counted = change.is_of_sizes or growth <= MOST_GROWTH
        holds = runs.serve_in(size, size.margin)
        needed = 0.0 if holds or not is_counted else runs.find_margin(size)
        return ChangeResult(change.name, growth, is_counted, holds, needed), runs.events


@dataclass(slots=True)
class _ChangedRuns:
    """The recordings of a changed program in one plan's heap."""

    trials: Sequence[_engine.Trial]
    peak: int  # most live bytes of any of them
    events: int = 0  # replayed so far

    @classmethod
    def replaying(
        cls, plan: Plan, runs: Sequence[Columns], recordings: Sequence[LoadedTrace]
    ) -> _ChangedRuns:
        """The runs on regions whose base suits all recordings."""
        base = max(one.largest_alignment for one in recordings)
        arrays = [
            _to_events(columns, plan, one.trace.chains)
            for columns, one in zip(runs, recordings, strict=True)
        ]
        peaks = [_find_peak(events) for events in arrays]
        return cls([_engine.Trial(plan.engine(), events, base) for events in arrays], max(peaks))

    def serve_in(self, size: HeapSize, margin: float) -> bool:
        """True if all run in the region of this margin for their own peak."""
        region = replace(size, peak=max(self.peak, size.u_max)).region_with(margin)
        return all(self._runs(trial, region) for trial in self.trials)

    def _runs(self, trial: _engine.Trial, region: int) -> bool:
        tried = trial.run(region)
        self.events += tried.events
        return tried.runs

    def find_margin(self, size: HeapSize) -> float:
        """A margin in percent that is enough, above that of `size`, which is not."""
        low, high = size.margin, float(TRACE_SPECIFIC)
        high = high if low < high else 2 * low
        while not self.serve_in(size, high):
            if high >= MOST_MARGIN:
                return MOST_MARGIN
            low, high = high, min(2 * high, MOST_MARGIN)
        step = 1 if high <= TRACE_SPECIFIC else _COARSE
        few, many = math.floor(_TENTHS * low), math.ceil(_TENTHS * high)
        while many - few > step:
            middle = (few + many) // 2
            is_enough = self.serve_in(size, middle / _TENTHS)
            few, many = (few, middle) if is_enough else (middle, many)
        return many / _TENTHS


def _join(before: ChangeResult | None, result: ChangeResult) -> ChangeResult:
    """The result in the region of the kind's margin, with the most that was needed beyond it."""
    if before is None:
        return result
    return replace(before, needed=max(before.needed, result.needed))


def _are_equal(some: Columns, others: Columns) -> bool:
    return all(np.array_equal(some[name], others[name]) for name in REPLAYED)


def _to_events(columns: Columns, plan: Plan, chains: Chains) -> _engine.EventArray:
    events = _engine.EventArray()
    events.reserve(len(columns["op"]))
    tags = tags_of(columns["site"], plan.sites, chains) if plan.sites else None
    events.append(columns["op"], columns["object"], columns["size"], columns["alignment"], tags)
    return events


def _find_peak(events: _engine.EventArray) -> int:
    profile = _engine.Profile(1)
    profile.feed(events)
    return int(profile.result().u_max)
