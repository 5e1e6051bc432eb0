# SPDX-License-Identifier: Apache-2.0
"""Budgets that make the replayed region small, found by replaying: a bounded, seeded search.

Dedicated bytes are a proxy: what counts is R_safe. The search starts from the plans that the proxy
likes best and changes one or two budgets, or the shared allocator, at a time. A changed plan is
first replayed in a region just below the best R_safe so far, where most fail early; only one that
runs there is scanned for its own R_safe. Like every plan made from one trace it may not hold on
another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.design.budgets import classes_with_most
from heapfit.plan import Plan, Pool
from heapfit.progress import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heapfit.design.workload import Workload

SHARED = ("tlsf", "best_fit")
_SCAN = 140  # replays of one search for R_safe
_OVERHEAD = 1000  # events' worth of making a plan
_STEP = 8  # bytes below the best region that a change has to save
_MOST_POOLS = 32
_HOST_BASE = 16  # bytes


@dataclass(frozen=True, slots=True)
class Searched:
    """The best plan found."""

    plan: Plan
    r_safe: int
    plans: int  # tried
    is_stopped: bool  # by an interrupt

    @property
    def told(self) -> str:
        """How it was found."""
        stopped = ", interrupted" if self.is_stopped else ""
        return f"budgets searched by replaying, {self.plans:,} plans tried{stopped}"


def search_plans(
    workload: Workload,
    starts: Sequence[Plan],
    most_events: int,
    seed: int = 1,
    progress: Progress = no_progress,
) -> Searched | None:
    """The best of budgeted `starts`, all tried, and what `most_events` replayed find from there.

    An interrupt ends the search and keeps the best so far; None if there is none yet.
    """
    search = _Search(workload, most_events, seed, progress)
    is_stopped = False
    try:
        search.run(starts)
    except KeyboardInterrupt:
        is_stopped = True
    progress("search budgets", 1.0)
    if search.best is None:
        return None
    plan, r_safe = search.best
    return Searched(plan, r_safe, search.plans, is_stopped)


class _Search:
    """The best so far and the work left."""

    def __init__(self, workload: Workload, most_events: int, seed: int, progress: Progress) -> None:
        self.best: tuple[Plan, int] | None = None
        self.plans = 0
        self._workload = workload
        self._most_events = max(most_events, 1)
        self._events_left = most_events
        self._random = random.Random(seed)
        self._progress = progress
        self._base = max(_HOST_BASE, workload.trace.largest_alignment)
        self._caps = _caps(workload)
        self._tried: set[tuple[tuple[Pool, ...], str]] = set()

    def run(self, starts: Sequence[Plan]) -> None:
        for start in starts:
            for shared in SHARED:
                self._try(_over(start, shared))
        while self.best is not None and self._events_left > 0:
            self._try(self._changed(self.best[0]))

    def _try(self, plan: Plan) -> None:
        self._progress("search budgets", 1 - max(self._events_left, 0) / self._most_events)
        key = (plan.pools, plan.shared.allocator if plan.shared else "")
        self._events_left -= _OVERHEAD  # of a plan tried before as well: the search ends
        if key in self._tried:
            return
        self._tried.add(key)
        self.plans += 1
        engine = plan.engine()
        if self.best is not None and not self._runs(engine, self.best[1] - _STEP):
            return
        self._events_left -= _SCAN * len(self._workload.events)
        found = _engine.find_region(engine, self._workload.events, base_alignment=self._base)
        if found.r_safe is not None and (self.best is None or found.r_safe < self.best[1]):
            self.best = (plan, found.r_safe)

    def _runs(self, plan: _engine.Plan, region: int) -> bool:
        if region < plan.smallest_region:
            return False
        events = self._workload.events
        replay = _engine.Replay(
            plan, region, base_alignment=self._base, samples=2, expected_events=len(events)
        )
        has_run = replay.feed(events)
        self._events_left -= replay.result().events
        return has_run

    def _changed(self, plan: Plan) -> Plan:
        """One budget or two changed at random, within P_i,max; or another shared allocator."""
        if plan.shared is not None and self._random.random() < 0.05:
            others = [name for name in SHARED if name != plan.shared.allocator]
            return _over(plan, self._random.choice(others))
        counts = {pool.size: pool.count for pool in plan.pools}
        size = self._random.choice(list(self._caps))
        count = counts.get(size, 0)
        counts[size] = self._count_near(count, self._caps[size])
        if self._random.random() < 0.5:  # the bytes go to another size, or come from it
            other = self._random.choice(list(self._caps))
            if other != size:
                moved = round((count - counts[size]) * size / other)
                counts[other] = min(max(counts.get(other, 0) + moved, 0), self._caps[other])
        pools = [Pool(size, counts[size], is_exact=True) for size in sorted(counts)]
        kept = tuple(pool for pool in pools if pool.count > 0)
        return replace(plan, pools=kept) if 0 < len(kept) <= _MOST_POOLS else plan

    def _count_near(self, count: int, cap: int) -> int:
        if self._random.random() < 0.1:
            return self._random.choice((0, cap))
        step = min(1 << self._random.randrange(6), max(cap // 2, 1))
        return min(max(count + self._random.choice((-step, step)), 0), cap)


def _over(plan: Plan, shared: str) -> Plan:
    return replace(plan, shared=Plan(shared, {"alignment": plan.scalars["alignment"]}))


def _caps(workload: Workload) -> Mapping[int, int]:
    """The most blocks of the sizes worth a budget: the most frequent and those of most bytes."""
    profile, alignment = workload.profile, workload.alignment
    asked = [max(size, 1) for size in profile.sizes.tolist()]
    rounded = [-(-size // alignment) * alignment for size in asked]
    caps: dict[int, int] = {}
    for size, peak in zip(rounded, profile.peaks.tolist(), strict=True):
        caps[size] = caps.get(size, 0) + peak
    half = _MOST_POOLS // 2
    frequent = classes_with_most(profile.sizes, profile.allocations, alignment, half)
    heavy = classes_with_most(profile.sizes, profile.sizes * profile.peaks, alignment, half)
    return {size: caps[size] for size in sorted({*frequent, *heavy})}
