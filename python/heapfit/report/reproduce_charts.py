# SPDX-License-Identifier: Apache-2.0
"""The figures of the papers, drawn from what was measured for their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from heapfit.report.figure import ACCENT, OTHERS, Chart, Layout, Trace

if TYPE_CHECKING:
    from heapfit.reproduce.laboratory import Laboratory


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A chart, which figure of the paper it is, and what differs from it."""

    title: str
    chart: Chart
    caption: str


Draw: TypeAlias = Callable[["Laboratory"], PaperFigure]


def figures_of(rows: Sequence[str], laboratory: Laboratory) -> dict[str, list[PaperFigure]]:
    """By paper, the figures that the rows measured have, in the order of the rows."""
    found: dict[str, list[PaperFigure]] = {}
    for row in rows:
        for draw in _DRAWN.get(row, ()):
            found.setdefault(row.partition("-")[0], []).append(draw(laboratory))
    return found


def requests(_: Laboratory) -> PaperFigure:
    """Figure 1 of Cebeci."""
    from heapfit.report.slotbuf_charts import request_chart
    from heapfit.slotbuf import SlotbufSpec, draw_sizes, report_version

    spec = SlotbufSpec(1, 1, report_version(1))
    drawn = draw_sizes(spec, 10_000).tolist()
    return PaperFigure(
        "Figure 1: sizes of requests",
        request_chart("chart-000-1", spec, drawn),
        f"10,000 draws of MAX / e^r, MIN {spec.least} and MAX {spec.most} B by calibration.",
    )


def free_first(laboratory: Laboratory) -> PaperFigure:
    """Figure 2 of Cebeci."""
    from heapfit.report.slotbuf_charts import free_chart
    from heapfit.reproduce.paper_000_first import report_runs

    run = next(iter(laboratory.once(report_runs).version_1.values()))[0]
    return PaperFigure(
        "Figure 2: free blocks of version 1",
        free_chart("chart-000-2", run),
        f"When memory ran out after {run.counts.loops:,} loops at a buffer of {run.spec.slots}.",
    )


def out_of_memory(laboratory: Laboratory) -> PaperFigure:
    """What section 2.2 of Cebeci tells without a figure."""
    from heapfit.report.slotbuf_charts import end_chart
    from heapfit.reproduce.paper_000_first import report_runs

    return PaperFigure(
        "Section 2.2: loops until memory runs out",
        end_chart(laboratory.once(report_runs).version_1),
        "Each point is a run of version 1 with another seed.",
    )


def free_second(laboratory: Laboratory) -> PaperFigure:
    """Figure 3 of Cebeci."""
    from heapfit.report.slotbuf_charts import MOST_SHOWN, free_chart
    from heapfit.reproduce.paper_000_first import report_runs
    from heapfit.slotbuf_measures import SIZES

    run = laboratory.once(report_runs).version_2[SIZES][0]
    return PaperFigure(
        "Figure 3: free blocks of version 2",
        free_chart("chart-000-3", run),
        f"After {run.counts.loops:,} loops at a buffer of {run.spec.slots}; blocks above "
        f"{MOST_SHOWN:,} B are left out.",
    )


def packets(_: Laboratory) -> PaperFigure:
    """Figure 1 of Mamagkakis et al."""
    import numpy as np

    from heapfit.reproduce.paper_001_pools import MOST_PACKETS, drawn_sizes

    sizes, counts = np.unique(drawn_sizes(1, MOST_PACKETS), return_counts=True)
    shares = (100 * counts / MOST_PACKETS).tolist()
    bars = _bars("one trace", sizes.tolist(), shares, ACCENT) | {"width": 4}
    return PaperFigure(
        "Figure 1: packet sizes",
        Chart(
            "chart-001-1",
            "Histogram of packet sizes with peaks at 40 and 1500 bytes.",
            [bars],
            _layout("IP packet, bytes", "% of the packets", {"type": "log", "tickformat": "~g"})
            | {"showlegend": False},
            320,
        ),
        f"{MOST_PACKETS:,} packets of the synthetic mix that stands for the captures.",
    )


