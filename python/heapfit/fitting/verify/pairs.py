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
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.heap_plans import heap_of_plan
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.replacement import IncumbentVerdict, Pair
from heapfit.comparison.margin import (
    HeapSize,
    MarginBasis,
    enough_recordings,
    heap_size,
    margin_kind,
)
from heapfit.fitting.choice import cost_heap
from heapfit.fitting.verify.firmware import Firmware
from heapfit.fitting.verify.survival import Survival
from heapfit.forecast.load import Load
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

_AMPLE = 2  # times the plan's region, for recordings over the incumbent heap


@dataclass(frozen=True, slots=True)
class MeasuredPairs:
    """The verdict, and the peaks of the runs over the plan's heap."""

    today: IncumbentVerdict
    peaks: tuple[int, ...]  # most live bytes of each pair's run over the plan's heap
    survival: Survival | None = None  # None: too few runs to carry an answer
    flash: tuple[int, int] = (0, 0)  # bytes of the image with either heap, the incumbent's first

    @property
    def is_kept(self) -> bool:
        """True unless both replays and runs at equal survival show that a replacement pays."""
        return self.today.is_kept or self.survival is None or not self.survival.is_less

    def sentence(self) -> str:
        """The verdict as a sentence or two."""
        if self.survival is None:
            return self.today.sentence()
        now, fitted = self.today.costs
        verdict = (
            self.today.sentence()
            if self.today.is_kept
            else f"{'Keep' if self.is_kept else 'Replace'} {now.name}."
        )
        return f"{verdict} {self.survival.describe(now.name, fitted.name)}"

    def describe_flash(self) -> str:
        """The flash of the image with either heap, and its change, as a sentence."""
        (had, has), (now, fitted) = self.flash, self.today.costs
        words = f"{had:,} bytes of flash with {now.name}, {has:,} with {fitted.name}"
        return f"The image takes {words} ({has - had:+,})."


def measure_pairs(
    plan: PlanFile,
    fitted: Mapping[int, Trace],
    *,
    today: Heap,
    firmware: Firmware,
    folder: Path,
    runs: Progress,
) -> MeasuredPairs:
    """Records the runs of `fitted`, by number, over the incumbent heap in `firmware`, and compares.

    The recordings are stored in `folder`. Runs over the plan's heap that ask for the same count as
    one. HeapfitError if the image is not built or records nothing, or the incumbent has no such
    requests.
    """
    numbers = _select_distinct_runs(fitted)
    over_plan = [fitted[number] for number in numbers]
    region = today.set_to(_AMPLE * (plan.region or 0))
    over_now = _record_incumbent(numbers, firmware, region, folder, runs)
    needs, ours = measure(today, over_now), heap_of_plan(plan)
    heap, memories = needs.heap, needs.memories
    regions = measure(ours, over_plan, base=plan.base_alignment).memories
    names = [f"run {number}" for number in numbers]
    load, fitted_load = (Load.of([*map(profile_trace, one)]) for one in (over_now, over_plan))
    pairs = tuple(Pair(*one) for one in zip(names, load.peaks, memories, regions, strict=True))
    size = _size_heap(memories, MarginBasis(load, margin_kind(heap.plan, False)))
    basis = MarginBasis(fitted_load, margin_kind(plan.plan, True))
    fitted_size = _size_heap(regions, basis, plan.margin)
    costs = (
        cost_heap(heap.name, heap, load_trace(over_now[0]), size),
        cost_heap(ours.name, ours, load_trace(over_plan[0]), fitted_size, drop_in=heap.drop_in),
    )
    wanted = enough_recordings(load.u_max)
    return MeasuredPairs(IncumbentVerdict(heap, pairs, costs, None, wanted), fitted_load.peaks)


def _select_distinct_runs(runs: Mapping[int, Trace]) -> list[int]:
    """The numbers of the runs that differ: of equal ones the first, whose files are named."""
    first: dict[str, int] = {}
    for number, trace in runs.items():
        first.setdefault(content_hash(trace), number)
    return list(first.values())


def _record_incumbent(
    numbers: list[int], firmware: Firmware, region: int, folder: Path, runs: Progress
) -> list[Trace]:
    firmware.make(None, True, region)
    traces = []
    for number in numbers:
        traces.append(firmware.record(number, folder / f"now-{number}.parquet").trace)
        runs(f"run {number} on the incumbent heap", 1.0)
    return traces


def _size_heap(
    regions: Sequence[int | None], known: MarginBasis, margin: float | None = None
) -> HeapSize | None:
    """The size for the largest of the regions; None if one of them is missing."""
    needs = [region for region in regions if region is not None]
    return heap_size(max(needs), known, None, margin) if len(needs) == len(regions) else None
