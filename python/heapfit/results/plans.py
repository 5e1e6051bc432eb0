# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of a recording: what `heapfit fit --plans` prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import (
    describe_extended_search,
    list_extended_search,
    select_row,
    verdict,
)
from heapfit.design.effort import Effort
from heapfit.design.pools.best_classes import BestClasses, PoolClasses
from heapfit.plan.quantities import format_share
from heapfit.results.parts import (
    Column,
    Fields,
    Group,
    Line,
    Part,
    Table,
    which_hold,
)
from heapfit.results.ranking import ranking

_ClassesRow: TypeAlias = tuple[int, PoolClasses, PoolClasses]  # pools, of least waste, least peaks


def plans_parts(
    comparison: Comparison,
    paths: Sequence[Path],
    effort: Effort,
    *,
    classes: BestClasses,
    rule: PoolClasses | None,
) -> list[Part]:
    """The candidates, ranked, their files, and the best size classes of pools alone.

    `rule`: the classes of the 10 % rule, if the comparison has a row of it.
    """
    fields = {
        "verdict": verdict(comparison),
        "least": _row_fields(select_row(comparison)),
        "searched_further": [*map(_row_fields, list_extended_search(comparison))],
        "effort": effort,
    }
    files = [
        (path, f"{row.reason}; {_describe_pools(row)}")
        for row, path in zip(comparison.rows, paths, strict=True)
    ]
    return [
        Fields(fields),
        *map(Line, ["", *describe_extended_search(comparison)]),
        *ranking(comparison),
        Fields({"plans": paths}),
        *list_plans(files),
        Group("classes", _tell_classes(classes, rule, comparison.u_max)),
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


def _tell_classes(best: BestClasses, rule: PoolClasses | None, u_max: int) -> list[Part]:
    """A row for each number of pools, then what the 10 % rule gives."""
    told = ""
    if rule is not None:
        over = _peaks_ratio(rule, u_max)
        peaks = "" if over is None else f", their peaks {over:.3f} x U_max"
        told = f"10 % rule: {len(rule.sizes)} pools, waste {format_share(rule.waste)}{peaks}."
    fields = {
        "bounds": best.bounds,
        "sizes": best.sizes,
        "least_waste": best.least_waste,
        "least_peaks": best.least_peaks,
        "ten_percent_rule": rule,
    }
    texts = which_hold(
        (told, told),
        (True, "least: internal fragmentation of all requests; over U_max: sum of the peaks."),
        (
            best.bounds < best.sizes,
            f"Of {best.sizes:,} sizes, those with the most live bytes were tried as classes.",
        ),
    )
    return [
        Fields(fields),
        Line(""),
        Line(f"Size classes of pools alone, the best of {best.bounds:,} sizes:"),
        _class_table(best, u_max),
        *map(Line, texts),
    ]


def _class_table(best: BestClasses, u_max: int) -> Table[_ClassesRow]:
    """A row for each number of pools: the waste of all requests, and the sum of their peaks."""
    columns: list[Column[_ClassesRow]] = [
        Column(heading="pools", shown=lambda one: one[0]),
        Column(heading="least waste", shown=lambda one: format_share(one[1].waste)),
        Column(heading="over U_max", shown=lambda one: _peaks_ratio(one[1], u_max)),
        Column(heading="least peaks", shown=lambda one: format_share(one[2].waste)),
        Column(heading="over U_max", shown=lambda one: _peaks_ratio(one[2], u_max)),
    ]
    pools = range(1, 1 + len(best.least_waste))
    rows = [*zip(pools, best.least_waste, best.least_peaks, strict=True)]
    return Table(columns, rows)


def _peaks_ratio(classes: PoolClasses, u_max: int) -> float | None:
    return classes.peaks / u_max if u_max else None
