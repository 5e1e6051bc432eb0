# SPDX-License-Identifier: Apache-2.0
"""What is known of the systems whose settings are printed: the rows of facts.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS
from heapfit.sizing.settings import Assumption, BufferChoice, Form, Setting

Values: TypeAlias = Mapping[str, int]  # of assumptions, by name
Facts: TypeAlias = Mapping[str, Any]  # of a table of facts.toml


@dataclass(frozen=True, slots=True)
class Way:
    """How a system's settings follow from captures of packets, or from recordings of a heap."""

    assumptions: tuple[Assumption, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class System:
    """An embedded system whose settings can be printed."""

    title: str
    form: Form
    packets: Way | None
    heap: Way | None


@dataclass(frozen=True, slots=True)
class SizedSettings:
    """Settings, the bytes of RAM that they cost, and what is to be said of them."""

    settings: tuple[Setting, ...]
    memory: int
    choices: tuple[BufferChoice, ...] = ()  # buffer sizes compared
    remarks: tuple[str, ...] = ()


def add_terms(terms: Iterable[str | int], known: Values) -> int:
    """The sum of numbers and of assumptions by their names."""
    return sum(known[one] if isinstance(one, str) else one for one in terms)


def _way(table: Facts | None) -> Way | None:
    if table is None:
        return None
    heap = SYSTEM_HEAPS.get(table.get("heap", ""), {})
    rows = (row | {"value": heap.get(row["value"], row["value"])} for row in table["assumptions"])
    return Way(tuple(Assumption(**row) for row in rows), table)


def _systems(path: Path) -> dict[str, System]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: System(
            table["title"],
            Form(table["form"]),
            packets=_way(table.get("packets")),
            heap=_way(table.get("heap")),
        )
        for name, table in tables.items()
    }


SYSTEMS: Mapping[str, System] = MappingProxyType(_systems(Path(__file__).with_name("facts.toml")))
