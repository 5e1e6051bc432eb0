# SPDX-License-Identifier: Apache-2.0
"""The fitted heap compared with the incumbent, the heap that the program has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.needs import Needs, measure_memory_needs
from heapfit.comparison.incumbents.replacement import HeapCost, IncumbentVerdict, Pair
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import enough_recordings, margin_kind
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.choice import Choice, basis_of, compute_size
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
    needs: Needs,
    recordings: Sequence[Recording],
    searched: Sequence[LoadedTrace],
    choice: Choice,
    options: FitOptions,
) -> IncumbentVerdict:
    """Compares the incumbent heap with the fitted one on each recording, and on changed programs.

    `searched`: the recordings, or excerpts of long ones.
    """
    heap, names = needs.heap, [recording.name for recording in recordings]
    columns = zip(names, choice.u_max, needs.memories, choice.unseen, strict=True)
    pairs = tuple(Pair(*column) for column in columns)
    known, changes = basis_of(choice, margin_kind(heap.plan, False)), None
    if needs.most is not None:
        changes = ChangedPrograms.from_recordings(searched).test_system(heap, needs.most, known)
        known = replace(known, changes=changes.needed)
    size = None if needs.most is None else compute_size(needs.most, known, options)
    today = HeapCost(heap.name, size, heap.code, heap.instructions)
    wanted = enough_recordings(max(choice.u_max))
    costs = (today, _measure_fitted_cost(choice))
    is_foretold = any(recording.trace.info.is_from_target for recording in recordings)
    return IncumbentVerdict(heap, pairs, costs, needs.permanent, wanted, changes, is_foretold)


def _measure_fitted_cost(choice: Choice) -> HeapCost:
    row: Row = choice.winner
    base = choice.comparison.base_alignment
    costs = measures_of(row, choice.shown, load_sram(), base)
    return HeapCost(row.name, choice.answer.size, costs.size, costs.time)


def keep_incumbent(choice: Choice, today: IncumbentVerdict, options: FitOptions) -> Choice:
    """The choice; its answer is for the incumbent heap, where that is kept."""
    if not today.is_kept:
        return replace(choice, verdict=f"{today.sentence()} {choice.verdict}")
    size = today.costs[0].size
    if size is None:
        raise HeapfitError(f"--now {today.heap.name}: serves these recordings in no region")
    needed = 0.0 if today.changes is None else today.changes.needed
    known = basis_of(choice, margin_kind(today.heap.plan, False), needed)
    answer = Answer(size, known, options.peak, today.heap)
    return replace(choice, answer=answer, verdict=today.sentence())
