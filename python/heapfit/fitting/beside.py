# SPDX-License-Identifier: Apache-2.0
"""The answer beside heaps that its reader knows, each for the same recordings and margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from heapfit import _engine
from heapfit.compare.comparison import Row
from heapfit.compare.margin import HeapSize
from heapfit.compare.today.heaps import DLMALLOC, TLSF, SystemHeap, heap_4
from heapfit.compare.today.needs import Needs, memories_needed
from heapfit.compare.today.requests import requests_of
from heapfit.errors import HeapfitError
from heapfit.fit_result import BesideRow, Standing
from heapfit.fitting.choice import Choice
from heapfit.front.measures import measures_of
from heapfit.plan.energy import load_sram
from heapfit.plan.plan import Plan
from heapfit.progress import Progress
from heapfit.trace.stored import Trace

FITTED = "this one"
COUNTED = "were all runs this one"


def heaps_beside(
    choice: Choice, traces: Sequence[Trace], today: Needs | None, progress: Progress
) -> tuple[BesideRow, ...]:
    """Today's heap where it is known, the fitted one, dlmalloc, heap_4's rule, TLSF, and the least.

    The least is that of a plan whose blocks are counted on the recordings. It costs two searches
    of each recording.
    """
    size = choice.answer.size
    rows = [] if today is None else [_system(today.heap, today.most, size, Standing.TODAY)]
    rows.append(_measured(choice.winner, choice, Standing.FITTED, FITTED))
    rows.append(_plain("Lea (dlmalloc)", _needed(DLMALLOC, choice, traces, progress), size))
    known = None if today is None else today.heap.name
    if known != "heap_4":
        rows += _rule(traces, size, progress)
    if TLSF not in (known, choice.winner.name):
        rows.append(_tlsf(choice, traces, progress))
    rows += _counted(choice)
    return tuple(rows)


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


def _rule(traces: Sequence[Trace], size: HeapSize, progress: Progress) -> Iterator[BesideRow]:
    """FreeRTOS heap_4, unless the recordings ask for what it does not have."""
    heap, bases = heap_4(), [trace.largest_alignment for trace in traces]
    try:
        _, needs = memories_needed(heap, [requests_of(one) for one in traces], bases, progress)
    except HeapfitError:
        return
    yield _system(heap, _most(needs), size, Standing.RULE)


def _tlsf(choice: Choice, traces: Sequence[Trace], progress: Progress) -> BesideRow:
    row = next((one for one in choice.comparison.rows if one.name == TLSF), None)
    if row is not None and choice.needs.get(TLSF) is not None:
        return _measured(row, choice, Standing.OTHER, "TLSF")
    return _plain("TLSF", _needed(TLSF, choice, traces, progress), choice.answer.size)


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
) -> int | None:
    """R_safe for all recordings of an allocator as it is; None where one is not served."""
    alignment = choice.shown.alignment
    try:
        plan = Plan(allocator, {"alignment": alignment}).engine()
    except HeapfitError:
        return None
    needs = []
    for trace in traces:
        trial = _engine.Trial(plan, trace.events(), max(trace.largest_alignment, alignment))
        search = trial.scan(
            progress=lambda done, total: progress(f"compare {allocator}", done / max(total, 1))
        )
        progress(f"compare {allocator}", 1.0)
        needs.append(search.r_safe)
    return _most(needs)


def _most(needs: Sequence[int | None]) -> int | None:
    known = [need for need in needs if need is not None]
    return max(known) if known and len(known) == len(needs) else None
