# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of one recording or several: what `heapfit fit --plans` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import select_row, verdict
from heapfit.design.effort import Effort
from heapfit.design.robust.design import count_folds
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, columns, which_hold
from heapfit.plan.plan import plan_table
from heapfit.results.ranking import inapplicable_parts, ranking

_UNSERVED = "-: no region serves them; a larger region adds no blocks to pools."


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


def several_plans_parts(designs: Comparison, paths: Sequence[Path]) -> list[Part]:
    """The ranking of the candidates, and what it means."""
    peaks, rows, sentences = designs.peaks, designs.rows, verdicts(designs)
    runs, folds = len(peaks), count_folds(len(peaks))
    is_unserved = any(row.r_safe is None or row.unseen_r_safe is None for row in rows)
    fields = {
        "traces": runs,
        "folds": folds,
        "u_max": peaks,
        "base_alignment": designs.base_alignment,
    }
    return [
        Line(""),
        Fields(fields),
        Table(_list_columns(peaks), rows, "rows"),
        Line(
            f"Regions in bytes that serve every trace of {runs}; "
            f"U_max {designs.u_max:,} (from {min(peaks):,} to {designs.u_max:,})."
        ),
        Line("R_safe of each run is the smallest found, to 0.02 % of U_max."),
        Line("over U_max: the largest R_safe / U_max of any run."),
        Line("* learned from the runs; hold-out: learned without the run it is measured on."),
        *map(Line, which_hold((is_unserved, _UNSERVED))),
        Fields({"verdicts": sentences, "plans": paths}),
        *map(Line, [*sentences, ""]),
        *list_plans([(path, row.reason) for path, row in zip(paths, rows, strict=True)]),
        *inapplicable_parts(designs.not_applicable),
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


def _list_columns(u_max: Sequence[int]) -> list[Column[Row]]:
    return [
        Column(
            "name",
            "candidate",
            shown=lambda row: f"{row.name}{'*' if row.trained_on_this_trace else ''}",
        ),
        Column("reason"),
        Column("plan", value=lambda row: plan_table(row.plan)),
        Column("is_trained", value=lambda row: row.trained_on_this_trace),
        Column("regions", value=lambda row: row.needs),
        Column("region", "region, recorded", lambda row: row.r_safe),
        Column(heading="over U_max", shown=lambda row: _largest_ratio(row.needs, u_max)),
        Column("unseen_regions", value=lambda row: row.unseen),
        Column("unseen_region", "region, hold-out", lambda row: row.unseen_r_safe),
        Column(heading="over U_max", shown=lambda row: _largest_ratio(row.unseen, u_max)),
        *columns("held"),
    ]


def verdicts(designs: Comparison) -> list[str]:
    """The plan to take."""
    best, chosen = designs.rows[0], select_row(designs)
    if best.unseen_r_safe is None:
        return ["No plan serves every trace in the holdout check."]
    over = best.unseen_r_safe / max(designs.u_max, 1)
    saved = " No plan with pools served every hold-out run and saved 1 % of U_max there."
    return [
        f"Least on hold-out runs: {best.name}, {best.unseen_r_safe:,} B ({over:.3f} x U_max).",
        *which_hold(
            (
                not chosen.plan.filled_pools,
                f"No pools here: {chosen.name}.{saved * (chosen is not best)}",
            )
        ),
    ]


def _largest_ratio(regions: Sequence[int | None], u_max: Sequence[int]) -> float | None:
    """The largest region over U_max of its trace; None if a region is missing."""
    if not regions or None in regions or 0 in u_max:
        return None
    return max((region or 0) / own for region, own in zip(regions, u_max, strict=True))
