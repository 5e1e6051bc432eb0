# SPDX-License-Identifier: Apache-2.0
"""The fitted heap beside the one that there is today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapfit.compare.comparison import Row
from heapfit.compare.margin import ENOUGH_OF_SMALL, SMALL_PEAK, Known, heap_size, kind_of
from heapfit.compare.today.comparison import HeapCost, Pair, Today
from heapfit.compare.today.heaps import SystemHeap, parse_system_heap
from heapfit.compare.today.needs import memories_needed, permanent
from heapfit.compare.today.requests import requests_of
from heapfit.errors import HeapfitError
from heapfit.fit_result import Answer, FitOptions
from heapfit.fitting.choice import Choice
from heapfit.front.measures import measures_of
from heapfit.plan.energy import load_sram
from heapfit.progress import Progress
from heapfit.trace.stored import Trace


def heap_of_today(options: FitOptions) -> SystemHeap | None:
    """The heap that the options name; HeapfitError if there is no such."""
    return None if options.now is None else parse_system_heap(options.now, options.alignment)


def beside_today(
    heap: SystemHeap,
    recordings: Sequence[tuple[str, Trace]],
    choice: Choice,
    progress: Progress,
) -> Today:
    """What each recording needs in today's heap and in the fitted one."""
    requests = [requests_of(trace) for _, trace in recordings]
    bases = [trace.largest_alignment for _, trace in recordings]
    try:
        heap, needs = memories_needed(heap, requests, bases, progress)
    except HeapfitError as error:
        raise HeapfitError(f"--now {heap.name}: {error}") from error
    known = [need for need in needs if need is not None]
    most = max(known) if len(known) == len(needs) else None
    pairs = tuple(
        Pair(name, u_max, now, fitted)
        for (name, _), u_max, now, fitted in zip(
            recordings, choice.u_max, needs, choice.unseen, strict=True
        )
    )
    today = HeapCost(heap.name, most, heap.code, heap.instructions)
    saving = None if most is None else permanent(heap, requests, bases, known)
    wanted = ENOUGH_OF_SMALL if max(choice.u_max) < SMALL_PEAK else 1
    return Today(heap, pairs, (today, _fitted_cost(choice)), saving, wanted)


def _fitted_cost(choice: Choice) -> HeapCost:
    row: Row = choice.winner
    base = choice.comparison.base_alignment
    costs = measures_of(row, choice.shown, load_sram(), base)
    regions = [region for region in choice.r_safe if region is not None]
    return HeapCost(row.name, max(regions, default=None), costs.size, costs.time)


def kept(choice: Choice, today: Today, options: FitOptions) -> Choice:
    """The choice with the answer for today's heap, where that is kept."""
    if not today.is_kept:
        return replace(choice, verdict=f"{today.sentence()} {choice.verdict}")
    if today.needed is None:
        raise HeapfitError(f"--now {today.heap.name}: serves no region of these recordings")
    runs = choice.answer.known.runs
    known = Known(runs, max(choice.u_max), kind_of(today.heap.plan, False))
    size = heap_size(today.needed, known, options.peak, options.margin)
    answer = Answer(size, known, options.peak, today.heap)
    return replace(choice, answer=answer, verdict=today.sentence())
