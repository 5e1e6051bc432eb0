# SPDX-License-Identifier: Apache-2.0
"""A scenario file: traffic, the schemes it is offered to, a grid of both, and how long to run.

docs/scenario-schema.md describes every key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heapfit.plan.toml_table import Table, read_document
from heapfit.simulation.grid import Axis, Value, read_grid, steps, with_values
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.scheme import Scheme, read_scheme
from heapfit.simulation.traffic import SCENARIO, Traffic, read_traffic

SCHEMA = 1
METHODS = ("replications", "batches")
_MOST_REQUESTS = 10**12
_LARGEST_SEED = 2**63 - 1  # TOML's own


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How long to simulate each scheme at each point."""

    requests: int = 100_000  # of a replication, or of a batch
    warm_up: int = 20_000  # requests before them that are not counted
    replications: int = 8  # the first round's; batches likewise
    most_replications: int = 64
    half_width: float | None = None  # rounds go on until `metric`'s interval is as narrow
    metric: str = "bandwidth_admission"
    confidence: float = 0.95
    seed: int = 1
    method: str = "replications"


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the grid: its values, its traffic and its schemes."""

    values: Mapping[str, Value]  # of the grid's keys
    traffic: Traffic
    schemes: tuple[Scheme, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario file, read and checked at every point of its grid."""

    path: Path
    name: str
    title: str
    axes: tuple[Axis, ...]
    points: tuple[Point, ...]
    run: RunSettings

    def short_keys(self) -> dict[str, str]:
        """The key of each axis, shortened to its end where that is unambiguous."""
        keys = [axis.key for axis in self.axes]
        return {key: _shortest_end(key, keys) for key in keys}


def with_seed(scenario: Scenario, seed: int | None) -> Scenario:
    """The scenario with another seed, where one is given."""
    return scenario if seed is None else replace(scenario, run=replace(scenario.run, seed=seed))


def load_scenario(path: Path | str) -> Scenario:
    """Reads a scenario file; HeapfitError names the file, the key and what to do."""
    path = Path(path)
    document = read_document(path, SCENARIO)
    top = Table(path, SCENARIO, "", document)
    top.require_version(SCHEMA)
    name = top.text("name")
    title = top.text("title") if top.has("title") else name
    run = _read_run(top.table("run")) if top.has("run") else RunSettings()
    axes = read_grid(top)
    points = tuple(
        _read_point(path, with_values(document, values, top), values) for values in steps(axes)
    )
    for key in ("traffic", "schemes"):
        top.table(key)  # read at every point
    top.finish()
    return Scenario(path, name, title, axes, points, run)


def _read_point(path: Path, document: dict[str, Any], values: Mapping[str, Value]) -> Point:
    top = Table(path, SCENARIO, "", document)
    offered = top.table("traffic")
    traffic = read_traffic(offered, path.parent)
    table = top.table("schemes")
    names = table.keys()
    if not names:
        top.reject("schemes", "must have at least one scheme")
    schemes = tuple(read_scheme(name, table.table(name)) for name in names)
    for scheme in schemes:
        if traffic.sizes is not None and not scheme.serves(traffic.sizes.most):
            offered.reject(
                "sizes",
                f"requests of {traffic.sizes.most} B, which {scheme.name} cannot serve "
                "even when it is empty",
            )
    return Point(values, traffic, schemes)


def _read_run(table: Table) -> RunSettings:
    """Reads the `[run]` table; missing keys have their standard values."""
    given = {key: read(table, key) for key, read in _RUN.items() if table.has(key)}
    table.finish()
    return RunSettings(**given)


_RUN: dict[str, Callable[[Table, str], Any]] = {
    "requests": lambda table, key: table.whole(key, 1, _MOST_REQUESTS),
    "warm_up": lambda table, key: table.whole(key, 0, _MOST_REQUESTS),
    "replications": lambda table, key: table.whole(key, 1, 10_000),
    "most_replications": lambda table, key: table.whole(key, 1, 100_000),
    "half_width": lambda table, key: table.number(key, 1e-9, 1e12),
    "metric": lambda table, key: table.word(key, METRICS, key),
    "confidence": lambda table, key: table.number(key, 0.5, 0.9999),
    "seed": lambda table, key: table.whole(key, 0, _LARGEST_SEED),
    "method": lambda table, key: table.word(key, METHODS, key),
}


def _shortest_end(key: str, keys: list[str]) -> str:
    words = key.split(".")
    for length in range(1, len(words)):
        end = ".".join(words[-length:])
        if sum(f".{other}".endswith(f".{end}") for other in keys) == 1:
            return end
    return key
