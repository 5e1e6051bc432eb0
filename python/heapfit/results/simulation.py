# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation: a curve for each metric, the numbers, and what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heapfit.plan.quantities import NO_BREAK
from heapfit.results.chart import COLOURS, Chart, Layout, Trace, line_with_marks
from heapfit.results.document import Document, reproduce_section
from heapfit.results.number_text import count, figure_text, percent, size
from heapfit.results.parts import (
    Cell,
    Column,
    Definitions,
    Fold,
    Grid,
    Group,
    Heading,
    Line,
    NamedFigure,
    Part,
    Section,
    Table,
)
from heapfit.simulation.metrics import METRICS, OVERHEAD_RATIO, Metric
from heapfit.simulation.simulate import Result, SimulationResult

_MOST_CURVES = 24  # nobody reads a longer legend
_MOST_OPEN = 40  # rows of numbers that are not folded
_CURVE_GROUP = "metrics"  # the charts that hide their curves together
_MOST_RANKED = 4  # schemes in the verdict
_SHARE = {"hovertemplate": "%{y:.4~g}"}
_ADMITTED = {  # what a scheme admits a share of
    "bandwidth_admission": "the bytes offered",
    "request_admission": "the requests",
}
_CLOSED_FORMS = (
    "Bars are intervals, diamonds closed forms: Kaufman and Roberts for chained_pool, Erlang-B for "
    "fixed_pool and for class_pools without fall-back. A name in the first legend hides its curve "
    "everywhere."
)


def simulation_page(simulation: SimulationResult, command: str) -> Document:
    """The page of a simulation; `command` is what was typed."""
    scenario = simulation.scenario
    charts = {name: _metric_chart(simulation, name) for name in METRICS}
    drawn = [(METRICS[name], chart) for name, chart in charts.items() if chart is not None]
    if drawn:
        drawn[0][1].layout["showlegend"] = True  # for all of them
    refusals = _refusal_chart(simulation)
    undrawn = [METRICS[name] for name, chart in charts.items() if chart is None]
    groups = [Group(one.title, [Heading(one.title.capitalize()), chart]) for one, chart in drawn]
    sections = [
        Section(
            "metrics",
            "Over the first axis",
            [Line(_CLOSED_FORMS), Grid(groups, "of-curves")],
            "Curves",
        ),
        Section("refusals", "Out of memory by size", [refusals] if refusals else []),
        Section("numbers", "Numbers", [*_numbers(simulation)]),
        Section("schemes", "Schemes and definitions", [_define(simulation, undrawn)], "Schemes"),
        reproduce_section(
            command,
            "The same file and seed give the same numbers on every machine, with any number of "
            "workers.",
        ),
    ]
    is_there = {"metrics": bool(drawn), "refusals": refusals is not None}
    return Document(
        command="simulate",
        kind=scenario.name,
        name=scenario.name,
        title=scenario.title,
        source=f"Points of the grid: {count(len(scenario.points))}; "
        f"schemes: {count(len(scenario.points[0].schemes))}; seed {scenario.run.seed}",
        sentences=(_verdict(simulation),),
        trust=_key_figures(simulation),
        sections=[one for one in sections if is_there.get(one.place, True)],
    )


def _define(simulation: SimulationResult, undrawn: Sequence[Metric]) -> Definitions:
    """The schemes, and the figures that no chart explains."""
    schemes = sorted({(one.scheme.name, _plan_text(one)) for one in simulation.results})
    metrics = [(one.title, one.definition) for one in undrawn]
    return Definitions([*schemes, *metrics, ("overhead ratio", OVERHEAD_RATIO.partition(": ")[2])])


def _key_figures(simulation: SimulationResult) -> list[NamedFigure]:
    run, requests = simulation.scenario.run, sum(one.requests for one in simulation.results)
    simulated = "without warm-up" if requests else "closed forms alone"
    figures = [
        NamedFigure("requests simulated", count(requests), simulated),
        NamedFigure("confidence", percent(run.confidence), "of every interval, Student's t"),
        NamedFigure("method", run.method, f"of at least {count(run.requests)} requests"),
    ]
    return figures if requests else figures[:1]


