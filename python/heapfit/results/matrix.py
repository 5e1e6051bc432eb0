# SPDX-License-Identifier: Apache-2.0
"""Traces by allocators: what compare prints of several, and the page of one or several."""

from __future__ import annotations

from collections.abc import Callable

from heapfit.comparison.case import ReportCase
from heapfit.comparison.heap_map import MappedCase
from heapfit.comparison.matrix import Matrix, TraceColumn
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import pools_warning
from heapfit.drawing.document import Document
from heapfit.drawing.number_text import percent, ratio, size
from heapfit.drawing.parts import Column, Fields, Line, Part, Section, Table, content_of, which_hold
from heapfit.grouping import group
from heapfit.plan.energy import Sram
from heapfit.plugin import PluginRow
from heapfit.results.case import case_sections
from heapfit.results.ranking import explain_marks, layout_note, marks_of, ranking
from heapfit.results.sections.page import (
    name_source,
    order_sections,
    recording_kind,
    request_source,
)

_FIRST_ROW = "U_max, B"  # of the table as text: the peaks


def matrix_table(matrix: Matrix, sram: Sram | None) -> list[Part]:
    """R_safe in bytes and over U_max, and what the marks mean."""
    return [
        Fields(
            {
                "traces": [
                    {"trace": one.label, "source": one.comparison.trace.source}
                    | content_of(ranking(one.comparison, sram))
                    for one in matrix.columns
                ],
                "mean_over_u_max": {name: matrix.mean_over_u_max(name) for name in matrix.names},
            }
        ),
        Line("R_safe in bytes, and over U_max"),
        *_figures(matrix),
    ]


def _figures(matrix: Matrix) -> list[Part]:
    """The table, on a screen and on a page, and what its marks mean."""
    columns: list[Column[str]] = [
        Column(heading="allocator", shown=lambda name: name),
        *(Column(heading=one.label, shown=_cells_of(one)) for one in matrix.columns),
        Column(
            heading="mean",
            shown=lambda name: "" if name == _FIRST_ROW else _ratio(matrix.mean_over_u_max(name)),
        ),
        Column(heading="for all", shown=matrix.need_of_all),
    ]
    rows, caption = [_FIRST_ROW, *matrix.names], "R_safe in bytes, and over U_max, the peak."
    table = Table(columns, rows, is_whole=True, caption=caption, lead=matrix.names[0])
    return [table, *map(Line, _explain(matrix))]


def _cells_of(column: TraceColumn) -> Callable[[str], str]:
    """What a column has of a candidate: its regions, n/a, or nothing if it was not tried."""

    def describe(name: str) -> str:
        row = column.cell(name)
        if name == _FIRST_ROW:
            return f"{column.comparison.u_max:,}"
        if isinstance(row, Row | PluginRow):
            return _describe_regions(row)
        return "" if row is None else "n/a"

    return describe


def _describe_regions(row: Row | PluginRow) -> str:
    """R_safe in bytes and over U_max, R_min / U_max after it where that is less, and marks."""
    is_told = not row.is_monotone and row.r_min is not None and row.u_max
    least = f"~{(row.r_min or 0) / row.u_max:.3f}" if is_told else ""
    needed = f"{row.r_safe:,} " if row.r_safe else ""
    return f"{needed}{_ratio(row.over_u_max)}{least}{marks_of(row)}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else ratio(value)


def _explain(matrix: Matrix) -> list[str]:
    """What the marks that occur mean, and why a plan does not apply."""
    rows = [row for column in matrix.columns for row in column.comparison.rows]
    alignments = " and ".join(f"{one} B" for one in sorted({row.alignment for row in rows}))
    left = group(  # traces on which a candidate is not tried, and why
        ((one.name, one.why), column.label)
        for column in matrix.columns
        for one in column.comparison.not_applicable
    )
    return [
        f"mean: geometric; for all: bytes that serve each. Alignment: {alignments}.",
        *(
            f"{note}, on {column.label}."
            for column in matrix.columns
            for note in map(layout_note, column.comparison.rows)
            if note
        ),
        *explain_marks(
            rows, [*rows, *(row for one in matrix.columns for row in one.comparison.plugins)]
        ),
        *which_hold(
            (
                any(not row.is_monotone for row in rows),
                "a~b R_safe ~ R_min: not monotone, a region between them fails.",
            ),
            (
                any(row.r_safe is None for row in rows),
                "- none found: the largest region scanned failed.",
            ),
        ),
        *(
            f"{name}: some sizes above R_safe were not tried; --exact tries all."
            for name in sorted({row.name for row in rows if not row.is_exhaustive})
        ),
        *(
            f"n/a {name} on {', '.join(left[name, why])}: {why}."
            for name, why in sorted(left, key=lambda one: matrix.names.index(one[0]))
        ),
    ]


def comparison_page(
    case: ReportCase, mapped: MappedCase, *, matrix: Matrix, command: str = ""
) -> Document:
    """The page: the case of the recording with the highest peak, and all of them in a table."""
    trace, columns, several = case.shown.trace, matrix.columns, len(matrix.columns) > 1
    title, name = trace.info.program or trace.path.stem, request_source(trace.info, trace.path.name)
    remark, warning = _describe_need(case.winner), pools_warning(case.winner, case.comparison)
    if several:
        title, name = f"{len(columns)} traces", ", ".join(one.label for one in columns)
        shown = next(one.label for one in columns if one.comparison.trace is case.comparison.trace)
        remark = f"Below: {shown}, which has the largest peak. {remark}"
    return Document(
        command="compare",
        title=title,
        source=name_source(name),
        kind=recording_kind(trace.info),
        sentences=(matrix.sentence(),),
        remarks=(remark,),
        warnings=which_hold(
            (
                trace.info.kind == "heap" and not trace.info.pointer_bits,
                "The recording does not state its pointer size.",
            ),
            (warning, f"The {warning}."),
        ),
        sections=order_sections(
            [
                *case_sections(case, mapped),
                Section("traces", "All traces", _figures(matrix)) if several else None,
            ],
            trace.info.notes,
            [("This comparison:", command)],
            has_table=several,
        ),
    )


def _describe_need(winner: Row) -> str:
    """The sentence that says which region a plan needs for a recording."""
    if winner.r_safe is None:
        return "No plan serves this recording in any region tried."
    return (
        f"{winner.name} needs {size(winner.r_safe)} for this recording, "
        f"{percent((winner.over_u_max or 1) - 1)} above its peak of {size(winner.u_max)}."
    )
