# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation: a curve for each metric, the numbers, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from heapfit.drawing.chart import COLOURS, Chart, Layout, Trace, line_with_marks
from heapfit.drawing.document import Document, reproduce_section
from heapfit.drawing.number_text import count, figure_text, percent, size
from heapfit.drawing.parts import (
    Bullets,
    Cell,
    Column,
    Details,
    Grid,
    Group,
    Heading,
    Line,
    NamedFigure,
    Part,
    Section,
    Table,
    which_hold,
)
from heapfit.grouping import group
from heapfit.plan.quantities import NO_BREAK, format_share
from heapfit.simulation.metrics import METRICS, OVERHEAD_RATIO
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
    scenario, results = simulation.scenario, simulation.results
    charts = {one: chart for name, one in METRICS.items() if (chart := _draw(simulation, name))}
    for chart in [*charts.values()][:1]:
        chart.layout["showlegend"] = True  # for all of them
    curves = [Group(one.title, [Heading(one.title.capitalize()), charts[one]]) for one in charts]
    refusals = list_refusals(simulation)
    schemes = sorted({(one.scheme.name, _plan_text(one)) for one in results})
    undrawn = [(one.title, one.definition) for one in METRICS.values() if one not in charts]
    sections = [
        Section(
            "metrics",
            "Over the first axis",
            [Line(_CLOSED_FORMS), Grid(curves, "of-curves")],
            "Curves",
        ),
        Section("refusals", "Out of memory by size", refusals),
        Section("numbers", "Numbers", _numbers(simulation)),
        Section(
            "schemes",
            "Schemes and definitions",
            [Bullets([*schemes, *undrawn, ("overhead ratio", OVERHEAD_RATIO)])],
            "Schemes",
        ),
        reproduce_section(
            (
                "The same file and seed give the same numbers on every machine, with any number of "
                "workers.",
                command,
            )
        ),
    ]
    is_there = {"metrics": bool(curves), "refusals": bool(refusals)}
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


def _key_figures(simulation: SimulationResult) -> list[NamedFigure]:
    requests = sum(one.requests for one in simulation.results)
    runs = sum(len(one.observations) for one in simulation.results)
    sure = percent(simulation.scenario.run.confidence)
    figures = [
        NamedFigure(
            "requests simulated",
            count(requests),
            f"in {count(runs)} runs, without warm-up" if requests else "closed forms alone",
        ),
        NamedFigure("confidence", sure, "of every interval, Student's t"),
    ]
    return figures[: 1 + simulation.has_intervals]


def _numbers(simulation: SimulationResult) -> list[Part]:
    """The table of all schemes at all points, folded where it is long."""
    shown = [one for one in simulation.results if one.exact or one.estimates]
    is_simulated = any(one.requests for one in simulation.results)
    known = {one.scheme.name for one in shown}
    left = ", ".join(
        dict.fromkeys(one.scheme.name for one in simulation.results if one.scheme.name not in known)
    )
    columns: list[Column[Result]] = [
        Column(
            page="scheme", shown=lambda one: Cell(one.scheme.name, (_point_text(simulation, one),))
        ),
        Column(page="region", shown=lambda one: one.scheme.region, told=size),
        *(_metric_column(name) for name in METRICS if _is_known(name, simulation.results)),
    ]
    table = Table(columns, shown, look="numbers rows")
    folded = Details(f"{len(shown)} schemes at points", [table])
    texts = which_hold(
        (is_simulated, "Means with their confidence intervals, and closed forms."),
        (not is_simulated, "All are closed forms."),
        (left, f"{left} has no closed form: simulate it, without --closed-form."),
    )
    return [*map(Line, texts), folded if len(shown) > _MOST_OPEN else table]


def _is_known(metric: str, results: Iterable[Result]) -> bool:
    return any(one.value(metric) is not None for one in results)


def _metric_column(name: str) -> Column[Result]:
    metric = METRICS[name]
    heading = metric.title if metric.is_share else f"{metric.title}, bytes"
    return Column(page=heading, shown=lambda one: _cell(one, name))


def _verdict(simulation: SimulationResult) -> str:
    """The sentence that ranks the schemes by the first metric that is known."""
    known = [
        name
        for name, metric in METRICS.items()
        if metric.is_share and _is_known(name, simulation.results)
    ]
    return _rank(simulation.results, known[0]) if known else "No closed form applies."


