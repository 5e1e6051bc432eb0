# SPDX-License-Identifier: Apache-2.0
"""Several traces by several allocators: what compare prints of them.

A table that is wider than the page goes on in a second panel, with its rows named again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapfit.comparison.matrix import Matrix, TraceColumn
from heapfit.comparison.row import Row
from heapfit.plan.energy import Sram
from heapfit.results.parts import Fields, Line, Part, content_of, paragraph
from heapfit.results.ranking import (
    IN_PIECES,
    NEEDS_SIZE,
    describe_system_heaps,
    layout_note,
    marks_of,
    ranking,
)
from heapfit.results.text import WIDTH

_GAP = "  "
_NOT_TRIED = ""  # nothing was said of this candidate on this trace
_NO_PLAN = "n/a"


def matrix_table(matrix: Matrix, sram: Sram | None) -> Iterator[Part]:
    """R_safe / U_max, and what the marks mean."""
    yield Fields({"traces": [_trace_fields(one, sram) for one in matrix.columns]})
    yield Fields({"mean_over_u_max": {one: matrix.mean_over_u_max(one) for one in matrix.names}})
    yield Line("R_safe / U_max")
    yield from _regions(matrix)
    yield from _explain_marks(matrix)


def _trace_fields(column: TraceColumn, sram: Sram | None) -> dict[str, object]:
    ranked = ranking(column.comparison, sram)
    its = {"trace": column.label, "source": column.comparison.trace.source}
    return its | content_of(ranked)


def _regions(matrix: Matrix) -> Iterator[Line]:
    columns = [
        [
            column.label,
            f"{column.comparison.u_max:,}",
            *(_text(column, name) for name in matrix.names),
        ]
        for column in matrix.columns
    ]
    means = (_ratio(matrix.mean_over_u_max(name)) for name in matrix.names)
    names = ["allocator", "U_max, B", *matrix.names]
    yield from _panel_lines(names, [*columns, ["mean", "", *means]])


def _format_regions(row: Row) -> str:
    """R_safe / U_max, R_min / U_max after it where that is less, and marks."""
    safe = _ratio(row.over_u_max)
    if not row.is_monotone and row.r_min is not None and row.u_max:
        safe += f"~{row.r_min / row.u_max:.3f}"
    return safe + marks_of(row)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}"


def _panel_lines(names: Sequence[str], columns: Sequence[list[str]]) -> Iterator[Line]:
    for i, panel in enumerate(_panels(names, columns)):
        if i > 0:
            yield Line("")
        yield from map(Line, _lines([names, *panel]))


def _text(column: TraceColumn, name: str) -> str:
    entry = column.cell(name)
    if isinstance(entry, Row):
        return _format_regions(entry)
    return _NOT_TRIED if entry is None else _NO_PLAN


def _panels(names: Sequence[str], columns: Sequence[list[str]]) -> list[list[list[str]]]:
    """The columns in panels, each within the page's width with the names before it."""
    panels: list[list[list[str]]] = [[]]
    first = width = _width(names)
    for column in columns:
        more = len(_GAP) + _width(column)
        if panels[-1] and width + more > WIDTH:
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


def _explain_marks(matrix: Matrix) -> Iterator[Line]:
    """What the marks that occur mean, and why a plan does not apply."""
    rows = [row for column in matrix.columns for row in column.comparison.rows]
    alignments = " and ".join(f"{one} B" for one in sorted({row.alignment for row in rows}))
    yield Line(f"mean: geometric. Alignment: {alignments}.")
    for column in matrix.columns:
        notes = map(layout_note, column.comparison.rows)
        yield from (Line(f"{note}, on {column.label}.") for note in notes if note)
    if any(row.trained_on_this_trace for row in rows):
        yield Line("* trained on this trace: another run may need more.")
    if any(row.is_in_pieces for row in rows):
        yield Line(IN_PIECES)
    if any(row.needs_size for row in rows):
        yield Line(NEEDS_SIZE)
    yield from map(Line, describe_system_heaps(rows))
    if any(not row.is_monotone for row in rows):
        yield Line("a~b R_safe ~ R_min: not monotone, a region between them fails.")
    if any(row.r_safe is None for row in rows):
        yield Line("- none found: the largest region scanned failed.")
    for (name, why), labels in _group_not_applicable(matrix).items():
        yield from paragraph(f"n/a {name} on {', '.join(labels)}: {why}.")


def _group_not_applicable(matrix: Matrix) -> dict[tuple[str, str], list[str]]:
    """The traces on which a candidate is not tried, by its name and the reason, in row order."""
    labels: dict[tuple[str, str], list[str]] = {}
    for column in matrix.columns:
        for one in column.comparison.not_applicable:
            labels.setdefault((one.name, one.why), []).append(column.label)
    ordered = sorted(labels, key=lambda one: matrix.names.index(one[0]))
    return {one: labels[one] for one in ordered}
