# SPDX-License-Identifier: Apache-2.0
"""A fleet that looks its trials up in a cache; unknown ones are replayed and stored.

It gives what `_engine.FleetTrial` gives, in the same order of traces and with the same count of
events, so that a search takes the same way through both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from heapfit import _engine
from heapfit.plan.plan import Plan
from heapfit.trace.replay_cache.answers import Answers, answer_key

_NUMBERS = 3  # of an answer: whether it runs, its reach, its events
_LARGEST = 1 << 63


@dataclass
class CachedFleet:
    """Traces that a plan has to serve, each on its own heap."""

    arrays: Sequence[_engine.EventArray]
    contents: Sequence[str]  # hash of each
    answers: Answers
    hardest_first: list[int] = field(init=False)  # the one that was refused last, and so on

    def __post_init__(self) -> None:
        self.hardest_first = list(range(len(self.arrays)))

    def trial(self, plan: Plan, base_alignment: int) -> CachedFleetTrial:
        """The trial of a plan on heaps whose start is aligned to `base_alignment`."""
        return CachedFleetTrial(self, plan.engine(), repr(plan), base_alignment)


@dataclass(frozen=True)
class CachedFleetTrial:
    """Shows if every trace of a fleet runs in a region."""

    fleet: CachedFleet
    plan: _engine.Plan
    text: str  # that identifies the plan
    base_alignment: int

    @property
    def smallest_region(self) -> int:
        """The smallest region, in bytes, that the plan accepts."""
        return self.plan.smallest_region

    def region_for(self, reach: int) -> int:
        """The smallest region above which all regions have room for a run with this reach."""
        return self._trace_trial(0).region_for(reach)

    def run(self, region: int) -> _engine.TrialResult:
        """Runs trace after trace up to the first that fails, which moves to the front."""
        order = self.fleet.hardest_first
        reaches, events = [], 0
        for place, number in enumerate(order):
            one = self._run_trace(number, region)
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
        """The first region in which it runs: the start, or the start doubled again and again."""
        return _engine.first_success(self.run, start, before)

    def descend(
        self,
        start: int,
        step: int,
        above: Sequence[int],
        before: Callable[[int, int], None] | None = None,
    ) -> _engine.TrialSeries:
        """Descends from `start` by `step` like `_engine.Trial.descend`."""
        return _engine.descend(self.run, start, step, above, before)

    def _run_trace(self, number: int, region: int) -> _engine.TrialResult:
        if region < self.smallest_region:
            return _engine.TrialResult(runs=False, is_region=False, reach=0, events=0)
        content = self.fleet.contents[number]
        key = answer_key("trial", self.text, self.base_alignment, region, content)
        kept = self.fleet.answers.get(key) or ()
        if len(kept) == _NUMBERS and all(0 <= number < _LARGEST for number in kept):
            runs, reach, events = kept
            return _engine.TrialResult(runs=bool(runs), is_region=True, reach=reach, events=events)
        found = self._trace_trial(number).run(region)
        if found.is_region:
            self.fleet.answers.keep(key, (found.runs, found.reach, found.events))
        return found

    def _trace_trial(self, number: int) -> _engine.Trial:
        return _engine.Trial(self.plan, self.fleet.arrays[number], self.base_alignment)
