# SPDX-License-Identifier: Apache-2.0
"""Budgets with a certificate: what they dedicate, and the most that any budgets could.

Three methods find N_i that maximise sum S_i N_i (Lee and Yi 2008, equations 4 to 9): `greedy` is
the paper's figure 4, `exhaustive` its comparison, and `exact` a branch and bound of the engine,
then HiGHS where that does not end soon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heapfit import _engine
from heapfit.design.budgets.choice import STANDARD_SECONDS, Method
from heapfit.design.budgets.integer import improve_budgets
from heapfit.plan.quantities import format_share
from heapfit.progress import Progress, ignore_progress

SEARCHED = 500_000_000  # of branch and bound, sizes at points: about a second
MOST_COMBINATIONS = 10_000_000  # of an exhaustive search: minutes


@dataclass(frozen=True, slots=True)
class Budgets:
    """Budgets N_i for given sizes, with a bound on what any budgets dedicate."""

    counts: tuple[int, ...]  # in the order of the sizes
    dedicated: int  # sum S_i N_i, in bytes
    bound: int  # no budgets dedicate more, in bytes

    @property
    def is_proven(self) -> bool:
        """True if no budgets dedicate more than these."""
        return self.dedicated == self.bound

    @property
    def gap(self) -> float:
        """The most that these budgets may lie below the best, as a share of the bound."""
        return 1 - self.dedicated / self.bound if self.bound else 0.0

    @property
    def account(self) -> str:
        """The bytes dedicated and how far below the best they may be, in words.

        >>> Budgets((3,), 96, 100).account
        '96 B dedicated, at most 4.0 % below the best'
        """
        certificate = (
            "proven the most"
            if self.is_proven
            else f"at most {format_share(self.gap)} below the best"
        )
        return f"{self.dedicated:,} B dedicated, {certificate}"


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """How long HiGHS may run where branch and bound did not end, and its progress callback."""

    seconds: float = STANDARD_SECONDS  # a gap may remain then
    progress: Progress = ignore_progress


def find_budgets(
    events: _engine.EventArray,
    sizes: Sequence[int],
    alignment: int,
    method: Method = Method.EXACT,
    patience: SolverLimits | None = None,
) -> Budgets:
    """The budgets N_i that a method finds, with a bound on what any budgets dedicate."""
    if method is Method.EXHAUSTIVE:
        best = _engine.exhaustive_budgets(events, list(sizes), alignment, MOST_COMBINATIONS)
        return Budgets(tuple(best.counts), best.dedicated, best.dedicated)
    points = _engine.budget_points(events, list(sizes), alignment)
    # A search of no nodes ends at its first leaf, which is the greedy solution.
    nodes = SEARCHED // max(len(sizes) * len(points.slacks), 1)
    searched = _engine.search_budgets(points, 0 if method is Method.GREEDY else nodes)
    certified = Budgets(tuple(searched.counts), searched.dedicated, searched.bound)
    if method is Method.GREEDY or certified.is_proven:
        return certified
    return _solve_highs(points, certified, patience or SolverLimits())


def _solve_highs(points: _engine.BudgetPoints, start: Budgets, patience: SolverLimits) -> Budgets:
    counts = np.array(start.counts, np.int64)
    solved = improve_budgets(points, counts, start.bound, patience.seconds, patience.progress)
    return Budgets(tuple(solved.counts.tolist()), solved.dedicated, solved.bound)
