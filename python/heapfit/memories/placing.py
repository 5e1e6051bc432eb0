# SPDX-License-Identifier: Apache-2.0
"""Which requests go into the first memory: by size or by call site, with or without a reserve."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from heapfit import _engine
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import MEMORY_HEAPS, name_system_heap
from heapfit.comparison.longer import LongerRuns, tell_longer_runs
from heapfit.comparison.margin import HeapSize, MarginBasis, heap_size, margin_kind
from heapfit.errors import HeapfitError
from heapfit.forecast.horizon import Horizon
from heapfit.forecast.kind import find_kind
from heapfit.forecast.load import Load
from heapfit.importers import ImportOptions, open_trace
from heapfit.memories.changes import PlacedChanges, try_changed_programs
from heapfit.memories.demand import RecordingRequests, demand_of, parse_need, require_known_sites
from heapfit.memories.search import (
    OURS,
    FoundRule,
    InsideRule,
    JoinedRequests,
    MemorySearch,
    join_requests,
)
from heapfit.memories.settings import STANDARD, WITHOUT_RESERVE, is_of_esp_idf, list_system_lines
from heapfit.plan.memories import MemoriesPlan, Memory, parse_memory, require_different
from heapfit.plan.plan_file import PlanFile, TrainingRecord, TrainingTrace
from heapfit.plan.quantities import format_count
from heapfit.plan.values import expand_names
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import STANDARD_ALIGNMENT, load_trace
from heapfit.trace.operations import RESIZE
from heapfit.trace.profile import Profile, profile_events
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular, arrow_table

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)  # of the curve
_STEP = "place"
# A rule as it was tried, the size of its first memory, what that rests on, and changed programs.
_Tried: TypeAlias = tuple[FoundRule, HeapSize, MarginBasis, PlacedChanges]
_WORTH = 100  # a rule that is harder to follow saves at least this part of the memory


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The least first memory found for a share of requests inside, by each kind of rule."""

    share: float
    by_size: FoundRule | None
    by_site: FoundRule | None


