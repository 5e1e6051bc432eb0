# SPDX-License-Identifier: Apache-2.0
"""The exact replay of recordings on several memories, and what each memory served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heapfit.importers import ImportOptions, open_traces
from heapfit.memories.demand import RecordingRequests, demand_of, parse_need
from heapfit.plan.memories import MemoriesPlan, names_of
from heapfit.plan.quantities import format_event
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What a memory served of all recordings."""

    name: str
    size: int  # bytes
    requests: int
    live_peak: int  # bytes as requested, of the highest recording
    footprint: int  # likewise
    byte_events: float
    weight: float  # of the counted requests


@dataclass(frozen=True, slots=True)
class Joint:
    """What the memories of a plan did with recordings."""

    uses: tuple[MemoryUse, ...]
    refusal: str | None  # the first one, with memory and rule; None: all was served

    def share(self, names: Sequence[str]) -> float:
        """The share of the counted requests in these memories."""
        return self._share(names, [one.weight for one in self.uses])

    def requests_share(self, names: Sequence[str]) -> float:
        """The share of requests that these memories served."""
        return self._share(names, [one.requests for one in self.uses])

    def byte_share(self, names: Sequence[str]) -> float:
        """The share of bytes x events that these memories served."""
        return self._share(names, [one.byte_events for one in self.uses])

    def _share(self, names: Sequence[str], amounts: Sequence[float]) -> float:
        total = sum(amounts)
        pairs = zip(self.uses, amounts, strict=True)
        return sum(part for one, part in pairs if one.name in names) / total if total else 0.0


def replay_jointly(
    plan: MemoriesPlan, demands: Sequence[RecordingRequests], columns: Sequence[NDArray[np.uint16]]
) -> Joint:
    """Replays each recording on fresh heaps, up to the first refusal of any.

    `columns` are the demands' requests of a plan with these call sites.
    """
    refusal, shares, weights = None, [], []
    for demand, column in zip(demands, columns, strict=True):
        base = demand.loaded.largest_alignment
        is_told = bool((demand.weights[demand.asks] != 1).any())
        replay = plan.replay(base, keeps_places=is_told)
        is_done = replay.feed(demand.loaded.events, column)
        shares.append(replay.shares())
        weights.append([one.requests for one in shares[-1]])
        if is_told:
            served = demand.weights[demand.asks][: len(replay.numbers)]
            weights[-1] = np.bincount(replay.numbers, served, 256)[: len(shares[-1])].tolist()
        if not is_done:
            refusal = _describe_refusal(plan, demand, replay.failed_event or 0, column)
            break
    uses = (
        MemoryUse(
            memory.name,
            memory.size,
            sum(one.requests for one in of_each),
            max(one.live_peak for one in of_each),
            max(one.footprint for one in of_each),
            sum(one.byte_events for one in of_each),
            weight,
        )
        for memory, of_each, weight in zip(
            plan.memories, zip(*shares, strict=True), np.sum(weights, 0).tolist(), strict=True
        )
    )
    return Joint(tuple(uses), refusal)


def check_jointly(
    plan: MemoriesPlan, sources: Sequence[Trace | Path], options: ImportOptions | None = None
) -> Joint:
    """Replays recordings, of any known format, on the memories of a plan."""
    needs = [parse_need(one) for one in plan.rule.needs]
    with open_traces(sources, options) as traces:
        demands = [demand_of(one.given.name, load_trace(one), needs) for one in traces]
        return replay_jointly(plan, demands, [one.requests(plan) for one in demands])


def _describe_refusal(
    plan: MemoriesPlan, demand: RecordingRequests, event: int, column: NDArray[np.uint16]
) -> str:
    """The request that no memory served, the memories it tried, and the rule that named them."""
    size, word = int(demand.sizes[event]), int(column[event])
    needs, tag = word >> 8, word & 255
    rule, order = plan.order_of(size, needs, tag)
    needed = f" that need {' and '.join(names_of(needs))}" if needs else ""
    sizes = {one.name: one.size for one in plan.memories}
    tried = ", ".join(f"{name} ({sizes[name]:,} B)" for name in order)
    where = f"no room in {tried}" if order else "no memory offers that"
    return f"{demand.name}: {format_event(event)}: {size:,} bytes{needed}: {where}; rule: {rule}"
