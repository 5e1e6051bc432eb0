# SPDX-License-Identifier: Apache-2.0
"""Ranked rows as the table and the JSON that compare, design and fit print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heapfit.cli import console

if TYPE_CHECKING:
    from heapfit.comparison import Comparison, Row

_COLUMNS = (
    "candidate",
    "R_min",
    "R_safe",
    "step",
    "alignment",
    "over U_max",
    "accesses/operation",
)


def print_ranking(comparison: Comparison) -> None:
    """The table, what its figures mean, and what was left out."""
    rows = comparison.rows
    console.out_table(_COLUMNS, [_cells(row) for row in rows])
    console.out(
        f"Regions in bytes; U_max {comparison.u_max:,}; every region starts at a multiple of "
        f"{comparison.base_alignment}."
    )
    if any(row.trained_on_this_trace for row in rows):
        console.out("* trained on this trace: another run may need more.")
    if any(row.step == 0 and row.r_safe is not None for row in rows):
        console.out("step -: no search; the region follows from the plan or from one run.")
    if any(row.r_safe is None for row in rows):
        console.out("R_safe -: the largest region scanned failed.")
    for left_out in comparison.not_applicable:
        console.out(f"{left_out.name} left out: {left_out.why}.")


def ranking_json(comparison: Comparison) -> dict[str, Any]:
    """The same for --json."""
    return {
        "u_max": comparison.u_max,
        "base_alignment": comparison.base_alignment,
        "rows": [_row_json(row) for row in comparison.rows],
        "not_applicable": [{"name": one.name, "why": one.why} for one in comparison.not_applicable],
    }


def _cells(row: Row) -> tuple[object, ...]:
    mark = "*" if row.trained_on_this_trace else ""
    return (
        f"{row.name}{mark}",
        row.r_min,
        row.r_safe,
        row.step or None,
        row.alignment,
        row.over_u_max,
        row.accesses_per_operation,
    )


def _row_json(row: Row) -> dict[str, Any]:
    from heapfit.plan import plan_table

    return {
        "name": row.name,
        "reason": row.reason,
        "r_min": row.r_min,
        "r_safe": row.r_safe,
        "step": row.step,
        "alignment": row.alignment,
        "over_u_max": row.over_u_max,
        "accesses_per_operation": row.accesses_per_operation,
        "footprint": row.footprint,
        "trained_on_this_trace": row.trained_on_this_trace,
        "plan": plan_table(row.plan),
    }
