# SPDX-License-Identifier: Apache-2.0
"""Longer runs of several memories: what they need of the first one.

The forecast is that of a heap for what needs the first memory alone (forecast/horizon.py). All else
has other memories to go to, so what it adds in the recordings is taken to stay as it is:

    first memory of a longer run  =  forecast of what needs it  +  chosen size - that of it alone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heapfit import _engine
from heapfit.forecast.extent import Integers
from heapfit.forecast.horizon import (
    FEWEST_RUNS,
    Horizon,
    LongerRuns,
    LongerRunTable,
    Refusal,
    expect_further_runs,
    expect_longer_runs,
    expect_of_services,
    refuse_growth,
    tabulate,
)
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.memories.demand import Demand
from heapfit.memories.search import Ground, InsideRule, plan_for
from heapfit.plan.plan import LARGEST_REGION
from heapfit.trace.operations import RESIZE
from heapfit.trace.profile import Profile, profile_events


@dataclass(frozen=True, slots=True)
class PlacedRuns:
    """What longer runs need of the first memory for what needs it alone."""

    expected: LongerRuns | Refusal
    kind: RecordingKind  # of what needs it in the first recording

    def tabulate(self, more: int, region: int, horizon: Horizon | None) -> LongerRunTable:
        """The forecast for `region` bytes, where the chosen rule takes `more` than these needs."""
        expected = self.expected
        widened = expected if isinstance(expected, Refusal) else expected.widen(more)
        return tabulate(widened, region, horizon=horizon, kind=self.kind)


def expect_placed_runs(ground: Ground) -> PlacedRuns:
    """What the recordings say of longer runs in the first memory."""
    first, loads = ground.memories[0], [one.loaded for one in ground.demands]
    profiles = [_profile_inside(one, first.bits) for one in ground.demands]
    kinds = [find_kind(one.trace, profile) for one, profile in zip(loads, profiles, strict=True)]
    return PlacedRuns(_expect(ground, kinds), kinds[0])


def _expect(ground: Ground, kinds: Sequence[RecordingKind]) -> LongerRuns | Refusal:
    name, bits = ground.memories[0].name, ground.memories[0].bits
    if not any(one.needs_inside(bits).any() for one in ground.demands):
        return Refusal(f"no request needs {name} alone", "")
    growing = next((one for one in kinds if one.is_growing), None)
    if growing is not None:
        return refuse_growth(growing)
    if kinds[0].kind is Kind.JOB or len(kinds) >= FEWEST_RUNS:
        return expect_further_runs([_need_of(ground, one) for one in ground.demands])

    def expect(number: int) -> LongerRuns | Refusal:
        demand = ground.demands[number]
        run = _NeedsAlone(ground, demand)
        return expect_longer_runs(run, _need_of(ground, demand), kinds[number])

    return expect_of_services([len(one.loaded.events) for one in ground.demands], 0, expect)


def describe_longer_runs(longer: LongerRunTable, region: int) -> str:
    """What runs of 10 and 100 times the length need beside the region that is set."""
    if longer.refusal is not None:
        return longer.refusal.sentence()
    needed = [(one.name, one.needed.region) for one in longer.rows[1:3] if one.needed is not None]
    texts = [f"{name} {size:,} B" for name, size in needed]
    more = any(size > region for _, size in needed)
    further = "need more, which --horizon sets" if more else "fit, too"
    return f"Longer runs {further}: {', '.join(texts)} (a chance of 1 % to run out)."


@dataclass(frozen=True, slots=True)
class _NeedsAlone:
    """A recording of which the first memory serves what needs it, and nothing else."""

    ground: Ground
    demand: Demand

    @property
    def events(self) -> _engine.EventArray:
        return self.demand.loaded.events

    def place(self, region: int) -> Integers | None:
        """The offsets in a first memory of this size; what lies elsewhere ends at 0."""
        first, *others = self.ground.memories
        size = min(region, LARGEST_REGION)
        plan = plan_for((replace(first, size=size), *others), InsideRule(), size)
        replay = plan.replay(self.demand.loaded.largest_alignment, keeps_places=True)
        if not replay.feed(self.events, self.demand.requests(plan)):
            return None
        sizes = self.demand.sizes[self.demand.asks].astype(np.int64)
        offsets = np.where(replay.numbers == 0, replay.offsets.astype(np.int64), -sizes)
        return np.asarray(offsets[sizes > 0])


def _need_of(ground: Ground, demand: Demand) -> int:
    """The least first memory for what needs it in one recording."""
    point = Ground(ground.memories, (demand,)).least(InsideRule())
    assert point is not None, "all recordings together have one"
    return point.size


def _profile_inside(demand: Demand, bits: int) -> Profile:
    """The profile of what needs the first memory, over all events of the recording.

    All else has no bytes; of a resize one, since one to none is a free.
    """
    inside, ops = demand.needs_inside(bits), demand.loaded.events.ops()
    others = (demand.asks & (ops == RESIZE)).astype(np.uint64)
    events = _engine.EventArray()
    events.append(ops, demand.loaded.events.objects(), np.where(inside, demand.sizes, others))
    return profile_events(events)
