# SPDX-License-Identifier: Apache-2.0
"""Sweeps: named keys of a scenario file, each with the values it takes in turn.

[[grid]]                        an axis; axes are crossed
"traffic.arrivals.interval" = [0.001, 0.002]
[[grid]]                        the keys of one axis go in step
"schemes.chained.plan.partition_size" = [256, 512]
"schemes.fixed.plan.block_size" = [256, 512]
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from heapfit.plan.toml_table import Table, show

Value: TypeAlias = int | float | str

_MOST_POINTS = 10_000


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys of a scenario that change together, with their values."""

    values: Mapping[str, tuple[Value, ...]]

    @property
    def key(self) -> str:
        """The first key, which names the axis."""
        return next(iter(self.values))

    def __len__(self) -> int:
        return len(self.values[self.key])

    def step(self, i: int) -> dict[str, Value]:
        """The values of one step."""
        return {key: values[i] for key, values in self.values.items()}


def read_grid(top: Table) -> tuple[Axis, ...]:
    """Reads the `[[grid]]` tables of a scenario."""
    tables = top.tables("grid") if top.has("grid") else []
    axes = tuple(_read_axis(table) for table in tables)
    keys = [key for axis in axes for key in axis.values]
    for key in keys:
        if keys.count(key) > 1:
            top.reject("grid", f"{key} is in two axes")
    points = 1
    for axis in axes:
        points *= len(axis)
    if points > _MOST_POINTS:
        top.reject("grid", f"{points:,} points are more than {_MOST_POINTS:,}")
    return axes


def steps(axes: Sequence[Axis]) -> Iterator[dict[str, Value]]:
    """The values at each point, the last axis fastest; one empty point without axes."""
    for places in itertools.product(*(range(len(axis)) for axis in axes)):
        values: dict[str, Value] = {}
        for axis, place in zip(axes, places, strict=True):
            values |= axis.step(place)
        yield values


def with_values(
    document: Mapping[str, Any], values: Mapping[str, Value], top: Table
) -> dict[str, Any]:
    """A copy of the document with these keys set; rejects a key whose table does not exist."""
    changed = copy.deepcopy(dict(document))
    for path, value in values.items():
        *names, last = path.split(".")
        tables = [changed]
        for name in names:
            tables = [one for table in tables for one in _tables_of(table, name)]
        if not tables:
            there_is_none = (
                f"{_display_key(path)}: there is no table {_display_key('.'.join(names))}"
            )
            top.reject("grid", there_is_none)
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


def _read_axis(table: Table) -> Axis:
    keys = table.keys()
    if not keys:
        table.reject("", "must have a key with a list of values")
    values = {key: _read_values(table, key) for key in keys}
    lengths = {len(one) for one in values.values()}
    if len(lengths) > 1:
        table.reject(keys[-1], "must have as many values as the other keys of its axis")
    return Axis(values)


def _read_values(table: Table, key: str) -> tuple[Value, ...]:
    if not key.startswith(("traffic.", "schemes.")):
        table.reject(key, 'a key of a grid begins with "traffic." or "schemes."')
    values = table.items(key)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            table.reject(key, "must be a list of numbers or words")
    if len({isinstance(value, str) for value in values}) > 1:
        table.reject(key, "must be numbers or words, not both")
    return tuple(values)  # type: ignore[arg-type]
