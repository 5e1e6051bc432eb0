# SPDX-License-Identifier: Apache-2.0
"""The starts of a search for designs: budgets for sizes chosen in several ways.

Sizes are chosen by their bytes at the peak, as often as they are asked for, and by the requests
that as many blocks as pay would serve. For each choice the budgets are exact ones, as far as a
bounded search proves them, and those that price the shared heap's fragmentation.
"""

from __future__ import annotations

from collections.abc import Iterator

from heapfit import _engine
from heapfit.design.budgets.greedy_budgets import (
    FREQUENT_CLASSES,
    classes_with_most,
    frequent_classes,
    largest_classes,
    plan_from_budgets,
)
from heapfit.design.budgets.live_points import live_points
from heapfit.design.budgets.priced import price_budgets
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace

PRICES = (0.05, 0.15)  # docs/evidence/design.md
# Bounds on the work:
_WIDE = 32  # sizes that the choice by requests served looks at
_SEARCHED = 20_000_000  # of branch and bound, sizes at points: a bound that is the same everywhere
_MOST_POINTS = 20_000  # moments of the trace


def search_starts(loaded: LoadedTrace, progress: Progress = ignore_progress) -> list[Plan]:
    """The plans with budgets over `tlsf` that a search starts from; equal for equal traces."""
    plans: list[Plan] = []
    choices = [choice for choice in _choices(loaded) if choice]
    for i, sizes in enumerate(choices):
        progress("where to begin", i / len(choices))
        for counts in _budgets(loaded, sizes):
            plan = plan_from_budgets(sizes, counts, loaded.alignment)
            if plan is not None and plan not in plans:
                plans.append(plan)
    progress("where to begin", 1.0)
    return plans


def _choices(loaded: LoadedTrace) -> Iterator[list[int]]:
    yield largest_classes(loaded, FREQUENT_CLASSES)
    yield frequent_classes(loaded.profile, loaded.alignment)
    yield _sizes_with_most_hits(loaded)


def _sizes_with_most_hits(loaded: LoadedTrace) -> list[int]:
    """The sizes whose priced budgets, all together, serve most requests."""
    profile, alignment = loaded.profile, loaded.alignment
    wide = classes_with_most(profile.sizes, profile.sizes * profile.peaks, alignment, _WIDE)
    live, blocks, after = live_points(loaded.events, wide, alignment, _MOST_POINTS)
    counts = price_budgets(live, blocks, wide, PRICES[-1])
    hits = [int((seen <= count).sum()) for seen, count in zip(after, counts, strict=True)]
    order = sorted(range(len(wide)), key=lambda i: (-hits[i], wide[i]))
    return sorted(wide[i] for i in order[:FREQUENT_CLASSES] if hits[i] > 0)


def _budgets(loaded: LoadedTrace, sizes: list[int]) -> Iterator[list[int]]:
    exact = _engine.budget_points(loaded.events, sizes, loaded.alignment)
    nodes = _SEARCHED // max(len(sizes) * len(exact.slacks), 1)
    yield list(_engine.search_budgets(exact, nodes).counts)
    live, blocks, _ = live_points(loaded.events, sizes, loaded.alignment, _MOST_POINTS)
    for price in PRICES:
        yield price_budgets(live, blocks, sizes, price)
