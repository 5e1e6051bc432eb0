# SPDX-License-Identifier: Apache-2.0
"""Budgets with a certificate: what they dedicate, and the most that any budgets could.

Three methods find N_i that maximise sum S_i N_i (Lee and Yi 2008, equations 4 to 9): `greedy` is
the paper's figure 4, `exhaustive` its comparison, and `exact` a branch and bound of the engine,
then HiGHS where that does not end soon.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from heapfit import _engine
from heapfit.design.budgets.integer import Budgets, improve_budgets
from heapfit.progress import Progress, ignore_progress

SEARCHED = 500_000_000  # of branch and bound, sizes at points: about a second
MOST_COMBINATIONS = 10_000_000  # of an exhaustive search: minutes
_SECONDS = 10.0  # of HiGHS


class Method(StrEnum):
    """A way to find budgets."""

    GREEDY = "greedy"  # Lee and Yi, figure 4
    EXACT = "exact"
    EXHAUSTIVE = "exhaustive"  # what their table 1 compares with


def find_budgets(
    events: _engine.EventArray,
    sizes: Sequence[int],
    *,
    alignment: int,
    method: Method = Method.EXACT,
    seconds: float = _SECONDS,
    progress: Progress = ignore_progress,
) -> Budgets:
    """The budgets N_i that a method finds, with a bound on what any budgets dedicate.

    HiGHS may run for `seconds` where branch and bound did not end; a gap may remain then.
    """
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
    return improve_budgets(points, certified, seconds, progress)
