# SPDX-License-Identifier: Apache-2.0
"""What each call of a function did on a board: the records of the counting plug-in, summed up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# The record of target/counting/calls.c.
_FIELDS = (
    *("function", "instructions", "loads", "stores"),
    *("heap_loads", "heap_stores", "payload", "lowest_stack"),
)
_UNTOUCHED = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Spread:
    """Instructions of one function's calls."""

    calls: int
    mean: float
    p999: int  # 99.9 % of the calls take no more
    worst: int


@dataclass(frozen=True, slots=True)
class Calls:
    """Every call of the watched functions, in order."""

    functions: tuple[str, ...]
    records: NDArray[np.void]  # a field for each of _FIELDS

    def of(self, *functions: str) -> NDArray[np.void]:
        """The records of these functions."""
        numbers = [self.functions.index(function) for function in functions]
        chosen: NDArray[np.void] = self.records[np.isin(self.records["function"], numbers)]
        return chosen

    def total(self, field: str, *functions: str) -> int:
        """The sum of one field over the calls of these functions."""
        return int(self.of(*functions)[field].sum())

    def spread(self, function: str) -> Spread | None:
        """Instructions a call; None if the function was not called."""
        counts = self.of(function)["instructions"].copy()
        if len(counts) == 0:
            return None
        counts.sort()
        p999 = int(counts[-(-len(counts) * 999 // 1000) - 1])
        return Spread(len(counts), float(counts.mean()), p999, int(counts[-1]))

    def deepest_stack(self, top: int, *functions: str) -> int:
        """Bytes below `top`, the stack pointer at each call, that the deepest call touched."""
        lowest = self.of(*functions)["lowest_stack"]
        lowest = lowest[lowest != _UNTOUCHED]
        return max(top - int(lowest.min()), 0) if len(lowest) else 0


def read_calls(path: Path, functions: tuple[str, ...]) -> Calls:
    """The plug-in's records; `functions` name what was watched, in that order."""
    return Calls(functions, np.fromfile(path, np.dtype([(field, "<u4") for field in _FIELDS])))
