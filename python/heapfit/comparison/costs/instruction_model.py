# SPDX-License-Identifier: Apache-2.0
"""Instructions of a call, modelled from its metadata accesses.

    instructions = base + per load x loads + per store x stores

for each code and operation, fitted to calls counted on an emulated Cortex-M4 (code_table.py). What
copies a resized block's bytes is not in it: they are the program's, and a firmware copies by its
own means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE

OPERATIONS: Final = ("alloc", "free", "resize", "alloc_aligned")
_OF_OP: Final = {ALLOC: "alloc", ALIGNED: "alloc_aligned", RESIZE: "resize", FREE: "free"}


@dataclass(frozen=True, slots=True)
class LinearCost:
    """The coefficients of one operation of one code."""

    base: float
    per_load: float
    per_store: float

    def instructions(self, loads: float, stores: float) -> float:
        """Instructions of a call with so many loads and stores of metadata."""
        return self.base + self.per_load * loads + self.per_store * stores


@dataclass(frozen=True, slots=True)
class MeasuredCode:
    """The coefficients of one code's operations, the model's errors, and the code's size.

    Errors are on traces outside the fit, as shares of the measured value: their mean, and the worst
    of any trace. None: measured on one trace only.
    """

    lines: Mapping[str, LinearCost]
    mean_off: tuple[float, float] | None  # of the mean of a trace's calls
    longest_off: tuple[float, float] | None  # of its longest call
    size: int | None = None  # bytes of init, malloc, free; None: no code is written for such plans
    stack: int | None = None  # bytes that malloc or free takes at most; None: not measured
    adds: Mapping[str, int] = field(default_factory=dict)  # bytes of each function of FURTHER

    def estimate(self, costs: Mapping[str, NDArray[np.uint64]]) -> tuple[float, float] | None:
        """Instructions of the calls of a replay (_engine.call_costs), in the mean, then the most.

        That is of this replay, no bound on others. None where one of its operations was never
        measured.
        """
        columns = [costs[name].tolist() for name in ("op", "loads", "stores", "calls")]
        total, calls, longest = 0.0, 0, 0.0
        for op, loads, stores, count in zip(*columns, strict=True):
            line = self.lines.get(_OF_OP[op])
            if line is None:
                return None
            instructions = line.instructions(loads, stores)
            total += instructions * count
            calls += count
            longest = max(longest, instructions)
        return total / max(calls, 1), longest
