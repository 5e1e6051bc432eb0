# SPDX-License-Identifier: Apache-2.0
"""Several traces by several allocators, as the tables and the JSON that compare prints.

A table that is wider than the page goes on in a second panel, with its rows named again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from heapfit.cli.printing import console
from heapfit.cli.printing.ranking import IN_PIECES, ranking_json
from heapfit.compare.comparison import Row, energies_over_least
from heapfit.compare.matrix import Column, Matrix
from heapfit.plan.energy import Sram, load_sram

Cell: TypeAlias = Callable[[Row], str]

_GAP = "  "
_NOT_TRIED = ""  # nothing was said of this candidate on this trace
_NO_PLAN = "n/a"


def print_matrix(
    matrix: Matrix, granularity: int | None, sram: Sram | None, with_accesses: bool
) -> None:
    """R_safe / U_max, and what was asked for beside it; then what the marks mean."""
    console.out("R_safe / U_max")
    _print_regions(matrix)
    _print_marks(matrix)
    if granularity is not None:
        console.out("")
        console.out(f"R_max / U_max, R_max in steps of {granularity:,} B")
        _print_panels(matrix, lambda row: _in_steps(row, granularity))
    if with_accesses:
        console.out("")
        console.out("Metadata accesses per operation")
        _print_panels(matrix, lambda row: _ratio(row.accesses_per_operation))
        console.out("")
        console.out("Energy of metadata accesses over the least on the trace")
        _print_energies(matrix, sram)


def matrix_json(matrix: Matrix, sram: Sram | None, granularity: int | None) -> dict[str, Any]:
    """The same for --json."""
    return {
        "traces": [
            {
                "trace": column.label,
                "source": column.comparison.trace.source,
                **ranking_json(column.comparison, sram, granularity),
            }
            for column in matrix.columns
        ],
        "mean_over_u_max": {name: matrix.mean_over_u_max(name) for name in matrix.names},
    }


def _print_regions(matrix: Matrix) -> None:
    columns = [
        [
            column.label,
            f"{column.comparison.u_max:,}",
            *(_text(column, name, _over_u_max) for name in matrix.names),
        ]
        for column in matrix.columns
    ]
    means = (_ratio(matrix.mean_over_u_max(name)) for name in matrix.names)
    _print_columns(["allocator", "U_max, B", *matrix.names], [*columns, ["mean", "", *means]])


def _over_u_max(row: Row) -> str:
    """R_safe / U_max, R_min / U_max behind it where it is less, and marks."""
    safe = _ratio(row.over_u_max)
    if not row.is_monotone and row.r_min is not None and row.u_max:
        safe += f"~{row.r_min / row.u_max:.3f}"
    return safe + ("+" if row.is_in_pieces else "") + ("*" if row.trained_on_this_trace else "")


def _in_steps(row: Row, granularity: int) -> str:
    in_steps = row.footprint_in_steps(granularity)
    return _ratio(in_steps / row.u_max if in_steps is not None and row.u_max else None)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}"


def _print_energies(matrix: Matrix, sram: Sram | None) -> None:
    table = sram or load_sram()
    energies: dict[int, str] = {}
    for column in matrix.columns:
        rows = column.comparison.rows
        for row, energy in zip(rows, energies_over_least(rows, table), strict=True):
            energies[id(row)] = _ratio(energy)
    _print_panels(matrix, lambda row: energies[id(row)])


def _print_panels(matrix: Matrix, cell: Cell) -> None:
    """One table in as many panels as its width takes."""
    columns = [
        [column.label, *(_text(column, name, cell) for name in matrix.names)]
        for column in matrix.columns
    ]
    _print_columns(["allocator", *matrix.names], columns)


def _print_columns(names: Sequence[str], columns: Sequence[list[str]]) -> None:
    for i, panel in enumerate(_panels(names, columns)):
        if i > 0:
            console.out("")
        for line in _lines([names, *panel]):
            console.out(line)


def _text(column: Column, name: str, cell: Cell) -> str:
    found = column.cell(name)
    if isinstance(found, Row):
        return cell(found)
    return _NOT_TRIED if found is None else _NO_PLAN


def _panels(names: Sequence[str], columns: Sequence[list[str]]) -> list[list[list[str]]]:
    """The columns parted so that each part stands beside the names within the page."""
    panels: list[list[list[str]]] = [[]]
    first = width = _width(names)
    for column in columns:
        more = len(_GAP) + _width(column)
        if panels[-1] and width + more > console.WIDTH:
            panels.append([])
            width = first
        panels[-1].append(column)
        width += more
    return panels


def _width(texts: Sequence[str]) -> int:
    return max(map(len, texts))


def _lines(columns: Sequence[Sequence[str]]) -> list[str]:
    widths = [_width(column) for column in columns]
    return [
        _GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
        for texts in zip(*columns, strict=True)
    ]


def _print_marks(matrix: Matrix) -> None:
    """What the marks that occur mean, and why a plan does not apply."""
    rows = [row for column in matrix.columns for row in column.comparison.rows]
    console.out(f"mean: geometric. Alignment: {_alignments(rows)}.")
    if any(row.trained_on_this_trace for row in rows):
        console.out("* the plan was made from this very trace: another run may need more.")
    if any(row.is_in_pieces for row in rows):
        console.out(IN_PIECES)
    if any(not row.is_monotone for row in rows):
        console.out("a~b R_safe ~ R_min: not monotone, as a region between them fails.")
    if any(row.r_safe is None for row in rows):
        console.out("- none found: the largest region scanned failed.")
    _print_not_applicable(matrix)


def _print_not_applicable(matrix: Matrix) -> None:
    for name in matrix.names:
        labels: dict[str, list[str]] = {}
        for column in matrix.columns:
            for one in column.comparison.not_applicable:
                if one.name == name:
                    labels.setdefault(one.why, []).append(column.label)
        for why, those in labels.items():
            _print_wrapped(f"n/a {name} on {', '.join(those)}: {why}.")


def _alignments(rows: Sequence[Row]) -> str:
    return " and ".join(f"{one} B" for one in sorted({row.alignment for row in rows}))


def _print_wrapped(text: str) -> None:
    for line in textwrap.wrap(text, console.WIDTH, break_on_hyphens=False):
        console.out(line)
