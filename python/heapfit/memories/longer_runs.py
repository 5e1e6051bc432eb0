# SPDX-License-Identifier: Apache-2.0
"""Longer runs of several memories: what they need of the first one.

The forecast is that of a heap for what needs the first memory alone (forecast/horizon.py). All else
has other memories to go to, so what it adds in the recordings is taken to stay as it is:

    first memory of a longer run  =  forecast of what needs it  +  chosen size - that of it alone
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heapfit import _engine
from heapfit.forecast.extent import Integers
from heapfit.forecast.horizon import (
    FEWEST_RUNS,
    LongerRuns,
    LongerRunTable,
    Refusal,
    expect_further_runs,
    expect_longer_runs,
    join_runs,
    list_rows,
)
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.memories.demand import Demand
from heapfit.memories.search import Ground, InsideRule, plan_for
from heapfit.plan.plan import LARGEST_REGION
from heapfit.trace.operations import RESIZE
from heapfit.trace.profile import Profile, profile_events

_ALIKE = 2.0  # times as long, at most, are recordings whose windows are joined


def forecast_longer_runs(ground: Ground, more: int, region: int) -> LongerRunTable:
    """The forecast for a first memory of `region` bytes.

    `more`: bytes that the chosen rule takes beyond what needs the memory alone.
    """
    bits = ground.memories[0].bits
    if not any(one.needs_inside(bits).any() for one in ground.demands):
        nobody = Refusal(f"no request needs {ground.memories[0].name} alone", "")
        return LongerRunTable((), nobody, "", 0)
    kinds = [find_kind(one.loaded.trace, _profile_inside(one, bits)) for one in ground.demands]
    is_job = kinds[0].kind is Kind.JOB or len(kinds) >= FEWEST_RUNS
    if any(one.is_growing for one in kinds):
        runs: LongerRuns | Refusal = Refusal("the recording grows", "find what grows")
    elif is_job:
        runs = expect_further_runs([_need_of(ground, one) for one in ground.demands])
    else:
        runs = _expect_of_services(ground, kinds)
    if isinstance(runs, Refusal):
        return LongerRunTable((), runs, "", 0)
    basis = f"{len(runs.maxima)} {'runs' if is_job else 'windows'}"
    rows = list_rows(runs.convert_regions(lambda size: size + more), region, is_job=is_job)
    return LongerRunTable(tuple(rows), None, basis, 0)


def describe_longer_runs(longer: LongerRunTable) -> str:
    """What runs of 10 and 100 times the length need, in a sentence."""
    if longer.refusal is not None:
        return f"Longer runs: unknown, as {longer.refusal.reason}."
    needed = [(one.name, one.needed) for one in longer.rows[1:] if one.needed is not None]
    texts = [f"{name} {forecast.region:,} B" for name, forecast in needed]
    return f"Longer runs, 1 % run out: {', '.join(texts)}."


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


def _expect_of_services(ground: Ground, kinds: list[RecordingKind]) -> LongerRuns | Refusal:
    """What is expected by the windows of all services about as long as the first."""
    found: list[LongerRuns] = []
    events = len(ground.demands[0].loaded.events)
    for demand, kind in zip(ground.demands, kinds, strict=True):
        if 1 / _ALIKE <= len(demand.loaded.events) / events <= _ALIKE:
            run = _NeedsAlone(ground, demand)
            one = expect_longer_runs(run, _need_of(ground, demand), kind)
            if isinstance(one, LongerRuns):
                found.append(one)
            elif demand is ground.demands[0]:
                return one
    return join_runs(found)


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
