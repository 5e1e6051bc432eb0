# SPDX-License-Identifier: Apache-2.0
"""Ranked rows as the table and the JSON that compare, design and fit print."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from heapfit.bounds.trace_bounds import BesideResult
from heapfit.cli.printing import console
from heapfit.compare.comparison import Comparison, Row, energies_over_least
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan import plan_table

_COLUMNS = (
    "candidate",
    "R_min",
    "R_safe",
    "step",
    "alignment",
    "over U_max",
    "accesses/operation",
    "energy",
)
IN_PIECES = "+ blocks in pieces: only for callers that follow them from piece to piece."


def print_ranking(comparison: Comparison, sram: Sram | None = None) -> None:
    """The table, what its figures mean, and what was left out."""
    rows = comparison.rows
    energies = _energies(comparison, sram)
    cells = [(*_cells(row), energy) for row, energy in zip(rows, energies, strict=True)]
    console.out_table(_COLUMNS, cells)
    console.out(
        f"Regions in bytes; U_max {comparison.u_max:,}; every region starts at a multiple of "
        f"{comparison.base_alignment}."
    )
    if comparison.bounds is not None:
        console.out(_bounds_told(comparison.bounds))
    console.out("energy: of the accesses, in an SRAM of the region's size, over the least.")
    if any(row.trained_on_this_trace for row in rows):
        console.out("* trained on this trace: another run may need more.")
    if any(row.is_in_pieces for row in rows):
        console.out(IN_PIECES)
    if any(row.step == 0 and row.r_safe is not None for row in rows):
        console.out("step -: no search; the region follows from the plan or from one run.")
    if any(row.r_safe is None for row in rows):
        console.out("R_safe -: the largest region scanned failed.")
    for left_out in comparison.not_applicable:
        console.out(f"{left_out.name} left out: {left_out.why}.")


def _bounds_told(bounds: BesideResult) -> str:
    told = (
        f"Bounds: {bounds.packing:,} were all lifetimes known; {bounds.static:,} if each size "
        "had its own most"
    )
    worst = bounds.worst_case
    return told + ("." if worst is None else f"; the first, whatever comes: {worst.size:,}.")


def print_low_level(comparison: Comparison, granularity: int) -> None:
    """R_max as the papers have it: what a low-level allocator gave, in steps."""
    console.out("")
    console.out_table(
        ("candidate", "high-water mark", f"in steps of {granularity:,}", "over U_max"),
        [_low_level_cells(row, granularity) for row in comparison.rows],
    )
    console.out("R_max: the most that a low-level allocator, such as sbrk, is asked for; in bytes.")


def _low_level_cells(row: Row, granularity: int) -> tuple[object, ...]:
    in_steps = row.footprint_in_steps(granularity)
    ratio = in_steps / row.u_max if in_steps is not None and row.u_max else None
    return row.name, row.footprint, in_steps, ratio


def ranking_json(
    comparison: Comparison, sram: Sram | None = None, granularity: int | None = None
) -> dict[str, Any]:
    """The same for --json."""
    energies = _energies(comparison, sram)
    return {
        "u_max": comparison.u_max,
        "base_alignment": comparison.base_alignment,
        "rows": [
            _row_json(row, energy, granularity)
            for row, energy in zip(comparison.rows, energies, strict=True)
        ],
        "bounds": None if comparison.bounds is None else asdict(comparison.bounds),
        "not_applicable": [{"name": one.name, "why": one.why} for one in comparison.not_applicable],
    }


def _energies(comparison: Comparison, sram: Sram | None) -> list[float | None]:
    return energies_over_least(comparison.rows, sram or load_sram())


def _cells(row: Row) -> tuple[object, ...]:
    mark = ("+" if row.is_in_pieces else "") + ("*" if row.trained_on_this_trace else "")
    return (
        f"{row.name}{mark}",
        row.r_min,
        row.r_safe,
        row.step or None,
        row.alignment,
        row.over_u_max,
        row.accesses_per_operation,
    )


def _row_json(row: Row, energy: float | None, granularity: int | None) -> dict[str, Any]:
    in_steps = (
        {} if granularity is None else {"footprint_in_steps": row.footprint_in_steps(granularity)}
    )
    return {
        "name": row.name,
        "reason": row.reason,
        "r_min": row.r_min,
        "r_safe": row.r_safe,
        "step": row.step,
        "alignment": row.alignment,
        "over_u_max": row.over_u_max,
        "accesses_per_operation": row.accesses_per_operation,
        "loads": None if row.replay is None else row.replay.loads,
        "stores": None if row.replay is None else row.replay.stores,
        "energy_over_least": energy,
        "footprint": row.footprint,
        **in_steps,
        "trained_on_this_trace": row.trained_on_this_trace,
        "plan": plan_table(row.plan),
    }
