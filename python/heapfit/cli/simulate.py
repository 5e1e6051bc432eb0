# SPDX-License-Identifier: Apache-2.0
"""`heapfit simulate`: offered traffic on allocators, and what of it they admit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit.cli.arguments import AsJson, ClusterAddress, Workers
from heapfit.cli.printing import console
from heapfit.plan.plan import plan_table
from heapfit.simulation.scenario import load_scenario, with_settings
from heapfit.simulation.simulate import Result, SimulationResult, simulate, solve
from heapfit.simulation.table import write_table
from heapfit.sweep import Sweep

_DECIDING = "bandwidth_admission"
_ADMISSION = ("admission", "±", "exact")
_BESIDE = {  # other metrics of the table, with their columns
    "request_admission": "by requests",
    "memory_utilisation": "memory",
    "pool_utilisation": "pool",
    "combined_utility": "utility",
}


def command(
    scenario: Annotated[
        Path, typer.Argument(help="A scenario file; docs/scenario-schema.md describes it.")
    ],
    exact: Annotated[
        bool, typer.Option("--exact", help="Closed forms alone, at once: nothing is simulated.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Store the results as a Parquet table.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with the curves.")
    ] = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, max=2**63 - 1, help="Instead of the scenario's."),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(
            "--half-width", min=1e-9, help="Simulate until every interval is this narrow."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a scenario's traffic on its schemes, with confidence intervals and closed forms."""
    loaded = with_settings(load_scenario(scenario), seed, half_width)
    with console.progress() as progress, Sweep(workers, cluster) as sweep:
        found = solve(loaded) if exact else simulate(loaded, sweep, progress)
    _write(found, output, report)
    if as_json:
        console.out_json(_json(found))
    else:
        _print(found)


def _write(found: SimulationResult, output: Path | None, report: Path | None) -> None:
    if output is not None:
        write_table(output, found)
    if report is not None:
        from heapfit.report.simulation.page import write_simulation_page

        write_simulation_page(report, found)


def _print(found: SimulationResult) -> None:
    keys = found.scenario.short_keys()
    console.out(f"{found.scenario.name}: {found.scenario.title}")
    columns = [*keys.values(), "scheme", "region", "overhead", *_ADMISSION, *_BESIDE.values()]
    _print_filled(columns, [_row(result, list(keys)) for result in found.results])
    for note in _notes(found):
        for line in textwrap.wrap(note, console.WIDTH, break_on_hyphens=False):
            console.out(line)


def _print_filled(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The table without the columns that no row fills, and without what an axis shows already."""
    kept = [
        i
        for i, name in enumerate(columns)
        if name not in columns[:i] and any(row[i] is not None for row in rows)
    ]
    console.out_table([columns[i] for i in kept], [[row[i] for i in kept] for row in rows])


def _row(result: Result, keys: Sequence[str]) -> list[object]:
    simulated = result.estimates.get(_DECIDING)
    return [
        *(_plain(result.point.values[key]) for key in keys),
        result.scheme.name,
        result.scheme.region,
        _share(result.overhead_ratio),
        _share(simulated.mean if simulated else None),
        _share(simulated.half_width if simulated else None),
        _share(result.exact.get(_DECIDING)),
        *(_share(result.value(name)) for name in _BESIDE),
    ]


def _plain(value: float | str) -> str | int:
    return f"{value:g}" if isinstance(value, float) else value


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _notes(found: SimulationResult) -> Iterator[str]:
    """What the columns mean, and how the numbers came about."""
    run = found.scenario.run
    yield (
        "overhead: bytes beyond what the region can hand out, over these. admission: bytes "
        "admitted over bytes requested; by requests: their numbers. memory, pool: bytes requested "
        "by live blocks over the region, over what it can hand out. utility: admission times "
        "memory, our reading of Elsayed and Galal's combined utility."
    )
    if any(result.exact for result in found.results):
        yield (
            "exact: Kaufman-Roberts for chained_pool, Erlang-B for fixed_pool and for class_pools "
            "whose full pools refuse."
        )
    else:
        yield "exact: none of the schemes has a closed form under this traffic."
    requests = sum(result.requests for result in found.results)
    if requests:
        yield (
            f"{requests:,} requests simulated in {run.method}, seed {run.seed}; "
            f"± at {run.confidence * 100:g} % confidence."
        )
    if found.too_wide():
        yield (
            f"{found.too_wide()} intervals are wider than {run.half_width:g} after "
            f"{run.most_replications} {run.method}: raise run.most_replications or run.requests."
        )


def _json(found: SimulationResult) -> dict[str, Any]:
    scenario = found.scenario
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "run": asdict(scenario.run),
        "results": [_result_json(result) for result in found.results],
    }


def _result_json(result: Result) -> dict[str, Any]:
    bins = ("size", "offered", "refused")
    return {
        "point": dict(result.point.values),
        "scheme": result.scheme.name,
        "plan": plan_table(result.scheme.plan),
        "region": result.scheme.region,
        "capacity": result.capacity,
        "overhead_ratio": result.overhead_ratio,
        "requests": result.requests,
        "replications": len(result.observations),
        "metrics": {name: asdict(one) for name, one in result.estimates.items()},
        "exact": dict(result.exact),
        "by_size": [dict(zip(bins, row, strict=True)) for row in result.refusals_by_size()],
    }
