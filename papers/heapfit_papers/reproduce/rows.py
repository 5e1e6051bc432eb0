# SPDX-License-Identifier: Apache-2.0
"""Which function measures which row; all rows that are asked for, measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from heapfit.errors import HeapfitError
from heapfit_papers.reproduce.finding import Finding, RowResult
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import PublishedRow, published

Measure: TypeAlias = Callable[[Laboratory], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Row:
    """How a row is measured."""

    measure: Measure
    assumed: str = ""  # where the paper is silent


# Each has a ROWS, by id. They are imported when a row of them is asked for.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "000": ("paper_000_first", "paper_000_second"),
    "001": ("paper_001_pools", "paper_001_costs"),
    "002": ("paper_002",),
    "003": ("paper_003_budgets", "paper_003_memory"),
}


def rows_of(paper: str) -> dict[str, Row]:
    """The rows of one paper by id, in the published order."""
    rows: dict[str, Row] = {}
    for module in _MODULES[paper]:
        rows |= import_module(f"heapfit_papers.reproduce.{module}").ROWS
    return {row.identity: rows[row.identity] for row in published().of_paper(paper)}


def chosen_rows(papers: Sequence[str]) -> list[str]:
    """The ids that "000" or "000-7" name, in the published order; none named: all."""
    known = published()
    for one in papers:
        if one not in known.papers and one not in known.rows:
            raise HeapfitError(
                f"{one}: no such paper (one of {', '.join(known.papers)}), and no row of one"
            )
    return [
        identity
        for identity, row in known.rows.items()
        if not papers or row.paper in papers or identity in papers
    ]


def reproduce(identities: Sequence[str], laboratory: Laboratory) -> list[RowResult]:
    """Measures rows, each with all its published figures."""
    results = []
    for done, identity in enumerate(identities):
        laboratory.progress("rows", done / len(identities))
        row = published().rows[identity]
        results.append(_measured(row, rows_of(row.paper)[identity], laboratory))
    laboratory.progress("rows", 1.0)
    return results


def _measured(row: PublishedRow, how: Row, laboratory: Laboratory) -> RowResult:
    return RowResult(row, how.assumed, tuple(how.measure(laboratory)))