def queue_costs(laboratory: Laboratory) -> PaperFigure:
    """Figure 3 of Mamagkakis et al."""
    from heapfit.reproduce.paper_001_costs import MODEL, POOLS, STACK, costs

    found = laboratory.once(costs)
    traces = list(range(1, len(found) + 1))
    names = ((POOLS, ACCENT), (STACK, OTHERS[1]), ("lea", OTHERS[0]), (MODEL, OTHERS[2]))
    data: list[Trace] = []
    for name, colour in names:
        each = [one[name] for one in found]
        panels = (
            ("", [one.accesses for one in each]),
            ("2", [float(one.footprint) for one in each]),
            ("3", [one.energy for one in each]),
        )
        for panel, values in panels:
            data.append(
                _bars(name, traces, values, colour)
                | {"yaxis": f"y{panel}", "legendgroup": name, "showlegend": panel == ""}
            )
    layout = {
        "barmode": "group",
        "hovermode": "closest",
        "xaxis": {"title": {"text": "trace"}, "dtick": 1, "anchor": "y3"},
        "yaxis": _panel("accesses / operation", [0.7, 1.0]),
        "yaxis2": _panel("footprint, B", [0.35, 0.63]),
        "yaxis3": _panel("energy", [0.0, 0.28]),
    }
    meaning = "Accesses, footprint and energy of four allocators on each trace."
    return PaperFigure(
        "Figure 3: time, footprint and energy",
        Chart("chart-001-3", meaning, data, layout, 620),
        "Accesses stand for time, energy is over that of the pools. 'lea as described' is the "
        "paper's model of the Linux allocator, 'lea' the published one.",
    )


