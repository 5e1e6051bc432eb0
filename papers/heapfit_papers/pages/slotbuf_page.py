# SPDX-License-Identifier: Apache-2.0
"""The page of a slot-buffer run: what it left free."""

from __future__ import annotations

from pathlib import Path

from heapfit.results import html
from heapfit_papers.pages.slotbuf_charts import (
    MOST_SHOWN,
    count_large_blocks,
    course_chart,
    free_chart,
    request_chart,
)
from heapfit_papers.slotbuf.benchmark import Slotbuf, draw_sizes

_TEMPLATE = Path(__file__).with_name("slotbuf.html.j2")
SAMPLES = 10_000  # as in figure 1 of the report


def write_slotbuf_page(path: Path, run: Slotbuf, command: str) -> None:
    """Writes the page of `run` to `path`."""
    html.write_page(path, render(run, command))


def render(run: Slotbuf, command: str) -> str:
    """The page as text, the same for the same runs; `command` is what was typed."""
    requests = request_chart("chart-requests", run.spec, draw_sizes(run.spec, SAMPLES).tolist())
    free = free_chart("chart-free", run)
    course = course_chart(run.series)
    return html.render(
        _TEMPLATE,
        f"slotbuf on {run.spec.plan.allocator}",
        [free, course, requests],
        run=run,
        spec=run.spec,
        counts=run.counts,
        allocator=_allocator(run),
        free=free,
        left_out=count_large_blocks(run),
        course=course,
        requests=requests,
        samples=SAMPLES,
        most_shown=MOST_SHOWN,
        command=command,
    )


def _allocator(run: Slotbuf) -> str:
    """The allocator with its tunables, as one would type it."""
    plan = run.spec.plan
    settings = ",".join(f"{name}={value}" for name, value in plan.scalars.items())
    return f"{plan.allocator}:{settings}" if settings else plan.allocator
