# SPDX-License-Identifier: Apache-2.0
"""Trials of plans that differ in the classes cut from the end of the top, none replayed twice.

Two plans of one layout do the same in one region until a request of a class that they cut from
different ends. If one of them ends before that, the other ends likewise:

    events     0 ----------------------x          the first plan runs out of memory here
    classes      3  7  4  3  7  3  4   |  9       the second differs from it in class 9 alone

Of a fleet, or where call sites decide, only the same plan is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.placement.class_lifetimes import CLASSES, classes_of_sizes
from heapfit.plan.plan import Plan
from heapfit.sweep.lookahead import Ahead
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Integers, is_end

TRIALS = ("trials",)  # among what is found of a trace
_HIGH = ("high_0", "high_1")
_WORTH_THREADS = 30_000  # events: a shorter replay costs less than a thread does
_Key: TypeAlias = tuple[str, int, int]  # layout, classes cut from the end, region


class TrialCache:
    """The results of trials on one trace or fleet; with it they are kept, for plans made again."""

    def __init__(self, loaded: LoadedTrace) -> None:
        threads = loaded.threads if len(loaded.events) >= _WORTH_THREADS else 1
        self._loaded = loaded
        self._ahead: Ahead[_Key, _engine.TrialResult] = Ahead(threads)
        # By layout and region: classes cut from the end, those asked for until its end, result.
        self._known: dict[tuple[str, int], list[tuple[int, int, _engine.TrialResult]]]
        self._known = loaded.found.setdefault(TRIALS, {})
        self._first: dict[str, Integers] = {}  # the event that first asks for each class

    @property
    def following(self) -> int:
        """How many of the following plans to announce; 0: one thread tries all."""
        return self._ahead.following

    def expect(self, plans: Sequence[Plan], region: int) -> None:
        """Announces the plans that are tried next in this region, unless something changes."""
        unknown = [plan for plan in plans if self.find(plan, region) is None]
        replays = {_key(plan, region): partial(self._replay, plan, region) for plan in unknown}
        self._ahead.expect(replays)

    def run(self, plan: Plan, region: int) -> _engine.TrialResult:
        """Replays up to the first request that fails, unless the result is known."""
        found = self.find(plan, region)
        if found is not None:
            return _engine.TrialResult(
                runs=found.runs,
                is_region=found.is_region,
                reach=found.reach,
                events=found.events,
                known=found.events,
            )
        result = self._ahead.result(_key(plan, region), partial(self._replay, plan, region))
        self._note(plan, region, result)
        return result

    def _replay(self, plan: Plan, region: int) -> _engine.TrialResult:
        return self._loaded.trial(plan).run(region)

    def close(self) -> None:
        """Stops the replays that were started ahead."""
        self._ahead.close()

    def find(self, plan: Plan, region: int) -> _engine.TrialResult | None:
        """The known result of a plan in a region; None if it has to be replayed."""
        known, own = self._known.get((_layout_of(plan), region), ()), _high_of(plan)
        alike = (result for high, classes, result in known if (high ^ own) & classes == 0)
        return next(alike, None)

    def _note(self, plan: Plan, region: int, result: _engine.TrialResult) -> None:
        layout, asked = _layout_of(plan), -1  # all classes
        if self._loaded.fleet is None and not plan.sites:
            if layout not in self._first:
                sizes, events = _first_requests(self._loaded)
                self._first[layout] = np.full(CLASSES, np.iinfo(np.int64).max)
                np.minimum.at(self._first[layout], classes_of_sizes(sizes, plan), events)
            until = np.flatnonzero(self._first[layout] <= result.events).tolist()
            asked = sum(1 << size_class for size_class in until)
        self._known.setdefault((layout, region), []).append((_high_of(plan), asked, result))


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
    return f"{plan.allocator} {sorted(scalars.items())} {sorted(plan.sites.items())}"


def _high_of(plan: Plan) -> int:
    return plan.scalars.get("high_0", 0) | plan.scalars.get("high_1", 0) << 32
