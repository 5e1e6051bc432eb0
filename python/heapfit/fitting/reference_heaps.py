# SPDX-License-Identifier: Apache-2.0
"""Heaps that readers know, for the same recordings and peak, each with the margin of its kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from heapfit.comparison.costs.heap_costs import HeapCosts, estimate_costs
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.heap_names import OWN_TLSF, RUNGS, TLSF
from heapfit.comparison.incumbents.needs import Needs, measure
from heapfit.comparison.margin import HeapSize, MarginBasis, adapt_basis
from heapfit.comparison.row import Row
from heapfit.design.offers import is_near
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
    costs: HeapCosts  # docs/costs.md has the model
    is_of_excerpt: bool = False  # what it needs was not seen on the whole of a long recording

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
    winner, counted = choice.winner, _find_counted(choice)
    title = f"fitted: {winner.name.partition(':')[0]}"
    rows = [_refer_to_row(selection, winner, title, ReferenceKind.FITTED)]
    if today is not None:
        rows.insert(0, _refer_to_needs(selection, today, today.heap.title, ReferenceKind.TODAY))
    if excerpt is not None and excerpt.is_raised:  # to compare with: none but it was raised
        rows.append(_refer_to_row(selection, winner, title, ReferenceKind.OTHER, excerpt.r_safe))
    others, events = _measure_others(selection, progress)
    rows += others
    if counted is not None:
        row = _refer_to_row(selection, counted, COUNTED, ReferenceKind.COUNTED)
        rows.append(replace(row, size=row.size and replace(row.size, margin=0)))
    is_excerpt = excerpt is not None
    found = (
        replace(row, is_of_excerpt=is_excerpt and row.standing is not ReferenceKind.FITTED)
        for row in rows
        if not any(_makes_needless(one, row) for one in rows)
    )
    return tuple(found), events


def _measure_others(selection: Selection, progress: Progress) -> tuple[list[ReferenceRow], int]:
    """The heaps other than the incumbent and the fitted one; then events."""
    choice, baselines, answer = selection.choice, selection.baselines, selection.choice.answer
    today = "" if baselines.incumbent is None else baselines.incumbent.heap.name
    common = () if baselines.is_known else baselines.needs
    titled = {name: (f"heapfit {name}", ReferenceKind.RUNG) for name in reversed(RUNGS)}
    left_out = {choice.winner.name, today if today == TLSF else ""}
    found, events = list[ReferenceRow](), 0
    for name, told in (titled | {TLSF: (OWN_TLSF, ReferenceKind.OTHER)}).items():
        if name == TLSF:
            found += [
                _refer_to_needs(selection, one, one.heap.title, ReferenceKind.RULE)
                for one in common
                if one.heap.name != TLSF
            ]
        row = next((one for one in choice.comparison.rows if one.name == name), None)
        if name in left_out:
            continue
        if row is not None and choice.needs.get(name) is not None:
            found.append(_refer_to_row(selection, row, *told))
        else:
            needs = measure(
                Heap(name, Plan(name, {"alignment": choice.shown.alignment})),
                selection.searched,
                progress=progress,
            )
            found.append(_refer_to_needs(selection, needs, *told))
            events += needs.events
        progress(f"count calls of {told[0]}", 1.0)
    kept = answer.heap.title if answer.is_kept else None
    return sorted(found, key=lambda one: kept is None or one.title != kept), events


def _makes_needless(row: ReferenceRow, rung: ReferenceRow) -> bool:
    """True for a rung that saves no 1 % of memory over a heap that takes no more time."""
    if row is rung or rung.standing is not ReferenceKind.RUNG:
        return False
    if row.region is None or row.costs.mean is None or row.standing is ReferenceKind.COUNTED:
        return False
    if rung.region is None or rung.costs.mean is None:
        return True
    return row.costs.mean <= rung.costs.mean and is_near(row.region, rung.region)


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
    selection: Selection,
    row: Row,
    title: str,
    standing: ReferenceKind,
    needed: int | None = None,
) -> ReferenceRow:
    known, memory = basis_of(selection.choice, row), needed or selection.choice.needs.get(row.name)
    return _make_row(selection, title, standing=standing, heap=row.heap, needed=memory, known=known)


def _refer_to_needs(
    selection: Selection, needs: Needs, title: str, standing: ReferenceKind
) -> ReferenceRow:
    known = adapt_basis(selection.choice.answer.known, needs.heap.plan)
    return _make_row(
        selection, title, standing=standing, heap=needs.heap, needed=needs.most, known=known
    )


def _make_row(
    selection: Selection,
    title: str,
    *,
    standing: ReferenceKind,
    heap: Heap,
    needed: int | None,
    known: MarginBasis,
) -> ReferenceRow:
    """The row of a heap for the answer's peak, with its own margin, and costs where known.

    Costs are of the recording that is shown, in the memory that all of them need. Of the heap that
    was compared with the fitted one, changed programs included, all is as it was there.
    """
    tried = selection.today
    size = None if needed is None else compute_size(needed, known, selection.options)
    if tried is not None and tried.changes is not None and title == tried.heap.title:
        heap, size, needed = tried.heap, tried.costs[0].size, tried.needed
    return ReferenceRow(title, standing, size, estimate_costs(heap, selection.choice.shown, needed))
