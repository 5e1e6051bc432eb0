# SPDX-License-Identifier: Apache-2.0
"""The fitted heap compared with the incumbent, the heap that the program has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.needs import Needs, measure_memory_needs
from heapfit.comparison.incumbents.replacement import HeapCost, IncumbentVerdict, Pair
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import MarginBasis, enough_recordings, heap_size, margin_kind
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.choice import Choice
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Recording
from heapfit.plan.energy import load_sram
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace


def measure_incumbent(
    heap: SystemHeap, searched: Sequence[LoadedTrace], progress: Progress
) -> Needs:
    """Measures what each recording needs in the incumbent heap."""
    requests = [requests_of(loaded) for loaded in searched]
    bases = [loaded.largest_alignment for loaded in searched]
    try:
        return measure_memory_needs(heap, requests, bases, progress)
    except HeapfitError as error:
        raise HeapfitError(f"--now {heap.name}: {error}") from error


def compare_incumbent(
    needs: Needs, recordings: Sequence[Recording], choice: Choice
) -> IncumbentVerdict:
    """Compares the incumbent heap with the fitted one on each recording."""
    heap, names = needs.heap, [recording.name for recording in recordings]
    columns = zip(names, choice.u_max, needs.memories, choice.unseen, strict=True)
    pairs = tuple(Pair(*column) for column in columns)
    today = HeapCost(heap.name, needs.most, heap.code, heap.instructions)
    wanted = enough_recordings(max(choice.u_max))
    costs = (today, _measure_fitted_cost(choice))
    is_foretold = any(recording.trace.info.is_from_target for recording in recordings)
    return IncumbentVerdict(heap, pairs, costs, needs.permanent, wanted, is_foretold)


def _measure_fitted_cost(choice: Choice) -> HeapCost:
    row: Row = choice.winner
    base = choice.comparison.base_alignment
    costs = measures_of(row, choice.shown, load_sram(), base)
    regions = [region for region in choice.r_safe if region is not None]
    return HeapCost(row.name, max(regions, default=None), costs.size, costs.time)


def keep_incumbent(choice: Choice, today: IncumbentVerdict, options: FitOptions) -> Choice:
    """The choice; its answer is for the incumbent heap, where that is kept."""
    if not today.is_kept:
        return replace(choice, verdict=f"{today.sentence()} {choice.verdict}")
    if today.needed is None:
        raise HeapfitError(f"--now {today.heap.name}: serves these recordings in no region")
    runs = choice.answer.known.runs
    known = MarginBasis(runs, max(choice.u_max), margin_kind(today.heap.plan, False))
    size = heap_size(today.needed, known, options.peak, options.margin)
    answer = Answer(size, known, options.peak, today.heap)
    return replace(choice, answer=answer, verdict=today.sentence())
