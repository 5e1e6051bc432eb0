# SPDX-License-Identifier: Apache-2.0
"""Changes of what was measured: each a copy with other numbers, the structure kept.

Everything at a place is scaled, the whole before its parts; a sequence or mapping is tilted, each
member scaled more than the one before; and everything under one name, a field's or a key's, is
scaled or tilted wherever it stands. A positive number stays positive: what no such change can turn,
no measurement could.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from heapfit.simulation.scenario import Point, Scenario
from heapfit.simulation.scheme import Scheme
from heapfit_papers.reproduce.table_1 import Shape
from heapfit_papers.reproduce.table_2 import Case
from heapfit_papers.slotbuf.benchmark import SlotbufSeries, SlotbufSpec

COARSE = (1 / 3, 3.0, 0.01, 100.0)
LADDER = tuple(1.3**step for step in (*range(-14, 0), *range(1, 15)))
TILTS = (0.5, 2.0)
# What was asked for, which is no measurement, and what nothing judges.
LEFT_ALONE = (Scenario, Point, Scheme, SlotbufSpec, SlotbufSeries, Case, Shape)
LONG = 100  # numbers in a row, which are then changed together

Parts = dict[Any, Any] | list[Any]
Change = Callable[[Any], Any]


def changed(value: Any) -> Iterator[Any]:
    """Copies of what was measured, each with one change."""
    every = [*(scaled_by(factor) for factor in COARSE), *(tilted_by(factor) for factor in TILTS)]
    known = names(value)
    if len(known) < LONG:
        for change in every:
            yield from (under_name(value, name, change) for name in known)
    yield from at_places(value, [*every, next_to])
    for factor in LADDER:
        yield from (under_name(value, name, scaled_by(factor)) for name in known)


def next_to(value: Any) -> Any:
    """A number moved by one."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else value


def scaled_by(factor: float) -> Change:
    """Every number scaled; a truth turned over."""

    def scaled(value: Any) -> Any:
        parts = parts_of(value)
        if parts is not None:
            return rebuilt(value, mapped(parts, lambda _, one: scaled(one)))
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return max(round(value * factor), 1 if value else 0)
        return value * factor if isinstance(value, float | np.ndarray) else value

    return scaled


def tilted_by(factor: float) -> Change:
    """The members of a sequence or mapping scaled by powers of the factor."""

    def tilted(value: Any) -> Any:
        parts = parts_of(value)
        if parts is None:
            return value
        return rebuilt(value, mapped(parts, lambda i, one: scaled_by(factor**i)(one)))

    return tilted


def mapped(parts: Parts, change: Callable[[int, Any], Any]) -> Parts:
    """The parts changed, each with its place."""
    if isinstance(parts, dict):
        return {name: change(i, one) for i, (name, one) in enumerate(parts.items())}
    return [change(i, one) for i, one in enumerate(parts)]


def under_name(value: Any, name: Any, change: Change) -> Any:
    """What has this name changed, wherever it stands."""
    parts = parts_of(value)
    if isinstance(parts, dict):
        new: Parts = {
            key: change(one) if key == name else under_name(one, name, change)
            for key, one in parts.items()
        }
        return rebuilt(value, new)
    if isinstance(parts, list):
        return rebuilt(value, [under_name(one, name, change) for one in parts])
    return value


def at_places(value: Any, changes: Sequence[Change]) -> Iterator[Any]:
    """One place changed at a time: a whole before its parts."""
    level: list[tuple[Any, Change]] = [(value, lambda one: one)]
    while level:
        inner = []
        for one, around in level:
            yield from (around(change(one)) for change in changes)
            inner += places(one, around)
        level = inner


def places(value: Any, around: Change) -> Iterator[tuple[Any, Change]]:
    """Each part, with what puts another one in its place."""
    parts = parts_of(value)
    if parts is None:
        return
    for key in parts if isinstance(parts, dict) else range(len(parts)):

        def put(one: Any, key: Any = key) -> Any:
            new = parts.copy()
            new[key] = one
            return around(rebuilt(value, new))

        yield parts[key], put


def names(value: Any) -> list[Any]:
    """Of all records and mappings in it, each once."""
    parts = parts_of(value)
    if parts is None:
        return []
    own = list(parts) if isinstance(parts, dict) else []
    inner = list(parts.values()) if isinstance(parts, dict) else parts
    return list(dict.fromkeys([*own, *(name for one in inner for name in names(one))]))


def parts_of(value: Any) -> Parts | None:
    """By name, or in order; None: a number, or something that is not changed."""
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, LEFT_ALONE):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, SimpleNamespace):
        return dict(vars(value))
    return list(value) if isinstance(value, list | tuple) else None


def rebuilt(value: Any, parts: Parts) -> Any:
    """The same with other parts."""
    if isinstance(parts, list):
        return type(value)(parts)
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**parts)
    return replace(value, **parts) if is_dataclass(value) else parts


def opened(value: Any) -> Any:
    """With the engine's own records as names and numbers, and long sequences as arrays."""
    parts = parts_of(value)
    if parts is not None:
        is_long = len(parts) > LONG and all(isinstance(one, int | float) for one in parts)
        return np.array(parts) if is_long else rebuilt(value, mapped(parts, lambda _, o: opened(o)))
    if type(value).__module__ == "heapfit._engine":
        public = [name for name in dir(value) if not name.startswith("_")]
        return SimpleNamespace(**{name: opened(getattr(value, name)) for name in public})
    return value
