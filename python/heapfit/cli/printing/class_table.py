# SPDX-License-Identifier: Apache-2.0
"""The best size classes of pools alone, as the table and the JSON that design prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from heapfit.cli.printing import console
from heapfit.design.pools.best_classes import BestClasses, Classes

_COLUMNS = ("pools", "least waste: percent", "over U_max", "least peaks: percent", "over U_max")


def print_classes(best: BestClasses, rule: Classes | None, u_max: int) -> None:
    """A row for each number of pools, then what the 10 % rule gives."""
    console.out("")
    console.out(f"Size classes of pools alone, the best of {best.bounds:,} sizes:")
    pairs = enumerate(zip(best.least_waste, best.least_peaks, strict=True), 1)
    console.out_table(
        _COLUMNS,
        [(count, *_cells(waste, u_max), *_cells(peaks, u_max)) for count, (waste, peaks) in pairs],
    )
    if rule is not None:
        percent, over = _cells(rule, u_max)
        over_told = "" if over is None else f", their peaks {over:.3f} x U_max"
        console.out(f"10% rule: {len(rule.sizes)} pools, {percent:.3f} percent{over_told}.")
    console.out("percent: internal fragmentation of all requests; over U_max: sum of the peaks.")
    if best.bounds < best.sizes:
        console.out(f"Of {best.sizes:,} sizes, those with most live bytes were tried as classes.")


def classes_json(best: BestClasses, rule: Classes | None) -> dict[str, Any]:
    """The same for --json."""
    return {
        "bounds": best.bounds,
        "sizes": best.sizes,
        "least_waste": [asdict(one) for one in best.least_waste],
        "least_peaks": [asdict(one) for one in best.least_peaks],
        "ten_percent_rule": None if rule is None else asdict(rule),
    }


def _cells(one: Classes, u_max: int) -> tuple[float, float | None]:
    return 100 * one.waste, one.peaks / u_max if u_max else None
