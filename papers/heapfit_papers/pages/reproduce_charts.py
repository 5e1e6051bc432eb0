# SPDX-License-Identifier: Apache-2.0
"""The figures of the papers, drawn from what was measured for their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heapfit.drawing.chart import ACCENT, OTHERS, Chart, Layout, Trace
from heapfit_papers.packets.mix import draw_packets
from heapfit_papers.pages.budget_charts import code, draw_scales, example, memory_needed
from heapfit_papers.pages.parts import (
    Draw,
    PaperFigure,
    colour_of,
    dot_curve,
    draw_bars,
    draw_curve,
    panel_axis,
    plain_layout,
)
from heapfit_papers.pages.slotbuf_charts import MOST_SHOWN, end_chart, free_chart, request_chart
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.paper_000_first import report_runs
from heapfit_papers.reproduce.paper_001_costs import MODEL, POOLS, STACK, costs
from heapfit_papers.reproduce.paper_001_pools import MOST_PACKETS
from heapfit_papers.reproduce.paper_002 import overhead_curves
from heapfit_papers.reproduce.partition_study import ADMISSION, MEMORY, experiments
from heapfit_papers.slotbuf.benchmark import SlotbufSpec, draw_sizes, report_version
from heapfit_papers.slotbuf.measures import SIZES


def figures_of(rows: Sequence[str], laboratory: Laboratory) -> dict[str, list[PaperFigure]]:
    """The figures that the measured rows have, by paper, in the order of the rows."""
    figures: dict[str, list[PaperFigure]] = {}
    for row in rows:
        for draw in _DRAWN.get(row, ()):
            figures.setdefault(row.partition("-")[0], []).append(draw(laboratory))
    return figures


def requests(_: Laboratory) -> PaperFigure:
    """Figure 1 of Cebeci."""
    spec = SlotbufSpec(1, 1, report_version(1))
    drawn = draw_sizes(spec, 10_000).tolist()
    return PaperFigure(
        "Figure 1: sizes of requests",
        request_chart("chart-000-1", spec, drawn),
        f"10,000 draws of MAX / e^r, MIN {spec.least} and MAX {spec.most} B by calibration.",
    )


def free_first(laboratory: Laboratory) -> PaperFigure:
    """Figure 2 of Cebeci."""
    run = next(iter(laboratory.measure_once(report_runs).version_1.values()))[0]
    return PaperFigure(
        "Figure 2: free blocks of version 1",
        free_chart("chart-000-2", run),
        f"When memory ran out after {run.counts.loops:,} loops at a buffer of {run.spec.slots}.",
    )


def draw_end_of_memory(laboratory: Laboratory) -> PaperFigure:
    """What section 2.2 of Cebeci tells without a figure."""
    return PaperFigure(
        "Section 2.2: loops until memory runs out",
        end_chart(laboratory.measure_once(report_runs).version_1),
        "Each point is a run of version 1 with another seed.",
    )


def free_second(laboratory: Laboratory) -> PaperFigure:
    """Figure 3 of Cebeci."""
    run = laboratory.measure_once(report_runs).version_2[SIZES][0]
    return PaperFigure(
        "Figure 3: free blocks of version 2",
        free_chart("chart-000-3", run),
        f"After {run.counts.loops:,} loops at a buffer of {run.spec.slots}; blocks above "
        f"{MOST_SHOWN:,} B are left out.",
    )


def packets(_: Laboratory) -> PaperFigure:
    """Figure 1 of Mamagkakis et al."""
    sizes, counts = np.unique(draw_packets(1, MOST_PACKETS), return_counts=True)
    shares = (100 * counts / MOST_PACKETS).tolist()
    logarithmic = {"type": "log", "tickformat": "~g"}
    bars = draw_bars("one trace", sizes.tolist(), shares, ACCENT) | {"width": 4}
    return PaperFigure(
        "Figure 1: packet sizes",
        Chart(
            "chart-001-1",
            "Histogram of packet sizes with peaks at 40 and 1500 bytes.",
            [bars],
            plain_layout("IP packet, bytes", "% of the packets", logarithmic)
            | {"showlegend": False},
            320,
        ),
        f"{MOST_PACKETS:,} packets of the fitted mix that stands for the captures.",
    )


def queue_costs(laboratory: Laboratory) -> PaperFigure:
    """Figure 3 of Mamagkakis et al."""
    figures = laboratory.measure_once(costs)
    traces = list(range(1, len(figures) + 1))
    names = ((POOLS, ACCENT), (STACK, OTHERS[1]), ("lea", OTHERS[0]), (MODEL, OTHERS[2]))
    data: list[Trace] = []
    for name, colour in names:
        each = [one[name] for one in figures]
        panels = (
            ("", [one.accesses for one in each]),
            ("2", [float(one.footprint) for one in each]),
            ("3", [one.energy for one in each]),
        )
        for panel, values in panels:
            data.append(
                draw_bars(name, traces, values, colour)
                | {"yaxis": f"y{panel}", "legendgroup": name, "showlegend": panel == ""}
            )
    layout = {
        "barmode": "group",
        "hovermode": "closest",
        "xaxis": {"title": {"text": "trace"}, "dtick": 1},
        "yaxis": panel_axis("accesses / operation", [0.7, 1.0]),
        "yaxis2": panel_axis("footprint, B", [0.35, 0.63]),
        "yaxis3": panel_axis("energy", [0.0, 0.28]) | {"tickformat": "~g"},
    }
    meaning = "Accesses, footprint and energy of four allocators on each trace."
    return PaperFigure(
        "Figure 3: time, footprint and energy",
        Chart("chart-001-3", meaning, data, layout, 620),
        "Accesses stand for time, energy is over that of the pools. 'lea' is Lea's allocator as "
        "published; 'blocks as described, whole' explain the paper's number for it.",
    )


def partitions(figure: str, title: str, axis: str) -> Draw:
    """Figures 5 to 8 of Elsayed and Galal: admission above, utilisation below."""

    def draw(laboratory: Laboratory) -> PaperFigure:
        figures = laboratory.measure_once(experiments)[figure]
        data: list[Trace] = []
        for i, name in enumerate(figures.results):
            for panel, metric in (("", ADMISSION), ("2", MEMORY)):
                shares = [100 * value for value in figures.values(name, metric)]
                data.append(
                    draw_curve(name, figures.axis, shares, colour_of(i))
                    | {"yaxis": f"y{panel}", "legendgroup": name, "showlegend": panel == ""}
                )
        layout: Layout = {
            "hovermode": "closest",
            "xaxis": {
                "title": {"text": axis},
                "tickvals": figures.axis,
                "ticktext": [f"{value:g}" for value in figures.axis],
            },
            "yaxis": panel_axis("admission, %", [0.55, 1.0]),
            "yaxis2": panel_axis("memory used, %", [0.0, 0.45]),
        }
        if "figure-8" in figure:
            layout["xaxis"] |= {"type": "log"}
        chart = Chart(
            f"chart-002-{figure}",
            f"Admission and memory utilisation of the schemes by {axis}.",
            data,
            layout,
            460,
        )
        run = figures.scenario.run
        return PaperFigure(
            title,
            chart,
            f"{run.replications} replications of {run.requests:,} requests. Contiguous groups lie "
            "together, chained ones are scattered; the article does not tell which it has.",
        )

    return draw


def overhead(laboratory: Laboratory) -> PaperFigure:
    """Figure 9 of Elsayed and Galal."""
    sizes = [float(16 << i) for i in range(7)]
    data = [
        dot_curve(
            draw_curve(
                name.replace("chained", "variable"),
                sizes,
                [100 * one for one in curve],
                colour_of(i // 2),
            ),
            len(OTHERS) + 1 if "64K" in name else 0,
        )
        for i, (name, curve) in enumerate(sorted(laboratory.measure_once(overhead_curves).items()))
    ]
    layout = plain_layout("segment or buffer, bytes", "overhead, %", {"type": "log", "dtick": 1})
    layout["xaxis"] |= {"type": "log", "tickvals": sizes}
    meaning = "Overhead over usable memory of fixed and variable pools by size of a segment."
    return PaperFigure(
        "Figure 9: overhead",
        Chart("chart-002-9", meaning, data, layout, 340),
        "16 B a buffer and 36 B a partition are inferred, so curves of 64 KiB and of 512 KiB lie "
        "almost on one another.",
    )


_DRAWN: Mapping[str, Sequence[Draw]] = {
    "000-2": (requests,),
    "000-6": (free_first,),
    "000-7": (draw_end_of_memory,),
    "000-15": (free_second,),
    "001-1": (packets,),
    "001-15": (queue_costs,),
    "002-6": (partitions("figure-5", "Figure 5: inter-arrival time", "inter-arrival time, units"),),
    "002-7": (partitions("figure-6", "Figure 6: smallest request", "smallest request, bytes"),),
    "002-8": (partitions("figure-7", "Figure 7: largest request", "largest request, bytes"),),
    "002-9": (
        partitions("figure-8-same-total", "Figure 8: the same total", "partition, bytes"),
        partitions("figure-8-same-number", "Figure 8: 4,096 partitions", "partition, bytes"),
    ),
    "002-10": (overhead,),
    "003-6": (example,),
    "003-14": (memory_needed,),
    "003-15": (code,),
    "003-16": (draw_scales,),
}
