# SPDX-License-Identifier: Apache-2.0
"""Instructions of calls on the queues of mix.py, measured by scripts/measure_queues.py.

Of an emulated Cortex-M4, at -O2 and safety level 1. The boards' harness is no part of the wheel, so
its figures are stored; a test measures some of them again.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

# Lea's allocator is a baseline, which no board is built with: best_fit stands for it.
MEASURED: Final = ("class_pools", "class_pools:search=1", "best_fit", "tlsf")
_FILE: Final = "instructions.csv"
_COLUMNS: Final = ("trace", "allocator", "alloc", "free")


@dataclass(frozen=True, slots=True)
class CallInstructions:
    """Means over the calls of one allocator on one queue."""

    trace: int  # its seed
    allocator: str
    alloc: float
    free: float

    @property
    def each(self) -> float:
        """Mean instructions of a call, as a queue allocates as often as it frees."""
        return (self.alloc + self.free) / 2


@cache
def queue_instructions() -> Mapping[int, Mapping[str, CallInstructions]]:
    """Instructions of the calls of each trace and allocator."""
    text = (files("heapfit_papers.packets") / _FILE).read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    found: dict[int, dict[str, CallInstructions]] = {}
    for row in rows:
        one = CallInstructions(
            int(row["trace"]), row["allocator"], float(row["alloc"]), float(row["free"])
        )
        found.setdefault(one.trace, {})[one.allocator] = one
    return found


def save_instructions(folder: Path, day: str, measured: Iterable[CallInstructions]) -> None:
    """Writes the table with the day of its measurement."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        f"# Made by scripts/measure_queues.py on {day}: emulated Cortex-M4, -O2, safety level 1.",
        ",".join(_COLUMNS),
        *(f"{one.trace},{one.allocator},{one.alloc:.3f},{one.free:.3f}" for one in measured),
    ]
    (folder / _FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