def _numbers(simulation: SimulationResult) -> Iterator[Part]:
    """The table of all schemes at all points, folded where it is long."""
    shown = [one for one in simulation.results if one.exact or one.estimates]
    is_simulated = any(one.requests for one in simulation.results)
    left = _list_unknown_schemes(simulation, shown)
    yield Line(
        "Means with their confidence intervals, and closed forms."
        if is_simulated
        else "All are closed forms."
    )
    if left:
        yield Line(f"{left} has no closed form: simulate it, without --closed-form.")
    columns: list[Column[Result]] = [
        Column(
            page="scheme",
            shown=lambda one: Cell(one.scheme.name, (_point_text(simulation, one),)),
        ),
        Column(page="region", shown=lambda one: one.scheme.region, told=size),
        *map(_metric_column, _find_known_metrics(simulation.results)),
    ]
    table = Table(columns, shown, look="numbers rows")
    is_long = len(shown) > _MOST_OPEN
    yield Fold(f"{len(shown)} schemes at points", [table]) if is_long else table


def _metric_column(name: str) -> Column[Result]:
    metric = METRICS[name]
    heading = metric.title if metric.is_share else f"{metric.title}, bytes"
    return Column(page=heading, shown=lambda one: _cell(one, name))


def _verdict(simulation: SimulationResult) -> str:
    """The sentence that ranks the schemes by the first metric that is known."""
    for name, metric in METRICS.items():
        known = [one for one in simulation.results if one.value(name) is not None]
        if metric.is_share and known:
            return _ranking(known, name)
    return "No closed form applies."


def _ranking(known: Sequence[Result], name: str) -> str:
    """The scheme with the highest mean over its points, and the next ones."""
    values: dict[str, list[float]] = {}
    for one in known:
        values.setdefault(one.scheme.name, []).append(one.value(name) or 0.0)
    means = {scheme: sum(some) / len(some) for scheme, some in values.items()}
    best, *others = sorted(means, key=lambda scheme: (-means[scheme], scheme))[:_MOST_RANKED]
    admitted = _ADMITTED.get(name)
    leader = (
        f"{best} has the highest {METRICS[name].title}: {percent(means[best])}"
        if admitted is None
        else f"{best} admits {'most: ' if others else ''}{percent(means[best])} of {admitted}"
    )
    rest = ", ".join(f"{scheme} {percent(means[scheme])}" for scheme in others)
    points = max(len(some) for some in values.values())
    over = f" Means over {points} points." if points > 1 else ""
    return f"{leader}{'; ' if rest else ''}{rest}.{over}"


def _find_known_metrics(shown: Sequence[Result]) -> list[str]:
    """The metrics that are known of some scheme at some point."""
    return [name for name in METRICS if any(one.value(name) is not None for one in shown)]


def _point_text(simulation: SimulationResult, result: Result) -> str:
    keys = simulation.scenario.short_keys()
    return ", ".join(f"{name} {result.point.values[key]}{_unit(key)}" for key, name in keys.items())


def _list_unknown_schemes(simulation: SimulationResult, shown: Sequence[Result]) -> str:
    """The schemes of which no metric is known: not simulated, without a closed form."""
    known = {one.scheme.name for one in shown}
    return ", ".join(
        dict.fromkeys(one.scheme.name for one in simulation.results if one.scheme.name not in known)
    )


def _cell(result: Result, name: str) -> Cell | None:
    """A metric's mean, below it its half-width and its exact value, where they are known."""
    decimals = 4 if METRICS[name].is_share else 0
    simulation, exact = result.estimates.get(name), result.exact.get(name)
    if simulation is None:
        return None if exact is None else Cell(f"{exact:,.{decimals}f}")
    figures = (("±", simulation.half_width), ("exact", exact))
    return Cell(
        f"{simulation.mean:,.{decimals}f}",
        tuple(f"{name}{NO_BREAK}{one:,.{decimals}f}" for name, one in figures if one is not None),
    )


