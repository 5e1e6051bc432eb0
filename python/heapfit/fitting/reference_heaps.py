# SPDX-License-Identifier: Apache-2.0
"""Heaps that readers know, for the same recordings and peak, each with the margin of its kind."""

from __future__ import annotations

from collections.abc import Mapping
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
from heapfit.fitting.selection import Selection
from heapfit.plan.plan import Plan
from heapfit.progress import Progress

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


def measure_reference_heaps(
    selection: Selection, progress: Progress
) -> tuple[tuple[ReferenceRow, ...], int]:
    """Measures the incumbent, the fitted heap, rungs worth having, heap_4, TLSF and counted pools.

    Then the events that were replayed for it: a search of each recording for each heap. Of those
    that many have, which were measured before, the one that does as well comes first.
    """
    choice, excerpt, today = selection.choice, selection.excerpt, selection.baselines.incumbent
    others, events = _measure_others(selection, progress)
    fitted = _refer_to_row(
        selection, choice.winner, f"fitted: {choice.winner.name.partition(':')[0]}"
    )
    rows = [replace(fitted, standing=ReferenceKind.FITTED)]
    if today is not None:
        incumbent = _refer_to_needs(selection, today, today.heap.title)
        rows.insert(0, replace(incumbent, standing=ReferenceKind.TODAY))
    if excerpt is not None and excerpt.is_raised:  # to compare with: none but it was raised
        raised = {**choice.needs, choice.winner.name: excerpt.r_safe}
        rows.append(_refer_to_row(selection, choice.winner, fitted.title, raised))
    rows += others
    counted = _find_counted(choice)
    if counted is not None:
        row = _refer_to_row(selection, counted, COUNTED)
        size = None if row.size is None else replace(row.size, margin=0)
        rows.append(replace(row, standing=ReferenceKind.COUNTED, size=size))
    rows = [row for row in rows if not any(_makes_needless(one, row) for one in rows)]
    if excerpt is not None:
        rows = [
            replace(row, is_of_excerpt=row.standing is not ReferenceKind.FITTED) for row in rows
        ]
    return tuple(rows), events


def _measure_others(selection: Selection, progress: Progress) -> tuple[list[ReferenceRow], int]:
    """The heaps other than the incumbent and the fitted one; then events."""
    choice, baselines, answer = selection.choice, selection.baselines, selection.choice.answer
    today = "" if baselines.incumbent is None else baselines.incumbent.heap.name
    found, events = list[ReferenceRow](), 0
    for name in [*reversed(RUNGS), TLSF]:
        is_rung, known = name != TLSF, choice.needs.get(name)
        title = f"heapfit {name}" if is_rung else "TLSF"
        if not (is_rung or baselines.is_known):
            common = [one for one in baselines.needs if one.heap.name != TLSF]
            rows = [_refer_to_needs(selection, one, one.heap.title) for one in common]
            found += [replace(one, standing=ReferenceKind.RULE, is_in_saving=True) for one in rows]
        if choice.winner.name == name or (today == name and not is_rung):
            continue
        row = next((one for one in choice.comparison.rows if one.name == name), None)
        if row is not None and known is not None:
            made = _refer_to_row(selection, row, title)
        else:
            heap = Heap(name, Plan(name, {"alignment": choice.shown.alignment}))
            needs = measure(heap, selection.searched, progress=progress)
            made = _refer_to_needs(selection, needs, title)
            events += needs.events
        standing = ReferenceKind.RUNG if is_rung else ReferenceKind.OTHER
        found.append(replace(made, standing=standing, is_in_saving=not is_rung))
        progress(f"count calls of {title}", 1.0)
    return sorted(
        found, key=lambda one: not answer.is_kept or one.title != answer.heap.title
    ), events


def _makes_needless(row: ReferenceRow, rung: ReferenceRow) -> bool:
    """True for a rung that saves no 1 % of memory over a heap that takes no more time."""
    if row is rung or rung.standing is not ReferenceKind.RUNG:
        return False
    if row.region is None or row.mean is None or row.standing is ReferenceKind.COUNTED:
        return False
    if rung.region is None or rung.mean is None:
        return True
    return row.mean <= rung.mean and is_near(row.region, rung.region)


def _find_counted(choice: Choice) -> Row | None:
    """The least of plans whose blocks are counted on the recordings, where it is less."""
    chosen = choice.needs.get(choice.winner.name)
    found = [
        (needed, row)
        for row in choice.comparison.rows
        if row.is_cut_to_trace and (needed := choice.needs.get(row.name)) is not None
    ]
    if chosen is None or choice.winner.is_cut_to_trace or not found:
        return None
    needed, row = min(found, key=lambda one: one[0])
    return row if needed < chosen else None


def _refer_to_row(
    selection: Selection, row: Row, title: str, needs: Mapping[str, int | None] | None = None
) -> ReferenceRow:
    needed = (needs or selection.choice.needs).get(row.name)
    known = basis_of(selection.choice, row)
    return _make_row(selection, title, heap=row.heap, needed=needed, known=known)


def _refer_to_needs(selection: Selection, needs: Needs, title: str) -> ReferenceRow:
    known = adapt_basis(selection.choice.answer.known, needs.heap.plan)
    return _make_row(selection, title, heap=needs.heap, needed=needs.most, known=known)


def _make_row(
    selection: Selection, title: str, *, heap: Heap, needed: int | None, known: MarginBasis
) -> ReferenceRow:
    """The row of a heap for the answer's peak, with its own margin, and costs where known.

    Costs are of the recording that is shown, in the memory that all of them need. The heap that is
    compared with the fitted one has what it needed on changed programs, too.
    """
    tried = selection.today
    if tried is not None and tried.changes is not None and title == tried.heap.title:
        known = replace(known, changes=tried.changes.needed)
    size = None if needed is None else compute_size(needed, known, selection.options)
    costs = estimate_costs(heap, selection.choice.shown, needed)
    return ReferenceRow(
        title,
        ReferenceKind.OTHER,
        size,
        costs.mean,
        costs.longest,
        costs.flash,
        costs.has_checks,
    )
