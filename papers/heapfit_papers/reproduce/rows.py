# SPDX-License-Identifier: Apache-2.0
"""Which function measures which row; all rows that are asked for, measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heapfit.errors import HeapfitError, did_you_mean
from heapfit_papers.reproduce import (
    paper_000_first,
    paper_000_second,
    paper_001_costs,
    paper_001_pools,
    paper_002,
    paper_003_budgets,
    paper_003_memory,
)
from heapfit_papers.reproduce.finding import RowResult, space_finding, space_shares
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import PublishedRow, load_published
from heapfit_papers.reproduce.row import Row, Rows

_ROWS: Mapping[str, Rows] = {
    "000": paper_000_first.ROWS | paper_000_second.ROWS,
    "001": paper_001_pools.ROWS | paper_001_costs.ROWS,
    "002": paper_002.ROWS,
    "003": paper_003_budgets.ROWS | paper_003_memory.ROWS,
}


def rows_of(paper: str) -> dict[str, Row[Any]]:
    """The rows of one paper by id, in the published order."""
    return {row.identity: _ROWS[paper][row.identity] for row in load_published().rows_of(paper)}


def select_rows(papers: Sequence[str]) -> list[str]:
    """The ids that "000" or "000-7" name, in the published order; none named: all."""
    known = load_published()
    for one in papers:
        if one not in known.papers and one not in known.rows:
            raise HeapfitError(
                f"{one}: no such paper, and no row of one ({did_you_mean(one, known.papers)})"
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
        row = load_published().rows[identity]
        results.append(_measure_row(row, rows_of(row.paper)[identity], laboratory))
    laboratory.progress("rows", 1.0)
    return results


def _measure_row(row: PublishedRow, how: Row[Any], laboratory: Laboratory) -> RowResult:
    found = how.judge(laboratory.measure_once(how.measure))
    return RowResult(row, space_shares(how.assumed), tuple(map(space_finding, found)))
