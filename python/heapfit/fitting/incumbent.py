# SPDX-License-Identifier: Apache-2.0
"""The fitted heap compared with the incumbent, the heap that the program has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.incumbents.needs import Needs, measure_memory_needs
from heapfit.comparison.incumbents.replacement import HeapCost, IncumbentVerdict, Pair
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import MarginBasis, enough_recordings, margin_kind
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.choice import Choice, basis_of, compute_size
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Recording
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
        raise HeapfitError(f"{heap.name}: {error}") from error


def size_incumbent(
    needs: Needs, searched: Sequence[LoadedTrace], known: MarginBasis, options: FitOptions
) -> tuple[Answer, ChangeTest] | None:
    """The answer that keeps the incumbent heap, which is tried on changed programs, too.

    `known` may be that of another heap for the same recordings. None: it serves one of them in no
    region.
    """
    if needs.most is None:
        return None
    known = replace(known, kind=margin_kind(needs.heap.plan, False), changes=0.0)
    programs = ChangedPrograms.from_recordings(searched)
    changes = programs.test_system(needs.heap, needs.most, known)
    known = replace(known, changes=changes.needed)
    size = compute_size(needs.most, known, options)
    return Answer(size, known, options.peak, needs.heap), changes


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
    answer, changes = size_incumbent(needs, searched, choice.answer.known, options) or (None, None)
    size = None if answer is None else answer.size
    costs = estimate_costs(heap, choice.shown, needs.most)
    today = HeapCost(heap.name, size, costs.flash, costs.mean)
    wanted = enough_recordings(max(choice.u_max))
    is_foretold = any(recording.trace.info.is_from_target for recording in recordings)
    both = (today, _measure_fitted_cost(choice))
    return IncumbentVerdict(heap, pairs, both, needs.permanent, wanted, changes, is_foretold)


def _measure_fitted_cost(choice: Choice) -> HeapCost:
    row: Row = choice.winner
    costs = estimate_costs(row.heap or row.plan, choice.shown, choice.needs.get(row.name))
    return HeapCost(row.name, choice.answer.size, costs.flash, costs.mean)


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
