# SPDX-License-Identifier: Apache-2.0
"""A law of arrivals or holding times, as the engine takes it. Times are in seconds here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from heapfit import _engine
from heapfit.plan.toml_table import TomlTable

SHORTEST = 1e-9  # seconds: the engine's unit
LONGEST = 1e6  # seconds; 11.6 days, the engine's longest mean

Bound = TypeVar("Bound", int, float)


@dataclass(frozen=True, slots=True)
class Law:
    """The engine's class of a law, its arguments, and the mean of what it draws."""

    name: str
    arguments: Mapping[str, Any]
    mean: float | None = None  # seconds; None: not known before it is run

    def engine(self) -> Any:  # noqa: ANN401 (the class of that name)
        return getattr(_engine, self.name)(**self.arguments)


def nanoseconds(seconds: float) -> int:
    """Seconds in whole nanoseconds, at least one."""
    return max(1, round(seconds / SHORTEST))


def read_seconds(table: TomlTable, key: str) -> float:
    """A time of a table."""
    return table.number(key, SHORTEST, LONGEST)


def read_bounds(table: TomlTable, read: Callable[[TomlTable, str], Bound]) -> tuple[Bound, Bound]:
    """The keys `least` and `most` of a table, which is rejected if they are out of order."""
    least, most = read(table, "least"), read(table, "most")
    if least > most:
        table.reject("least", f"{least:g} is above most, which is {most:g}")
    return least, most
