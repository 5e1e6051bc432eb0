# SPDX-License-Identifier: Apache-2.0
"""Several traces compared with the same allocators: a row for each candidate, a column a trace."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from heapfit.comparison import Comparison, measure, refuse_nothing
from heapfit.design.candidates import NotApplicable, named_portfolio, standard_portfolio
from heapfit.design.workload import STANDARD_ALIGNMENT, load_workload
from heapfit.progress import Progress, no_progress
from heapfit.source_name import numbered

if TYPE_CHECKING:
    from heapfit.comparison import Row
    from heapfit.plan import PlanFile
    from heapfit.trace import Trace


@dataclass(frozen=True, slots=True)
class Contestants:
    """What is compared on every trace; without names and plans all that fit tries."""

    allocators: tuple[str, ...] = ()  # NAME or NAME:TUNABLE=VALUE,...
    plan_files: tuple[PlanFile, ...] = ()
    alignment: int = STANDARD_ALIGNMENT  # of what says nothing else


@dataclass(frozen=True, slots=True)
class Column:
    """One trace."""

    label: str
    comparison: Comparison

    def cell(self, name: str) -> Row | NotApplicable | None:
        """The candidate's row on this trace, or why there is none; None: nothing was said."""
        return next((cell for cell in self.cells() if cell.name == name), None)

    def cells(self) -> list[Row | NotApplicable]:
        """All there is on this trace."""
        return [*self.comparison.rows, *self.comparison.not_applicable]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Candidates by mean R_safe / U_max, the smallest first; those without one last, by name."""

    names: tuple[str, ...]
    columns: tuple[Column, ...]

    def mean_over_u_max(self, name: str) -> float | None:
        """Geometric mean of R_safe / U_max; None unless every trace has one."""
        return _mean(name, self.columns)


def compare_traces(
    traces: Iterable[tuple[str, Trace]], contestants: Contestants, progress: Progress = no_progress
) -> Matrix:
    """Compares on each of the labelled traces; only one of them is in memory at a time.

    HeapfitError if there is nothing to compare on any of them.
    """
    columns = []
    for label, trace in traces:
        told = _told_with(label, progress)
        workload = load_workload(trace, contestants.alignment, told)
        portfolio = (
            named_portfolio(workload, contestants.allocators, contestants.plan_files)
            if contestants.allocators or contestants.plan_files
            else standard_portfolio(workload)
        )
        columns.append(Column(label, measure(workload, portfolio, told)))
    if not any(column.comparison.rows for column in columns):
        refuse_nothing([one for column in columns for one in column.comparison.not_applicable])
    labels = numbered([column.label for column in columns])
    return matrix_of(
        [replace(column, label=label) for column, label in zip(columns, labels, strict=True)]
    )


def _told_with(label: str, progress: Progress) -> Progress:
    """The progress of one trace, its steps named after it."""
    return lambda step, done: progress(f"{label}: {step}", done)


def matrix_of(columns: Sequence[Column]) -> Matrix:
    """The columns joined, their rows in order."""
    names = {cell.name for column in columns for cell in column.cells()}

    def key(name: str) -> tuple[bool, float, str]:
        mean = _mean(name, columns)
        return mean is None, mean or 0.0, name

    return Matrix(tuple(sorted(names, key=key)), tuple(columns))


def _mean(name: str, columns: Sequence[Column]) -> float | None:
    ratios = []
    for column in columns:
        cell = column.cell(name)
        ratio = None if cell is None or isinstance(cell, NotApplicable) else cell.over_u_max
        if ratio is None:
            return None
        ratios.append(math.log(ratio))
    return math.exp(sum(ratios) / len(ratios)) if ratios else None