@dataclass(frozen=True, slots=True, repr=False)
class Placing(Tabular):
    """What the first of several memories has to be, and which requests go there."""

    memories: tuple[Memory, ...]
    demands: tuple[RecordingRequests, ...]
    is_partial: bool  # requests that need what the first memory has not are not counted
    share: float  # that was asked for
    needing: float  # the share of requests that needs something
    alone: FoundRule  # what needs the first memory, and nothing else in it
    chosen: FoundRule  # the least memory of all rules
    by_size: FoundRule | None
    by_site: FoundRule | None
    today: FoundRule | None  # ESP-IDF's limit, without reserve
    standard: FoundRule | None  # ESP-IDF's defaults
    recorded: FoundRule | None  # what was served there when it was recorded, if that is told
    curve: tuple[CurvePoint, ...]
    size: HeapSize  # of the first memory, with its margin
    changes: PlacedChanges  # of the program, in the chosen rule
    longer: LongerRuns  # what runs that are longer than the recordings need
    settled: FoundRule  # the chosen rule in what is set: its reserve has the margin, too
    needs: tuple[str, ...]  # as they were told
    heap: Heap  # in each memory

    @property
    def rules(self) -> tuple[tuple[str, FoundRule], ...]:
        """What the first memory serves first, in words, and what that takes, to be compared."""
        by_size, by_site = self.by_size, self.by_site
        is_esp = is_of_esp_idf(self.memories, self.systems)
        kinds = [
            (f"up to {by_size.rule.up_to:,} B" if by_size else "", by_size),
            (format_count(len(by_site.rule.sites), "call site") if by_site else "", by_site),
        ]
        kind = next((f": {name}" for name, point in kinds if point == self.chosen), "")
        rows = (
            ("what needs it", self.alone),
            (f"chosen{kind}", self.chosen),
            *(one for one in kinds if one[1] != self.chosen),
            ("up to 16,384 B", self.today if is_esp else None),
            ("the same, ESP-IDF's reserve", self.standard if is_esp else None),
            ("what was there when recorded", self.recorded),
        )
        return tuple((name, point) for name, point in rows if point is not None)

    @property
    def plan(self) -> MemoriesPlan:
        """The chosen rule, the first memory with its margin; the reserve has it, too."""
        plan = self.settled.plan
        return replace(plan, rule=replace(plan.rule, needs=self.needs))

    @property
    def sized_memories(self) -> tuple[Memory, ...]:
        """The memories, the first one with its margin and its reserve."""
        first, *others = self.memories
        return (replace(first, size=self.size.region), *others)

    @property
    def system_lines(self) -> dict[str, tuple[str, ...]]:
        """The lines to copy of each system that has such memories, the likely one first."""
        rule = self.by_size.rule.widen(self.chosen.size, self.size.region) if self.by_size else None
        return list_system_lines(
            self.sized_memories, rule, self.plan_file.base_alignment, self.systems
        )

    @property
    def systems(self) -> set[str]:
        """The heaps of the systems that were recorded, as far as recordings tell."""
        return {
            name
            for one in self.demands
            if (name := name_system_heap(one.loaded.trace.info.source)) is not None
        }

    @property
    def plan_file(self) -> PlanFile:
        """The plan with what it was made from, to save, generate and check."""
        loaded, memories = [one.loaded for one in self.demands], self.plan
        traces = tuple(TrainingTrace(one.name, one.loaded.content) for one in self.demands)
        first, info = memories.memories[0], loaded[0].trace.info
        return PlanFile(
            name="memories",
            plan=first.plan,
            region=first.size,
            r_min=None,
            base_alignment=max(first.plan.alignment, *(one.largest_alignment for one in loaded)),
            u_max=self.size.u_max,
            pointer_bits=info.pointer_bits,
            trained_on=TrainingRecord(
                traces[0].trace,
                traces[0].content,
                sum(len(one.events) for one in loaded),
                info.kind,
                traces if len(traces) > 1 else (),
            ),
            heapfit_version=_engine.version,
            margin=self.size.margin,
            memories=memories,
        )

    def __str__(self) -> str:
        first = self.memories[0].name
        return f"{first}: {self.size.region:,} B, {100 * self.chosen.share:.1f} % inside"

    def to_arrow(self) -> pa.Table:
        """A row for each share of the curve, sizes in bytes."""
        return arrow_table(
            self.curve,
            {
                "share": lambda one: one.share,
                "by_size": lambda one: one.by_size and one.by_size.size,
                "up_to": lambda one: one.by_size and one.by_size.rule.up_to,
                "reserve": lambda one: one.by_size and one.by_size.rule.reserve,
                "by_site": lambda one: one.by_site and one.by_site.size,
                "site_reserve": lambda one: one.by_site and one.by_site.rule.reserve,
            },
        )


@dataclass(frozen=True, slots=True)
class PlacingOptions:
    """What a placing aims at."""

    share: float = 0.8  # of requests to serve inside
    margin: float | None = None  # percent; None: the measured one
    needs: tuple[str, ...] = ()  # CAPABILITY=SIZE or CAPABILITY=site:HEX, beside the recordings'
    allocators: tuple[str, ...] = MEMORY_HEAPS[:1]  # of each memory; the one that needs least wins
    importing: ImportOptions | None = None
    horizon: Horizon | None = None  # how long the first memory is to last


