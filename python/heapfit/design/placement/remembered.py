# SPDX-License-Identifier: Apache-2.0
"""Trials of plans that differ in the classes cut from the end of the top, none replayed twice.

Two plans of one layout do the same in one region until a request of a class that they cut from
different ends. If one of them ends before that, the other ends likewise:

    events     0 ----------------------x          the first plan runs out of memory here
    classes      3  7  4  3  7  3  4   |  9       the second differs from it in class 9 alone
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.placement.class_lifetimes import classes_of_sizes
from heapfit.plan.plan import Plan
from heapfit.sweep.lookahead import Ahead
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_end

_HIGH = ("high_0", "high_1")
_WORTH_THREADS = 30_000  # events: a shorter replay costs less than a thread does
_Key: TypeAlias = tuple[str, int, int]  # layout, classes cut from the end, region


class _Known(NamedTuple):
    """The result of a plan's replay, and the classes of all requests until its end."""

    high: int
    classes: int
    result: _engine.TrialResult


class TrialCache:
    """The results of trials on one trace, of plans that place blocks by size alone."""

    def __init__(self, loaded: LoadedTrace) -> None:
        threads = loaded.threads if len(loaded.events) >= _WORTH_THREADS else 1
        self._loaded = loaded
        self._ahead: Ahead[_Key, _engine.TrialResult] = Ahead(threads)
        self._known: dict[tuple[str, int], list[_Known]] = {}
        self._first: dict[str, list[tuple[int, int]]] = {}

    def trial(self, plan: Plan) -> CachedTrial:
        """A trial of a plan that shares no heap and knows no call sites."""
        return CachedTrial(self, plan, self._make_trial(plan))

    def _make_trial(self, plan: Plan) -> _engine.Trial:
        base = self._loaded.trace.largest_alignment
        return _engine.Trial(plan.engine(), self._loaded.events, base)

    @property
    def following(self) -> int:
        """How many of the following plans to announce; 0: one thread tries all."""
        return self._ahead.following

    def expect(self, plans: Sequence[Plan], region: int) -> None:
        """Announces the plans that are tried next in this region, unless something changes."""
        unknown = [plan for plan in plans if self.find(plan, region) is None]
        replays = {_key(plan, region): partial(self._replay, plan, region) for plan in unknown}
        self._ahead.expect(replays)

    def replay(self, plan: Plan, region: int) -> _engine.TrialResult:
        """The result of a replay, which is added to the known ones."""
        replay = partial(self._replay, plan, region)
        result = self._ahead.result(_key(plan, region), replay)
        self._note(plan, region, result)
        return result

    def _replay(self, plan: Plan, region: int) -> _engine.TrialResult:
        return self._make_trial(plan).run(region)

    def close(self) -> None:
        """Stops the replays that were started ahead."""
        self._ahead.close()

    def find(self, plan: Plan, region: int) -> _engine.TrialResult | None:
        """The known result of a plan in a region; None if it has to be replayed."""
        high = _high_of(plan)
        for known in self._known.get((_layout_of(plan), region), ()):
            if (known.high ^ high) & known.classes == 0:
                return known.result
        return None

    def _note(self, plan: Plan, region: int, result: _engine.TrialResult) -> None:
        layout = _layout_of(plan)
        if layout not in self._first:
            self._first[layout] = self._first_of(plan)
        classes = sum(1 << one for one, first in self._first[layout] if first <= result.events)
        known = _Known(_high_of(plan), classes, result)
        self._known.setdefault((layout, region), []).append(known)

    def _first_of(self, plan: Plan) -> list[tuple[int, int]]:
        """Each class with the first event that asks for it."""
        sizes, events = _first_requests(self._loaded)
        first: dict[int, int] = {}
        for of_size, event in zip(classes_of_sizes(sizes, plan).tolist(), events, strict=True):
            first[of_size] = min(first.get(of_size, event), event)
        return list(first.items())


@dataclass(frozen=True)
class CachedTrial:
    """A trial like `_engine.Trial` that does not replay what is known."""

    cache: TrialCache
    plan: Plan
    uncached: _engine.Trial = field(repr=False)

    @property
    def smallest_region(self) -> int:
        """The smallest region that the plan takes, in bytes."""
        return self.uncached.smallest_region

    def region_for(self, reach: int) -> int:
        """The smallest region from which all larger ones have room for a run of this reach."""
        return self.uncached.region_for(reach)

    def run(self, region: int) -> _engine.TrialResult:
        """Replays up to the first request that fails, unless the result is known."""
        found = self.cache.find(self.plan, region)
        if found is not None:
            return _engine.TrialResult(
                runs=found.runs,
                is_region=found.is_region,
                reach=found.reach,
                events=found.events,
                known=found.events,
            )
        return self.cache.replay(self.plan, region)

    def first_success(
        self, start: int, before: Callable[[int, int], None] | None = None
    ) -> _engine.TrialSeries:
        """The first region in which the plan runs, of the start, its double, and so on."""
        return self.uncached.first_success(start, before)

    def descend(
        self,
        start: int,
        step: int,
        above: Sequence[int],
        before: Callable[[int, int], None] | None = None,
    ) -> _engine.TrialSeries:
        """Searches downwards from the start, by steps that double and then halve to `step`."""
        return self.uncached.descend(start, step, above, before)


def _first_requests(loaded: LoadedTrace) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """Each size, with the first event that asks for it."""
    sizes = loaded.events.sizes()
    starts = np.flatnonzero(~is_end(loaded.events.ops(), sizes))
    distinct, first = np.unique(sizes[starts], return_index=True)
    return distinct, starts[first]


def _key(plan: Plan, region: int) -> _Key:
    return _layout_of(plan), _high_of(plan), region


def _layout_of(plan: Plan) -> str:
    """A plan without its classes cut from the end, but with the fact that some are."""
    scalars = {name: value for name, value in plan.scalars.items() if name not in _HIGH}
    return f"{plan.allocator} {sorted(scalars.items())}"


def _high_of(plan: Plan) -> int:
    return plan.scalars.get("high_0", 0) | plan.scalars.get("high_1", 0) << 32
