# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of a recording: what `heapfit fit --plans` prints, and its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from heapfit.comparison.case import ReportCase
from heapfit.comparison.heap_map import MappedCase
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import (
    describe_extended_search,
    list_extended_search,
    select_row,
    verdict,
)
from heapfit.design.effort import Effort
from heapfit.design.plan_files import Designs
from heapfit.design.pools.best_classes import BestClasses, PoolClasses
from heapfit.plan.quantities import format_share
from heapfit.results.case import case_page, opening_of
from heapfit.results.document import Document
from heapfit.results.number_text import ratio, size
from heapfit.results.parts import (
    Column,
    Fields,
    Fold,
    Group,
    Line,
    Part,
    Section,
    Table,
    which_hold,
)
from heapfit.results.ranking import ranking

_ClassesRow: TypeAlias = tuple[int, PoolClasses, PoolClasses]  # pools, of least waste, least peaks


def plans_parts(designs: Designs, effort: Effort, page: Path) -> list[Part]:
    """The candidates, ranked, their files, and the best size classes of pools alone."""
    comparison = designs.comparison
    fields = {
        "verdict": verdict(comparison),
        "least": _row_fields(select_row(comparison)),
        "searched_further": [*map(_row_fields, list_extended_search(comparison))],
        "effort": effort,
    }
    files = [
        (path, f"{row.reason}; {_describe_pools(row)}")
        for row, path in zip(comparison.rows, designs.paths, strict=True)
    ]
    return [
        Fields(fields),
        *map(Line, ["", *describe_extended_search(comparison)]),
        *ranking(comparison),
        Fields({"plans": designs.paths, "page": page}),
        *list_plans(files, page),
        Group("classes", _tell_classes(designs.classes, designs.rule, comparison.u_max)),
    ]


def list_plans(files: Sequence[tuple[Path, str]], page: Path) -> list[Part]:
    """The plan files, each with what it is, and their page."""
    lines = (line for path, what in files for line in (_copied(path), Line(f"  {what}")))
    return [*lines, _copied(page)]


def _copied(path: Path) -> Line:
    return Line(str(path), is_copied=True)


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
        Column(
            heading="over U_max", page="its peaks", shown=lambda one: _peaks_ratio(one[1], u_max)
        ),
        Column(heading="least peaks", page="", shown=lambda one: format_share(one[2].waste)),
        Column(
            heading="over U_max", page="least peaks", shown=lambda one: _peaks_ratio(one[2], u_max)
        ),
        Column(page="their waste", shown=lambda one: format_share(one[2].waste)),
    ]
    caption = (
        "Internal fragmentation of all requests, and the sum of the pools' peaks over the peak of "
        "live bytes."
    )
    pools = range(1, 1 + len(best.least_waste))
    rows = [*zip(pools, best.least_waste, best.least_peaks, strict=True)]
    return Table(columns, rows, caption=caption)


def _peaks_ratio(classes: PoolClasses, u_max: int) -> float | None:
    return classes.peaks / u_max if u_max else None


def plans_page(designs: Designs, case: ReportCase, mapped: MappedCase, command: str) -> Document:
    """The page: the case of the plan that is chosen, all plan files, and the size classes."""
    files: list[Column[tuple[Row, Path]]] = [
        Column(page="plan", shown=lambda one: one[0].name),
        Column(page="needs", shown=lambda one: one[0].r_safe, told=size),
        Column(page="over the peak", shown=lambda one: one[0].over_u_max, told=ratio),
        Column(page="file", shown=lambda one: one[1].name),
    ]
    rows = [*zip(designs.comparison.rows, designs.paths, strict=True)]
    caption = "Each is a plan file for `heapfit check` and `heapfit generate`."
    parts = [
        Fold(
            f"{len(rows)} plan files",
            [Table(files, rows, caption=caption, look="cards numbers texts")],
        ),
        Fold(
            "Size classes for pools without a shared heap, the best for each number of pools",
            [_class_table(designs.classes, designs.comparison.u_max)],
        ),
    ]
    plans = Section("plans", "All plans", parts)
    opening, commands = opening_of(case, "fit --plans"), [("These plans:", command)]
    return case_page(opening, case, mapped, plans, commands=commands)
