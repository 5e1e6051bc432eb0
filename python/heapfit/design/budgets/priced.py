# SPDX-License-Identifier: Apache-2.0
"""Budgets by what they take from the shared heap: a linear program that guesses at R.

Dedicated bytes D(N) are dear where they only move bytes out of the shared heap's quiet hours. What
a region holds is about

    sum S_i N_i + (1 + price) * max over t of (U(t) - sum S_i min(N_i, P_i(t)))

the budgets and the shared heap's own peak, which fragments by `price`. The least of that is found
with parts of blocks allowed, over ever more moments of the trace, and rounded.
"""

from __future__ import annotations

from collections.abc import Sequence

import highspy
import numpy as np

from heapfit.design.budgets.program import Floats, Ints, cut_segments, linear_program, quiet_solver

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

    As in heapfit.design.budgets.program a class is cut into segments where a moment has P_i(t).
    """
    owners, starts, lengths = cut_segments(np.unique([0, *column]) for column in blocks.T)
    serves = starts < blocks[:, owners]
    matrix = np.hstack([serves * sizes[owners], np.ones((len(live), 1))])
    costs = np.append(sizes[owners], 1 + price).astype(np.float64)
    most = np.append(lengths, highspy.kHighsInf).astype(np.float64)
    rows = live.astype(np.float64), np.full(len(live), highspy.kHighsInf)
    solver = quiet_solver()
    solver.passModel(linear_program(costs, most, matrix, rows))
    solver.run()
    values = np.array(solver.getSolution().col_value)
    return np.bincount(owners, values[:-1], len(sizes)).astype(np.float64), float(values[-1])
