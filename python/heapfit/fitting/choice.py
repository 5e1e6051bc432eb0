# SPDX-License-Identifier: Apache-2.0
"""A chosen plan with what was measured to choose it, and the size and costs that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.costs.measures import Measures
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.incumbents.replacement import HeapCost
from heapfit.comparison.margin import HeapSize, MarginBasis, adapt_basis, heap_size
from heapfit.comparison.row import Row
from heapfit.design.offers import Offer
from heapfit.design.plan_files import plan_file_of
from heapfit.fitting.answer import Answer
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan_file import PlanFile, TrainingRecord
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen plan, and what was measured to choose it."""

    shown: LoadedTrace  # the recording that needs the largest region
    comparison: Comparison  # of every plan on that recording
    winner: Row  # among its rows
    table: Comparison  # of every plan on all recordings; of one recording that comparison
    row: Row  # of the winner's plan on all recordings
    answer: Answer
    plan_file: PlanFile
    verdict: str

    @property
    def needs(self) -> Mapping[str, int | None]:
        """R_safe of each plan for all recordings, by its name."""
        return {one.name: one.r_safe for one in (*self.table.rows, self.row)}

    @property
    def r_safe(self) -> tuple[int | None, ...]:
        """R_safe of the winner's plan on each recording."""
        return self.row.needs or (self.row.r_safe,)

    @property
    def unseen(self) -> tuple[int | None, ...]:
        """R_safe on each recording of plans made without it; of one recording as r_safe."""
        return self.row.unseen or self.r_safe

    @property
    def u_max(self) -> tuple[int, ...]:
        """The most live bytes of each recording."""
        return self.table.peaks or (self.table.u_max,)

    @property
    def designs(self) -> Comparison | None:
        """Every candidate on all of several recordings; None of one."""
        return self.table if self.table.peaks else None


def make_choice(
    row: Row,
    table: Comparison,
    *,
    shown: tuple[LoadedTrace, Comparison, Row],
    trained_on: TrainingRecord,
    options: FitOptions,
    verdict: str,
) -> Choice:
    """The choice of a row of the table of all recordings; `shown`: one, its table, and its row."""
    answer = Answer(
        compute_size(row.r_safe or 0, row.known, options), row.known, options.peak, row.heap
    )
    plan_file = plan_file_of(row, table, trained_on, answer.size)
    return Choice(*shown, table, row, answer, plan_file, verdict)


def basis_of(choice: Choice, row: Row) -> MarginBasis:
    """What the margin of a row's plan rests on for all of the choice's recordings."""
    return replace(choice.answer.known, kind=row.known.kind, changes=row.known.changes)


def compute_size(r_safe: int, known: MarginBasis, options: FitOptions) -> HeapSize:
    """The size to set for the peak and the margin that are asked for."""
    return heap_size(r_safe, known, options.peak, options.margin)


def cost_heap(
    name: str, heap: Heap, recording: LoadedTrace, size: HeapSize | None, *, drop_in: int = 0
) -> HeapCost:
    """What a heap costs for a recording in what all of them need; None: none serves it.

    `drop_in`: bytes of code beside it, where it stands in the place of another.
    """
    costs = estimate_costs(heap, recording, None if size is None else size.r_safe)
    return HeapCost(name, size, costs.flash and costs.flash + drop_in, costs.mean)


def list_rival_offers(
    systems: Sequence[Needs], known: MarginBasis, shown: LoadedTrace, options: FitOptions
) -> list[Offer]:
    """Heaps of systems as offers, for the recordings and peak that `known` is of.

    Their costs are of the recording that is shown.
    """
    return [
        _make_offer(needs, needs.most, known, shown, options)
        for needs in systems
        if needs.most is not None
    ]


def _make_offer(
    needs: Needs, most: int, known: MarginBasis, shown: LoadedTrace, options: FitOptions
) -> Offer:
    costs = estimate_costs(needs.heap, shown, most)
    figures = Measures(most, None, None, costs.mean, costs.longest, costs.flash)
    size = compute_size(most, adapt_basis(known, needs.heap.plan), options)
    return Offer(needs.heap.title, size.region, figures)
