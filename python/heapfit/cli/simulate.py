# SPDX-License-Identifier: Apache-2.0
"""`heapfit simulate`: offered traffic on allocators, and what of it they admit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from heapfit.cli.arguments import command_line
from heapfit.cli.commands.pools import SimulateCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import start_sweep
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, which_hold
from heapfit.plan.plan import plan_table
from heapfit.results.simulation import list_refusals, simulation_page
from heapfit.simulation.scenario import load_scenario, with_seed
from heapfit.simulation.simulate import Result, SimulationResult, simulate, solve, write_simulation
from heapfit.simulation.statistics import Estimate
from heapfit.sizing.from_traffic import METRIC


def run(command: SimulateCommand) -> None:
    loaded = with_seed(load_scenario(command.scenario), command.seed)
    with progress_bar() as progress, start_sweep(command.workers) as sweep:
        simulated = solve(loaded) if command.closed_form else simulate(loaded, sweep, progress)
    _write(simulated, command.output, command.report)
    print_result(_parts(simulated), command.as_json)


def _write(simulated: SimulationResult, output: Path | None, report: Path | None) -> None:
    if output is not None:
        write_simulation(output, simulated)
    if report is not None:
        # Loads jinja2, which takes longer than most simulations of closed forms.
        from heapfit.drawing.html import write_document

        write_document(report, simulation_page(simulated, command_line()))


def _parts(simulated: SimulationResult) -> list[Part]:
    scenario = simulated.scenario
    keys = len(scenario.short_keys()) + 1  # the point and the scheme
    return [
        Fields({"scenario": scenario.name, "title": scenario.title, "run": scenario.run}),
        Line(f"{scenario.name}: {scenario.title}"),
        Table([*_hide_empty_columns(simulated)], simulated.results, "results", keys=keys),
        *(list_refusals(simulated) if len(scenario.points) == 1 else []),
        *map(Line, _describe(simulated)),
    ]


def _hide_empty_columns(simulated: SimulationResult) -> Iterator[Column[Result]]:
    """The columns; without a heading where no row has a figure, or where an axis shows it."""
    headings: set[str] = set()
    for column in (*_axes(simulated), *_COLUMNS):
        is_filled = any(column.cell(result) is not None for result in simulated.results)
        is_new = column.heading not in headings
        headings.add(column.heading)
        yield column if is_filled and is_new else column.with_heading("")


def _axes(simulated: SimulationResult) -> Iterator[Column[Result]]:
    """The point for the JSON, and a column of the table for each of its values."""
    yield Column("point", value=lambda result: result.point.values)
    for key, name in simulated.scenario.short_keys().items():
        yield _axis(key, name)


def _axis(key: str, name: str) -> Column[Result]:
    return Column(heading=name, shown=lambda result: _plain(result.point.values[key]))


def _metric(name: str, heading: str) -> Column[Result]:
    """A column of the table alone: the JSON has all metrics."""
    return Column(heading=heading, shown=lambda result: _share(result.value(name)))


def _estimate(
    heading: str, figure: Callable[[Estimate], float | None], metric: str = METRIC
) -> Column[Result]:
    def show_estimate(result: Result) -> str | None:
        estimate = result.estimates.get(metric)
        return _share(None if estimate is None else figure(estimate))

    return Column(heading=heading, shown=show_estimate)


def _size_bins(result: Result) -> list[dict[str, object]]:
    bins = ("up_to", "offered", "refused")
    return [dict(zip(bins, row, strict=True)) for row in result.refusals_by_size()]


_COLUMNS: tuple[Column[Result], ...] = (
    Column("scheme", "scheme", lambda result: result.scheme.name),
    Column("plan", value=lambda result: plan_table(result.scheme.plan)),
    Column("region", "region", lambda result: result.scheme.region),
    Column("capacity"),
    Column("overhead_ratio", "overhead", shown=lambda result: _share(result.overhead_ratio)),
    Column("requests"),
    Column("replications", value=lambda result: len(result.observations)),
    _estimate("admission", lambda estimate: estimate.mean),
    _estimate("±", lambda estimate: estimate.half_width),
    Column("metrics", value=lambda result: result.estimates),
    Column("exact", "exact", shown=lambda result: _share(result.exact.get(METRIC))),
    _metric("request_admission", "by requests"),
    _estimate("± by requests", lambda estimate: estimate.half_width, "request_admission"),
    _metric("memory_utilisation", "memory"),
    _metric("pool_utilisation", "pool"),
    _metric("combined_utility", "utility"),
    Column("by_size", value=_size_bins),
)


def _plain(value: float | str) -> str | int:
    return f"{value:g}" if isinstance(value, float) else value


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _describe(simulated: SimulationResult) -> list[str]:
    """What the columns mean, and how the figures were simulated."""
    run, results = simulated.scenario.run, simulated.results
    wide, requests = simulated.count_wide_intervals(), sum(one.requests for one in results)
    alone = dict.fromkeys(one.scheme.name for one in results if one.scheme.lacks_shared_heap)
    regions = {one.scheme.region for one in results}
    exact = (
        "exact: Kaufman-Roberts for chained_pool, Erlang-B for fixed_pool and for class_pools "
        "without fall-back."
        if any(result.exact for result in results)
        else "exact: no closed form under this traffic (docs/simulation.md#intervals)."
    )
    return [
        "overhead: bytes of the region not available to requests, over those available.",
        "admission: bytes served over bytes requested; by requests: the same for their number.",
        "memory, pool: requested live bytes, over the region and over its available bytes.",
        "utility: admission times memory, our reading of Elsayed and Galal's combined utility.",
        exact,
        *which_hold(
            (
                alone,
                f"{', '.join(alone)}: overflow=1 passes what a full pool refuses to the shared "
                "heap, and there is none: as overflow=2. 0 passes it to a larger pool.",
            ),
            (
                len(simulated.scenario.points) == 1,
                "request up to: share of the requests of these sizes that are out of memory.",
            ),
            (
                max(regions) > 1.01 * min(regions),
                f"Regions differ, {min(regions):,} to {max(regions):,} B: so does what they admit.",
            ),
            (
                requests,
                f"{requests:,} requests simulated in "
                f"{sum(len(one.observations) for one in results):,} runs, seed {run.seed}"
                + f"; ± at {run.confidence * 100:g} % confidence" * simulated.has_intervals
                + ".",
            ),
            (
                wide,
                f"{wide} intervals are wider than {run.half_width or 0:g} after "
                f"{run.most_replications} replications: raise run.most_replications or "
                "run.requests.",
            ),
        ),
    ]
