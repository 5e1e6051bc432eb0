# SPDX-License-Identifier: Apache-2.0
"""Charts of the slot-buffer benchmark: what is asked for, what is left free, how runs end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from heapfit.drawing.chart import ACCENT, MOST_SINGLE_TICKS, Chart, Layout, level
from heapfit_papers.pages.parts import draw_bars, draw_curve, panel_axis
from heapfit_papers.slotbuf.benchmark import Slotbuf, SlotbufSeries, SlotbufSpec

BINS = 40  # of the histogram of requests
MOST_SHOWN = 1024  # bytes: very big free blocks are left out of a histogram, as in the report
SECOND = "var(--other-1)"


def request_chart(identity: str, spec: SlotbufSpec, drawn: Sequence[int]) -> Chart:
    """A histogram of requests drawn, and what the law expects."""
    width = (spec.most - spec.least + 1) / BINS
    counts = [0] * BINS
    for size in drawn:
        counts[min(int((size - spec.least) / width), BINS - 1)] += 1
    middles = [spec.least + (i + 0.5) * width for i in range(BINS)]
    bars = draw_bars("drawn", middles, counts, ACCENT) | {
        "width": width * 0.9,
        "hovertemplate": "about %{x:.0f} B: %{y:,d} requests<extra></extra>",
    }
    law = {
        "type": "scatter",
        "mode": "lines",
        "name": "expected",
        "x": middles,
        "y": [
            _expect_requests(spec, len(drawn), spec.least + i * width, width) for i in range(BINS)
        ],
        "line": {"color": SECOND, "width": 2},
        "hoverinfo": "skip",
    }
    return Chart(
        identity=identity,
        meaning="Histogram of request sizes drawn by the size law, with the expected numbers.",
        data=[bars, law],
        layout=_histogram_layout("request, bytes", "requests", max(counts)),
        height=340,
    )


def _expect_requests(spec: SlotbufSpec, count: int, low: float, width: float) -> float:
    """Requests from `low` on: the law is uniform in the logarithm. Whole bytes are rounded down."""
    return count * math.log((low + width) / low) / math.log((spec.most + 1) / spec.least)


def free_chart(identity: str, run: Slotbuf) -> Chart:
    """How many free blocks there are of each size, the very big ones left out."""
    shown = [(size, count) for size, count in run.distribution() if size <= MOST_SHOWN]
    counts = [count for _, count in shown]
    bars = draw_bars("", [size for size, _ in shown], counts, ACCENT) | {
        "width": run.spec.plan.alignment * 0.9,
        "hovertemplate": "%{x:,d} B: %{y:,d} free blocks<extra></extra>",
    }
    return Chart(
        identity=identity,
        meaning="Histogram of the sizes of free blocks at the end of a run.",
        data=[bars],
        layout=_histogram_layout("free block, bytes", "free blocks", max(counts, default=0))
        | {"showlegend": False},
        height=340,
    )


def count_large_blocks(run: Slotbuf) -> tuple[int, int]:
    """Number and bytes of the free blocks that `free_chart` leaves out."""
    big = [size for size in run.free_sizes.tolist() if size > MOST_SHOWN]
    return len(big), sum(big)


def course_chart(series: SlotbufSeries) -> Chart:
    """Free blocks and free bytes over the run."""
    plain = {"mode": "lines", "hovertemplate": "%{y:,d}"}
    blocks = draw_curve("free blocks", series.loops, series.free_blocks, ACCENT)
    curves = [
        blocks | plain | {"yaxis": "y"},
        draw_curve("free bytes", series.loops, series.free_bytes, SECOND) | plain | {"yaxis": "y2"},
    ]
    return Chart(
        identity="chart-course",
        meaning="Number of free blocks and free bytes over the loops of the run.",
        data=curves,
        layout={
            "xaxis": {"title": {"text": "loop"}, "type": "log", "dtick": 1},
            "yaxis": panel_axis("free blocks", [0.56, 1.0]) | {"hoverformat": ",d"},
            "yaxis2": panel_axis("free bytes", [0.0, 0.44]) | {"hoverformat": ",d"},
        },
        height=420,
    )


def end_chart(runs: Mapping[int, Sequence[Slotbuf]]) -> Chart:
    """The loop at which the first version runs out of memory, each run a point."""
    slots = [number for number, some in runs.items() for _ in some]
    loops = [run.counts.loops for some in runs.values() for run in some]
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "one run",
        "x": slots,
        "y": loops,
        "marker": {"color": ACCENT, "size": 8, "opacity": 0.6, "line": {"width": 0}},
        "hovertemplate": "buffer %{x}: %{y:,d} loops<extra></extra>",
    }
    published = level("report: around 2,000", [0, max(slots) + 50], 2000, color=SECOND, dash="dash")
    return Chart(
        identity="chart-end",
        meaning="Loops until the first version runs out of memory, by length of the buffer.",
        data=[points, published],
        layout={
            "hovermode": "closest",
            "xaxis": {"title": {"text": "slots of the buffer"}, "range": [0, max(slots) + 50]},
            "yaxis": {
                "title": {"text": "loops until refused"},
                "rangemode": "tozero",
                "tickformat": ",d",
            },
        },
        height=340,
    )


def _histogram_layout(x: str, y: str, highest: int) -> Layout:
    ticks = {"dtick": 1} if highest <= MOST_SINGLE_TICKS else {}
    return {
        "hovermode": "closest",
        "xaxis": {"title": {"text": x}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": y}, "rangemode": "tozero", "tickformat": ",d", **ticks},
    }
