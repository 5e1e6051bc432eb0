# SPDX-License-Identifier: Apache-2.0
"""The answer beside heaps that its reader knows, each for the same recordings and margin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from heapfit import _engine
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.heaps import DLMALLOC, TLSF, SystemHeap, heap_4
from heapfit.comparison.incumbents.needs import Needs, memories_needed
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice
from heapfit.plan.energy import load_sram
from heapfit.plan.plan import Plan
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace

FITTED = "this one"
COUNTED = "were all runs this one"


class Standing(StrEnum):
    """What a heap is beside the answer."""

    FITTED = "fitted"
    TODAY = "today"  # what the user has
    RULE = "rule"  # places blocks by a published rule; its own code was not run
    OTHER = "other"
    COUNTED = "counted"  # holds so many blocks of a size as the recordings show, and no more


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A heap for the same recordings, with the same margin. None where nothing was measured."""

    title: str
    standing: Standing
    region: int | None  # bytes to set, the margin included but for what is COUNTED; None: none
    over_peak: float | None  # that over the peak
    mean: float | None  # instructions of a call, in the mean (docs/front.md has the model)
    longest: float | None  # likewise of the longest call of the recording
    flash: int | None  # bytes of code
    is_of_excerpt: bool = False  # what it needs was not seen on the whole of a long recording
    is_in_saving: bool = False  # many have it: the saving is told against it if no heap is today's


def measure_reference_heaps(
    choice: Choice, searched: Sequence[LoadedTrace], today: Needs | None, progress: Progress
) -> tuple[tuple[ReferenceRow, ...], int]:
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
        needed, events = _needed(DLMALLOC, choice, searched, progress)
        rows.append(_plain("Lea (dlmalloc)", needed, size))
    if known != "heap_4":
        others.append(_rule(searched, size, progress))
    if TLSF not in (known, choice.winner.name):
        others.append(_tlsf(choice, searched, progress))
    rows += [replace(row, is_in_saving=True) for row, _ in others if row is not None]
    rows += _counted(choice)
    return tuple(rows), events + sum(more for _, more in others)


def _measured(row: Row, choice: Choice, standing: Standing, title: str) -> ReferenceRow:
    """A plan of the comparison, with what its calls cost on the recording that is shown."""
    needed, size = choice.needs.get(row.name), choice.answer.size
    plain = _plain(title, needed, size)
    if standing is Standing.COUNTED:  # just these runs again need no margin
        plain = _plain(title, needed, replace(size, margin=0))
    costs = measures_of(row, choice.shown, load_sram(), choice.comparison.base_alignment)
    return replace(
        plain, standing=standing, mean=costs.time, longest=costs.longest, flash=costs.size
    )


def _plain(title: str, needed: int | None, size: HeapSize) -> ReferenceRow:
    """From what it needs, for the answer's peak and margin; `needed` in bytes."""
    region = None if needed is None else replace(size, r_safe=needed).region
    over = None if region is None else region / max(size.peak, 1)
    return ReferenceRow(title, Standing.OTHER, region, over, None, None, None)


def _system(
    heap: SystemHeap, needed: int | None, size: HeapSize, standing: Standing
) -> ReferenceRow:
    row = _plain(heap.title, needed, size)
    mean = None if heap.instructions is None else float(heap.instructions)
    return replace(row, standing=standing, mean=mean, flash=heap.code)


def _rule(
    searched: Sequence[LoadedTrace], size: HeapSize, progress: Progress
) -> tuple[ReferenceRow | None, int]:
    """FreeRTOS heap_4, unless the recordings ask for what it does not have; events."""
    heap, needs, events = heap_4(), list[int | None](), 0
    try:
        for one in searched:  # the requests of one at a time are in memory
            _, (need,), more = memories_needed(
                heap, [requests_of(one)], [one.largest_alignment], progress
            )
            needs.append(need)
            events += more
    except HeapfitError:
        return None, 0
    return _system(heap, _most(needs), size, Standing.RULE), events


def _tlsf(
    choice: Choice, searched: Sequence[LoadedTrace], progress: Progress
) -> tuple[ReferenceRow, int]:
    row = next((one for one in choice.comparison.rows if one.name == TLSF), None)
    if row is not None and choice.needs.get(TLSF) is not None:
        return _measured(row, choice, Standing.OTHER, "TLSF"), 0
    needed, events = _needed(TLSF, choice, searched, progress)
    return _plain("TLSF", needed, choice.answer.size), events


def _counted(choice: Choice) -> Iterator[ReferenceRow]:
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
    allocator: str, choice: Choice, searched: Sequence[LoadedTrace], progress: Progress
) -> tuple[int | None, int]:
    """R_safe for all recordings of an allocator as it is; None where one is not served. Events."""
    alignment = choice.shown.alignment
    try:
        plan = Plan(allocator, {"alignment": alignment}).engine()
    except HeapfitError:
        return None, 0
    needs, events = [], 0
    for one in searched:
        base = one.trace.base_alignment_for(alignment)
        trial = _engine.Trial(plan, one.events, base)
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
