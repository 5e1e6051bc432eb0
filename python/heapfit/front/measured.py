# SPDX-License-Identifier: Apache-2.0
"""What calls and code took on an emulated Cortex-M4, as scripts/measure_calls.py wrote it down."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

OPERATIONS: Final = ("alloc", "free", "resize", "alloc_aligned")
_FIGURES: Final = ("loads", "stores", "instructions")
PRODUCTS: Final = tuple((i, j) for i in range(2) for j in range(i, 3))
# What a least-squares fit of instructions needs of all calls of a row: their number, the sums of
# the three, the sums of the products of two, the call of most instructions, that of most accesses.
# Instructions are without those that copy the payload of a resized block.
CALL_COLUMNS: Final = (
    *("code", "trace", "operation", "calls"),
    *_FIGURES,
    *(f"{_FIGURES[i]}*{_FIGURES[j]}" for i, j in PRODUCTS),
    *(f"longest_{name}" for name in _FIGURES),
    *(f"busiest_{name}" for name in _FIGURES),
)
SIZE_COLUMNS: Final = ("code", "bytes")
# Optimisation and safety level. The host counts accesses of level 1.
CALLS_BUILD: Final = ("O2", 1)
SIZE_BUILD: Final = ("Os", 1)


@cache
def call_rows() -> tuple[dict[str, str], ...]:
    """A row for each code, trace and operation."""
    return tuple(_rows("calls.csv"))


@cache
def code_sizes() -> dict[str, int]:
    """Bytes of init, alloc and free by code label."""
    return {row["code"]: int(row["bytes"]) for row in _rows("code_size.csv")}


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (files("heapfit") / "front" / name).read_text(encoding="utf-8")
    yield from csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
