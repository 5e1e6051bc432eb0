# SPDX-License-Identifier: Apache-2.0
"""Measures whether to change the heap, each heap under the requests that it gets itself.

    run 7 --+--> image with today's heap --> recording --> today's rule, smallest region --+
            |                                                                              +--> pair
            +--> image with the plan's ----> recording --> the plan, smallest region ------+

A replay of one heap's recording in the other compares two heaps under requests that only one of
them would have got. Here each is measured under its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit import _engine
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, make_heap_plan
from heapfit.comparison.incumbents.needs import measure_memories
from heapfit.comparison.incumbents.replacement import HeapCost, IncumbentVerdict, Pair
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import (
    HeapSize,
    MarginBasis,
    enough_recordings,
    heap_size,
    margin_kind,
)
from heapfit.fitting.verify.firmware import Firmware
from heapfit.fitting.verify.survival import Survival
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import RunProgress
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

_AMPLE = 2  # times the plan's region, for recordings over the incumbent heap


@dataclass(frozen=True, slots=True)
class IncumbentFirmware:
    """The firmware with the incumbent heap in it."""

    heap: SystemHeap
    firmware: Firmware


@dataclass(frozen=True, slots=True)
class MeasuredPairs:
    """The verdict, and the peaks of the runs over the plan's heap."""

    today: IncumbentVerdict
    peaks: tuple[int, ...]  # most live bytes of each pair's run over the plan's heap
    survival: Survival | None = None  # None: too few runs to carry an answer

    @property
    def is_kept(self) -> bool:
        """True unless both replays and runs at equal survival show that a replacement pays."""
        return self.today.is_kept or self.survival is None or not self.survival.is_less

    def sentence(self) -> str:
        """The verdict as a sentence or two."""
        if self.survival is None:
            return self.today.sentence()
        now, fitted = self.today.costs
        verdict = f"{'Keep' if self.is_kept else 'Replace'} {now.name}."
        if self.today.is_kept:
            verdict = self.today.sentence()
        return f"{verdict} {self.survival.describe(now.name, fitted.name)}"


def measure_pairs(
    plan: PlanFile,
    fitted: Mapping[int, Trace],
    today: IncumbentFirmware,
    folder: Path,
    runs: RunProgress,
) -> MeasuredPairs:
    """Records the runs of `fitted`, by number, over the incumbent heap, too, and compares.

    The recordings are stored in `folder`. Runs over the plan's heap that ask for the same count as
    one. HeapfitError if the image is not built or records nothing, or the incumbent has no such
    requests.
    """
    numbers = _select_distinct_runs(fitted)
    over_plan = [fitted[number] for number in numbers]
    region = today.heap.set_to(_AMPLE * (plan.region or 0))
    over_now = _record_incumbent(numbers, today.firmware, region, folder, runs)
    bases = [trace.largest_alignment for trace in over_now]
    heap, memories, _ = measure_memories(
        today.heap, [requests_of(trace) for trace in over_now], bases
    )
    regions = [_smallest_region(plan, trace) for trace in over_plan]
    names = [f"run {number}" for number in numbers]
    peaks = [profile_trace(trace).u_max for trace in over_now]
    pairs = tuple(Pair(*one) for one in zip(names, peaks, memories, regions, strict=True))
    fitted_peaks = tuple(profile_trace(trace).u_max for trace in over_plan)
    known = MarginBasis(len(numbers), max(peaks), margin_kind(heap.plan, False))
    size = _size_heap(memories, known)
    basis = MarginBasis(len(numbers), max(fitted_peaks), margin_kind(plan.plan, True))
    fitted_size = _size_heap(regions, basis, plan.margin)
    costs = (
        _summarize_cost(heap, heap.name, size, over_now[0]),
        _summarize_cost(plan.plan, plan.name, fitted_size, over_plan[0]),
    )
    wanted = enough_recordings(max(peaks))
    return MeasuredPairs(IncumbentVerdict(heap, pairs, costs, None, wanted), fitted_peaks)


def _select_distinct_runs(runs: Mapping[int, Trace]) -> list[int]:
    """The numbers of the runs that differ: of equal ones the first, whose files are named."""
    first: dict[str, int] = {}
    for number, trace in runs.items():
        first.setdefault(content_hash(trace), number)
    return list(first.values())


def raise_region(plan: PlanFile, traces: Sequence[Trace]) -> PlanFile:
    """The plan with the region that these runs need, its margin included, if that is larger."""
    heap = heap_of_plan(plan)
    if heap is None:
        needs: Sequence[int | None] = [_smallest_region(plan, trace) for trace in traces]
    else:
        bases = [trace.base_alignment_for(plan.base_alignment) for trace in traces]
        _, needs, _ = measure_memories(heap, [requests_of(trace) for trace in traces], bases)
    peak = max(profile_trace(trace).u_max for trace in traces)
    known = MarginBasis(plan.runs + len(traces), peak, margin_kind(plan.plan, heap is None))
    size = _size_heap(needs, known, plan.margin)
    if size is None:
        return plan
    raised = replace(plan, region=size.region)
    if heap is not None:
        made = make_heap_plan(heap, heap.set_to(size.region))
        raised = replace(plan, region=made.region, heap=made.heap)
    return raised if (raised.region or 0) > (plan.region or 0) else plan


def _summarize_cost(
    heap: Plan | SystemHeap, name: str, size: HeapSize | None, trace: Trace
) -> HeapCost:
    """The cost of a heap of this size, its instructions those of one recording."""
    memory = None if size is None else size.r_safe
    costs = estimate_costs(heap, load_trace(trace), memory)
    return HeapCost(name, size, costs.flash, costs.mean)


def _record_incumbent(
    numbers: list[int], firmware: Firmware, region: int, folder: Path, runs: RunProgress
) -> list[Trace]:
    firmware.make(None, True, region)
    traces = []
    for number in numbers:
        traces.append(firmware.record(number, folder / f"now-{number}.parquet").trace)
        runs.done(f"run {number} on the incumbent heap")
    return traces


def _smallest_region(plan: PlanFile, trace: Trace) -> int | None:
    """R_safe of a recording in the plan's heap; None if it has none."""
    base = trace.base_alignment_for(plan.base_alignment)
    return _engine.Trial(plan.plan.engine(), trace.events(plan.plan.sites), base).scan().r_safe


def _size_heap(
    regions: Sequence[int | None], known: MarginBasis, margin: float | None = None
) -> HeapSize | None:
    """The size for the largest of the regions; None if one of them is missing."""
    needs = [region for region in regions if region is not None]
    return heap_size(max(needs), known, None, margin) if len(needs) == len(regions) else None
