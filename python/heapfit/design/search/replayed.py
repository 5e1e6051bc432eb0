# SPDX-License-Identifier: Apache-2.0
"""Budgets that make the replayed region small, found by replaying: a bounded, seeded search.

Dedicated bytes are a proxy: what counts is R_safe. Over best_fit one run shows the region of a
plan, its footprint, so most of the work is done there; then what was best is tried, and changed
further, over the other allocators.

    starts --> best_fit: a change that needs no more is kept --> tailored, tlsf, ...: a change that
               runs in less is kept --> R_safe, measured

A plan is replayed in the region of the best so far, where most fail early. Like every plan made
from one trace it may not hold on another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from heapfit import _engine
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import search
from heapfit.design.search.moves import BudgetSizes, Moves
from heapfit.design.search.pooled_design import PooledDesign, SharedHeap, design_from_plan
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace

FAST = SharedHeap("best_fit")  # ignores where its region ends
OTHERS = (SharedHeap("tailored"), SharedHeap("tlsf"), SharedHeap("first_fit"))
_STEP = _engine.REGION_UNIT

# Settings of the search, as bench/choice.py measured it whole; no other value was measured alone.
_FAST_SHARE = 0.6  # of the work; the others have equal parts of the rest
_OTHER_STARTS = 4  # a start has all but this part of the work left
_SCAN = 140  # replays of one search for R_safe: decision 5, most failing ones end early
_OVERHEAD = 4000  # events' worth of making a plan
_PATIENCE = 1000  # changes in a row that save nothing end the search over an allocator
_KEPT = 8  # designs that the other allocators begin with
_DESCENT = 512  # a region is lowered by this part of it at a time


@dataclass(frozen=True, slots=True)
class BudgetSearchResult:
    """The best plan that a search found."""

    plan: Plan
    r_safe: int
    plans: int  # tried
    replayed: int  # events

    @property
    def account(self) -> str:
        """The search that found the plan, in words."""
        return f"budgets searched by replaying, {self.plans:,} plans tried"


def search_plans(
    loaded: LoadedTrace,
    starts: Sequence[Plan],
    most_events: int,
    seed: int = 1,
    progress: Progress = ignore_progress,
) -> BudgetSearchResult | None:
    """The best of `starts` and of what `most_events` replayed events find from there.

    All starts with pools are tried, and no budgets at all; a start without is one more allocator
    for what is left over. None if no plan serves the trace.
    """
    search = _BudgetSearch(loaded, most_events, seed, progress)
    search.run(starts)
    progress("search budgets", 1.0)
    if search.best is None:
        return None
    design, r_safe = search.best
    return BudgetSearchResult(design.plan(loaded.alignment), r_safe, search.plans, search.replayed)


class _BudgetSearch:
    """The best design so far and the work left."""

    def __init__(
        self, loaded: LoadedTrace, most_events: int, seed: int, progress: Progress
    ) -> None:
        self.best: tuple[PooledDesign, int] | None = None
        self.plans = 0
        self.replayed = 0  # events
        self._loaded = loaded
        self._most_events = max(most_events, 1)
        self._events_left = most_events
        self._moves = Moves(BudgetSizes.from_profile(loaded.profile, loaded.alignment), seed)
        self._progress = progress
        self._tried: set[PooledDesign] = set()
        self._good: list[PooledDesign] = []  # over FAST, the best last

    def run(self, starts: Sequence[Plan]) -> None:
        """Searches over the fast allocator, then over each of the others."""
        pooled = (plan for plan in starts if plan.pools)
        designs = dict.fromkeys([_NONE, *(design_from_plan(plan, FAST) for plan in pooled)])
        self._climb(designs, round(self._most_events * (1 - _FAST_SHARE)))
        rest = max(self._events_left, 0)
        others = dict.fromkeys([*map(SharedHeap.from_plan, self._heap_plans(starts)), *OTHERS])
        for i, shared in enumerate(others, 1):
            self._descend(shared, rest - rest * i // len(others))

    def _heap_plans(self, starts: Sequence[Plan]) -> list[Plan]:
        """The starts without pools whose allocator can be shared, at the trace's alignment."""
        names = {shared.allocator for shared in OTHERS}
        alignment = self._loaded.alignment
        return [plan for plan in starts if plan.allocator in names and plan.alignment == alignment]

    def _climb(self, starts: Iterable[PooledDesign], leave: int) -> None:
        """Changes each start, the best first and longest, until `leave` events of work are left."""
        begun = [one for start in starts if (one := self._measure_start(start)) is not None]
        for measured in sorted(begun, key=lambda pair: pair[1]):
            others = leave + max(self._events_left - leave, 0) // _OTHER_STARTS
            self._change(measured, others)
        if self.best is not None:
            self._change(self.best, leave)

    def _measure_start(self, start: PooledDesign) -> tuple[PooledDesign, int] | None:
        """The start with the region that it takes; None if that is above 4 GiB."""
        region = self._region(start, LARGEST_REGION // _STEP * _STEP)
        if region is None:
            return None
        self._note(start, region)
        return start, region

    def _change(self, current: tuple[PooledDesign, int], leave: int) -> None:
        """Keeps every change that needs no more, as long as some of them need less."""
        in_vain = 0
        while self._events_left > leave and in_vain < _PATIENCE:
            changed = self._moves.change(current[0])
            region = self._region(changed, current[1])
            in_vain = 0 if region is not None and region < current[1] else in_vain + 1
            if region is not None:
                current = changed, region
                self._note(changed, region)

    def _note(self, design: PooledDesign, region: int) -> None:
        """Keeps the design if it is the best so far."""
        if self.best is None or region < self.best[1]:
            self.best = design, region
            self._good = [*self._good, design][-_KEPT:]

    def _region(self, design: PooledDesign, limit: int) -> int | None:
        """The region of a new design over the fast allocator; None if it is above `limit`."""
        trial = self._trial_of(design)
        if trial is None:
            return None
        result = trial.run(limit)
        self.replayed += result.events
        self._events_left -= result.events
        footprint = max(result.footprint, trial.smallest_region)
        return -(-footprint // _STEP) * _STEP if result.runs else None

    def _descend(self, shared: SharedHeap, leave: int) -> None:
        """Looks for designs over `shared` that run in less than the best."""
        if self.best is None:
            return
        designs = [replace(design, shared=shared) for design in (*reversed(self._good), _NONE)]
        best: tuple[PooledDesign, int] | None = None
        limit = self.best[1] - _STEP
        for design in designs:
            best, limit = self._lower(design, limit, best)
        keep = leave + _SCAN * len(self._loaded.events)
        in_vain = 0
        while self._events_left > keep and in_vain < _PATIENCE:
            before, current = limit, designs[0] if best is None else best[0]
            best, limit = self._lower(self._moves.change(current), limit, best)
            in_vain = in_vain + 1 if limit == before else 0
        if best is not None:
            self._settle(best[0])

    def _lower(
        self, design: PooledDesign, limit: int, best: tuple[PooledDesign, int] | None
    ) -> tuple[tuple[PooledDesign, int] | None, int]:
        """The design if it runs in `limit`, and the region that the next one has to run in."""
        trial = self._trial_of(design)
        if trial is None:
            return best, limit
        lowered = trial.lower(limit, _DESCENT)
        self.replayed += lowered.events
        self._events_left -= lowered.events
        if lowered.region is None:
            return best, limit
        return (design, lowered.region), lowered.failing

    def _settle(self, design: PooledDesign) -> None:
        """Measures R_safe of the design, and keeps the design if it needs less than the best."""
        self._events_left -= _SCAN * len(self._loaded.events)
        plan = design.plan(self._loaded.alignment)
        need = search(Heap(plan.allocator, plan), self._trial(design), every_size=False)
        self.replayed += need.events
        if need.r_safe is not None and (self.best is None or need.r_safe < self.best[1]):
            self.best = design, need.r_safe

    def _trial_of(self, design: PooledDesign) -> _engine.Trial | None:
        """A trial of the design; None if it was tried before."""
        self._progress("search budgets", 1 - max(self._events_left, 0) / self._most_events)
        self._events_left -= _OVERHEAD  # of a plan tried before as well: the search ends
        if design in self._tried:
            return None
        self._tried.add(design)
        self.plans += 1
        return self._trial(design)

    def _trial(self, design: PooledDesign) -> _engine.Trial:
        plan = design.plan(self._loaded.alignment).engine()
        return _engine.Trial(plan, self._loaded.events, self._loaded.trace.largest_alignment)


_NONE = PooledDesign((), FAST)