def partitions(figure: str, title: str, axis: str) -> Draw:
    """Figures 5 to 8 of Elsayed and Galal: admission above, utilisation below."""

    def draw(laboratory: Laboratory) -> PaperFigure:
        from heapfit.reproduce.partition_study import ADMISSION, MEMORY, experiments

        found = laboratory.once(experiments)[figure]
        data: list[Trace] = []
        for i, name in enumerate(found.results):
            for panel, metric in (("", ADMISSION), ("2", MEMORY)):
                shares = [100 * value for value in found.values(name, metric)]
                data.append(
                    _curve(name, found.axis, shares, _colour(i))
                    | {"yaxis": f"y{panel}", "legendgroup": name, "showlegend": panel == ""}
                )
        layout: Layout = {
            "hovermode": "closest",
            "xaxis": {
                "title": {"text": axis},
                "anchor": "y2",
                "tickvals": found.axis,
                "ticktext": [f"{value:g}" for value in found.axis],
            },
            "yaxis": _panel("admission, %", [0.55, 1.0]),
            "yaxis2": _panel("memory used, %", [0.0, 0.45]),
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
        run = found.scenario.run
        return PaperFigure(
            title,
            chart,
            f"{run.replications} replications of {run.requests:,} requests. Contiguous groups lie "
            "together, chained ones are scattered; the article does not tell which it has.",
        )

    return draw


def overhead(_: Laboratory) -> PaperFigure:
    """Figure 9 of Elsayed and Galal."""
    from heapfit.reproduce.paper_002 import overhead_curves

    sizes = [float(16 << i) for i in range(7)]
    data = [
        _dotted(
            _curve(
                name.replace("chained", "variable"),
                sizes,
                [100 * one for one in curve],
                _colour(i // 2),
            ),
            len(OTHERS) + 1 if "64K" in name else 0,
        )
        for i, (name, curve) in enumerate(sorted(overhead_curves().items()))
    ]
    layout = _layout("segment or buffer, bytes", "overhead, %", {"type": "log", "dtick": 1})
    layout["xaxis"] |= {"type": "log", "tickvals": sizes}
    meaning = "Overhead over usable memory of fixed and variable pools by size of a segment."
    return PaperFigure(
        "Figure 9: overhead",
        Chart("chart-002-9", meaning, data, layout, 340),
        "16 B a buffer and 36 B a partition are inferred, so curves of 64 KiB and of 512 KiB lie "
        "almost on one another.",
    )


def memory_needed(laboratory: Laboratory) -> PaperFigure:
    """Figure 5 of Lee and Yi."""
    from heapfit.reproduce.paper_003_memory import bars_of
    from heapfit.reproduce.table_2 import ALLOCATORS, EVENTS, WORKLOADS, table_2

    bars = bars_of(laboratory.once(table_2))
    places = [f"workload {number}" for number in WORKLOADS]
    data = [
        _hatched(
            _bars(_short(name), places, [100 * bars[name][n] for n in WORKLOADS], _colour(i)), i
        )
        for i, name in enumerate(ALLOCATORS)
    ]
    layout = _layout("", "R over that of budgeted, %", {"rangemode": "tozero"})
    return PaperFigure(
        "Figure 5: memory of eleven allocators",
        Chart(
            "chart-003-5",
            "R of eleven allocators on five workloads over that of the budgeted one.",
            data,
            layout | {"barmode": "group", "bargap": 0.25},
            420,
        ),
        f"Capped walks of {EVENTS:,} events. Published: budgeted always least, 8.9 to 49.5 % "
        "below Lea's.",
    )


def code(_: Laboratory) -> PaperFigure:
    """Figure 6 of Lee and Yi."""
    from heapfit.reproduce import code_sizes
    from heapfit.reproduce.paper_003_memory import all_code
    from heapfit.reproduce.table_2 import ALLOCATORS

    sizes = {} if code_sizes.why_not() else all_code()
    names = [_short(name) for name in ALLOCATORS]
    bars = _bars("code", names, [sizes.get(name, 0) for name in ALLOCATORS], ACCENT)
    return PaperFigure(
        "Figure 6: code size",
        Chart(
            "chart-003-6",
            "Bytes of code of eleven allocators.",
            [bars],
            _layout("", "bytes of code", {}) | {"showlegend": False},
            320,
        ),
        code_sizes.why_not() or f"{code_sizes.HOW}. budgeted includes its TLSF.",
    )


def scaled(laboratory: Laboratory) -> PaperFigure:
    """Figure 7 of Lee and Yi."""
    from heapfit.reproduce import code_sizes
    from heapfit.reproduce.paper_003_memory import scaled_totals
    from heapfit.reproduce.table_2 import ALLOCATORS, BUDGETED

    totals = {} if code_sizes.why_not() else scaled_totals(laboratory)
    at = [mine[BUDGETED] for mine in totals.values()]
    data = [
        _dotted(
            _curve(
                _short(name),
                at,
                [mine[name] / mine[BUDGETED] for mine in totals.values()],
                _colour(i),
            ),
            i,
        )
        for i, name in enumerate(ALLOCATORS)
    ]
    layout = _layout("R and code of budgeted, bytes", "R and code over that", {"range": [0.5, 2.1]})
    layout["xaxis"] |= {"type": "log", "tickformat": "~s", "dtick": 1}
    return PaperFigure(
        "Figure 7: memory and code as workload 5 grows",
        Chart(
            "chart-003-7",
            "R and code of eleven allocators over those of budgeted, by size of the workload.",
            data,
            layout,
            420,
        ),
        code_sizes.why_not() or "Published: budgeted is least above 16 KB.",
    )


_DRAWN: Mapping[str, Sequence[Draw]] = {
    "000-2": (requests,),
    "000-6": (free_first,),
    "000-7": (out_of_memory,),
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
    "003-14": (memory_needed,),
    "003-15": (code,),
    "003-16": (scaled,),
}


def _bars(name: str, x: Sequence[object], y: Sequence[float], colour: str) -> Trace:
    return {
        "type": "bar",
        "name": name,
        "x": list(x),
        "y": list(y),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": "%{x}: %{y:,.4~g}",
    }


def _curve(name: str, x: Sequence[float], y: Sequence[float], colour: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": colour, "width": 1.6},
        "hovertemplate": "%{y:,.4~g}",
    }


def _layout(x: str, y: str, y_axis: Layout) -> Layout:
    return {
        "hovermode": "closest",
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}, **y_axis},
    }


def _panel(title: str, domain: list[float]) -> Layout:
    return {"title": {"text": title}, "domain": domain, "rangemode": "tozero", "tickformat": "~s"}


def _colour(number: int) -> str:
    """The accent first; no palette has eleven that all can tell, so the others come twice."""
    return ACCENT if number == 0 else OTHERS[(number - 1) % len(OTHERS)]


def _is_again(number: int) -> bool:
    """Whether a colour comes the second time: then bars are hatched and lines dotted."""
    return number > len(OTHERS)


def _hatched(bars: Trace, number: int) -> Trace:
    pattern = {"shape": "/" if _is_again(number) else "", "solidity": 0.4}
    return bars | {"marker": {**bars["marker"], "pattern": pattern}}


def _dotted(curve: Trace, number: int) -> Trace:
    dash = "dot" if _is_again(number) else "solid"
    return curve | {"line": {**curve["line"], "dash": dash}}


def _short(name: str) -> str:
    return name.removeprefix("djgpp_")
