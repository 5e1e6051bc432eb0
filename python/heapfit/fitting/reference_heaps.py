# SPDX-License-Identifier: Apache-2.0
"""Heaps that readers know, for the same recordings and peak, each with the margin of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.heaps import RUNGS, TLSF
from heapfit.comparison.incumbents.needs import Needs, measure
from heapfit.comparison.margin import HeapSize, MarginBasis, adapt_basis
from heapfit.comparison.row import Row
from heapfit.design.front.offers import is_near
from heapfit.fitting.choice import Choice, basis_of, compute_size
from heapfit.fitting.options import FitOptions
from heapfit.fitting.selection import Selection
from heapfit.plan.plan import Plan
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace

COUNTED = "trace-specific pools"


class ReferenceKind(StrEnum):
    """The relation of a reference heap to the answer."""

    FITTED = "fitted"
    TODAY = "today"  # the incumbent
    RULE = "rule"  # places blocks by a published rule; its own code was not run
    OTHER = "other"
    RUNG = "rung"  # ours, takes less time than the fitted heap
    COUNTED = "counted"  # holds so many blocks of a size as the recordings show, and no more


@dataclass(frozen=True, slots=True)
class ReferenceRow:
    """A heap for the same recordings and peak. None where nothing was measured."""

    title: str
    standing: ReferenceKind
    size: HeapSize | None  # with the margin of its own kind, but for COUNTED; None: none serves
    mean: float | None  # instructions of a call, in the mean (docs/costs.md has the model)
    longest: float | None  # instructions of the longest call of the recording
    flash: int | None  # bytes of code
    has_checks: bool = True  # a wrong free is detected by the code whose costs these are
    is_of_excerpt: bool = False  # what it needs was not seen on the whole of a long recording
    is_in_saving: bool = False  # many have it: the saving is over it without an incumbent

    @property
    def region(self) -> int | None:
        """Bytes to set, with the margin; None if no region serves."""
        return None if self.size is None else self.size.region

    @property
    def over_peak(self) -> float | None:
        """The region over the peak that it is for."""
        return None if self.size is None else self.size.region / max(self.size.peak, 1)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A heap with what it needs for the recordings, in bytes; None where one is not served."""

    title: str
    needed: int | None
    known: MarginBasis
    heap: Heap
    standing: ReferenceKind = ReferenceKind.OTHER
    is_in_saving: bool = False  # many have it


def measure_reference_heaps(
    selection: Selection, progress: Progress
) -> tuple[tuple[ReferenceRow, ...], int]:
    """Measures the incumbent, the fitted heap, rungs worth having, heap_4, TLSF and counted pools.

    Then the events that were replayed for it: a search of each recording for each heap.
    """
    choice, excerpt = selection.choice, selection.excerpt
    others, events = _measure_others(selection, progress)
    references, today = list[_Reference](), selection.baselines.incumbent
    if today is not None:
        incumbent = _refer_to_needs(choice, today, today.heap.title, ReferenceKind.TODAY)
        changes = None if selection.today is None else selection.today.changes
        needed = 0.0 if changes is None else changes.needed
        references = [replace(incumbent, known=replace(incumbent.known, changes=needed))]
    title = f"fitted: {choice.winner.name.partition(':')[0]}"
    fitted = _refer_to_row(choice, choice.winner, title, ReferenceKind.FITTED)
    references.append(fitted)
    if excerpt is not None and excerpt.is_raised:  # to compare with: none but it was raised
        references.append(replace(fitted, needed=excerpt.r_safe, standing=ReferenceKind.OTHER))
    rows = list[ReferenceRow]()
    for reference in (*references, *others):
        rows.append(_make_row(reference, choice, selection.options))
        progress(f"count calls of {reference.title}", 1.0)
    rows = _list_worthy(rows)
    if excerpt is not None:
        rows = [
            replace(row, is_of_excerpt=row.standing is not ReferenceKind.FITTED) for row in rows
        ]
    return tuple(rows), events


