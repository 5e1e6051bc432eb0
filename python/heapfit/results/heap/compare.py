# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: the recording with the highest peak in full, all of them in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.checks.run import PlanRun
from heapfit.comparison.jobs import Source
from heapfit.comparison.matrix import Matrix
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import select_row
from heapfit.importers.site_names import site_names
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile
from heapfit.results import html
from heapfit.results.case import ReportCase, make_case
from heapfit.results.chart import COLOURS, Chart, line_with_marks
from heapfit.results.chart import Trace as Curve
from heapfit.results.heap.case_content import gather_case
from heapfit.results.number_text import count, ratio, size
from heapfit.results.sections import content
from heapfit.results.sections.content import PageCommand, PageContent, PageFigure, PageOpening
from heapfit.results.sections.opening import describe_need, opening_of
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload

_TEMPLATE = Path(__file__).with_name("compare.html.j2")
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
    html.write_page(path, render(compared))


def render(compared: ComparisonInput) -> str:
    """The page as text, the same for the same comparison."""
    with scratch_folder() as folder:
        gathered = gather(compared, Path(folder))
    return content.render(
        _TEMPLATE, gathered, matrix=compared.matrix, held=compared.held, several=gathered.own
    )


def gather(compared: ComparisonInput, folder: Path) -> PageContent:
    """All content of the page; a synthetic workload that it shows is stored in `folder`."""
    case = _case(compared, folder)
    several = _matrix_charts(compared.matrix)
    links = [("traces", "All traces")] if several else []
    links += [("plans-regions", "In the plan's region")] if compared.held else []
    commands = (PageCommand("This comparison:", compared.command),)
    gathered = gather_case(case, _opening(case, compared.matrix), commands)
    return replace(gathered, own=several, own_links=tuple(links))


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


def _opening(case: ReportCase, matrix: Matrix) -> PageOpening:
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
        source=", ".join(one.label for one in columns),
        sentences=(sentence,),
        lead=(
            PageFigure("least on average", first),
            PageFigure("over the peak, mean", ratio(mean)),
            PageFigure("largest peak", size(case.comparison.u_max)),
        ),
        remarks=(f"Below: {shown}, which has the largest peak. {describe_need(case.winner)}",),
        trust=(
            PageFigure("traces", count(len(columns)), "each compared on its own"),
            *opening.trust[1:],
        ),
    )


def _matrix_charts(matrix: Matrix) -> tuple[Chart, ...]:
    return (_matrix_chart(matrix),) if len(matrix.columns) > 1 else ()


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