def _rank(results: Sequence[Result], name: str) -> str:
    """The scheme with the highest mean over its points, and the next ones."""
    known = ((one.scheme.name, one.value(name)) for one in results)
    values = group((scheme, value) for scheme, value in known if value is not None)
    means = {scheme: sum(some) / len(some) for scheme, some in values.items()}
    best, *others = sorted(means, key=lambda scheme: (-means[scheme], scheme))[:_MOST_RANKED]
    leader = f"{best} has the highest {METRICS[name].title}: {percent(means[best])}"
    if admitted := _ADMITTED.get(name):
        leader = f"{best} admits {'most: ' * bool(others)}{percent(means[best])} of {admitted}"
    rest = ", ".join(f"{scheme} {percent(means[scheme])}" for scheme in others)
    points = max(len(some) for some in values.values())
    over = f" Means over {points} points." if points > 1 else ""
    return f"{leader}{'; ' if rest else ''}{rest}.{over}"


def _point_text(simulation: SimulationResult, result: Result) -> str:
    return ", ".join(
        f"{name} {result.point.values[key]}{_unit(key)}"
        for key, name in simulation.scenario.short_keys().items()
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
    others = [*simulation.scenario.short_keys().items()][1:]

    def name_curve(result: Result) -> str:
        values = (f"{name} {result.point.values[key]}" for key, name in others)
        return ", ".join([result.scheme.name, *values])

    curves = group((name_curve(one), one) for one in simulation.results)
    return dict(list(curves.items())[:_MOST_CURVES])


def _draw(simulation: SimulationResult, metric: str) -> Chart | None:
    """The chart of a metric over the first axis; None without an axis or any value."""
    axes, curves, its = simulation.scenario.axes, _group_curves(simulation), METRICS[metric]
    if not axes or not _is_known(metric, chain(*curves.values())):
        return None
    key = axes[0].key
    short_key = simulation.scenario.short_keys()[key]
    drawn = (
        _curve(name, key, results, metric, COLOURS[i % len(COLOURS)])
        for i, (name, results) in enumerate(curves.items())
    )
    return Chart(
        identity=f"chart-{metric.replace('_', '-')}",
        meaning=f"{its.title} of each scheme over {short_key}.",
        data=[*chain(*drawn)],
        layout=_layout(short_key, axes[0].values[key], its.is_share),
        height=240,
        caption=its.definition,
    )


def list_refusals(simulation: SimulationResult) -> list[Part]:
    """A table: the share of the requests of each size that is not served at the first point."""
    first = simulation.results[0]
    shown = [
        one
        for one in simulation.results
        if one.point is first.point and (one.observations or one.exact)
    ]
    shares = [
        {top: format_share(lost / all_) for top, all_, lost in one.refusals_by_size()}
        for one in shown
    ]
    at = _point_text(simulation, first)
    caption = f"Share of the requests of each size that are out of memory{at and f', at {at}'}."
    columns: list[Column[int]] = [
        Column(heading="request up to", page="request, up to", shown=size),
        *(
            Column(heading=one.scheme.name, page=one.scheme.name, shown=known.get)
            for one, known in zip(shown, shares, strict=True)
        ),
    ]
    return [Table(columns, sorted(set().union(*shares)), caption=caption)] if shown else []


def _curve(name: str, key: str, results: Sequence[Result], metric: str, colour: str) -> list[Trace]:
    """Simulated means with bars for their intervals, diamonds for the closed form."""
    x = [one.point.values[key] for one in results]
    estimates = [one.estimates.get(metric) for one in results]
    means = [one.mean if one else None for one in estimates]
    bars = {"array": [one.half_width or 0 if one else 0 for one in estimates], "color": colour}
    exact = [one.exact.get(metric) for one in results]
    diamonds = {"color": colour, "size": 12, "symbol": "diamond-open"}
    closed = line_with_marks(f"{name}, exact", x, exact, colour)
    curves = (
        (any(estimates), line_with_marks(name, x, means, colour) | _SHARE | {"error_y": bars}),
        (
            any(metric in one.exact for one in results),
            closed | _SHARE | {"mode": "markers", "marker": diamonds},
        ),
    )
    return [drawn for is_known, drawn in curves if is_known]


def _layout(axis: str, values: Sequence[object], is_share: bool) -> Layout:
    numbers = [value for value in values if isinstance(value, int | float)]
    is_wide = len(numbers) > 2 and min(numbers) > 0 and max(numbers) >= 8 * min(numbers)
    scale = {"type": "log", "tickvals": list(values), "ticktext": [f"{one}" for one in values]}
    unit = _unit(axis).strip()
    title = {"text": f"{figure_text(axis)}{', ' if unit else ''}{unit}"}
    return {
        "together": _CURVE_GROUP,
        "showlegend": False,
        "xaxis": {"title": title, **(scale if is_wide else {})},
        "yaxis": {
            "title": {"text": "share" if is_share else "bytes"},
            "tickformat": "" if is_share else "~s",
            "rangemode": "tozero",
        },
    }


def _unit(key: str) -> str:
    """The unit of a scenario's setting, to follow its value."""
    return f"{NO_BREAK}s" if key.rsplit(".", maxsplit=1)[-1] == "interval" else ""