def _plan_text(result: Result) -> str:
    plan = result.scheme.plan
    settings = ", ".join(f"{name}={value}" for name, value in plan.scalars.items())
    return ": ".join(filter(None, [plan.allocator, settings]))


def _group_curves(simulation: SimulationResult) -> dict[str, list[Result]]:
    """The results along the first axis, by the scheme and what else differs."""
    short = simulation.scenario.short_keys()
    curves: dict[str, list[Result]] = {}
    for result in simulation.results:
        others = [f"{name} {result.point.values[key]}" for key, name in list(short.items())[1:]]
        curves.setdefault(", ".join([result.scheme.name, *others]), []).append(result)
    return dict(list(curves.items())[:_MOST_CURVES])


def _metric_chart(simulation: SimulationResult, metric: str) -> Chart | None:
    """The chart of a metric over the first axis; None without an axis or any value."""
    axes = simulation.scenario.axes
    curves = _group_curves(simulation)
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
        height=240,
        caption=METRICS[metric].definition,
    )


def _refusal_chart(simulation: SimulationResult) -> Chart | None:
    """The share of the requests of each size that is not served at the first point."""
    point = simulation.results[0].point
    shown = [one for one in simulation.results if one.point is point and one.observations]
    if not shown:
        return None
    at = _point_text(simulation, simulation.results[0])
    sizes = {bound for one in shown for bound, _, _ in one.refusals_by_size()}
    ticks = {"tickvals": sorted(sizes), "type": "log", "tickformat": ",d"}
    return Chart(
        identity="chart-refusals",
        meaning="Share of requests out of memory at each size, for each scheme.",
        data=[_refusals(one, COLOURS[i % len(COLOURS)]) for i, one in enumerate(shown)],
        layout={
            "xaxis": {"title": {"text": "request, up to this many bytes"}, **ticks},
            "yaxis": {"title": {"text": "share out of memory"}, "rangemode": "tozero"},
        },
        height=300,
        caption="Share of the requests of each size that are out of memory"
        f"{f', at {at}' if at else ''}. Two bins an octave.",
    )


def _refusals(result: Result, colour: str) -> Trace:
    rows = result.refusals_by_size()
    bounds, shares = [bound for bound, _, _ in rows], [lost / offered for _, offered, lost in rows]
    return line_with_marks(result.scheme.name, bounds, shares, colour) | _SHARE


def _curve(name: str, key: str, results: Sequence[Result], metric: str, colour: str) -> list[Trace]:
    """Simulated means with bars for their intervals, diamonds for the closed form."""
    x = [one.point.values[key] for one in results]
    estimates = [one.estimates.get(metric) for one in results]
    traces: list[Trace] = []
    if any(estimates):
        widths = [one.half_width or 0 if one else 0 for one in estimates]
        bars = {"array": widths, "color": colour}
        means = [one.mean if one else None for one in estimates]
        traces.append(line_with_marks(name, x, means, colour) | _SHARE | {"error_y": bars})
    if any(metric in one.exact for one in results):
        exact = line_with_marks(
            f"{name}, exact", x, [one.exact.get(metric) for one in results], colour
        )
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
    unit = _unit(axis).strip()
    is_share = METRICS[metric].is_share
    return {
        "together": _CURVE_GROUP,
        "showlegend": False,
        "xaxis": {"title": {"text": f"{figure_text(axis)}{', ' if unit else ''}{unit}"}, **scale},
        "yaxis": {
            "title": {"text": "share" if is_share else "bytes"},
            "tickformat": "" if is_share else "~s",
            "rangemode": "tozero",
        },
    }


def _unit(key: str) -> str:
    """The unit of a scenario's setting, to follow its value."""
    return f"{NO_BREAK}s" if key.rsplit(".", maxsplit=1)[-1] == "interval" else ""
