# SPDX-License-Identifier: Apache-2.0
"""Trials of plans that differ in which classes are cut from the end of the top, none twice.

Two plans of one layout do the same in one region until a request of a class that they cut from
different ends. If what one of them came to was known before that, the other comes to the same:

    events     0 ----------------------x          the first plan is refused here
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
_WORTH_THREADS = 30_000  # events: shorter replays take less than to hand them over
_Key: TypeAlias = tuple[str, int, int]  # layout, classes cut from the end, region


class _Known(NamedTuple):
    """What a plan came to, and the classes of all requests until then."""

    high: int
    classes: int
    result: _engine.TrialResult


class Remembered:
    """What trials of one trace came to, of plans whose classes are known by size alone."""

    def __init__(self, loaded: LoadedTrace) -> None:
        threads = loaded.threads if len(loaded.events) >= _WORTH_THREADS else 1
        self._loaded = loaded
        self._ahead: Ahead[_Key, _engine.TrialResult] = Ahead(threads)
        self._known: dict[tuple[str, int], list[_Known]] = {}
        self._first: dict[str, list[tuple[int, int]]] = {}

    def trial(self, plan: Plan) -> RememberedTrial:
        """Of a plan that shares no heap and knows no call sites."""
        return RememberedTrial(self, plan, self._alone(plan))

    def _alone(self, plan: Plan) -> _engine.Trial:
        base = self._loaded.trace.largest_alignment
        return _engine.Trial(plan.engine(), self._loaded.events, base)

    @property
    def following(self) -> int:
        """How many of the plans that come next are worth telling; 0: one thread tries them."""
        return self._ahead.following

    def expect(self, plans: Sequence[Plan], region: int) -> None:
        """These are tried next in this region, unless something changes."""
        unknown = [one for one in plans if self.find(one, region) is None]
        replays = {_key(one, region): partial(self._replay, one, region) for one in unknown}
        self._ahead.expect(replays)

    def replayed(self, plan: Plan, region: int) -> _engine.TrialResult:
        """Noted."""
        replay = partial(self._replay, plan, region)
        result = self._ahead.result(_key(plan, region), replay)
        self._note(plan, region, result)
        return result

    def _replay(self, plan: Plan, region: int) -> _engine.TrialResult:
        return self._alone(plan).run(region)

    def close(self) -> None:
        """Ends what was begun ahead."""
        self._ahead.close()

    def find(self, plan: Plan, region: int) -> _engine.TrialResult | None:
        """What is known of it."""
        high = _high_of(plan)
        for one in self._known.get((_layout_of(plan), region), ()):
            if (one.high ^ high) & one.classes == 0:
                return one.result
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
class RememberedTrial:
    """As `_engine.Trial`."""

    remembered: Remembered
    plan: Plan
    alone: _engine.Trial = field(repr=False)

    @property
    def smallest_region(self) -> int:
        """Bytes; the plan takes no less."""
        return self.alone.smallest_region

    def region_for(self, reach: int) -> int:
        """The smallest region above which all have room for such a run."""
        return self.alone.region_for(reach)

    def run(self, region: int) -> _engine.TrialResult:
        """One replay, up to the first refusal, unless it is known."""
        found = self.remembered.find(self.plan, region)
        if found is not None:
            return _engine.TrialResult(
                runs=found.runs,
                is_region=found.is_region,
                reach=found.reach,
                events=found.events,
                known=found.events,
            )
        return self.remembered.replayed(self.plan, region)

    def first_success(
        self, start: int, before: Callable[[int, int], None] | None = None
    ) -> _engine.TrialSeries:
        """The start, or the first size of it doubled, doubled again ... in which it runs."""
        return self.alone.first_success(start, before)

    def descend(
        self,
        start: int,
        step: int,
        above: Sequence[int],
        before: Callable[[int, int], None] | None = None,
    ) -> _engine.TrialSeries:
        """From the start down, by steps that double and then halve to `step`."""
        return self.alone.descend(start, step, above, before)


def _first_requests(loaded: LoadedTrace) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """Each size, with the first event that asks for it."""
    sizes = loaded.events.sizes()
    starts = np.flatnonzero(~is_end(loaded.events.ops(), sizes))
    distinct, first = np.unique(sizes[starts], return_index=True)
    return distinct, starts[first]


def _key(plan: Plan, region: int) -> _Key:
    return _layout_of(plan), _high_of(plan), region


def _layout_of(plan: Plan) -> str:
    """All of a plan but which classes are cut from the end; whether some are is part of it."""
    scalars = {name: value for name, value in plan.scalars.items() if name not in _HIGH}
    return f"{plan.allocator} {sorted(scalars.items())}"


def _high_of(plan: Plan) -> int:
    return plan.scalars.get("high_0", 0) | plan.scalars.get("high_1", 0) << 32
