# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation: a curve for each metric, the numbers, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.report.drawing import rendering
from heapfit.report.drawing.figure import COLOURS, Chart, Layout, Trace, marked_line
from heapfit.report.drawing.number_text import NO_BREAK, NOT_MEASURED, figure_text, percent
from heapfit.simulation.metrics import METRICS, OVERHEAD_RATIO, Metric
from heapfit.simulation.simulate import Result, SimulationResult

_TEMPLATE = Path(__file__).with_name("simulation.html.j2")
_MOST_CURVES = 24  # nobody reads a longer legend
_MOST_RANKED = 4  # schemes in the verdict
_SHARE = {"hovertemplate": "%{y:.4~g}"}


@dataclass(frozen=True, slots=True)
class MetricFigure:
    """A metric with its curve."""

    name: str
    metric: Metric
    chart: Chart


def write_simulation_page(path: Path, simulation: SimulationResult) -> None:
    """Writes the page of a simulation to `path`."""
    rendering.write_page(path, render(simulation))


def render(simulation: SimulationResult) -> str:
    """The page as text, the same for the same results."""
    charts = {name: _metric_chart(simulation, name) for name in METRICS}
    figures = [
        MetricFigure(name, METRICS[name], chart)
        for name, chart in charts.items()
        if chart is not None
    ]
    refusals = _refusal_chart(simulation)
    point = [
        f"{name} {simulation.results[0].point.values[key]}"
        for key, name in simulation.scenario.short_keys().items()
    ]
    return rendering.render(
        _TEMPLATE,
        simulation.scenario.name,
        [*(figure.chart for figure in figures), *([refusals] if refusals else [])],
        refusals=refusals,
        first_point=", ".join(point),
        scenario=simulation.scenario,
        keys=simulation.scenario.short_keys(),
        results=simulation.results,
        figures_shown=figures,
        metrics=METRICS,
        overhead_ratio=OVERHEAD_RATIO,
        lines=_lines,
        plan_text=_plan_text,
        requests=sum(result.requests for result in simulation.results),
        verdict=_verdict(simulation),
        command=f"heapfit simulate {simulation.scenario.path.name}",
    )


def _verdict(simulation: SimulationResult) -> str:
    """Which scheme admits the most at how many points, by the first metric that is known."""
    for name, metric in METRICS.items():
        known = [one for one in simulation.results if one.value(name) is not None]
        if metric.is_share and known:
            return f"{metric.title.capitalize()}: {_ranking(known, name)}."
    return "No share of the requests is known."


def _ranking(known: Sequence[Result], metric: str) -> str:
    """Every scheme with its mean over the points, the highest first."""
    values: dict[str, list[float]] = {}
    for one in known:
        values.setdefault(one.scheme.name, []).append(one.value(metric) or 0.0)
    means = {scheme: sum(some) / len(some) for scheme, some in values.items()}
    ranked = sorted(means, key=lambda scheme: (-means[scheme], scheme))[:_MOST_RANKED]
    points = max(len(some) for some in values.values())
    told = ", ".join(f"{scheme} {percent(means[scheme])}" for scheme in ranked)
    return f"{told}, in the mean over {points} point{'s' if points > 1 else ''}"


def _lines(result: Result, name: str) -> list[str]:
    """A metric as lines of a cell: the mean, its half-width, the exact value; what there is."""
    decimals = 4 if METRICS[name].is_share else 0
    simulation, exact = result.estimates.get(name), result.exact.get(name)
    lines = [NOT_MEASURED if simulation is None else f"{simulation.mean:,.{decimals}f}"]
    if simulation is not None and simulation.half_width is not None:
        lines.append(f"±{NO_BREAK}{simulation.half_width:,.{decimals}f}")
    if exact is not None:
        lines.append(f"exact{NO_BREAK}{exact:,.{decimals}f}")
    return lines


