# SPDX-License-Identifier: Apache-2.0
"""Instructions of a call, modelled from its metadata accesses.

    instructions = base + per load x loads + per store x stores

for each code and operation, fitted to calls counted on an emulated Cortex-M4 (code_table.py). What
copies a resized block's bytes is not in it: they are the program's, and a firmware copies by its
own means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE

OPERATIONS: Final = ("alloc", "free", "resize", "alloc_aligned")
_OF_OP: Final = {ALLOC: "alloc", ALIGNED: "alloc_aligned", RESIZE: "resize", FREE: "free"}


@dataclass(frozen=True, slots=True)
class Line:
    """One operation of one code."""

    base: float
    per_load: float
    per_store: float

    def instructions(self, loads: float, stores: float) -> float:
        """Of a call."""
        return self.base + self.per_load * loads + self.per_store * stores


@dataclass(frozen=True, slots=True)
class Off:
    """How far the model was off on traces that it had not seen, as a share of what was measured."""

    mean: float  # over the traces
    worst: float  # of any trace


@dataclass(frozen=True, slots=True)
class Modelled:
    """Instructions of the calls of a replay."""

    mean: float
    longest: float  # the call that takes most: of this replay, no bound on others


@dataclass(frozen=True, slots=True)
class InstructionModel:
    """One code's lines, and how sure they are."""

    lines: Mapping[str, Line]
    mean_off: Off | None  # of the mean of a trace's calls; None: measured on one trace only
    longest_off: Off | None  # of its longest call

    def of(self, costs: Mapping[str, NDArray[np.uint64]]) -> Modelled | None:
        """The model's figures for the calls of a replay (_engine.call_costs).

        None where one of its operations was never measured.
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
        return Modelled(total / max(calls, 1), longest)
