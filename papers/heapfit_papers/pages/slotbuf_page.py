# SPDX-License-Identifier: Apache-2.0
"""The page of a slot-buffer run: what it left free, and on demand the report's claims."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapfit.report.drawing import rendering
from heapfit.report.drawing.figure import Chart
from heapfit_papers.pages.slotbuf_charts import (
    MOST_SHOWN,
    count_large_blocks,
    course_chart,
    end_chart,
    free_chart,
    growth_chart,
    request_chart,
)
from heapfit_papers.reproduce.finding import Finding
from heapfit_papers.reproduce.paper_000_second import judge
from heapfit_papers.slotbuf.benchmark import Slotbuf, draw_sizes
from heapfit_papers.slotbuf.measures import SIZES, ReportRuns

_TEMPLATE = Path(__file__).with_name("slotbuf.html.j2")
SAMPLES = 10_000  # as in figure 1 of the report


@dataclass(frozen=True, slots=True)
class FreeFigure:
    """A histogram of free blocks with the run it is of."""

    run: Slotbuf
    chart: Chart
    left_out: tuple[int, int]  # number and bytes of the blocks too big for it


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """What the page shows of the report's own runs."""

    claims: tuple[Finding, ...]
    version_1: FreeFigure
    version_2: FreeFigure
    end: Chart
    growth: Chart

    @property
    def charts(self) -> list[Chart]:
        """All, in reading order."""
        return [self.version_1.chart, self.end, self.version_2.chart, self.growth]


def write_slotbuf_page(path: Path, run: Slotbuf, command: str, report: ReportRuns | None) -> None:
    """Writes the page of `run` to `path`; with `report`, the claims and their figures too."""
    rendering.write_page(path, render(run, command, report))


def render(run: Slotbuf, command: str, report: ReportRuns | None) -> str:
    """The page as text, the same for the same runs; `command` is what was typed."""
    requests = request_chart("chart-requests", run.spec, draw_sizes(run.spec, SAMPLES).tolist())
    free = _free_figure("chart-free", run)
    course = course_chart(run.series)
    figures = None if report is None else _report_figures(report)
    return rendering.render(
        _TEMPLATE,
        f"slotbuf on {run.spec.plan.allocator}",
        [free.chart, course, requests, *(figures.charts if figures else ())],
        run=run,
        spec=run.spec,
        counts=run.counts,
        allocator=_allocator(run),
        free=free,
        course=course,
        requests=requests,
        samples=SAMPLES,
        most_shown=MOST_SHOWN,
        report=figures,
        command=command,
    )


def _free_figure(identity: str, run: Slotbuf) -> FreeFigure:
    return FreeFigure(run, free_chart(identity, run), count_large_blocks(run))


def _report_figures(report: ReportRuns) -> ReportFigures:
    return ReportFigures(
        claims=judge(report),
        version_1=_free_figure("chart-figure-2", next(iter(report.version_1.values()))[0]),
        version_2=_free_figure("chart-figure-3", report.version_2[SIZES][0]),
        end=end_chart(report.version_1),
        growth=growth_chart(report.growth),
    )


def _allocator(run: Slotbuf) -> str:
    """The allocator with its tunables, as one would type it."""
    plan = run.spec.plan
    settings = ",".join(f"{name}={value}" for name, value in plan.scalars.items())
    return f"{plan.allocator}:{settings}" if settings else plan.allocator
