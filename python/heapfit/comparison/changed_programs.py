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
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from heapfit import _engine
from heapfit.bisection import bisect_least
from heapfit.comparison.change_results import ChangeResult, ChangeTest
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.requests import Requests
from heapfit.comparison.margin import UNIT, HeapSize, MarginBasis, heap_size
from heapfit.plan.quantities import LARGEST_REGION, MOST_MARGIN
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.chains import tags_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import REPLAYED
from heapfit.workloads.changes import Change, list_changes

MOST_GROWTH: Final = 5  # percent of the peak
_FINE: Final = 10  # percent: up to here a margin is sought
_NEED: Final = 0  # no region: in its place what one replay tells of all
_TENTHS: Final = 10  # of a percent: in these steps,
_COARSE: Final = 10  # and beyond it in so many of them


@dataclass(frozen=True, slots=True)
class ChangedPrograms:
    """Recordings of one program and its changes, which are made anew for each plan."""

    recordings: tuple[LoadedTrace, ...]
    changes: tuple[Change, ...]
    u_max: int  # of all recordings
    progress: Progress = ignore_progress

    @classmethod
    def from_recordings(
        cls, recordings: Sequence[LoadedTrace], progress: Progress = ignore_progress
    ) -> ChangedPrograms:
        """Takes the changes from the recording with the most live bytes."""
        most = max(recordings, key=lambda one: one.profile.u_max)
        return cls(tuple(recordings), list_changes(most), most.profile.u_max, progress)

    def test(self, heap: Heap, memory: int, known: MarginBasis) -> ChangeTest:
        """Replays a heap on every change; `memory`: what the recordings need of it.

        Where the margin has to grow, what counts is tried again, since a larger region may fail.
        """
        *_, tested = self.test_in_steps(heap, memory, known)
        return tested

    def test_in_steps(self, heap: Heap, memory: int, known: MarginBasis) -> Iterator[ChangeTest]:
        """The results of `test` after each replayed change; the last is complete."""
        size = heap_size(memory, replace(known, changes=0.0))
        return try_changes(
            self.changes, partial(self._make_runs, heap=heap, size=size), size, self.u_max
        )

    def confirm(self, heap: Heap, memory: int, tested: ChangeTest) -> ChangeTest:
        """The trials, each with what its change takes of a heap that is set to so much memory."""
        return confirm_changes(
            self.changes,
            lambda change: self._make_runs(change, heap, HeapSize(memory, self.u_max, 0, 0)),
            memory,
            tested,
        )

    def serve_in(self, heap: Heap, region: int, names: Collection[str]) -> tuple[bool, int]:
        """True if the named changes run in a region, scaled to their peaks; and events replayed."""
        size, events = HeapSize(region, self.u_max, self.u_max, 0), 0
        for change in self.changes:
            runs = self._make_runs(change, heap, size) if change.name in names else None
            is_served = runs is None or runs.serve_in(size, 0)
            events += 0 if runs is None else runs.events
            if not is_served:
                return False, events
        return True, events

    def _make_runs(self, change: Change, heap: Heap, size: HeapSize) -> ChangedRuns | None:
        """The changed recordings in a heap; None if the change leaves them as they are."""
        self.progress(f"try {heap.plan.allocator} with {change.name}", 1.0)
        made = [_change_events(heap, change, one) for one in self.recordings]
        if not any(is_changed for _, _, is_changed in made):
            return None
        base = max(one.largest_alignment for one in self.recordings)
        plan = heap.plan.engine()
        runs = [
            _ChangedRun(
                heap,
                _engine.Trial(plan, events, base),
                one.found.setdefault(("changed", change.name, repr(heap)), {}),
            )
            for one, (events, _, _) in zip(self.recordings, made, strict=True)
        ]
        for one in runs:
            if one.trial.tells_reach and base <= plan.alignment:
                one.measure_need(2 * size.region)
        return ChangedRuns(runs, max(peak for _, peak, _ in made))


def try_changes(
    changes: Sequence[Change],
    make_runs: Callable[[Change], ChangedRuns | None],
    size: HeapSize,
    u_max: int,
) -> Iterator[ChangeTest]:
    """Replays every change in the region of `size`, and where that grows, in the larger one.

    Yields the results so far after each change, and at last all. `make_runs` gives the recordings
    of a change, None if it changes none; `u_max` is their peak without it.
    """
    margin, results = size.margin, dict[str, ChangeResult]()
    events, asked = 0, list(changes)
    while asked:
        tried_in, unproven = replace(size, margin=margin), []
        for change in asked:
            runs = make_runs(change)
            if runs is None:
                continue
            result = _try_change(change, runs, tried_in, margin, 100 * (runs.peak / u_max - 1))
            margin = max(margin, result.needed)
            before = results.get(change.name, result)  # in the region of the kind's margin
            results[change.name] = replace(
                before,
                holds=before.holds and result.holds,
                needed=max(before.needed, result.needed),
            )
            events += runs.events
            is_proven = not result.is_counted or runs.are_proven(replace(size, margin=margin))
            unproven += [] if is_proven else [change]
            yield ChangeTest(tuple(results.values()), events, size.margin, is_complete=False)
        asked = [] if margin <= tried_in.margin or margin >= MOST_MARGIN else unproven
    yield ChangeTest(tuple(results.values()), events, size.margin)


