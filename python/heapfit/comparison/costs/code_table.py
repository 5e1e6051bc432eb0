# SPDX-License-Identifier: Apache-2.0
"""Measurements of codes on an emulated Cortex-M4, by scripts/measure_calls.py.

Both are of the folder that `fit` writes, at -Os, safety level 1 and with its counts. A build of
core is made for its plan (decision 11): tunables that choose an algorithm choose code,
those that set an amount only change constants in it. Which is which, the descriptor says. Plans of
one label are the same machine code, so that a measurement of one holds for all.

codes.csv          a line a code: its linked bytes, how far its model of instructions is off; the
                   bytes are of init, malloc and free, then what each further function adds;
                   stack in bytes, of malloc or free, whichever goes deeper
instructions.csv   a line for each operation of a code: the model's coefficients

Where a plan has call sites, malloc is malloc and malloc_at in bytes, else malloc_at alone.

system_codes.csv and system_instructions.csv are the same of heaps as systems bring them, by the
name that users type. They were counted once, on the projects' own sources (docs/costs.md).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from heapfit import _engine
from heapfit.comparison.costs.instruction_model import LinearCost, MeasuredCode
from heapfit.plan.allocators import info_of
from heapfit.plan.plan import Plan

COMPILER: Final = "arm-none-eabi-gcc 12.2.1"  # of all tables
CODES: Final = "codes.csv"
INSTRUCTIONS: Final = "instructions.csv"
_SYSTEM_CODES: Final = "system_codes.csv"
_SYSTEM_INSTRUCTIONS: Final = "system_instructions.csv"
FURTHER: Final = {  # functions of a header by the end of their names
    "realloc": ("_realloc", "_realloc_sized"),
    "aligned": ("_aligned_alloc",),
    "calloc": ("_calloc",),
    "all": ("",),
}
INSTRUCTION_COLUMNS: Final = ("code", "operation", "base", "per_load", "per_store")


def code_label(plan: Plan) -> str:
    """The plan's code in one line: what chooses an algorithm, where it is not the standard.

    >>> from heapfit.plan.plan import Plan
    >>> code_label(Plan("tlsf", {"alignment": 4, "probes": 8}))
    'tlsf'
    >>> code_label(Plan("tlsf", {"probes": 0}))
    'tlsf:probes=0'
    """
    parts = (_tunable_label(one, plan) for one in info_of(plan).tunables if one.kind == "scalar")
    label = ":".join(filter(None, [plan.allocator, ",".join(filter(None, parts))]))
    label += "" if _finds_pools_at_once(plan) else " (pools searched)"
    return label if plan.shared is None else f"{label} > {code_label(plan.shared)}"


def _finds_pools_at_once(plan: Plan) -> bool:
    """True if a table gives a request's pool; if it were too large, pools are searched instead."""
    index = plan.engine().pool_index if plan.pools else None
    return index is None or len(index.table) > 0


def _tunable_label(tunable: _engine.Tunable, plan: Plan) -> str:
    value = plan.scalars.get(tunable.name, tunable.standard)
    if tunable.effect == "amount" or value == tunable.standard:
        return ""
    if tunable.effect == "choice":
        return f"{tunable.name}={value}"
    if (value > 0) == (tunable.standard > 0):
        return ""
    return f"{tunable.name}>0" if value > 0 else f"{tunable.name}=0"


@cache
def read_codes() -> Mapping[str, MeasuredCode]:
    """Reads the tables of measured codes; the result is by code label."""
    return _read_tables(CODES, INSTRUCTIONS)


@cache
def read_system_codes() -> Mapping[str, MeasuredCode]:
    """Reads the tables of heaps that systems bring; the result is by the heap's name."""
    return _read_tables(_SYSTEM_CODES, _SYSTEM_INSTRUCTIONS)


def _read_tables(codes: str, instructions: str) -> Mapping[str, MeasuredCode]:
    lines: dict[str, dict[str, LinearCost]] = defaultdict(dict)
    for row in _rows(instructions):
        coefficients = (float(row[name]) for name in INSTRUCTION_COLUMNS[2:])
        lines[row["code"]][row["operation"]] = LinearCost(*coefficients)
    found = {}
    for row in _rows(codes):
        mean_off, longest_off = (
            (float(row[name]), float(row[f"{name}_worst"])) if row[name] else None
            for name in ("mean_off", "longest_off")
        )
        size, stack = (int(row[name]) if row.get(name) else None for name in ("bytes", "stack"))
        adds = {name: int(row[name]) for name in FURTHER if row.get(name)}
        found[row["code"]] = MeasuredCode(
            lines[row["code"]], mean_off, longest_off, size, stack, adds
        )
    return found


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (files("heapfit") / "comparison" / "costs" / name).read_text(encoding="utf-8")
    yield from csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
