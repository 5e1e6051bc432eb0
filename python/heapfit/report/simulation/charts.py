# SPDX-License-Identifier: Apache-2.0
"""Charts of a simulation: each metric along the grid's first axis, with its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heapfit.report.drawing.figure import ACCENT, OTHERS, Chart, Layout, Trace
from heapfit.report.drawing.number_text import plotly_text
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.simulate import Result, SimulationResult

_COLOURS = (ACCENT, *OTHERS)
_MOST_CURVES = 24  # nobody reads a longer legend


def curves_of(simulation: SimulationResult) -> dict[str, list[Result]]:
    """The results along the first axis, by the scheme and what else differs."""
    short = simulation.scenario.short_keys()
    curves: dict[str, list[Result]] = {}
    for result in simulation.results:
        others = [f"{name} {result.point.values[key]}" for key, name in list(short.items())[1:]]
        curves.setdefault(", ".join([result.scheme.name, *others]), []).append(result)
    return dict(list(curves.items())[:_MOST_CURVES])


def metric_chart(simulation: SimulationResult, metric: str) -> Chart | None:
    """One metric over the first axis; None where nothing has it, or there is no axis."""
    axes = simulation.scenario.axes
    curves = curves_of(simulation)
    if not axes or all(one.value(metric) is None for some in curves.values() for one in some):
        return None
    key = axes[0].key
    short_key = simulation.scenario.short_keys()[key]
    data: list[Trace] = []
    for i, (name, results) in enumerate(curves.items()):
        colour = _COLOURS[i % len(_COLOURS)]
        data += _curve(name, key, results, metric, colour)
    return Chart(
        identity=f"chart-{metric.replace('_', '-')}",
        meaning=f"{METRICS[metric].title} of each scheme over {short_key}.",
        data=data,
        layout=_layout(short_key, axes[0].values[key], metric),
        height=400,
    )


def refusal_chart(simulation: SimulationResult) -> Chart | None:
    """What share of the requests of each size is refused at the first point."""
    point = simulation.results[0].point
    shown = [one for one in simulation.results if one.point is point and one.observations]
    if not shown:
        return None
    sizes = {bound for one in shown for bound, _, _ in one.refusals_by_size()}
    ticks = {"tickvals": sorted(sizes), "type": "log", "tickformat": ",d"}
    return Chart(
        identity="chart-refusals",
        meaning="Share of the requests of each size that is refused, for each scheme.",
        data=[_refusals(one, _COLOURS[i % len(_COLOURS)]) for i, one in enumerate(shown)],
        layout={
            "xaxis": {"title": {"text": "request, at most so many bytes"}, **ticks},
            "yaxis": {"title": {"text": "share refused"}, "rangemode": "tozero"},
        },
        height=400,
    )


def _refusals(result: Result, colour: str) -> Trace:
    rows = result.refusals_by_size()
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plotly_text(result.scheme.name),
        "x": [bound for bound, _, _ in rows],
        "y": [refused / offered for _, offered, refused in rows],
        "line": {"color": colour, "width": 1.8},
        "marker": {"color": colour, "size": 6},
        "hovertemplate": "%{y:.4~g}",
    }


def _curve(name: str, key: str, results: Sequence[Result], metric: str, colour: str) -> list[Trace]:
    """Simulated means with bars for their intervals, diamonds for the closed form."""
    shared = {"type": "scatter", "x": [one.point.values[key] for one in results]}
    label = plotly_text(name)
    traces: list[Trace] = []
    if any(metric in one.estimates for one in results):
        found = [one.estimates.get(metric) for one in results]
        widths = [one.half_width or 0 if one else 0 for one in found]
        traces.append(
            shared
            | {
                "mode": "lines+markers",
                "name": label,
                "y": [one.mean if one else None for one in found],
                "error_y": {"type": "data", "array": widths, "color": colour, "thickness": 1.2},
                "line": {"color": colour, "width": 1.8},
                "marker": {"color": colour, "size": 6},
                "hovertemplate": "%{y:.4~g}",
            }
        )
    if any(metric in one.exact for one in results):
        traces.append(
            shared
            | {
                "mode": "markers",
                "name": f"{label}, exact",
                "y": [one.exact.get(metric) for one in results],
                "marker": {"color": colour, "size": 12, "symbol": "diamond-open"},
                "hovertemplate": "%{y:.4~g}",
            }
        )
    return traces


def _layout(axis: str, values: Sequence[object], metric: str) -> Layout:
    numbers = [value for value in values if isinstance(value, int | float)]
    is_wide = len(numbers) > 2 and min(numbers) > 0 and max(numbers) >= 8 * min(numbers)
    scale: Mapping[str, object] = (
        {"type": "log", "tickvals": list(values), "ticktext": [f"{one}" for one in values]}
        if is_wide
        else {}
    )
    unit = "" if METRICS[metric].is_share else ", bytes"
    return {
        "xaxis": {"title": {"text": plotly_text(axis)}, **scale},
        "yaxis": {"title": {"text": METRICS[metric].title + unit}, "rangemode": "tozero"},
    }
