# SPDX-License-Identifier: Apache-2.0
"""Budgets with a certificate: what they dedicate, and the most that any budgets could.

Three methods find N_i that maximise sum S_i N_i (Lee and Yi 2008, equations 4 to 9): `greedy` is
the paper's figure 4, `exhaustive` its comparison, and `exact` a branch and bound of the engine,
of so many nodes that equal inputs give equal budgets on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from heapfit import _engine
from heapfit.plan.quantities import format_share

SEARCHED = 500_000_000  # of branch and bound, sizes at points: about a second
MOST_COMBINATIONS = 10_000_000  # of an exhaustive search: minutes


class Method(StrEnum):
    """A way to find budgets."""

    GREEDY = "greedy"  # Lee and Yi, figure 4
    EXACT = "exact"
    EXHAUSTIVE = "exhaustive"  # what their table 1 compares with


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


def find_budgets(
    events: _engine.EventArray,
    sizes: Sequence[int],
    *,
    alignment: int,
    method: Method = Method.EXACT,
) -> Budgets:
    """The budgets N_i that a method finds, with a bound on what any budgets dedicate.

    A gap may remain where branch and bound did not end.
    """
    if method is Method.EXHAUSTIVE:
        best = _engine.exhaustive_budgets(events, list(sizes), alignment, MOST_COMBINATIONS)
        return Budgets(tuple(best.counts), best.dedicated, best.dedicated)
    points = _engine.budget_points(events, list(sizes), alignment)
    # A search of no nodes ends at its first leaf, which is the greedy solution.
    nodes = SEARCHED // max(len(sizes) * len(points.slacks), 1)
    searched = _engine.search_budgets(points, 0 if method is Method.GREEDY else nodes)
    return Budgets(tuple(searched.counts), searched.dedicated, searched.bound)
