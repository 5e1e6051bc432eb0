# SPDX-License-Identifier: Apache-2.0
"""A fleet of which trials are known from before: those that are not are replayed, and kept.

It tells what `_engine.FleetTrial` tells, in the same order of traces and with the same count of
events, so that a search takes the same way through both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.replay_cache.answers import Answers, key_of

_NUMBERS = 3  # of an answer: whether it runs, its reach, its events
_LARGEST = 1 << 63


@dataclass
class KeptFleet:
    """Traces that a plan has to serve, each on its own heap."""

    arrays: Sequence[_engine.EventArray]
    contents: Sequence[str]  # hash of each
    answers: Answers
    hardest_first: list[int] = field(init=False)  # the one that was refused last, and so on

    def __post_init__(self) -> None:
        self.hardest_first = list(range(len(self.arrays)))

    def trial(self, plan: Plan, base_alignment: int) -> KeptFleetTrial:
        """Of a plan on heaps that begin as `base_alignment` asks."""
        return KeptFleetTrial(self, plan.engine(), repr(plan), base_alignment)


@dataclass(frozen=True)
class KeptFleetTrial:
    """Does every trace of a fleet run in a region?"""

    fleet: KeptFleet
    plan: _engine.Plan
    text: str  # that tells the plan
    base_alignment: int

    @property
    def smallest_region(self) -> int:
        """Bytes; the plan takes no less."""
        return self.plan.smallest_region

    def region_for(self, reach: int) -> int:
        """The smallest region above which all have room for such a run."""
        return self._alone(0).region_for(reach)

    def run(self, region: int) -> _engine.TrialResult:
        """One trace after the other, up to the first that is refused, which goes to the front."""
        order = self.fleet.hardest_first
        reaches, events = [], 0
        for place, number in enumerate(order):
            one = self._known(number, region)
            reaches.append(one.reach)
            events += one.events
            if not one.runs:
                order.insert(0, order.pop(place))
                break
        reach = max(reaches) if all(reaches) else 0
        return _engine.TrialResult(
            runs=one.runs, is_region=one.is_region, reach=reach, events=events
        )

    def first_success(
        self, start: int, before: Callable[[int, int], None] | None = None
    ) -> _engine.TrialSeries:
        """The start, or the first size of it doubled, doubled again ... in which it runs."""
        return _engine.first_success(self.run, start, before)

    def descend(
        self,
        start: int,
        step: int,
        above: Sequence[int],
        before: Callable[[int, int], None] | None = None,
    ) -> _engine.TrialSeries:
        """As that of `_engine.Trial`."""
        return _engine.descend(self.run, start, step, above, before)

    def _known(self, number: int, region: int) -> _engine.TrialResult:
        if region < self.smallest_region:
            return _engine.TrialResult(runs=False, is_region=False, reach=0, events=0)
        content = self.fleet.contents[number]
        key = key_of("trial", self.text, self.base_alignment, region, content)
        kept = self.fleet.answers.get(key) or ()
        if len(kept) == _NUMBERS and all(0 <= number < _LARGEST for number in kept):
            runs, reach, events = kept
            return _engine.TrialResult(runs=bool(runs), is_region=True, reach=reach, events=events)
        found = self._alone(number).run(region)
        if found.is_region:
            self.fleet.answers.keep(key, (found.runs, found.reach, found.events))
        return found

    def _alone(self, number: int) -> _engine.Trial:
        return _engine.Trial(self.plan, self.fleet.arrays[number], self.base_alignment)
