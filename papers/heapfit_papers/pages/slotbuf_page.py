# SPDX-License-Identifier: Apache-2.0
"""The page of a slot-buffer run: what it left free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from heapfit.drawing.chart import Chart
from heapfit.drawing.document import Document, reproduce_section
from heapfit.drawing.html import write_document
from heapfit.drawing.number_text import count, mark_up, percent, size
from heapfit.drawing.parts import NamedFigure, Section
from heapfit_papers.pages.slotbuf_charts import (
    MOST_SHOWN,
    count_large_blocks,
    course_chart,
    free_chart,
    request_chart,
)
from heapfit_papers.slotbuf.benchmark import Slotbuf, draw_sizes

SAMPLES = 10_000  # as in figure 1 of the report


def write_slotbuf_page(path: Path, run: Slotbuf, command: str) -> None:
    """Writes the page of `run` to `path`."""
    write_document(path, slotbuf_page(run, command))


def slotbuf_page(run: Slotbuf, command: str) -> Document:
    """The page, the same for the same runs; `command` is what was typed."""
    spec, counts = run.spec, run.counts
    least, most = spec.least, size(spec.most)
    unused = f"the free list is {percent(run.share_unused)} of them"
    return Document(
        command="slotbuf",
        kind="the benchmark of Cebeci 2019",
        name=f"slotbuf on {spec.plan.allocator}",
        title=spec.plan.allocator,
        source=mark_up("<b>{}</b>; ", _allocator(run))
        + f"{count(spec.slots)} slots, requests of {least} to {most}, region "
        f"{size(spec.region)}, seed {spec.seed}",
        sentences=(
            f"{count(counts.loops)} loops done, none refused."
            if counts.refused is None
            else f"Out of memory after {count(counts.loops)} loops: a request of "
            f"{size(counts.refused)} was refused while {size(run.free_bytes)} were free.",
        ),
        trust=(
            NamedFigure("free list", count(run.free_blocks)),
            NamedFigure("total free space", size(run.free_bytes)),
            NamedFigure("average free block", size(round(run.mean_free))),
            NamedFigure("palloc calls", count(counts.alloc.calls), "served"),
            NamedFigure("pree calls", count(counts.free.calls), unused),
            NamedFigure("live blocks", count(counts.live_blocks), f"{size(counts.live)} asked for"),
            NamedFigure("worst palloc", count(counts.alloc.worst), "accesses to metadata"),
            NamedFigure("worst pree", count(counts.free.worst), "accesses to metadata"),
            NamedFigure("footprint", size(run.footprint), "of the region, at most"),
        ),
        sections=(
            Section(
                "free",
                "Free blocks at the end",
                [replace(free_chart("chart-free", run), caption=_tell_free(run))],
                "Free blocks",
            ),
            Section(
                "course",
                "Free list over the run",
                [course_chart(run.series)],
                "Course of the run",
            ),
            Section("requests", "What is asked for", [_draw_requests(run)], "Requests"),
            reproduce_section(("The same command gives the same page on every machine.", command)),
        ),
    )


def _draw_requests(run: Slotbuf) -> Chart:
    spec = run.spec
    caption = mark_up(
        "Figure 1 of the report: {} requests of MAX / e<sup>r</sup> bytes, r uniform from 0 to "
        "ln(MAX / MIN), MAX {}, MIN {}. The line is what the law expects. The report does not "
        "state its MAX and MIN.",
        count(SAMPLES),
        size(spec.most),
        size(spec.least),
    )
    drawn = draw_sizes(spec, SAMPLES).tolist()
    return replace(request_chart("chart-requests", spec, drawn), caption=caption)


def _tell_free(run: Slotbuf) -> str:
    number, total = count_large_blocks(run)
    words = "Sizes that the free blocks could serve, headers apart; also in dist.dat."
    if not number:
        return words
    larger = f"{count(number)} larger than {size(MOST_SHOWN)}, together {size(total)}"
    return f"{words} Not shown: {larger}."


def _allocator(run: Slotbuf) -> str:
    """The allocator with its tunables, as one would type it."""
    plan = run.spec.plan
    settings = ",".join(f"{name}={value}" for name, value in plan.scalars.items())
    return f"{plan.allocator}:{settings}" if settings else plan.allocator
