# SPDX-License-Identifier: Apache-2.0
"""What is known of the systems whose settings are printed: the rows of facts.toml."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from heapfit.comparison.incumbents.heap_names import SYSTEM_HEAPS
from heapfit.fact_files import read_facts
from heapfit.sizing.settings import Assumption

Values: TypeAlias = Mapping[str, int]  # of assumptions, by name
Facts: TypeAlias = Mapping[str, Any]  # of a table of facts.toml


def add_terms(terms: Iterable[str | int], known: Values) -> int:
    """The sum of numbers and of assumptions by their names."""
    return sum(known[one] if isinstance(one, str) else one for one in terms)


def standard_assumptions(facts: Facts) -> tuple[Assumption, ...]:
    """What is assumed of a system by itself; a value may be a fact of its heap, by its name."""
    heap = SYSTEM_HEAPS.get(facts.get("heap", ""), {})
    rows = (row | {"value": heap.get(row["value"], row["value"])} for row in facts["assumptions"])
    return tuple(Assumption(**row) for row in rows)


# Of each system its title, the form of its settings, and how they follow from captures of
# `packets` or from recordings of a `heap`.
SYSTEMS: Mapping[str, Facts] = MappingProxyType(read_facts(__file__, "facts.toml"))
