# SPDX-License-Identifier: Apache-2.0
"""What the papers publish, as published.toml tells it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeAlias

Value: TypeAlias = float | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """One of the four."""

    number: str  # "000" to "003"
    short: str
    title: str


class Kind(StrEnum):
    """What a match of a figure would say; published.toml tells them apart."""

    RESULT = "result"
    MECHANISM = "mechanism"
    ECHO = "echo"
    CIRCULAR = "circular"

    @property
    def can_match(self) -> bool:
        """True if agreement with a figure of this kind is evidence."""
        return self in {Kind.RESULT, Kind.MECHANISM}


@dataclass(frozen=True, slots=True)
class Figure:
    """One statement or number, and what counts as a match."""

    row: str
    name: str
    kind: Kind
    where: str  # its place in the paper
    says: str
    value: Value | None = None
    unit: str = ""
    within: float | None = None  # a share of the value
    absolute: float | None = None  # in its unit
    least: float | None = None
    most: float | None = None
    tolerance: str = ""  # in words

    @property
    def number(self) -> float:
        """The value of a figure that has a single one."""
        assert isinstance(self.value, float), f"{self.row}.{self.name} has no single value"
        return self.value

    @property
    def numbers(self) -> tuple[float, ...]:
        """The values of a figure that has several."""
        assert isinstance(self.value, tuple), f"{self.row}.{self.name} has no list of values"
        return self.value

    def agrees(self, ours: Value) -> bool:
        """True if ours lies within the tolerance; of several values, each of them.

        >>> share = Figure("0-0", "share", Kind.RESULT, "", "", 0.8, absolute=0.03)
        >>> share.agrees(0.82), share.agrees(0.84)
        (True, False)
        """
        if self.least is not None or self.most is not None:
            low, high = self.least or 0.0, self.most if self.most is not None else float("inf")
            return all(low <= one <= high for one in _several(ours))
        assert self.value is not None, f"{self.row}.{self.name} has no value"
        published = _several(self.value)
        return len(published) == len(_several(ours)) and all(
            abs(one - its) <= self._slack(its)
            for one, its in zip(_several(ours), published, strict=True)
        )

    def _slack(self, value: float) -> float:
        if self.absolute is not None:
            return self.absolute
        assert self.within is not None, f"{self.row}.{self.name} has no tolerance"
        return self.within * abs(value) + 1e-9

    @property
    def published(self) -> str:
        """The number with its unit, or that there is none.

        >>> Figure("0-0", "b", Kind.ECHO, "", "", (0.0805, 1.8874), "more").published
        '8.05 %, 188.74 % more'
        """
        if self.value is None and (self.least is not None or self.most is not None):
            return self._range()
        return "stated" if self.value is None else format_value(self.value, self.unit)

    def _range(self) -> str:
        if self.least is None:
            return f"below {format_value(self.most or 0.0, self.unit)}"
        if self.most is None:
            return f"above {format_value(self.least, self.unit)}"
        return (
            f"{_number(self.least, _is_share(self.unit))} to {format_value(self.most, self.unit)}"
        )

    @property
    def allowed(self) -> str:
        """What counts as a match, in a few words; empty where nothing can be compared."""
        if self.tolerance:
            return self.tolerance
        if self.absolute is not None:
            points = _is_share(self.unit)
            return f"± {self.absolute * 100:g} points" if points else f"± {self.absolute:g}"
        if self.within is not None:
            return f"± {self.within * 100:g} %" if self.within else "exact"
        return "the range" if self.least is not None or self.most is not None else ""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A system, metric, experiment, table or figure."""

    identity: str  # "000-1"
    what: str
    silent: str  # what the paper leaves open; empty: nothing that matters
    figures: Mapping[str, Figure]

    @property
    def paper(self) -> str:
        """Number of its paper."""
        return self.identity.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Published:
    """The whole file, rows in its order."""

    papers: Mapping[str, Paper]
    rows: Mapping[str, PublishedRow]

    def rows_of(self, number: str) -> list[PublishedRow]:
        """The published rows of a paper."""
        return [row for row in self.rows.values() if row.paper == number]


@lru_cache(maxsize=1)
def load_published() -> Published:
    """The published rows, read once.

    >>> load_published().rows["000-9"].figures["share"].published
    '80 % of the calls'
    """
    text = (files("heapfit_papers.reproduce") / "published.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return Published(
        {number: Paper(number, **paper) for number, paper in table["paper"].items()},
        {identity: _row(identity, row) for identity, row in table["row"].items()},
    )


def figure(row: str, name: str) -> Figure:
    """One figure of a row.

    >>> figure("000-7", "loops").number
    2000.0
    """
    return load_published().rows[row].figures[name]


def format_value(value: Value, unit: str) -> str:
    """A number as people write it, shares in per cent.

    >>> format_value(1793611, "B"), format_value(0.6258, "less"), format_value((7.0, 8.0), "ms")
    ('1,793,611 B', '62.58 % less', '7, 8 ms')
    >>> format_value(3.0, "th block")
    '3rd block'
    """
    if unit.startswith("th "):
        return _ordinal(int(_several(value)[0])) + unit.removeprefix("th")
    texts = [_number(one, _is_share(unit)) for one in _several(value)]
    return ", ".join(texts) + (f" {unit}" if unit else "")


def _number(value: float, is_share: bool) -> str:
    if is_share:
        return f"{value * 100:.4g} %" if abs(value) < 1 else f"{value * 100:.2f} %"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _ordinal(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"


def _is_share(unit: str) -> bool:
    """True if numbers of this unit are printed in per cent."""
    return unit in {"more", "less", "less time", "admitted"} or unit.startswith("of the ")


def _several(value: Value | Sequence[float]) -> tuple[float, ...]:
    return (value,) if isinstance(value, int | float) else tuple(value)


def _row(identity: str, table: Mapping[str, Any]) -> PublishedRow:
    figures = {
        name: Figure(identity, name, **(entry | _value_of(entry) | {"kind": Kind(entry["kind"])}))
        for name, entry in table.items()
        if isinstance(entry, dict)
    }
    return PublishedRow(identity, table["what"], table.get("open", ""), figures)


def _value_of(entry: Mapping[str, Any]) -> dict[str, Value]:
    value = entry.get("value")
    if value is None:
        return {}
    if isinstance(value, list):
        return {"value": tuple(float(one) for one in value)}
    return {"value": float(value)}