def confirm_changes(
    changes: Sequence[Change],
    make_runs: Callable[[Change], ChangedRuns | None],
    memory: int,
    tested: ChangeTest,
) -> ChangeTest:
    """The trials of `try_changes`, each with what its change takes of a heap as it is set."""
    results, events = [], 0
    found = {one.name: one for one in tested.results}
    for change in changes:
        runs = make_runs(change) if change.name in found else None
        if runs is not None:
            results.append(replace(found[change.name], takes=runs.find_need(memory)))
            events += runs.events
    return replace(tested, results=tuple(results), events=events)


def _try_change(
    change: Change, runs: ChangedRuns, size: HeapSize, margin: float, growth: float
) -> ChangeResult:
    """The result in the region of `size`; what is needed beyond it is `margin` at least."""
    is_counted = change.is_of_sizes or growth <= MOST_GROWTH
    holds = runs.serve_in(size, size.margin)
    needed = 0.0 if holds or not is_counted else runs.find_margin(size, margin)
    return ChangeResult(change.name, growth, is_counted, holds, needed)


def _change_events(
    heap: Heap, change: Change, loaded: LoadedTrace
) -> tuple[_engine.EventArray, int, bool]:
    """A changed recording as the heap gets it, its peak, and True if it differs."""
    sites = heap.plan.sites
    (before,) = loaded.batches((*REPLAYED, "site") if sites else REPLAYED)
    after = change.apply(before)
    is_changed = not all(np.array_equal(before[name], after[name]) for name in REPLAYED)
    requests = Requests(*(after[name] for name in REPLAYED))
    events = heap.serve(requests).engine()
    if sites:
        events = events.tagged(tags_of(after["site"], sites, loaded.trace.chains))
    profile = _engine.Profile(1)
    profile.feed(requests.engine())
    return events, int(profile.result().u_max), is_changed


class ChangedRun(Protocol):
    """A changed recording that a heap of any size can be tried on."""

    events: int  # replayed so far
    need: float | None  # in bytes, if it is known

    def runs_in(self, memory: int) -> bool:
        """True if it runs in so much memory; it may in less than it needs for sure."""


@dataclass(slots=True)
class _ChangedRun:
    """A changed recording in one heap."""

    heap: Heap
    trial: _engine.Trial
    known: dict[int, Any]  # by region; what is kept with the recording, as the heap is tried twice
    events: int = 0  # replayed so far
    need: float | None = None  # in bytes, where one replay tells it

    def measure_need(self, region: float) -> None:
        """One replay with room; the larger region does not change where blocks lie."""
        if _NEED not in self.known:
            self.known[_NEED] = self._find_need(int(region))
        self.need = self.known[_NEED]

    def _find_need(self, region: int) -> float | None:
        while region <= LARGEST_REGION:
            tried = self._run(region)
            if tried.runs:
                need = self.trial.region_for(tried.reach) if tried.reach else None
                return None if need is None else self.heap.memory(need)
            region *= 2
        return math.inf

    def _run(self, region: int) -> _engine.TrialResult:
        if region not in self.known:
            self.known[region] = self.trial.run(region)
            self.events += self.known[region].events
        found: _engine.TrialResult = self.known[region]
        return found

    def runs_in(self, memory: int) -> bool:
        """True if it runs in so much memory."""
        if self.need is not None and self.need <= memory:
            return True
        return self._run(self.heap.region(memory)).runs


@dataclass(frozen=True, slots=True)
class ChangedRuns:
    """The recordings of a changed program in one heap."""

    runs: Sequence[ChangedRun]
    peak: int  # most live bytes of any of them

    @property
    def events(self) -> int:
        """Events replayed so far."""
        return sum(one.events for one in self.runs)

    def are_proven(self, size: HeapSize) -> bool:
        """True if it is known that all run in the region of `size` and in all larger ones."""
        region = self._scale(size, size.margin)
        return all(one.need is not None and one.need <= region for one in self.runs)

    def serve_in(self, size: HeapSize, margin: float) -> bool:
        """True if all run in the region of this margin for their own peak."""
        return self._run_in(self._scale(size, margin))

    def find_need(self, memory: int) -> int:
        """The bytes in which all run: `memory` where that is enough; else within 1/256 of it."""
        low, high, needs = 0, memory, [one.need for one in self.runs]
        while not self._run_in(high):
            if None not in needs or high >= LARGEST_REGION:
                return int(min(LARGEST_REGION, max(one or 0 for one in needs) or LARGEST_REGION))
            low, high = high, min(2 * high, LARGEST_REGION)
        if not low:
            return high
        return bisect_least(self._run_in, low, does=high, unit=UNIT, within=memory >> 8)

    def _run_in(self, memory: int) -> bool:
        return all(one.runs_in(memory) for one in self.runs)

    def _scale(self, size: HeapSize, margin: float) -> int:
        return replace(size, peak=max(self.peak, size.u_max)).region_with(margin)

    def find_margin(self, size: HeapSize, least: float) -> float:
        """A margin in percent that is enough, `least` or more; that of `size` is not."""
        low, high = least, float(_FINE)
        if least > size.margin and self.serve_in(size, least):
            return least
        high = high if low < high else 2 * low
        while not self.serve_in(size, high):
            if high >= MOST_MARGIN:
                return MOST_MARGIN
            low, high = high, min(2 * high, MOST_MARGIN)
        step = 1 if high <= _FINE else _COARSE
        tenths = bisect_least(
            lambda margin: self.serve_in(size, margin / _TENTHS),
            math.floor(_TENTHS * low),
            does=math.ceil(_TENTHS * high),
            within=step,
        )
        return tenths / _TENTHS
