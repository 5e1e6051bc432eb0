# SPDX-License-Identifier: Apache-2.0
"""The integer program of exact budgets over some of the points, as HiGHS takes it.

A class is cut into segments where one of these points has P_i(t):

    blocks of size S_i   0 ..... P_i(t1) ..... P_i(t2) ..... cap_i
                         | y_i0  |     y_i1    |     y_i2    |

and point t charges S_i y_is against its slack for every segment above its P_i(t). A lower segment
is never dearer and worth as much, so no order between segments has to be demanded.

HiGHS is a dependency because a solver that proves optima of hundreds of variables is tens of
thousands of lines. This module imports it (15 MB), so it is imported only where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

from heapfit import _engine

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The limits at the points, in units of the sizes' greatest common divisor."""

    sizes: Ints
    caps: Ints
    slacks: Ints
    live: Ints  # a row for each point
    unit: int  # bytes

    @staticmethod
    def from_points(points: _engine.BudgetPoints) -> BudgetLimits:
        """The limits of the engine's points; slack below one unit can never be used."""
        sizes = np.array(points.sizes, np.int64)
        unit = max(int(np.gcd.reduce(sizes)), 1)
        live = points.live.astype(np.int64).reshape(-1, len(sizes))
        return BudgetLimits(
            sizes // unit, np.array(points.caps, np.int64), points.slacks // unit, live, unit
        )

    def excess(self, counts: Ints | Floats) -> Floats:
        """The units by which each point is violated; at most 0 where it holds."""
        unused = np.maximum(counts - self.live, 0) @ self.sizes
        return np.asarray(unused - self.slacks, np.float64)

    def repair(self, counts: Ints) -> Ints:
        """Allowed budgets near `counts`: lowered where a point is violated, then raised again."""
        allowed = np.zeros(len(self.sizes), np.int64)
        left = self.slacks.copy()
        for limits in (counts, self.caps):
            for i in np.argsort(-self.sizes, kind="stable"):
                left += self.sizes[i] * np.maximum(allowed[i] - self.live[:, i], 0)
                most = np.min(self.live[:, i] + left // self.sizes[i], initial=self.caps[i])
                allowed[i] = max(allowed[i], min(most, limits[i]))
                left -= self.sizes[i] * np.maximum(allowed[i] - self.live[:, i], 0)
        return allowed


class BudgetProgram:
    """One program for HiGHS over some of the points: silent, on one thread, the same every time."""

    def __init__(self, limits: BudgetLimits, added: Ints, is_integer: bool) -> None:
        edges = [
            np.unique([0, *live[live < cap], cap])
            for live, cap in zip(limits.live[added].T, limits.caps, strict=True)
        ]
        self._classes, self._is_integer = len(edges), is_integer
        self._owners = np.repeat(np.arange(len(edges)), [len(one) - 1 for one in edges])
        self._starts, self._lengths = (
            np.concatenate([np.zeros(0, np.int64), *parts])
            for parts in ([one[:-1] for one in edges], map(np.diff, edges))
        )
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        gaps = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.99}  # sums are whole
        for option, value in {"output_flag": False, "threads": 1, "random_seed": 1, **gaps}.items():
            self._highs.setOptionValue(option, value)
        self._highs.passModel(self._model(limits, added))

    def _model(self, limits: BudgetLimits, added: Ints) -> highspy.HighsLp:
        """The most worth of segments, of which those that a point charges fit into its slack."""
        worth = limits.sizes[self._owners].astype(np.float64)
        matrix = (self._starts >= limits.live[added][:, self._owners]) * worth
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        model.sense_, model.col_cost_ = highspy.ObjSense.kMaximize, worth
        model.col_lower_, model.col_upper_ = np.zeros(len(worth)), self._lengths.astype(np.float64)
        model.row_lower_ = np.full(len(added), -highspy.kHighsInf)
        model.row_upper_ = limits.slacks[added].astype(np.float64)
        entries, columns = np.nonzero(matrix)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.searchsorted(entries, np.arange(len(matrix) + 1))
        model.a_matrix_.index_ = columns
        model.a_matrix_.value_ = matrix[entries, columns]
        if self._is_integer:
            model.integrality_ = [highspy.HighsVarType.kInteger] * len(worth)
        return model

    def start_from(self, counts: Ints) -> None:
        """Gives the solver a solution to improve on."""
        solution = highspy.HighsSolution()
        taken = np.clip(counts[self._owners] - self._starts, 0, self._lengths)
        solution.col_value = taken.astype(float)
        self._highs.setSolution(solution)

    def run(self, seconds: float) -> None:
        """Solves the program, or stops after `seconds`."""
        self._highs.setOptionValue("time_limit", max(seconds, 0.01))
        self._highs.run()

    @property
    def is_optimal(self) -> bool:
        """True if HiGHS proved its solution optimal."""
        return bool(self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    @property
    def has_solution(self) -> bool:
        """True if HiGHS found counts that are allowed."""
        return bool(self._highs.getSolution().value_valid)

    @property
    def bound(self) -> float:
        """The most that any solution dedicates, in units."""
        info = self._highs.getInfo()
        return float(info.mip_dual_bound if self._is_integer else info.objective_function_value)

    @property
    def counts(self) -> Floats:
        """The budgets N_i, each the sum of its segments."""
        values = np.array(self._highs.getSolution().col_value)
        return np.bincount(self._owners, values, self._classes).astype(np.float64)
