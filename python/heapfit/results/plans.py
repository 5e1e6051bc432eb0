# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of a recording: what `heapfit fit --plans` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import select_row, verdict
from heapfit.design.effort import Effort
from heapfit.results.parts import Fields, Line, Part
from heapfit.results.ranking import ranking


def plans_parts(comparison: Comparison, paths: Sequence[Path], effort: Effort) -> list[Part]:
    """The candidates, ranked, and their files."""
    fields = {
        "verdict": verdict(comparison),
        "least": _row_fields(select_row(comparison)),
        "effort": effort,
    }
    files = [
        (path, f"{row.reason}; {_describe_pools(row)}")
        for row, path in zip(comparison.rows, paths, strict=True)
    ]
    return [
        Fields(fields),
        Line(""),
        *ranking(comparison),
        Fields({"plans": paths}),
        *list_plans(files),
    ]


def list_plans(files: Sequence[tuple[Path, str]]) -> list[Part]:
    """The plan files, each with what it is."""
    return [
        line
        for path, what in files
        for line in (Line(str(path), is_copied=True), Line(f"  {what}"))
    ]


def _row_fields(row: Row) -> dict[str, object]:
    """The name and region of a plan for the JSON; bytes."""
    return {
        "name": row.name,
        "r_safe": row.r_safe,
        "region": row.heap_size and row.heap_size.region,
        "is_cut_to_trace": row.is_cut_to_trace,
    }


def _describe_pools(row: Row) -> str:
    pools = [f"{pool.count:,} x {pool.size:,} B" for pool in row.plan.filled_pools]
    return ", ".join(pools) or "no pools"
