# SPDX-License-Identifier: Apache-2.0
"""A scenario file: traffic, the schemes it is offered to, a grid of both, and how long to run.

docs/evidence/schemas.md describes every key.

[[grid]]                        an axis; axes are crossed
"traffic.arrivals.interval" = [0.001, 0.002]
[[grid]]                        the keys of one axis go in step
"schemes.chained.plan.partition_size" = [256, 512]
"schemes.fixed.plan.block_size" = [256, 512]
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from heapfit.plan.brief import Brief
from heapfit.plan.toml_table import LARGEST_COUNT, TomlTable, read_document, show
from heapfit.simulation.metrics import METRICS
from heapfit.simulation.scheme import Scheme, read_scheme
from heapfit.simulation.traffic import SCENARIO, Traffic, read_traffic

Value: TypeAlias = int | float | str

SCHEMA = 1
_MOST_REQUESTS = 10**12
_MOST_POINTS = 10_000


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys of a scenario that change together, with their values."""

    values: Mapping[str, tuple[Value, ...]]

    @property
    def key(self) -> str:
        """The first key, which names the axis."""
        return next(iter(self.values))

    def steps(self) -> list[dict[str, Value]]:
        """The values of each step."""
        return [
            dict(zip(self.values, row, strict=True))
            for row in zip(*self.values.values(), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How long to simulate each scheme at each point."""

    requests: int = 100_000  # of a replication
    warm_up: int = 20_000  # requests before them that are not counted
    replications: int = 8  # the first round's
    most_replications: int = 64
    half_width: float | None = None  # rounds go on until `metric`'s interval is as narrow
    metric: str = "bandwidth_admission"
    confidence: float = 0.95
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the grid: its values, its traffic and its schemes."""

    values: Mapping[str, Value]  # of the grid's keys
    traffic: Traffic
    schemes: tuple[Scheme, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Scenario(Brief):
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
    top = TomlTable(path, SCENARIO, "", document)
    top.require_version(SCHEMA)
    name = top.text("name")
    axes = _read_grid(top)
    scenario = Scenario(
        path,
        name,
        title=top.text("title") if top.has("title") else name,
        axes=axes,
        run=_read_run(top.table("run")) if top.has("run") else RunSettings(),
        points=tuple(
            _read_point(path, _set_values(document, values, top), values) for values in _steps(axes)
        ),
    )
    for key in ("traffic", "schemes"):
        top.table(key)  # read at every point
    top.finish()
    return scenario


def _read_point(path: Path, document: dict[str, Any], values: Mapping[str, Value]) -> Point:
    top = TomlTable(path, SCENARIO, "", document)
    top.collect_errors()
    offered = top.table("traffic")
    traffic = top.read_or_note(None, read_traffic, offered, path.parent)
    table = top.table("schemes")
    names = table.keys()
    if not names:
        top.reject("schemes", "must have at least one scheme")
    read = [
        top.read_or_note(None, lambda name: read_scheme(name, table.table(name)), name)
        for name in names
    ]
    top.raise_collected()
    schemes = tuple(scheme for scheme in read if scheme is not None)
    assert traffic is not None, "what is not read is an error"
    for scheme in schemes:
        if traffic.largest is not None and not scheme.serves(traffic.largest):
            offered.reject(
                "sizes",
                f"requests of {traffic.largest} B, which {scheme.name} cannot serve "
                "even when it is empty",
            )
    return Point(values, traffic, schemes)


def _read_run(table: TomlTable) -> RunSettings:
    """Reads the `[run]` table; missing keys have their standard values."""
    given = {key: read(table, key) for key, read in _RUN.items() if table.has(key)}
    table.finish()
    return RunSettings(**given)


_RUN: dict[str, Callable[[TomlTable, str], Any]] = {
    "requests": lambda table, key: table.whole(key, 1, _MOST_REQUESTS),
    "warm_up": lambda table, key: table.whole(key, 0, _MOST_REQUESTS),
    "replications": lambda table, key: table.whole(key, 1, 10_000),
    "most_replications": lambda table, key: table.whole(key, 1, 100_000),
    "half_width": lambda table, key: table.number(key, 1e-9, 1e12),
    "metric": lambda table, key: table.word(key, METRICS, key),
    "confidence": lambda table, key: table.number(key, 0.5, 0.9999),
    "seed": lambda table, key: table.whole(key, 0, LARGEST_COUNT),
}


def _shortest_end(key: str, keys: list[str]) -> str:
    words = key.split(".")
    ends = (".".join(words[-length:]) for length in range(1, len(words)))
    counts = ((end, sum(f".{one}".endswith(f".{end}") for one in keys)) for end in ends)
    return next((end for end, count in counts if count == 1), key)


def _read_grid(top: TomlTable) -> tuple[Axis, ...]:
    """Reads the `[[grid]]` tables of a scenario."""
    axes = tuple(map(_read_axis, top.tables("grid") if top.has("grid") else []))
    keys = [key for axis in axes for key in axis.values]
    for key in keys:
        if keys.count(key) > 1:
            top.reject("grid", f"{key} is in two axes")
    points = math.prod(len(axis.steps()) for axis in axes)
    if points > _MOST_POINTS:
        top.reject("grid", f"{points:,} points are more than {_MOST_POINTS:,}")
    return axes


def _steps(axes: Sequence[Axis]) -> Iterator[dict[str, Value]]:
    """The values at each point, the last axis fastest; one empty point without axes."""
    for steps in itertools.product(*(axis.steps() for axis in axes)):
        yield dict(itertools.chain.from_iterable(step.items() for step in steps))


def _set_values(
    document: Mapping[str, Any], values: Mapping[str, Value], top: TomlTable
) -> dict[str, Any]:
    """A copy of the document with these keys set; rejects a key whose table does not exist."""
    changed = copy.deepcopy(dict(document))
    for path, value in values.items():
        *names, last = path.split(".")
        tables = [changed]
        for name in names:
            tables = [one for table in tables for one in _tables_of(table, name)]
        if not tables:
            top.reject(
                "grid", f"{_display_key(path)}: there is no table {_display_key('.'.join(names))}"
            )
        for table in tables:
            table[last] = value
    return changed


def _display_key(path: str) -> str:
    """A key of a grid in a message: any text may stand in its quotes."""
    return path if re.fullmatch(r"[\w.*-]{1,60}", path) else show(path)


def _tables_of(table: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The tables inside, of this name or, for "*", all."""
    inside = table.values() if name == "*" else [table.get(name)]
    return [one for one in inside if isinstance(one, dict)]


def _read_axis(table: TomlTable) -> Axis:
    keys = table.keys()
    if not keys:
        table.reject("", "must have a key with a list of values")
    values = {key: _read_values(table, key) for key in keys}
    lengths = {len(one) for one in values.values()}
    if len(lengths) > 1:
        table.reject(keys[-1], "must have as many values as the other keys of its axis")
    return Axis(values)


def _read_values(table: TomlTable, key: str) -> tuple[Value, ...]:
    if not key.startswith(("traffic.", "schemes.")):
        table.reject(key, 'a key of a grid begins with "traffic." or "schemes."')
    values = table.items(key)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            table.reject(key, "must be a list of numbers or words")
    if len({isinstance(value, str) for value in values}) > 1:
        table.reject(key, "must be numbers or words, not both")
    return tuple(values)  # type: ignore[arg-type]
