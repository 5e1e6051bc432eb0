# SPDX-License-Identifier: Apache-2.0
"""The chart of a design space: a point for each configuration, over two measures to choose.

Which two, and the front over them, is up to front.js; here is all it needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.comparison.costs.measures import MEASURE_TEXTS, Measure
from heapfit.design.front.axes import NONE
from heapfit.design.front.design_front import Configuration, Front
from heapfit.design.front.pareto import Dominance
from heapfit.results.chart import Chart, Layout, Trace, nth_mark, points
from heapfit.results.number_text import count, figure_text, rate

_GREY = {"color": "var(--live)", "size": 7, "line": {"width": 0}}
_HOLLOW = {"color": "var(--quiet)", "size": 7, "symbol": "circle-open", "line": {"width": 1.2}}
_RING = {
    "color": "var(--ink)",
    "symbol": "circle-open",
    "size": 20,
    "line": {"width": 2, "color": "var(--ink)"},
}
_STAIRS = {
    "type": "scatter",
    "x": [],
    "y": [],
    "mode": "lines",
    "name": "front of these two",
    "line": {"shape": "hv", "color": "var(--quiet)", "width": 1.4, "dash": "dot"},
    "hoverinfo": "skip",
}


def front_chart(front: Front, choice: Configuration | None) -> Chart:
    """All configurations: those of the front by allocator, the others grey."""
    allocators = list(dict.fromkeys(one.row.plan.allocator for one in front.members))
    data = [
        _points("not comparable", front, _numbers(front, Dominance.UNKNOWN), _HOLLOW),
        _points("dominated", front, _numbers(front, Dominance.DOMINATED, Dominance.SAME), _GREY),
        _STAIRS,
    ]
    for i, allocator in enumerate(allocators):
        numbers = [
            number
            for number, one in enumerate(front.configurations)
            if one.is_on_front and one.row.plan.allocator == allocator
        ]
        data.append(_points(figure_text(allocator), front, numbers, _mark_style(i)))
    if choice is not None:
        data.append(_points("chosen", front, [_number(front, choice)], _RING))
    return Chart(
        identity="chart-front",
        meaning="Configurations over two measures; those of the front in colour.",
        data=[one for one in data if one.get("meta") != []],
        layout={
            "hovermode": "closest",
            "meta": {"measures": _columns(front), "front": _numbers(front, Dominance.FRONT)},
            "xaxis": {"title": {"text": ""}},
            "yaxis": {"title": {"text": ""}},
        },
        height=560,
    )


def axis_titles() -> dict[Measure, str]:
    """Each measure with its unit."""
    return {
        measure: f"{about.title}, {about.unit}" if about.unit else about.title
        for measure, about in MEASURE_TEXTS.items()
    } | {
        Measure.ACCESSES: "accesses a call, mean",
        Measure.TIME: "instructions a call, mean",
        Measure.LONGEST: "longest call, instructions",
    }


def _number(front: Front, choice: Configuration) -> int:
    return [one.name for one in front.configurations].index(choice.name)


def _numbers(front: Front, *standings: Dominance) -> list[int]:
    return [i for i, one in enumerate(front.configurations) if one.place.standing in standings]


def _columns(front: Front) -> dict[str, dict[str, object]]:
    """The title of each measure, and its figure for every configuration."""
    titles = axis_titles()
    return {
        measure.value: {
            "title": titles[measure],
            "values": [
                front.energy_over_least(one) if measure is Measure.ENERGY else figure
                for one in front.configurations
                for figure in (one.measures.figure(measure),)
            ],
        }
        for measure in Measure
    }


def _points(name: str, front: Front, numbers: Sequence[int], marker: Layout) -> Trace:
    first = [front.configurations[i].measures for i in numbers]
    # Until other measures are chosen (front.js).
    memory, time = ([one.figure(of) for one in first] for of in (Measure.RAM, Measure.TIME))
    return points(name, memory, time, marker) | {
        "meta": list(numbers),
        "text": [_hover(front, front.configurations[i]) for i in numbers],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _hover(front: Front, configuration: Configuration) -> str:
    figures = configuration.measures
    energy = front.energy_over_least(configuration)
    lines = [
        f"<b>{figure_text(configuration.name)}</b>",
        figure_text(configuration.row.reason),
        "",
        f"R<sub>safe</sub> {count(figures.memory)} B, code {count(figures.size)} B",
        f"{rate(figures.accesses)} accesses a call, energy {rate(energy)} x the best",
        f"instructions {count(figures.time)}, longest call {count(figures.longest)} (model)",
        "",
        *(
            f"{axis}: {figure_text(value)}"
            for axis, value in configuration.axes.items()
            if value != NONE
        ),
    ]
    return "<br>".join(lines)


def _mark_style(place: int) -> Layout:
    return nth_mark(place) | {"size": 11, "line": {"width": 1, "color": "var(--paper)"}}
