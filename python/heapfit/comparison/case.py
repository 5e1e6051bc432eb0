# SPDX-License-Identifier: Apache-2.0
"""The case of a page: a recording, the heaps measured on it, and the chosen one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heapfit.comparison.candidate import Candidate
from heapfit.comparison.comparison import Comparison, with_series
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.matrix import Matrix, Source
from heapfit.comparison.measuring import Precision, measure_candidate
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import select_row
from heapfit.programs.site_names import site_names
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload


@dataclass(frozen=True, slots=True)
class ReportCase:
    """A recording, the comparison of heaps on it, and the chosen heap."""

    shown: LoadedTrace
    comparison: Comparison  # on it
    winner: Row  # among its rows
    beside: Heap  # that its map is drawn beside: the one that the user has, or one many have
    fitted: Row | None = None  # where the winner is a heap that is kept: what it is compared with
    sites: Mapping[int, str] = field(default_factory=dict)  # call sites by name, where known


def find_usual_heap(alignment: int) -> Heap:
    """FreeRTOS's heap_4, which stands for the user's where that is not known."""
    heap = find_heap("heap_4", alignment)
    return replace(heap, title=f"{heap.title}, simulated")


def keep_heap(case: ReportCase, kept: Heap) -> ReportCase:
    """The case with the heap that is kept as its winner, measured as the rows are."""
    comparison, shown = case.comparison, case.shown
    one = Candidate(kept.title, kept, "the heap that is kept", False)
    row = measure_candidate(
        one,
        shown,
        base_alignment=comparison.base_alignment,
        precision=Precision(is_of_all=False),  # as it was found for the answer
    )
    others = (
        other for other in comparison.rows if not other.heap.is_ours or other.plan != kept.plan
    )
    comparison, row = with_series(replace(comparison, rows=(row, *others)), row, shown)
    return replace(case, comparison=comparison, winner=row, fitted=case.winner)


def make_case(
    shown: LoadedTrace, comparison: Comparison, winner: Row, programs: Sequence[Path]
) -> ReportCase:
    """A case whose winner is replayed once more, as a series over time for charts.

    `programs`: recorded ones, for the names of call sites.
    """
    comparison, winner = with_series(comparison, winner, shown)
    return ReportCase(
        shown,
        comparison,
        winner,
        find_usual_heap(shown.alignment),
        sites=site_names(shown, programs),
    )


def case_of_matrix(
    matrix: Matrix, sources: Sequence[Source], programs: Sequence[Path], folder: Path
) -> ReportCase:
    """The trace with the highest peak, with the plan chosen for it; drawn anew into `folder`."""
    column, source = max(
        zip(matrix.columns, sources, strict=True), key=lambda one: one[0].comparison.u_max
    )
    if not isinstance(source, Trace):
        source = generate_workload(source, folder / f"{source.name}.parquet")
    comparison = column.comparison
    return make_case(
        load_trace(source, comparison.rows[0].alignment),
        comparison,
        select_row(comparison),
        programs,
    )
