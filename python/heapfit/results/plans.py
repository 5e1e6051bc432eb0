# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of a recording, as `heapfit fit --plans` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.row import Row
from heapfit.design.effort import Effort
from heapfit.design.plan_files import Designs
from heapfit.design.pools.best_classes import BestClasses, PoolClasses
from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column, Fields, Group, Line, Part, Table
from heapfit.results.ranking import ranking
from heapfit.results.verdict import verdict_parts


def plans_parts(designs: Designs, effort: Effort, page: Path) -> Iterator[Part]:
    """The candidates, ranked, their files, and the best size classes of pools alone."""
    comparison = designs.comparison
    yield from verdict_parts(comparison, effort)
    yield from ranking(comparison)
    yield Fields({"plans": designs.paths, "page": page})
    for row, path in zip(comparison.rows, designs.paths, strict=True):
        yield Line(str(path), is_copied=True)
        yield Line(f"  {row.reason}; {_describe_pools(row)}")
    yield Line(str(page), is_copied=True)
    yield Group("classes", _class_table(designs.classes, designs.rule, comparison.u_max))


def _describe_pools(row: Row) -> str:
    pools = [f"{pool.count:,} x {pool.size:,} B" for pool in row.plan.filled_pools]
    return ", ".join(pools) or "no pools"


@dataclass(frozen=True, slots=True)
class _BestClassesRow:
    """The best size classes with so many pools."""

    pools: int
    waste: PoolClasses
    peaks: PoolClasses


def _class_table(best: BestClasses, rule: PoolClasses | None, u_max: int) -> Iterator[Part]:
    """A row for each number of pools, then what the 10 % rule gives."""
    yield Fields({"bounds": best.bounds, "sizes": best.sizes})
    yield Fields({"least_waste": best.least_waste, "least_peaks": best.least_peaks})
    yield Fields({"ten_percent_rule": rule})
    yield Line("")
    yield Line(f"Size classes of pools alone, the best of {best.bounds:,} sizes:")
    yield class_table(best, u_max)
    if rule is not None:
        over = _peaks_ratio(rule, u_max)
        peaks = "" if over is None else f", their peaks {over:.3f} x U_max"
        yield Line(f"10 % rule: {len(rule.sizes)} pools, waste {format_share(rule.waste)}{peaks}.")
    yield Line("least: internal fragmentation of all requests; over U_max: sum of the peaks.")
    if best.bounds < best.sizes:
        yield Line(
            f"Of {best.sizes:,} sizes, those with the most live bytes were tried as classes."
        )


def class_table(best: BestClasses, u_max: int) -> Table[_BestClassesRow]:
    """A row for each number of pools: the waste of all requests, and the sum of their peaks."""
    columns: list[Column[_BestClassesRow]] = [
        Column(heading="pools", shown=lambda one: one.pools),
        Column(heading="least waste", shown=lambda one: format_share(one.waste.waste)),
        Column(
            heading="over U_max",
            page="its peaks",
            shown=lambda one: _peaks_ratio(one.waste, u_max),
        ),
        Column(heading="least peaks", page="", shown=lambda one: format_share(one.peaks.waste)),
        Column(
            heading="over U_max",
            page="least peaks",
            shown=lambda one: _peaks_ratio(one.peaks, u_max),
        ),
        Column(page="their waste", shown=lambda one: format_share(one.peaks.waste)),
    ]
    pairs = zip(best.least_waste, best.least_peaks, strict=True)
    caption = (
        "Internal fragmentation of all requests, and the sum of the pools' peaks over the peak of "
        "live bytes."
    )
    rows = [_BestClassesRow(count, *both) for count, both in enumerate(pairs, 1)]
    return Table(columns, rows, caption=caption)


def _peaks_ratio(classes: PoolClasses, u_max: int) -> float | None:
    return classes.peaks / u_max if u_max else None
