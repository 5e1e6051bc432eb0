# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation: a curve for each metric, the numbers, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapfit.report.drawing import rendering
from heapfit.report.drawing.figure import Chart
from heapfit.report.drawing.number_text import NO_BREAK, NOT_MEASURED
from heapfit.report.simulation.charts import metric_chart, refusal_chart
from heapfit.simulation.metrics import METRICS, OVERHEAD_RATIO, Metric
from heapfit.simulation.simulate import Result, SimulationResult

_TEMPLATE = Path(__file__).with_name("simulation.html.j2")


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
    charts = {name: metric_chart(simulation, name) for name in METRICS}
    figures = [
        MetricFigure(name, METRICS[name], chart)
        for name, chart in charts.items()
        if chart is not None
    ]
    refusals = refusal_chart(simulation)
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
        command=f"heapfit simulate {simulation.scenario.path.name}",
    )


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