def _plan_text(result: Result) -> str:
    plan = result.scheme.plan
    settings = ", ".join(f"{name}={value}" for name, value in plan.scalars.items())
    return ": ".join(filter(None, [plan.allocator, settings]))


def _curves_of(simulation: SimulationResult) -> dict[str, list[Result]]:
    """The results along the first axis, by the scheme and what else differs."""
    short = simulation.scenario.short_keys()
    curves: dict[str, list[Result]] = {}
    for result in simulation.results:
        others = [f"{name} {result.point.values[key]}" for key, name in list(short.items())[1:]]
        curves.setdefault(", ".join([result.scheme.name, *others]), []).append(result)
    return dict(list(curves.items())[:_MOST_CURVES])


def _metric_chart(simulation: SimulationResult, metric: str) -> Chart | None:
    """One metric over the first axis; None where nothing has it, or there is no axis."""
    axes = simulation.scenario.axes
    curves = _curves_of(simulation)
    if not axes or all(one.value(metric) is None for some in curves.values() for one in some):
        return None
    key = axes[0].key
    short_key = simulation.scenario.short_keys()[key]
    data: list[Trace] = []
    for i, (name, results) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        data += _curve(name, key, results, metric, colour)
    return Chart(
        identity=f"chart-{metric.replace('_', '-')}",
        meaning=f"{METRICS[metric].title} of each scheme over {short_key}.",
        data=data,
        layout=_layout(short_key, axes[0].values[key], metric),
        height=400,
    )


def _refusal_chart(simulation: SimulationResult) -> Chart | None:
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
        data=[_refusals(one, COLOURS[i % len(COLOURS)]) for i, one in enumerate(shown)],
        layout={
            "xaxis": {"title": {"text": "request, at most so many bytes"}, **ticks},
            "yaxis": {"title": {"text": "share refused"}, "rangemode": "tozero"},
        },
        height=400,
    )


def _refusals(result: Result, colour: str) -> Trace:
    rows = result.refusals_by_size()
    bounds, shares = [bound for bound, _, _ in rows], [lost / offered for _, offered, lost in rows]
    return marked_line(result.scheme.name, bounds, shares, colour) | _SHARE


def _curve(name: str, key: str, results: Sequence[Result], metric: str, colour: str) -> list[Trace]:
    """Simulated means with bars for their intervals, diamonds for the closed form."""
    x = [one.point.values[key] for one in results]
    estimates = [one.estimates.get(metric) for one in results]
    traces: list[Trace] = []
    if any(estimates):
        widths = [one.half_width or 0 if one else 0 for one in estimates]
        bars = {"type": "data", "array": widths, "color": colour, "thickness": 1.2}
        means = [one.mean if one else None for one in estimates]
        traces.append(marked_line(name, x, means, colour) | _SHARE | {"error_y": bars})
    if any(metric in one.exact for one in results):
        exact = marked_line(f"{name}, exact", x, [one.exact.get(metric) for one in results], colour)
        diamonds = {"color": colour, "size": 12, "symbol": "diamond-open"}
        traces.append(exact | _SHARE | {"mode": "markers", "marker": diamonds})
    return traces


def _layout(axis: str, values: Sequence[object], metric: str) -> Layout:
    numbers = [value for value in values if isinstance(value, int | float)]
    is_wide = len(numbers) > 2 and min(numbers) > 0 and max(numbers) >= 8 * min(numbers)
    scale: Mapping[str, object] = (
        {"type": "log", "tickvals": list(values), "ticktext": [f"{one}" for one in values]}
        if is_wide
        else {}
    )
    seconds = ", seconds" if axis.rsplit(".", maxsplit=1)[-1] == "interval" else ""
    unit = "" if METRICS[metric].is_share else ", bytes"
    return {
        "xaxis": {"title": {"text": f"{figure_text(axis)}{seconds}"}, **scale},
        "yaxis": {"title": {"text": METRICS[metric].title + unit}, "rangemode": "tozero"},
    }
