# SPDX-License-Identifier: Apache-2.0
"""What is known of the systems whose settings are printed: the rows of facts.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

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


def _way(table: Facts | None) -> Way | None:
    if table is None:
        return None
    return Way(tuple(Assumption(**row) for row in table["assumptions"]), table)


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