def place_recordings(
    sources: Sequence[Trace | Path],
    memories: Sequence[str],
    options: PlacingOptions,
    progress: Progress = ignore_progress,
) -> Placing:
    """Places the requests of recordings; a memory is NAME=SIZE[:OFFERED,...], the scarce one first.

    HeapfitError if a memory or a need is none, or if even the needs do not fit.
    """
    needs = [parse_need(one) for one in options.needs]
    placings = []
    with ExitStack() as opened:
        traces = [opened.enter_context(open_trace(one, options.importing)) for one in sources]
        demands = [
            demand_of(trace.given.name, load_trace(trace, progress=progress), needs)
            for trace in traces
        ]
        named = zip(needs, options.needs, strict=True)
        sites = {rule.site: f"--needs {text}" for rule, text in named if rule.site is not None}
        require_known_sites(demands, sites)
        for name in expand_names(options.allocators, MEMORY_HEAPS):
            heap = find_heap(name, STANDARD_ALIGNMENT)
            parsed = [parse_memory(one, heap.plan) for one in memories]
            served = demands if heap.is_ours else [one.served_by(heap) for one in demands]
            placings.append(place_requests(parsed, served, options, progress, heap))
    return min(placings, key=lambda one: one.size.region)


def place_requests(
    memories: Sequence[Memory],
    demands: Sequence[RecordingRequests],
    options: PlacingOptions,
    progress: Progress = ignore_progress,
    heap: Heap = OURS,
) -> Placing:
    """Searches rules by size and by call site; HeapfitError if even the needs do not fit."""
    require_different(memories)
    counted = [_count_only(one, memories[0].bits) for one in demands]
    search, requests = MemorySearch(tuple(memories), tuple(counted), heap), join_requests(counted)
    progress(_STEP, 0.0)
    alone = _require_alone(search)
    curve: list[CurvePoint] = []
    for number, share in enumerate(shares := sorted({*SHARES, options.share})):
        curve.append(_curve_point(search, requests, alone, share, curve))
        progress(_STEP, (number + 1) / (len(shares) + 2))
    asked = next(one for one in curve if one.share == options.share)
    kinds = (alone if alone.share >= options.share else None, asked.by_size, asked.by_site)
    found = [one for one in kinds if one is not None]
    if not found:
        raise HeapfitError(
            f"{memories[0].name}: {memories[0].size:,} B do not serve {100 * options.share:g} % of "
            "requests beside all that need it (give it more, or ask for a smaller --admission)"
        )
    chosen, size, longer, changes = _settle(search, found, options)
    enough, *both = (chosen if one and one.rule == chosen.rule else one for one in kinds)
    curve[curve.index(asked)] = asked = CurvePoint(asked.share, *both)
    progress(_STEP, 1.0)
    return Placing(
        memories=tuple(memories),
        demands=tuple(demands),
        is_partial=any(bool((one.weights[one.asks] == 0).any()) for one in counted),
        share=options.share,
        needing=requests.needing_share,
        alone=enough or alone,
        chosen=chosen,
        by_size=asked.by_size,
        by_site=asked.by_site,
        today=search.least(WITHOUT_RESERVE) if requires_reserve(search) else None,
        standard=search.least(STANDARD) if requires_reserve(search) else None,
        recorded=search.recorded,
        curve=tuple(curve),
        size=size,
        changes=changes,
        longer=longer,
        settled=search.point(chosen.rule.widen(chosen.size, size.region), size.region),
        needs=options.needs,
        heap=heap,
    )


def _require_alone(search: MemorySearch) -> FoundRule:
    """What needs the first memory, and nothing else in it; HeapfitError if that has no room."""
    alone = search.least(InsideRule())
    if alone is None:
        refusal = search.point(InsideRule(), search.memories[0].size).joint.refusal
        raise HeapfitError(f"{refusal} (give that memory more, or another one that offers it)")
    return alone


