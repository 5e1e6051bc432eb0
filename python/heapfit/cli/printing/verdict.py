# SPDX-License-Identifier: Apache-2.0
"""The verdict on one recording, beside its candidates and its front."""

from __future__ import annotations

from collections.abc import Iterator

from heapfit.cli.printing.parts import Fields, Line, Part
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import (
    describe_extended_search,
    list_extended_search,
    select_row,
    verdict,
)
from heapfit.design.effort import MEANING, Effort


def verdict_beside(comparison: Comparison, effort: Effort) -> Iterator[Part]:
    """What the plan that is taken is in a comparison, and what was searched further, and needs."""
    chosen, decision = select_row(comparison), verdict(comparison)
    yield Fields(
        {
            "verdict": decision,
            "least": _named(chosen),
            "searched_further": [_named(row) for row in list_extended_search(comparison)],
            "effort": effort,
        }
    )
    yield Line("")
    yield from map(Line, describe_extended_search(comparison))


def said_of(effort: Effort, indent: str = "") -> Iterator[Part]:
    """What an effort other than the standard's means for the answer, in one line."""
    yield Fields({"effort": effort})
    if effort in MEANING:
        yield Line(indent + MEANING[effort])


def _named(row: Row) -> dict[str, object]:
    """A plan and its region; bytes."""
    size = row.heap_size
    return {
        "name": row.name,
        "r_safe": row.r_safe,
        "region": None if size is None else size.region,
        "is_cut_to_trace": row.is_cut_to_trace,
    }
