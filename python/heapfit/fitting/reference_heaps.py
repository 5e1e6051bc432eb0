# SPDX-License-Identifier: Apache-2.0
"""The answer beside heaps that its reader knows, each for the same recordings and margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heapfit import _engine
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.heaps import DLMALLOC, TLSF, SystemHeap, heap_4
from heapfit.comparison.incumbents.needs import Needs, memories_needed
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError
from heapfit.fit_result import BesideRow, Standing
from heapfit.fitting.choice import Choice
from heapfit.plan.energy import load_sram
from heapfit.plan.plan import Plan
from heapfit.progress import Progress
from heapfit.trace.stored import Trace

FITTED = "this one"
COUNTED = "were all runs this one"


def heaps_beside(
    choice: Choice, traces: Sequence[Trace], today: Needs | None, progress: Progress
) -> tuple[tuple[BesideRow, ...], int]:
    """Today's heap where it is known, the fitted one, dlmalloc, heap_4's rule, TLSF, and the least.

    The least is that of a plan whose blocks are counted on the recordings. Then the events that
    were replayed for it: a search of each recording for each heap.
    """
    size = choice.answer.size
    rows = [] if today is None else [_system(today.heap, today.most, size, Standing.TODAY)]
    rows.append(_measured(choice.winner, choice, Standing.FITTED, FITTED))
    known = None if today is None else today.heap.name
    events, others = 0, []
    if known != DLMALLOC:
        needed, events = _needed(DLMALLOC, choice, traces, progress)
        rows.append(_plain("Lea (dlmalloc)", needed, size))
    if known != "heap_4":
        others.append(_rule(traces, size, progress))
    if TLSF not in (known, choice.winner.name):
        others.append(_tlsf(choice, traces, progress))
    rows += [row for row, _ in others if row is not None]
    rows += _counted(choice)
    return tuple(rows), events + sum(more for _, more in others)


def _measured(row: Row, choice: Choice, standing: Standing, title: str) -> BesideRow:
    """A plan of the comparison, with what its calls cost on the recording that is shown."""
    needed, size = choice.needs.get(row.name), choice.answer.size
    plain = _plain(title, needed, size)
    if standing is Standing.COUNTED:  # just these runs again need no margin
        plain = _plain(title, needed, replace(size, margin=0))
    costs = measures_of(row, choice.shown, load_sram(), choice.comparison.base_alignment)
    return replace(
        plain, standing=standing, mean=costs.time, longest=costs.longest, flash=costs.size
    )


def _plain(title: str, needed: int | None, size: HeapSize) -> BesideRow:
    """From what it needs, for the answer's peak and margin; `needed` in bytes."""
    region = None if needed is None else replace(size, r_safe=needed).region
    over = None if region is None else region / max(size.peak, 1)
    return BesideRow(title, Standing.OTHER, region, over, None, None, None)


def _system(heap: SystemHeap, needed: int | None, size: HeapSize, standing: Standing) -> BesideRow:
    row = _plain(heap.title, needed, size)
    mean = None if heap.instructions is None else float(heap.instructions)
    return replace(row, standing=standing, mean=mean, flash=heap.code)


def _rule(
    traces: Sequence[Trace], size: HeapSize, progress: Progress
) -> tuple[BesideRow | None, int]:
    """FreeRTOS heap_4, unless the recordings ask for what it does not have; events."""
    heap, bases = heap_4(), [trace.largest_alignment for trace in traces]
    try:
        requests = [requests_of(one) for one in traces]
        _, needs, events = memories_needed(heap, requests, bases, progress)
    except HeapfitError:
        return None, 0
    return _system(heap, _most(needs), size, Standing.RULE), events


def _tlsf(choice: Choice, traces: Sequence[Trace], progress: Progress) -> tuple[BesideRow, int]:
    row = next((one for one in choice.comparison.rows if one.name == TLSF), None)
    if row is not None and choice.needs.get(TLSF) is not None:
        return _measured(row, choice, Standing.OTHER, "TLSF"), 0
    needed, events = _needed(TLSF, choice, traces, progress)
    return _plain("TLSF", needed, choice.answer.size), events


def _counted(choice: Choice) -> Iterator[BesideRow]:
    """The least of plans whose blocks are counted on the recordings, where it is less."""
    chosen = choice.needs.get(choice.winner.name)
    found = [
        (needed, row)
        for row in choice.comparison.rows
        if row.is_cut_to_trace and (needed := choice.needs.get(row.name)) is not None
    ]
    if chosen is None or choice.winner.is_cut_to_trace or not found:
        return
    needed, row = min(found, key=lambda one: one[0])
    if needed < chosen:
        yield _measured(row, choice, Standing.COUNTED, COUNTED)


def _needed(
    allocator: str, choice: Choice, traces: Sequence[Trace], progress: Progress
) -> tuple[int | None, int]:
    """R_safe for all recordings of an allocator as it is; None where one is not served. Events."""
    alignment = choice.shown.alignment
    try:
        plan = Plan(allocator, {"alignment": alignment}).engine()
    except HeapfitError:
        return None, 0
    needs, events = [], 0
    for trace in traces:
        trial = _engine.Trial(plan, trace.events(), max(trace.largest_alignment, alignment))
        search = trial.scan(
            progress=lambda done, total: progress(f"compare {allocator}", done / max(total, 1))
        )
        progress(f"compare {allocator}", 1.0)
        needs.append(search.r_safe)
        events += search.events
    return _most(needs), events


def _most(needs: Sequence[int | None]) -> int | None:
    known = [need for need in needs if need is not None]
    return max(known) if known and len(known) == len(needs) else None
