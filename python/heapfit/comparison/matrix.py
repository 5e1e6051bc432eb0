# SPDX-License-Identifier: Apache-2.0
"""Several traces compared with the same allocators: a row for each candidate, a column a trace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.comparison import Comparison, reject_empty_portfolio
from heapfit.comparison.jobs import (
    ComparisonRequest,
    PlanMaker,
    PreparedTrace,
    Source,
    measure_rows,
    preparation_job,
)
from heapfit.comparison.row import Row
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.trace.names import make_distinct


@dataclass(frozen=True, slots=True)
class TraceColumn:
    """One trace in a matrix: its label and its comparison."""

    label: str
    comparison: Comparison

    def cell(self, name: str) -> Row | NotApplicable | None:
        """The candidate's row on this trace, or why it does not apply; None if neither is known."""
        return next((cell for cell in self.cells() if cell.name == name), None)

    def cells(self) -> list[Row | NotApplicable]:
        """The rows of this trace, then the candidates that do not apply."""
        return [*self.comparison.rows, *self.comparison.not_applicable]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Candidates by mean R_safe / U_max, the smallest first; those without one last."""

    names: tuple[str, ...]
    columns: tuple[TraceColumn, ...]

    def mean_over_u_max(self, name: str) -> float | None:
        """Geometric mean of R_safe / U_max; None unless every trace has one."""
        return _mean(name, self.columns)


def compare_traces(
    sources: Sequence[tuple[str, Source]],
    request: ComparisonRequest,
    make: PlanMaker,
    sweep: Sweep | None = None,
    progress: Progress = ignore_progress,
) -> Matrix:
    """Compares on each of the labelled traces and synthetic workloads; `make` makes the plans.

    HeapfitError if there is nothing to compare on any of them.
    """
    sweep = sweep or Sweep(workers=1)
    labels = make_distinct([label for label, _ in sources])
    asked = [
        preparation_job(label, source, request, make)
        for label, (_, source) in zip(labels, sources, strict=True)
    ]
    prepared: list[PreparedTrace] = sweep.run("make plans", asked, progress)
    if not any(one.portfolio.candidates for one in prepared):
        reject_empty_portfolio([why for one in prepared for why in one.portfolio.not_applicable])
    found = measure_rows(prepared, request.precision, sweep, progress)
    columns = [
        TraceColumn(one.label, one.comparison(rows))
        for one, rows in zip(prepared, found, strict=True)
    ]
    return matrix_of(columns)


def matrix_of(columns: Sequence[TraceColumn]) -> Matrix:
    """Joins columns to a matrix, its candidates in order of their means."""
    names = {cell.name for column in columns for cell in column.cells()}

    def key(name: str) -> tuple[bool, float, str]:
        mean = _mean(name, columns)
        return mean is None, mean or 0.0, name

    return Matrix(tuple(sorted(names, key=key)), tuple(columns))


def _mean(name: str, columns: Sequence[TraceColumn]) -> float | None:
    ratios = []
    for column in columns:
        cell = column.cell(name)
        ratio = None if cell is None or isinstance(cell, NotApplicable) else cell.over_u_max
        if ratio is None:
            return None
        ratios.append(math.log(ratio))
    return math.exp(sum(ratios) / len(ratios)) if ratios else None
