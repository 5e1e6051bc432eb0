# SPDX-License-Identifier: Apache-2.0
"""Instructions of a call, modelled from its metadata accesses.

    instructions = base + per load x loads + per store x stores

for each code and operation, by least squares with no figure below zero, over calls measured on an
emulated Cortex-M4 (measured.py). What copies a resized block's bytes is not in it: they are the
program's, and a firmware copies by its own means. How far the model is off is found by leaving each
trace out of the fit by turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from heapfit.front.measured import OPERATIONS, call_rows

Row = Mapping[str, str]
_OF_OP: Final = {0: "alloc", 2: "alloc_aligned", 3: "resize", 4: "free"}  # as in a stored trace


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
            one = line.instructions(loads, stores)
            total, calls, longest = total + one * count, calls + count, max(longest, one)
        return Modelled(total / max(calls, 1), longest)


@cache
def instruction_model(code: str) -> InstructionModel | None:
    """The model of a code (code_label.py); None if it was not measured."""
    return _model([row for row in call_rows() if row["code"] == code])


def measured_codes() -> tuple[str, ...]:
    """The codes there is a model of."""
    return tuple(sorted({row["code"] for row in call_rows()}))


def _model(rows: Sequence[Row]) -> InstructionModel | None:
    if not rows:
        return None
    traces = sorted({row["trace"] for row in rows})
    checks = [_left_out(rows, trace) for trace in traces]
    seen = [check for check in checks if check is not None]
    return InstructionModel(
        _lines(rows), _off([mean for mean, _ in seen]), _off([longest for _, longest in seen])
    )


def _off(shares: Sequence[float]) -> Off | None:
    return Off(sum(shares) / len(shares), max(shares)) if shares else None


def _left_out(rows: Sequence[Row], trace: str) -> tuple[float, float] | None:
    """How far a fit to the other traces is off on this one: on its mean and on its longest call."""
    lines = _lines(row for row in rows if row["trace"] != trace)
    here = [row for row in rows if row["trace"] == trace and row["operation"] in lines]
    if not here:
        return None
    pairs = [(lines[row["operation"]], row) for row in here]
    real = sum(int(row["instructions"]) for row in here)
    told = sum(
        line.base * int(row["calls"])
        + line.per_load * int(row["loads"])
        + line.per_store * int(row["stores"])
        for line, row in pairs
    )
    real_longest = max(int(row["longest_instructions"]) for row in here)
    told_longest = max(
        line.instructions(int(row[f"{call}_loads"]), int(row[f"{call}_stores"]))
        for line, row in pairs
        for call in ("longest", "busiest")
    )
    return abs(told - real) / real, abs(told_longest - real_longest) / real_longest


def _lines(rows: Iterable[Row]) -> dict[str, Line]:
    by_operation: dict[str, list[Row]] = {operation: [] for operation in OPERATIONS}
    for row in rows:
        by_operation[row["operation"]].append(row)
    return {operation: _fit(found) for operation, found in by_operation.items() if found}


def _fit(rows: Sequence[Row]) -> Line:
    """Least squares from the rows' sums, no coefficient below zero.

    With three coefficients that is exact: of every choice of those above zero the best is kept.
    """
    squares, target = _normal_equations(rows)
    best, least = np.zeros(3), float("inf")
    for count in range(1, 4):
        for chosen in combinations(range(3), count):
            found = np.zeros(3)
            found[list(chosen)] = _solved(squares[np.ix_(chosen, chosen)], target[list(chosen)])
            error = float(found @ squares @ found - 2 * found @ target)
            if found.min() >= 0 and error < least:
                best, least = found, error
    return Line(*best.tolist())


def _solved(squares: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least squares of equations that may depend on each other, scaled to be of one size."""
    scale = np.sqrt(np.maximum(np.diag(squares), 1.0))
    solved = np.linalg.lstsq(squares / np.outer(scale, scale), target / scale, rcond=1e-10)[0]
    return np.asarray(solved / scale, np.float64)


def _normal_equations(rows: Sequence[Row]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sums of products of (1, loads, stores), and of these with instructions."""

    def total(column: str) -> float:
        return float(sum(int(row[column]) for row in rows))

    ones = [total("calls"), total("loads"), total("stores")]
    both = total("loads*stores")
    squares = [
        ones,
        [ones[1], total("loads*loads"), both],
        [ones[2], both, total("stores*stores")],
    ]
    target = ("instructions", "loads*instructions", "stores*instructions")
    return np.array(squares), np.array([total(column) for column in target])
