# SPDX-License-Identifier: Apache-2.0
"""Learns, by replaying, from which end of the top `tailored` cuts each size class.

Blocks that come and go leave holes between those that stay. Cut from different ends of the top
they do not mix:

    +---------+--------------------+-------------+------------------+
    | control | blocks that stay   | ->  top  <- | come and go      |
    +---------+--------------------+-------------+------------------+

Which classes go together is guessed from their lifetimes, every guess replayed; a hill climb then
turns single classes over, and several at a time. A plan is replayed in a region just below the best
so far, where most fail early; what is known of a plan counts as if it had been replayed, so that
the same plans are tried. Everything is bounded in replayed events, and seeded.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeVar

from heapfit import _engine
from heapfit.design.placement.class_lifetimes import class_lifetimes, guesses
from heapfit.design.placement.remembered import TrialCache
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import round_up
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep.lookahead import with_following
from heapfit.trace.blocks import blocks_of
from heapfit.trace.excerpt import shorten
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import RESIZE

T = TypeVar("T")

TAG_BITS = 64
_STEP = "learn placement"

# Settings of the search. From decision 13:
TRACES = 200  # the work by default: so many times all events are replayed
_ABOVE = (300, 150, 75, 40, 20)  # parts of U_max above the smallest region that have to serve, too
# Of its first version, which 0013 measures; no other value was measured alone:
LEAST_EVENTS = 5_000_000  # of the work
_MISSES = 250  # tries in a row without a gain end it
# A climb ends when, after its first pass, so much work saved less than so small a part of U_max:
# decision 13.
_PATIENCE = 30  # times all events; with 50 one of 16 recordings got 0.04 % less, 20 cost one 0.7 %
_LEAST_PATIENCE = 250_000  # events
_MOST_PATIENCE = 5_000_000
_PAYS = 1000
_OVERHEAD = 1000  # events' worth of making a heap
_NEAR = 20  # a layout is skipped that needs more than the best and U_max over this
_REFINED = 3  # guesses
_LAYOUT_SAVES = 500  # another layout's guess has to save U_max over this
GUESSED_ON = 100_000  # events of an excerpt, about: where that is less than half of all
_FINEST = 2000  # what a change has to save is U_max over this


@dataclass(frozen=True, slots=True)
class PlacedLayout:
    """A layout, the classes cut from the end of its top, and the region in which it serves.

    If the layout knows call sites, bits from TAG_BITS on are those of their tags.
    """

    layout: Plan
    high: int  # bits
    region: int  # bytes

    @classmethod
    def of_plan(cls, plan: Plan) -> PlacedLayout:
        """What a plan without call sites and shared heap says; its region is not known."""
        kept = dict(plan.scalars)
        high = kept.pop("high_0", 0) | kept.pop("high_1", 0) << 32
        kept.pop("ends", None)
        return cls(replace(plan, scalars=kept), high, 0)

    @property
    def plan(self) -> Plan:
        """The plan; with one end if no class is cut from the other."""
        if self.high == 0:
            return self.layout
        words = {"high_0": self.high & 0xFFFFFFFF, "high_1": self.high >> 32 & 0xFFFFFFFF}
        if self.layout.sites:
            words["tag_high"] = self.high >> TAG_BITS
        return replace(self.layout, scalars={**self.layout.scalars, "ends": 2, **words})


@dataclass(frozen=True, slots=True)
class LearnedPlacement:
    """The result of learning, step by step; each step has the best layout until then."""

    plain: PlacedLayout  # the layout that serves best as it is
    by_lifetime: PlacedLayout
    climbed: PlacedLayout
    tried: int  # plans
    replayed: int  # events


def learn_placement(
    loaded: LoadedTrace,
    layouts: Sequence[Plan],
    *,
    most_events: int,
    seed: int = 1,
    progress: Progress = ignore_progress,
    climbs: bool = True,
) -> LearnedPlacement | None:
    """The best of `layouts`, all tried, and of what `most_events` replayed events find from there.

    Single classes are turned over if it `climbs`. None if no layout serves the trace.
    """
    with closing(PlacementSearch(loaded, most_events, seed, progress)) as search:
        found = search.run(layouts, climbs=climbs)
    progress(_STEP, 1.0)
    return found


class PlacementSearch:
    """The best placement so far and the work left."""

    def __init__(
        self, loaded: LoadedTrace, most_events: int, seed: int, progress: Progress
    ) -> None:
        self.best: PlacedLayout | None = None
        self.tried = 0
        self.replayed = 0  # events
        self._loaded = loaded
        self._resizes = bool((loaded.events.ops() == RESIZE).any())
        self._cache = TrialCache(loaded)
        self._most_events = max(most_events, 1)
        self._events_left = most_events
        self._seed = seed
        self._random = random.Random(seed)
        self._progress = progress
        self._grain = max(loaded.profile.u_max // _FINEST // _engine.REGION_UNIT, 1)
        self._grain *= _engine.REGION_UNIT
        self._above = [
            round_up(loaded.profile.u_max // part, _engine.REGION_UNIT) for part in _ABOVE
        ]
        self._misses = 0
        self._marked: tuple[int, int] | None = None  # events left and region, see _pays

    def run(self, layouts: Sequence[Plan], *, climbs: bool) -> LearnedPlacement | None:
        """Learns the ends of size classes, starting from plain layouts; None if none serves."""
        for layout in layouts:
            self._try(layout, 0)
        plain = self.best
        if plain is None:
            return None
        by_lifetime = plain
        if self._has_work():
            for placing in self._guess(plain, layouts):
                if self._has_work() and self._refine(placing):
                    by_lifetime = self.best or plain
            if climbs:
                layout = (self.best or plain).layout
                self._climb(class_lifetimes(blocks_of(self._loaded), layout)[0])
        return LearnedPlacement(plain, by_lifetime, self.best or plain, self.tried, self.replayed)

    def _guess(self, best: PlacedLayout, layouts: Sequence[Plan]) -> list[PlacedLayout]:
        """The guesses to refine: of the layouts that need little more than the best.

        Of a long recording they are what an excerpt of it learns.
        """
        short = None if self._loaded.fleet else shorten(self._loaded, GUESSED_ON)
        if short is not None:
            return self._learn_on(short, layouts)
        blocks = blocks_of(self._loaded)
        limit = round_up(best.region + self._loaded.profile.u_max // _NEAR, _engine.REGION_UNIT)
        near = [layout for layout in layouts if self._run(layout, limit).runs]
        self.tried += len(layouts)
        placings = [
            PlacedLayout(layout, high, 0)
            for layout in near
            for high in guesses(*class_lifetimes(blocks, layout))
        ]
        return _first_of_each(self._select_improving(placings))

    def _learn_on(self, short: LoadedTrace, layouts: Sequence[Plan]) -> list[PlacedLayout]:
        """The plans that were learned on an excerpt, to be tried on the whole."""
        most = max(TRACES * len(short.events), LEAST_EVENTS)
        with closing(PlacementSearch(short, most, self._seed, self._progress)) as search:
            found = search.run(layouts, climbs=True)
        self.tried += search.tried
        self.replayed += search.replayed
        self._events_left -= search.replayed
        learned = [] if found is None else [found.climbed, found.by_lifetime]
        return [replace(one, region=0) for one in learned if one.high]

    def close(self) -> None:
        """Stops the replays that were started ahead."""
        self._cache.close()

    def _select_improving(self, placings: Sequence[PlacedLayout]) -> list[PlacedLayout]:
        """The guesses that serve in less than all before them, the least first.

        Each is replayed once, where it has to be better; one that serves there shows the region
        that the next has to do without.
        """
        least: list[PlacedLayout] = []
        region = self.best.region if self.best is not None else 0
        kept = self._events_left * 2 // 5  # of the work, to refine and climb
        for next_ones in self._with_following(placings):
            one = next_ones[0]
            if self._events_left <= kept:
                break
            self.tried += 1
            self._expect([each.plan for each in next_ones], region - self._grain)
            served = self._probe(one.plan, region - self._grain)
            if served is not None:
                region = served
                least.insert(0, one)
        return least

    def _refine(self, placing: PlacedLayout) -> bool:
        """Tries a guess; one of another layout than the best's has to save what others notice."""
        before = self.best
        if not self._try(placing.layout, placing.high):
            return False
        enough = self._loaded.profile.u_max // _LAYOUT_SAVES
        is_other = before is not None and placing.layout != before.layout
        if is_other and before and self.best and before.region - self.best.region < enough:
            self.best = before
        return self.best is not before

    def _climb(self, classes: Sequence[int]) -> None:
        """Turns over each class by itself until none helps, then several at a time."""
        has_gained = True
        while has_gained:
            has_gained = False
            order = [1 << size_class for size_class in self._random.sample(classes, len(classes))]
            for next_ones in self._with_following(order):
                has_gained |= self._turn_over(next_ones)
            if self._marked is None:
                self._mark()
        some = iter(lambda: self._draw_classes(classes), None)
        for next_ones in self._with_following(some):
            if not self._has_work():
                return
            self._turn_over(next_ones)

    def _turn_over(self, next_ones: Sequence[int]) -> bool:
        """Tries the best with the first of these sets of classes at the other end."""
        best = self.best
        assert best is not None
        if not self._has_work():
            return False
        turned = [replace(best, high=best.high ^ classes) for classes in next_ones]
        self._expect([placing.plan for placing in turned], best.region - self._grain)
        return self._try(best.layout, turned[0].high)

    def _with_following(self, items: Iterable[T]) -> Iterator[list[T]]:
        """Each item with the following ones that may be replayed ahead."""
        return with_following(items, self._cache.following)

    def _expect(self, plans: Sequence[Plan], region: int) -> None:
        """Announces plans: the first is tried now, the others next unless it is better."""
        is_by_size = self._loaded.fleet is None and not any(plan.sites for plan in plans)
        if self._cache.following > 0 and is_by_size:
            self._cache.expect(plans, region)

    def _draw_classes(self, classes: Sequence[int]) -> int:
        """A random set of classes: two or three, or a few neighbours."""
        count = self._random.randrange(2, 6)
        if self._random.random() < 0.5:
            first = self._random.randrange(len(classes))
            return sum(1 << size_class for size_class in classes[first : first + count])
        return sum(1 << one for one in self._random.sample(classes, min(count, 3, len(classes))))

    def _has_work(self) -> bool:
        return self._events_left > 0 and self._misses < _MISSES and self._pays()

    def _mark(self) -> None:
        """Begins a stretch of work, at whose end `_pays` looks at what it saved."""
        self._marked = self._events_left, 0 if self.best is None else self.best.region

    def _pays(self) -> bool:
        """True unless a stretch of work has ended and saved too little."""
        if self._marked is None or self.best is None:
            return True
        before, region = self._marked
        patience = min(_PATIENCE * len(self._loaded.events), _MOST_PATIENCE)
        if before - self._events_left < max(patience, _LEAST_PATIENCE):
            return True
        self._mark()
        return region - self.best.region >= self._loaded.profile.u_max / _PAYS

    def _try(self, layout: Plan, high: int) -> bool:
        """Tries a layout with these classes at the end; true if it is the best from now on."""
        self.tried += 1
        self._misses += 1
        plan = PlacedLayout(layout, high, 0).plan
        start = self._first(plan) if self.best is None else self.best.region - self._grain
        if start is None:
            return False
        region = self._probe(plan, max(start, 0), is_to_be_known=True)
        if region is None or (self.best is not None and region >= self.best.region):
            return False  # it does not serve in less than the best, or not in what is above that
        self.best = PlacedLayout(layout, high, region)
        self._misses = 0
        return True

    def _first(self, plan: Plan) -> int | None:
        """A region that serves, twice the size of one that does not."""
        trial = self._loaded.trial(plan)
        least = max(self._loaded.profile.u_max, trial.smallest_region)
        return self._charge(trial.first_success(least, self._report)).region

    def _charge(self, series: _engine.TrialSeries) -> _engine.TrialSeries:
        self.replayed += series.events
        self._events_left -= series.events + _OVERHEAD * series.replays
        return series

    def _report(self, replays: int = 0, events: int = 0) -> None:
        """Reports the share of the work done; `replays` and `events` are not charged for yet."""
        left = max(self._events_left - events - _OVERHEAD * replays, 0)
        self._progress(_STEP, 1 - left / self._most_events)

    def _probe(self, plan: Plan, region: int, *, is_to_be_known: bool = False) -> int | None:
        """The region that is enough, if `region` is enough; None if it is not.

        One run shows it for most plans. Where `is_to_be_known` it is searched for the others, and
        below what one run took: a trace that resizes may do with less, others with a few bytes
        less, by chance, which no long one is replayed for.
        """
        result = self._run(plan, region)
        if not result.runs:
            return None
        trial = self._loaded.trial(plan)
        if result.reach:
            region = min(trial.region_for(result.reach), region)
        is_told = bool(result.reach) and not self._resizes
        if not is_to_be_known or (is_told and len(self._loaded.events) >= 2 * GUESSED_ON):
            return region
        if result.reach and not self._run(plan, max(region - self._grain, 0)).runs:
            return region
        above = [] if is_told else self._above
        return self._charge(trial.descend(region, self._grain, above, self._report)).region

    def _run(self, plan: Plan, region: int) -> _engine.TrialResult:
        self._report()
        result = self._cache.run(plan, region)
        self.replayed += result.events - result.known
        self._events_left -= result.events + (_OVERHEAD if result.is_region else 0)
        return result


def _first_of_each(placings: Sequence[PlacedLayout]) -> list[PlacedLayout]:
    """The first few placings of each layout."""
    kept: list[PlacedLayout] = []
    for placing in placings:
        before = sum(placing.layout == one.layout for one in kept)
        kept += [placing] if before < _REFINED else []
    return kept
