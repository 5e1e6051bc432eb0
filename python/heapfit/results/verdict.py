# SPDX-License-Identifier: Apache-2.0
"""The verdict on one recording, as `fit` prints it with candidates and a front."""

from __future__ import annotations

from collections.abc import Iterator

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import (
    describe_extended_search,
    list_extended_search,
    select_row,
    verdict,
)
from heapfit.design.effort import MEANING, Effort
from heapfit.results.parts import Fields, Line, Part


def verdict_parts(comparison: Comparison, effort: Effort) -> Iterator[Part]:
    """The verdict of a comparison, and the rows that were searched further."""
    chosen, decision = select_row(comparison), verdict(comparison)
    yield Fields(
        {
            "verdict": decision,
            "least": _row_fields(chosen),
            "searched_further": [_row_fields(row) for row in list_extended_search(comparison)],
            "effort": effort,
        }
    )
    yield Line("")
    yield from map(Line, describe_extended_search(comparison))


def effort_parts(effort: Effort, indent: str = "") -> Iterator[Part]:
    """What an effort other than the standard means for the answer, in one line."""
    yield Fields({"effort": effort})
    if effort in MEANING:
        yield Line(indent + MEANING[effort])


def _row_fields(row: Row) -> dict[str, object]:
    """The name and region of a plan for the JSON; bytes."""
    size = row.heap_size
    return {
        "name": row.name,
        "r_safe": row.r_safe,
        "region": None if size is None else size.region,
        "is_cut_to_trace": row.is_cut_to_trace,
    }
