# SPDX-License-Identifier: Apache-2.0
"""Fits the model of instructions (heapfit.comparison.costs.instruction_model) to counted calls.

By least squares, no coefficient below zero. How far the model is off is found by leaving each trace
out of the fit by turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.comparison.costs.instruction_model import (
    OPERATIONS,
    LinearCost,
    MeasuredCode,
)

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# Columns of a tally's sums.
_ONE, _INSTRUCTIONS = 0, 3
_FEATURES = slice(0, 3)  # 1, loads, stores


@dataclass(frozen=True, slots=True)
class Tally:
    """The calls of one operation in one trace: what a fit needs of them."""

    trace: str
    operation: str
    sums: Ints  # over calls, of the products of any two of (1, loads, stores, instructions)
    extremes: Ints  # loads, stores and instructions: of the longest call and of the busiest

    @staticmethod
    def from_calls(trace: str, operation: str, calls: Ints) -> Tally:
        """A tally of calls given as rows of loads, stores and instructions."""
        table = np.column_stack([np.ones(len(calls), np.int64), calls])
        longest = calls[calls[:, 2].argmax()]
        busiest = calls[(calls[:, 0] + calls[:, 1]).argmax()]
        return Tally(trace, operation, table.T @ table, np.stack([longest, busiest]))


def fit_model(tallies: Sequence[Tally]) -> MeasuredCode:
    """The model of the code whose calls these are."""
    traces = sorted({tally.trace for tally in tallies})
    checks = [_cross_validate(tallies, trace) for trace in traces]
    known = [check for check in checks if check is not None]
    means, longest = [mean for mean, _ in known], [longest for _, longest in known]
    return MeasuredCode(_lines(tallies), _summarize_errors(means), _summarize_errors(longest))


def _summarize_errors(shares: Sequence[float]) -> tuple[float, float] | None:
    return (sum(shares) / len(shares), max(shares)) if shares else None


def _cross_validate(tallies: Sequence[Tally], trace: str) -> tuple[float, float] | None:
    """How far a fit to the other traces is off on this one: on its mean and on its longest call."""
    lines = _lines(tally for tally in tallies if tally.trace != trace)
    here = [tally for tally in tallies if tally.trace == trace and tally.operation in lines]
    if not here:
        return None
    pairs = [(lines[tally.operation], tally) for tally in here]
    counted = sum(int(tally.sums[_ONE, _INSTRUCTIONS]) for tally in here)
    modelled = sum(_total(line, tally) for line, tally in pairs)
    counted_longest = max(int(tally.extremes[0, 2]) for tally in here)
    modelled_longest = max(
        line.instructions(int(loads), int(stores))
        for line, tally in pairs
        for loads, stores, _ in tally.extremes
    )
    return (
        abs(modelled - counted) / counted,
        abs(modelled_longest - counted_longest) / counted_longest,
    )


def _total(line: LinearCost, tally: Tally) -> float:
    calls, loads, stores = (int(one) for one in tally.sums[_ONE, _FEATURES])
    return line.base * calls + line.per_load * loads + line.per_store * stores


def _lines(tallies: Iterable[Tally]) -> dict[str, LinearCost]:
    by_operation: dict[str, list[Tally]] = {operation: [] for operation in OPERATIONS}
    for tally in tallies:
        by_operation[tally.operation].append(tally)
    return {operation: fit_line(some) for operation, some in by_operation.items() if some}


def fit_line(tallies: Sequence[Tally]) -> LinearCost:
    """Least squares, no coefficient below zero.

    With three coefficients that is exact: of every choice of those above zero the best is kept.
    """
    sums = np.sum([tally.sums for tally in tallies], axis=0).astype(np.float64)
    squares, target = sums[_FEATURES, _FEATURES], sums[_FEATURES, _INSTRUCTIONS]
    best, least = np.zeros(3), float("inf")
    for count in range(1, 4):
        for chosen in combinations(range(3), count):
            line = np.zeros(3)
            line[list(chosen)] = _solve_least_squares(
                squares[np.ix_(chosen, chosen)], target[list(chosen)]
            )
            error = float(line @ squares @ line - 2 * line @ target)
            if line.min() >= 0 and error < least:
                best, least = line, error
    return LinearCost(*best.tolist())


def _solve_least_squares(squares: Floats, target: Floats) -> Floats:
    """The least squares of equations that may depend on each other, scaled to be of one size."""
    scale = np.sqrt(np.maximum(np.diag(squares), 1.0))
    solved = np.linalg.lstsq(squares / np.outer(scale, scale), target / scale, rcond=1e-10)[0]
    return np.asarray(solved / scale, np.float64)
