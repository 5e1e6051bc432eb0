# SPDX-License-Identifier: Apache-2.0
"""Changed programs in several memories: the first memory they need, and the share it then serves.

    first memory to set  x  peak of the changed program / peak      one joint replay of each

As for one heap (comparison/changed_programs.py), but that peaks are of what needs the first memory,
that a request needs what it needed whatever its size becomes, and that only a refusal is a failure:
a smaller share is printed. The other memories have twice their size, since they are not searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedRuns, confirm_changes, try_changes
from heapfit.comparison.incumbents.requests import Requests
from heapfit.comparison.margin import HeapSize
from heapfit.memories.demand import RecordingRequests, live_after
from heapfit.memories.search import FoundRule, InsideRule, MemorySearch, plan_for
from heapfit.plan.memories import MemoriesPlan
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.trace.operations import REPLAYED, find_next_events, is_end
from heapfit.workloads.changes import Change, Columns, change_sizes, rank_sizes


@dataclass(frozen=True, slots=True)
class PlacedChanges:
    """What changed programs need of a first memory, and the least share that it serves of one."""

    test: ChangeTest
    share: float  # of requests
    worst: str  # the change that it is of; "": none was tried

    def sentence(self, memory: int) -> str:
        """What was tried, what it needs of the memory set, and what becomes of the share."""
        held = f"In {memory:,} B {self.test.sentence(memory)}."
        least = f" The least share inside is {100 * self.share:.0f} %: {self.worst}."
        return f"{held}{least if self.worst else ''}"


def try_changed_programs(
    search: MemorySearch, point: FoundRule, size: HeapSize, tested: ChangeTest | None = None
) -> PlacedChanges:
    """Replays the changes of the recording with the most live bytes that the rule sends inside.

    With `tested`, what was tried: each in the region of `size` as it is set.
    """
    before = [_columns_of(one) for one in search.demands]
    bits = search.memories[0].bits
    shares: dict[str, float] = {}

    def find_peak(demands: Sequence[RecordingRequests], each: Sequence[Columns]) -> int:
        """The most live bytes of what needs the first memory."""
        return max(
            int(_live(one, at, one.needs_inside(bits)).max(initial=0))
            for one, at in zip(demands, each, strict=True)
        )

    base = find_peak(search.demands, before)

    def make_runs(change: Change) -> ChangedRuns | None:
        after = [change.apply(one) for one in before]
        pairs = zip(before, after, strict=True)
        if all(np.array_equal(one[name], two[name]) for one, two in pairs for name in REPLAYED):
            return None
        joined = [*map(_change_demand, search.demands, after)]
        scaled = -(-size.u_max * find_peak(joined, after) // base) if base else size.u_max
        trial = _Trial(search, point, shares, change.name)
        return ChangedRuns(
            [_PlacedRun(trial, *one) for one in zip(joined, after, strict=True)], scaled
        )

    changes = change_sizes(_heaviest_inside(search.demands, before, point.rule, bits))
    if tested is None:
        *_, test = try_changes(changes, make_runs, size, size.u_max)
    else:
        test = confirm_changes(changes, make_runs, size.region, tested)
    counted = [(shares.get(one.name, 1.0), one.name) for one in test.counted]
    return PlacedChanges(test, *min(counted, default=(1.0, "")))


@dataclass(frozen=True, slots=True)
class _Trial:
    """A rule that a changed program is tried with."""

    search: MemorySearch
    point: FoundRule
    shares: dict[str, float]  # by change, where all was served last
    name: str  # of the change

    def plan(self, memory: int) -> MemoriesPlan:
        """The plan with so large a first memory."""
        first, *others = self.search.memories
        roomy = (replace(one, size=min(2 * one.size, LARGEST_REGION)) for one in others)
        rule = self.point.rule.widen(self.point.size, memory)
        return plan_for((first, *roomy), rule, memory, self.search.heap)


@dataclass(slots=True)
class _PlacedRun:
    """A changed recording in several memories."""

    trial: _Trial
    demand: RecordingRequests
    columns: Columns
    events: int = 0
    need: float | None = None  # it is never known

    def runs_in(self, memory: int) -> bool:
        """True if nothing is refused with so large a first memory."""
        demand, plan = self.demand, self.trial.plan(memory)
        replay = plan.replay(demand.loaded.largest_alignment, keeps_places=True)
        requests = Requests(*(self.columns[name] for name in REPLAYED))
        is_served = bool(replay.feed(requests.engine(), demand.requests(plan)))
        self.events += len(demand.asks) if is_served else (replay.failed_event or 0)
        if is_served:
            weights = demand.weights[demand.asks]
            inside = [
                i for i, one in enumerate(plan.memories) if one.name in self.trial.point.inside
            ]
            share = float(weights[np.isin(replay.numbers, inside)].sum() / max(weights.sum(), 1e-9))
            least = min(share, self.trial.shares.get(self.trial.name, 1.0))
            self.trial.shares[self.trial.name] = least
        return is_served


def _columns_of(demand: RecordingRequests) -> Columns:
    """The events of a recording with what changes carry along."""
    (columns,) = demand.loaded.batches(REPLAYED)
    return columns | {"site": demand.sites, "needs": demand.needs, "weight": demand.weights}


def _change_demand(demand: RecordingRequests, columns: Columns) -> RecordingRequests:
    """The demand of a changed recording: a request needs what it needed."""
    asks = ~is_end(columns["op"], columns["size"])
    sizes, sites, needs, weights = (columns[one] for one in ("size", "site", "needs", "weight"))
    return replace(demand, asks=asks, sizes=sizes, sites=sites, needs=needs, weights=weights)


def _heaviest_inside(
    demands: Sequence[RecordingRequests], each: Sequence[Columns], rule: InsideRule, bits: int
) -> list[int]:
    """The sizes with the most live bytes at the peak of what the rule sends inside."""
    found = []
    for one, columns in zip(demands, each, strict=True):
        is_meant = (one.sizes <= rule.up_to) | np.isin(one.sites, rule.sites)
        sent = one.needs_inside(bits) | ((one.needs == 0) & one.asks & is_meant)
        found.append((one, columns["object"], sent, _live(one, columns, sent)))
    one, objects, sent, live = max(found, key=lambda each: int(each[-1].max(initial=0)))
    peak = int(np.argmax(live))
    is_live = sent & (np.arange(len(sent)) <= peak) & (find_next_events(objects) > peak)
    return rank_sizes(*np.unique(one.sizes[is_live], return_counts=True))


def _live(
    demand: RecordingRequests, columns: Columns, chosen: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Live bytes of the chosen requests after each event."""
    return live_after(np.where(chosen, demand.sizes, 0), columns["object"])
