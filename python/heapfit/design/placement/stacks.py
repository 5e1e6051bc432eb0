# SPDX-License-Identifier: Apache-2.0
"""Stacks without headers before `tailored`, for blocks that all runs need at their fullest.

A block of a stack has neither header nor marks, and leaves no hole. It costs its bytes while it is
not needed, which must not be at the peak:

    moments of a run above 0.9 U_max      P_i(t), live blocks of size S_i, then
    ------  ----      -------- ---        9  8   ...   8  8  7  8        N_i = 7,
                                                                         or fewer in another run

What is live at one run's peak may not be at another's, so one run is not enough; runs whose peaks
are far apart have too little in common. A stack stays where the least region that serves all runs
is smaller with it than without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from heapfit.design.budgets import greedy_budgets
from heapfit.design.budgets.live_points import live_points
from heapfit.design.placement.learned import PlacedLayout, PlacementSearch
from heapfit.plan.plan import Plan, Pool
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import sum_by_block

# Settings of the search. From decision 15:
MOST_STACKS = 16
MOST_APART = 1.3  # the largest U_max of the runs over the least
_FULL = 0.9  # of a run's most live bytes: from here on a run is at its fullest
_LEAST_BYTES = 100  # a stack of less than U_max over this is not tried: decision 15
# Bounds on the work, never varied:
_TRIED = 24  # sizes
_MOST_MOMENTS = 20_000  # of a run that are looked at


def stacks_obstacle(runs: Sequence[LoadedTrace]) -> str | None:
    """The reason why no stacks can be learned from these runs; None if they can."""
    if len(runs) < 2:
        return "a single run does not show what another needs"
    peaks = [run.profile.u_max for run in runs]
    if max(peaks) > MOST_APART * min(peaks):
        apart = max(peaks) / max(min(peaks), 1)
        return f"the largest peak of the runs is {apart:.2f} times the least, above {MOST_APART}"
    return None


def learn_stacks(
    loaded: LoadedTrace,
    start: PlacedLayout,
    most_events: int,
    seed: int = 1,
    progress: Progress = ignore_progress,
) -> tuple[PlacedLayout, int]:
    """The best layout with stacks found from `start`, or `start`, and the events replayed.

    `start` serves, in its region. The runs are `loaded.runs`.
    """
    search = _StackSearch(loaded, most_events, seed, progress)
    stacks = common_stacks(loaded.runs, start.layout.scalars["alignment"])
    least = loaded.profile.u_max // _LEAST_BYTES
    found = search.run_from(start, [stack for stack in stacks if stack.size * stack.count >= least])
    return found, search.replayed


def common_stacks(runs: Sequence[LoadedTrace], alignment: int) -> list[Pool]:
    """The stacks of blocks that all runs need at their fullest, most bytes first."""
    sizes = _common_sizes(runs, alignment)
    each = [_least_live(run, sizes, alignment) for run in runs]
    pools = [Pool(size, min(counts), True) for size, *counts in zip(sizes, *each, strict=True)]
    order = sorted(pools, key=lambda pool: (-pool.size * pool.count, pool.size))
    return [pool for pool in order if pool.count > 0]


def with_stacks(layout: Plan, stacks: Sequence[Pool]) -> Plan:
    """The plan with these stacks before a heap of this layout."""
    if not stacks:
        return layout
    pools = tuple(sorted(stacks, key=lambda pool: pool.size))
    return Plan(greedy_budgets.ALLOCATOR, {"alignment": layout.scalars["alignment"]}, pools, layout)


class _StackSearch(PlacementSearch):
    """A search that adds stacks one by one."""

    def run_from(self, start: PlacedLayout, stacks: Sequence[Pool]) -> PlacedLayout:
        """Adds each stack with which one replay needs less, then measures them together."""
        best, kept = start, list[Pool]()
        for stack in stacks:
            if len(kept) == MOST_STACKS or not self._has_work():
                break
            one = PlacedLayout(with_stacks(start.layout, [*kept, stack]), start.high, 0)
            region = self._probe(one.plan, best.region - self._grain)
            if region is not None:
                kept.append(stack)
                best = replace(one, region=region)
        if not kept:
            return start
        # A trace that resizes may do with less than one run took.
        region = self._probe(best.plan, best.region, is_to_be_known=True)
        return replace(best, region=region or best.region)


def _common_sizes(runs: Sequence[LoadedTrace], alignment: int) -> list[int]:
    """The sizes with most bytes at every run's peak, by the run with least; ascending."""
    common: Counter[int] | None = None
    for run in runs:
        sizes, counts = run.live_at_peak()
        blocks, (totals,) = sum_by_block(sizes, alignment, counts)
        live = Counter(dict(zip(blocks.tolist(), totals.tolist(), strict=True)))
        common = live if common is None else common & live
    stacked = {size: size * count for size, count in (common or {}).items()}
    order = sorted(stacked, key=lambda size: (-stacked[size], size))
    return sorted(order[:_TRIED])


def _least_live(run: LoadedTrace, sizes: Sequence[int], alignment: int) -> list[int]:
    """The fewest live blocks of each size while the run is at its fullest."""
    live, blocks = live_points(run.events, sizes, alignment, _MOST_MOMENTS)
    is_full = live >= _FULL * live.max(initial=0)
    return [int(count) for count in blocks[is_full].min(axis=0)]
