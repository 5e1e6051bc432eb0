# SPDX-License-Identifier: Apache-2.0
"""A scenario simulated: every scheme at every point, a job for each replication.

Replications are added in rounds until the interval is narrow enough. What a replication gives
depends on its number alone, so where they are done changes nothing but the time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heapfit import _engine
from heapfit.outputs.file import stage_file
from heapfit.progress import Progress, ignore_progress
from heapfit.simulation.closed_form import exact_metrics, exact_refusals
from heapfit.simulation.metrics import METRICS, Observation, overhead_ratio
from heapfit.simulation.replication import (
    Task,
    estimate_metric,
    is_another_round,
    replicate,
)
from heapfit.simulation.scenario import Point, RunSettings, Scenario
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.statistics import Estimate
from heapfit.sweep import Job, Sweep
from heapfit.trace.tabular import Tabular

_STEP = "simulate"
_SCHEMA = 1  # of a file of results


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one scheme at one point."""

    point: Point
    scheme: Scheme
    capacity: int
    exact: Mapping[str, float]  # metrics with a closed form
    estimates: Mapping[str, Estimate]  # empty where nothing was simulated
    observations: tuple[Observation, ...]

    @property
    def overhead_ratio(self) -> float | None:
        """The scheme's region over the bytes that its blocks can hold (metrics.OVERHEAD_RATIO)."""
        return overhead_ratio(self.scheme.region, self.capacity)

    @property
    def requests(self) -> int:
        """The number of simulated requests, without warm-ups."""
        return sum(one.requests for one in self.observations)

    def value(self, metric: str) -> float | None:
        """The simulated value, else the exact one."""
        estimate = self.estimates.get(metric)
        return self.exact.get(metric) if estimate is None else estimate.mean

    def refusals_by_size(self) -> Sequence[tuple[int, float, float]]:
        """The largest size of each bin, the requests in it, and how many of them were lost.

        Of a closed form as shares of all requests.
        """
        if not self.observations:
            return exact_refusals(self.point.traffic, self.scheme)
        bins = zip(*(one.by_size for one in self.observations), strict=True)
        rows = ((each[0][0], *(sum(one[i] for one in each) for i in (1, 2))) for each in bins)
        return [(bound, offered, lost) for bound, offered, lost in rows if offered]


@dataclass(frozen=True, slots=True, repr=False)
class SimulationResult(Tabular):
    """All results, point by point, each point's schemes in the file's order."""

    scenario: Scenario
    results: tuple[Result, ...]

    def __str__(self) -> str:
        return f"simulation of {self.scenario.name}: {len(self.results)} schemes at points"

    def to_arrow(self) -> pa.Table:
        """A row for each metric of each scheme at each point (docs/evidence/schemas.md)."""
        return pa.Table.from_pylist([row for one in self.results for row in _metric_rows(one)])

    @property
    def has_intervals(self) -> bool:
        """True if anything was simulated more than once."""
        return any(len(one.observations) > 1 for one in self.results)

    def count_wide_intervals(self) -> int:
        """How many intervals are wider than the scenario asks for, all replications done."""
        metric, asked = self.scenario.run.metric, self.scenario.run.half_width or math.inf
        known = [one.estimates[metric] for one in self.results if metric in one.estimates]
        return sum((one.half_width or 0.0) > asked for one in known)


def _metric_rows(result: Result) -> Iterator[dict[str, Any]]:
    shared = {
        **result.point.values,
        "scheme": result.scheme.name,
        "allocator": result.scheme.plan.allocator,
        "region": result.scheme.region,
        "capacity": result.capacity,
        "requests": result.requests,
        "replications": len(result.observations),
    }
    for name in METRICS:
        estimate = result.estimates.get(name)
        yield {
            **shared,
            "metric": name,
            "mean": None if estimate is None else estimate.mean,
            "half_width": None if estimate is None else estimate.half_width,
            "exact": result.exact.get(name),
        }


@dataclass(slots=True)
class _Cell:
    """One scheme at one point while it is simulated."""

    point: Point
    scheme: Scheme
    run: RunSettings
    seen: dict[int, Observation] = field(default_factory=dict)
    asked: int = 0

    def plan_round(self) -> list[Task]:
        """The tasks of the next round; none until the last round is done, or if none is needed."""
        if len(self.seen) < self.asked or not is_another_round(self.observations(), self.run):
            return []
        first, self.asked = self.asked, self.asked + self._round_length()
        return [
            Task(self.point.traffic, self.scheme, self.run, number)
            for number in range(first, self.asked)
        ]

    def _round_length(self) -> int:
        once = 0 if self.seen else 1  # another replication would be the same
        return self.run.replications if self.point.traffic.is_drawn else once

    def observations(self) -> list[Observation]:
        """The observations of all replications, in the order of their numbers."""
        return [self.seen[number] for number in sorted(self.seen)]

    def result(self) -> Result:
        seen = self.observations()
        names = METRICS if seen else ()
        estimates = {name: estimate_metric(seen, name, self.run.confidence) for name in names}
        return Result(
            point=self.point,
            scheme=self.scheme,
            capacity=self.scheme.capacity(),
            exact=exact_metrics(self.point.traffic, self.scheme) or {},
            estimates={name: one for name, one in estimates.items() if one is not None},
            observations=tuple(seen),
        )


def simulate(
    scenario: Scenario, sweep: Sweep | None = None, progress: Progress = ignore_progress
) -> SimulationResult:
    """Simulates all schemes at all points, in this process or as `sweep` says.

    Closed forms stand beside.
    """
    cells = _cells(scenario)
    of_job: list[tuple[_Cell, int]] = []

    def rounds_of(cell: _Cell) -> list[Job]:
        tasks = cell.plan_round()
        of_job.extend((cell, task.number) for task in tasks)
        return [_job(cell, task) for task in tasks]

    def continue_cell(number: int, observation: Observation) -> list[Job]:
        cell, replication = of_job[number]
        cell.seen[replication] = observation
        return rounds_of(cell)

    first = [job for cell in cells for job in rounds_of(cell)]
    (sweep or Sweep(workers=1)).run(_STEP, first, progress, continue_cell)
    return SimulationResult(scenario, tuple(cell.result() for cell in cells))


def solve(scenario: Scenario) -> SimulationResult:
    """The results of the closed forms alone, without simulation."""
    return SimulationResult(scenario, tuple(cell.result() for cell in _cells(scenario)))


def _cells(scenario: Scenario) -> list[_Cell]:
    return [
        _Cell(point, scheme, scenario.run) for point in scenario.points for scheme in point.schemes
    ]


def _job(cell: _Cell, task: Task) -> Job:
    point = (f"{key} = {value}" for key, value in cell.point.values.items())
    name = ", ".join([cell.scheme.name, *point, f"replication {task.number + 1}"])
    return Job(
        name, replicate, task, task.traffic.files, 2 * (cell.run.warm_up + cell.run.requests)
    )


def write_simulation(path: Path, simulation: SimulationResult) -> None:
    """Writes all results to `path`, which appears whole or not at all.

    docs/evidence/schemas.md lists the columns.
    """
    origin = {
        "schema": _SCHEMA,
        "heapfit": _engine.version,
        "scenario": simulation.scenario.name,
        "run": asdict(simulation.scenario.run),
    }
    table = simulation.to_arrow().replace_schema_metadata({b"heapfit": json.dumps(origin).encode()})
    with stage_file(path) as staging:
        pq.write_table(table, staging)
