# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: the recording with the highest peak in full, all of them in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.checks.run import PlanRun
from heapfit.comparison.case import ReportCase, make_case
from heapfit.comparison.matrix import Matrix, Source, TraceColumn
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import select_row
from heapfit.importers.site_names import site_names
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile
from heapfit.results.chart import COLOURS, Chart, line_with_marks
from heapfit.results.chart import Trace as Curve
from heapfit.results.document import Document
from heapfit.results.heap.case_content import case_sections
from heapfit.results.html import write
from heapfit.results.number_text import count, ratio, size
from heapfit.results.parts import Cell, Column, Line, NamedFigure, Part, Section, Table
from heapfit.results.sections.opening import describe_need, opening_of
from heapfit.results.sections.page import in_order, name_source
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload

_MOST_CURVES = 7


@dataclass(frozen=True, slots=True)
class ComparisonInput:
    """A comparison, and its inputs."""

    matrix: Matrix
    sources: Sequence[Source]  # of the matrix's columns, in their order
    held: Sequence[tuple[PlanRun, PlanFile]] = ()  # traces in the very regions that plans set
    programs: Sequence[Path] = ()  # recorded ones, for the names of call sites
    command: str = ""  # that was typed


def write_comparison_page(path: Path, compared: ComparisonInput) -> None:
    """Writes the page; reads the trace that it shows and replays its winner once more."""
    with scratch_folder() as folder:
        write(path, comparison_page(compared, Path(folder)))


def comparison_page(compared: ComparisonInput, folder: Path) -> Document:
    """The page; a synthetic workload that it shows is stored in `folder`."""
    case = _case(compared, folder)
    sections = case_sections(case)
    if len(compared.matrix.columns) > 1:
        sections.append(_matrix_section(compared.matrix))
    if compared.held:
        words = "One replay of each trace in the region of the plan."
        held: list[Part] = [Line(words), Table(_HELD, compared.held)]
        sections.append(Section("plans-regions", "In the plan's region", held))
    commands = [("This comparison:", compared.command)]
    notes = case.shown.trace.info.notes
    return replace(_opening(case, compared.matrix), sections=in_order(sections, notes, commands))


_HELD: tuple[Column[tuple[PlanRun, PlanFile]], ...] = (
    Column(page="trace and plan", shown=lambda one: Cell(one[0].name, (one[1].name,))),
    Column(page="region", shown=lambda one: one[1].region, told=size),
    Column(page="its peak", shown=lambda one: one[0].peak, told=size),
    Column(
        page="out of memory at event",
        shown=lambda one: "none" if one[0].refusal is None else count(one[0].refusal.event),
    ),
)


def _case(compared: ComparisonInput, folder: Path) -> ReportCase:
    """The trace with the highest peak, with the plan chosen for it."""
    columns = compared.matrix.columns
    place = max(range(len(columns)), key=lambda i: columns[i].comparison.u_max)
    comparison, source = columns[place].comparison, compared.sources[place]
    if not isinstance(source, Trace):
        source = generate_workload(source, folder / f"{source.name}.parquet")
    shown = load_trace(source, comparison.rows[0].alignment)
    sites = site_names(shown, compared.programs)
    return make_case(shown, comparison, select_row(comparison), sites)


def _opening(case: ReportCase, matrix: Matrix) -> Document:
    opening = opening_of(case, "compare")
    columns = matrix.columns
    if len(columns) == 1:
        return opening
    first = matrix.names[0]
    mean = matrix.mean_over_u_max(first)
    sentence = (
        "No plan serves all of them."
        if mean is None
        else f"{first} needs the least on average: {ratio(mean)} times the peak of each trace."
    )
    shown = next(one.label for one in columns if one.comparison.trace is case.comparison.trace)
    return replace(
        opening,
        title=f"{len(columns)} traces",
        source=name_source(", ".join(one.label for one in columns)),
        sentences=(sentence,),
        lead=(
            NamedFigure("least on average", first),
            NamedFigure("over the peak, mean", ratio(mean)),
            NamedFigure("largest peak", size(case.comparison.u_max)),
        ),
        remarks=(f"Below: {shown}, which has the largest peak. {describe_need(case.winner)}",),
        trust=(
            NamedFigure("traces", count(len(columns)), "each compared on its own"),
            *opening.trust[1:],
        ),
    )


def _matrix_section(matrix: Matrix) -> Section:
    columns: list[Column[str]] = [
        Column(page="candidate", shown=lambda name: name),
        *(_over_peak_of(one) for one in matrix.columns),
        Column(page="mean", shown=matrix.mean_over_u_max, told=ratio),
    ]
    caption = (
        "Region needed over the peak, the least on average first; –: no region serves the trace."
    )
    table = Table(columns, matrix.names, caption=caption, lead=matrix.names[0])
    return Section("traces", "All traces", [_matrix_chart(matrix), table])


def _over_peak_of(column: TraceColumn) -> Column[str]:
    def over_peak(name: str) -> float | None:
        cell = column.cell(name)
        return cell.over_u_max if isinstance(cell, Row) else None

    return Column(page=column.label, shown=over_peak, told=ratio)


def _matrix_chart(matrix: Matrix) -> Chart:
    """The region that the best candidates need for each trace, over the trace's peak."""
    return Chart(
        identity="chart-traces",
        meaning="Region needed over the peak of each trace, by candidate.",
        data=[
            _marks(matrix, name, COLOURS[place % len(COLOURS)])
            for place, name in enumerate(matrix.names[:_MOST_CURVES])
        ],
        layout={
            "hovermode": "closest",
            "xaxis": {"type": "category", "title": {"text": "trace"}},
            "yaxis": {"title": {"text": "region over the peak"}},
        },
        height=380,
        caption="Region that the best candidates need for each trace, over that trace's peak, "
        "without margin. No heap can go below 1.",
    )


def _marks(matrix: Matrix, name: str, colour: str) -> Curve:
    known = [
        (column.label, cell.over_u_max)
        for column in matrix.columns
        if isinstance(cell := column.cell(name), Row) and cell.over_u_max is not None
    ]
    labels, ratios = [label for label, _ in known], [round(value, 4) for _, value in known]
    marker = {"color": colour, "size": 10}
    return line_with_marks(name, labels, ratios, colour) | {"mode": "markers", "marker": marker}
