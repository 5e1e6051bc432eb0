# SPDX-License-Identifier: Apache-2.0
"""Budgets by what they take from the shared heap: a linear program that guesses at R.

Dedicated bytes D(N) are dear where they only move bytes out of the shared heap's quiet hours. What
a region holds is about

    sum S_i N_i + (1 + price) * max over t of (U(t) - sum S_i min(N_i, P_i(t)))

the budgets and the shared heap's own peak, which fragments by `price`. The least of that is found
with parts of blocks allowed, over ever more moments of the trace, and rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import highspy
import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_ADDED_AT_ONCE = 20  # moments; the most violated
_ROUNDS = 8


def price_budgets(live: Ints, blocks: Ints, sizes: Sequence[int], price: float) -> list[int]:
    """The budgets N_i of `sizes`, the columns of `blocks`, at a price of fragmentation.

    `live` and `blocks` are U(t) and P_i(t), as `live_points` finds them.

    >>> live, blocks = np.array([100, 80]), np.array([[2, 5], [6, 1]])
    >>> price_budgets(live, blocks, [10, 10], 0.1)
    [2, 3]
    """
    unit = np.array(sizes, np.int64)
    added = np.argsort(-live, kind="stable")[:_ADDED_AT_ONCE]
    counts = np.zeros(len(sizes))
    for _ in range(_ROUNDS):
        counts, shared = _solve(live[added], blocks[added], unit, price)
        served = np.minimum(blocks, counts) @ unit
        excess = live - served - shared
        excess[added] = 0
        worst = np.argsort(-excess, kind="stable")[:_ADDED_AT_ONCE]
        worst = worst[excess[worst] > 1]
        if len(worst) == 0:
            break
        added = np.concatenate([added, worst])
    return [int(count) for count in np.rint(counts)]


def _solve(live: Ints, blocks: Ints, sizes: Ints, price: float) -> tuple[Floats, float]:
    """The counts and the shared heap's peak of the linear program over some moments.

    A class is cut into segments where a moment has P_i(t):

        blocks of size S_i   0 ..... P_i(t1) ..... P_i(t2) .....
                             | y_i0  |     y_i1    |     y_i2
    """
    owners, starts, lengths = _cut_segments(np.unique([0, *column]) for column in blocks.T)
    serves = starts < blocks[:, owners]
    matrix = np.hstack([serves * sizes[owners], np.ones((len(live), 1))])
    costs = np.append(sizes[owners], 1 + price).astype(np.float64)
    most = np.append(lengths, highspy.kHighsInf).astype(np.float64)
    rows = live.astype(np.float64), np.full(len(live), highspy.kHighsInf)
    solver = _quiet_solver()
    solver.passModel(_linear_program(costs, most, matrix, rows))
    solver.run()
    values = np.array(solver.getSolution().col_value)
    return np.bincount(owners, values[:-1], len(sizes)).astype(np.float64), float(values[-1])


def _cut_segments(edges: Iterable[Ints]) -> tuple[Ints, Ints, Ints]:
    """The class of each segment between the ascending edges of classes, its start and length."""
    cut = list(edges)
    owners = np.repeat(np.arange(len(cut)), [len(one) - 1 for one in cut])
    starts, lengths = (
        np.concatenate([np.zeros(0, np.int64), *parts])
        for parts in ([one[:-1] for one in cut], map(np.diff, cut))
    )
    return owners, starts, lengths


def _quiet_solver() -> highspy.Highs:
    """A silent HiGHS solver on one thread, whose results are the same every time."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in {"output_flag": False, "threads": 1, "random_seed": 1}.items():
        solver.setOptionValue(option, value)
    return solver


def _linear_program(
    costs: Floats, most: Floats, matrix: Floats, rows: tuple[Floats, Floats]
) -> highspy.HighsLp:
    """The program: least `costs @ x` with x from 0 to `most` and `matrix @ x` within `rows`."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = costs
    model.col_lower_, model.col_upper_ = np.zeros(len(costs)), most
    model.row_lower_, model.row_upper_ = rows
    entries, columns = np.nonzero(matrix)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(entries, np.arange(len(matrix) + 1))
    model.a_matrix_.index_ = columns
    model.a_matrix_.value_ = matrix[entries, columns]
    return model