def _measure_others(selection: Selection, progress: Progress) -> tuple[list[_Reference], int]:
    """Measures the heaps other than the incumbent and the fitted one; events.

    Those that many have were measured before; the one that does as well comes first.
    """
    choice, searched, baselines = selection.choice, selection.searched, selection.baselines
    known = "" if baselines.incumbent is None else baselines.incumbent.heap.name
    events, found = 0, list[_Reference]()
    for name in reversed(RUNGS):
        if choice.winner.name != name:
            rung, more = _measure_own(name, f"heapfit {name}", choice, searched, progress)
            found.append(replace(rung, standing=ReferenceKind.RUNG))
            events += more
    for needs in () if baselines.is_known else baselines.needs:
        if needs.heap.name == TLSF:
            continue
        one = _refer_to_needs(choice, needs, needs.heap.title, ReferenceKind.RULE)
        found.append(replace(one, is_in_saving=True))
    if TLSF not in (known, choice.winner.name):
        tlsf, more = _measure_own(TLSF, "TLSF", choice, searched, progress)
        found.append(replace(tlsf, is_in_saving=True))
        events += more
    found = [_add_changes(one, selection) for one in found]
    found.sort(key=lambda one: not _is_kept(one, choice))
    return [*found, *_find_counted(choice)], events


def _list_worthy(rows: Sequence[ReferenceRow]) -> list[ReferenceRow]:
    """The rows without rungs that save no 1 % of memory over a heap that takes no more time."""
    return [
        rung
        for rung in rows
        if rung.standing is not ReferenceKind.RUNG
        or not any(_makes_needless(row, rung) for row in rows if row is not rung)
    ]


def _makes_needless(row: ReferenceRow, rung: ReferenceRow) -> bool:
    if row.region is None or row.mean is None or row.standing is ReferenceKind.COUNTED:
        return False
    if rung.region is None or rung.mean is None:
        return True
    return row.mean <= rung.mean and is_near(row.region, rung.region)


def _is_kept(reference: _Reference, choice: Choice) -> bool:
    kept = choice.answer.kept
    return kept is not None and reference.title == kept.title


def _add_changes(reference: _Reference, selection: Selection) -> _Reference:
    """The heap that does as well or nearly, with what it needed on changed programs."""
    today = selection.today
    if today is None or today.changes is None or reference.title != today.heap.title:
        return reference
    return replace(reference, known=replace(reference.known, changes=today.changes.needed))


def _refer_to_row(choice: Choice, row: Row, title: str, standing: ReferenceKind) -> _Reference:
    return _Reference(title, choice.needs.get(row.name), basis_of(choice, row), row.heap, standing)


def _refer_to_needs(
    choice: Choice, needs: Needs, title: str, standing: ReferenceKind = ReferenceKind.OTHER
) -> _Reference:
    known = adapt_basis(choice.answer.known, needs.heap.plan)
    return _Reference(title, needs.most, known, needs.heap, standing)


def _measure_own(
    name: str, title: str, choice: Choice, searched: Sequence[LoadedTrace], progress: Progress
) -> tuple[_Reference, int]:
    """An allocator of core, from the candidates if it is among them."""
    row = next((one for one in choice.comparison.rows if one.name == name), None)
    if row is not None and choice.needs.get(name) is not None:
        return _refer_to_row(choice, row, title, ReferenceKind.OTHER), 0
    heap = Heap(name, Plan(name, {"alignment": choice.shown.alignment}))
    needs = measure(heap, searched, progress)
    return _refer_to_needs(choice, needs, title), needs.events


def _find_counted(choice: Choice) -> Iterator[_Reference]:
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
        yield _refer_to_row(choice, row, COUNTED, ReferenceKind.COUNTED)


def _make_row(reference: _Reference, choice: Choice, options: FitOptions) -> ReferenceRow:
    """The row of a reference for the answer's peak, with its own margin, and costs where known.

    Costs are of the recording that is shown, in the memory that all of them need.
    """
    costs = estimate_costs(reference.heap, choice.shown, reference.needed)
    return ReferenceRow(
        reference.title,
        reference.standing,
        _size_reference(reference, options),
        costs.mean,
        costs.longest,
        costs.flash,
        costs.has_checks,
        is_in_saving=reference.is_in_saving,
    )


def _size_reference(reference: _Reference, options: FitOptions) -> HeapSize | None:
    if reference.needed is None:
        return None
    size = compute_size(reference.needed, reference.known, options)
    # just these runs again need no margin
    return replace(size, margin=0) if reference.standing is ReferenceKind.COUNTED else size