def _curve_point(
    search: MemorySearch,
    requests: JoinedRequests,
    alone: FoundRule,
    share: float,
    before: Sequence[CurvePoint],
) -> CurvePoint:
    """The point of a share; `before` are those of smaller ones."""
    last = before[-1] if before else CurvePoint(0.0, alone, alone)
    beyond = (share, (share + 1) / 2)
    thresholds = {requests.threshold(one) for one in beyond} - {0}
    sites = {sites for one in beyond for sites in requests.choose_sites(one)}
    by_size = [InsideRule(one) for one in sorted(thresholds)]
    by_site = [InsideRule(sites=one) for one in sorted(sites, key=len)]
    reserves = sorted({0, requires_reserve(search) * alone.size})

    def best(rules: Sequence[InsideRule], near: FoundRule | None) -> FoundRule | None:
        """The rule of the least memory; a later one, as of more sites, has to save 1 % more."""
        found: FoundRule | None = None
        for rule in (replace(one, reserve=kept) for one in rules for kept in reserves):
            most = None if found is None else found.size - max(found.size // _WORTH, 8)
            found = search.least(rule, share, near.size if near else 0, most) or found
        return found

    return CurvePoint(share, best(by_size, last.by_size), best(by_site, last.by_site))


def _count_only(demand: RecordingRequests, bits: int) -> RecordingRequests:
    """The demand without weight on requests that need what a memory with these bits has not."""
    elsewhere = (demand.needs & np.uint8(255 ^ bits)) != 0
    return replace(demand, weights=np.where(elsewhere, 0.0, demand.weights))


def requires_reserve(search: MemorySearch) -> bool:
    """True if some request needs what the first memory offers."""
    return any(one.needs_inside(search.memories[0].bits).any() for one in search.demands)


def _settle(
    search: MemorySearch, found: Sequence[FoundRule], options: PlacingOptions
) -> tuple[FoundRule, HeapSize, LongerRuns, PlacedChanges]:
    """The chosen rule and its size, for the horizon if one is asked for; changes as it is set."""
    profiles = [_profile_inside(one, search.memories[0].bits) for one in search.demands]
    chosen, size, known, tried = _choose(search, Load.of(profiles), found, options)
    kind = find_kind(search.demands[0].loaded.trace, profiles[0])
    longer = tell_longer_runs(size, known, kind, horizon=options.horizon)
    needed = longer.beyond(size.region)
    if needed is not None and options.margin is None:
        size = replace(size, margin=size.margin_to(needed))
    return chosen, size, longer, try_changed_programs(search, chosen, size, tried.test)


def _choose(
    search: MemorySearch, load: Load, found: Sequence[FoundRule], options: PlacingOptions
) -> _Tried:
    """The rule whose first memory is the smallest with its margin, where all sizes above do."""
    best = min(
        (_try_out(search, load, one, options.margin) for one in found),
        key=lambda tried: tried[1].region,
    )
    confirmed = search.confirm(best[0], options.share)
    is_confirmed = confirmed.size == best[0].size
    return best if is_confirmed else _try_out(search, load, confirmed, options.margin)


def _try_out(search: MemorySearch, load: Load, point: FoundRule, margin: float | None) -> _Tried:
    live = sum(one.live_peak for one in point.joint.uses if one.name in point.inside)
    kind = margin_kind(search.memories[0].plan, is_trained=True)
    # As if the highest peak of what needs the first memory were that of all that is inside.
    peaks = tuple(max(live, 1) * one // max(*load.peaks, 1) for one in load.peaks)
    known = MarginBasis(replace(load, peaks=peaks), kind)
    changes = try_changed_programs(search, point, heap_size(point.size, known))
    known = replace(known, changes=changes.test.needed)
    return point, heap_size(point.size, known, margin=margin), known, changes


def _profile_inside(demand: RecordingRequests, bits: int) -> Profile:
    """The profile of what needs the first memory, over all events; of all where nothing does.

    All else has no bytes; of a resize one, since one to none is a free.
    """
    inside, ops = demand.needs_inside(bits), demand.loaded.events.ops()
    if not inside.any():
        return demand.loaded.profile
    others = (demand.asks & (ops == RESIZE)).astype(np.uint64)
    events = _engine.EventArray()
    events.append(ops, demand.loaded.events.objects(), np.where(inside, demand.sizes, others))
    return profile_events(events)
