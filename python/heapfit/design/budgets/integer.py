# SPDX-License-Identifier: Apache-2.0
"""Exact budgets of many sizes: integer programs over ever more points of a trace.

Only few points bind, so they are added lazily: those that the last solution violates. Each program
leaves constraints out, so its optimum is a bound; made to satisfy all points, its solution is a
candidate. When the two meet, the candidate is proven best.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from heapfit import _engine
from heapfit.design.budgets.program import BudgetLimits, BudgetProgram, Floats, Ints
from heapfit.plan.quantities import format_share
from heapfit.progress import Progress

ADDED_AT_ONCE = 30  # points; the most violated
_TOLERANCE = 1e-6  # of a block


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


def improve_budgets(
    points: _engine.BudgetPoints, start: Budgets, seconds: float, progress: Progress
) -> Budgets:
    """Improves on `start`, which must be allowed, and on its bound, in about `seconds` seconds."""
    rounds = _Rounds(BudgetLimits.from_points(points), start, time.monotonic() + seconds)
    # First by programs that allow fractions of blocks: they are cheap, and find most points.
    for is_integer in (False, True):
        while rounds.seconds_left > 0 and not (is_integer and rounds.is_proven):
            progress("exact budgets", 1 - rounds.seconds_left / seconds)
            if not rounds.step(is_integer):
                break
    progress("exact budgets", 1.0)
    return rounds.solved


class _Rounds:
    """The best budgets so far, and the points added so far."""

    def __init__(self, limits: BudgetLimits, start: Budgets, deadline: float) -> None:
        self._limits = limits
        self._best = np.array(start.counts, np.int64)
        self._bound = start.bound // limits.unit
        self._deadline = deadline
        self._added: Ints = np.zeros(0, np.int64)

    @property
    def seconds_left(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def is_proven(self) -> bool:
        return self._value(self._best) >= self._bound

    @property
    def solved(self) -> Budgets:
        unit, value = self._limits.unit, self._value(self._best)
        bound = max(value, self._bound) * unit
        return Budgets(tuple(self._best.tolist()), value * unit, bound)

    def step(self, is_integer: bool) -> bool:
        """Solves a program over the points added so far, and adds points that its counts violate.

        False if that cannot go on.
        """
        program = BudgetProgram(self._limits, self._added, is_integer)
        if is_integer:
            program.start_from(self._best)
        program.run(self.seconds_left)
        if is_integer or program.is_optimal:
            self._lower(program.bound)
        if not (program.has_solution if is_integer else program.is_optimal):
            return False
        counts = np.rint(program.counts) if is_integer else program.counts
        self._try(np.floor(counts + _TOLERANCE).astype(np.int64))
        return self._add(counts)

    def _value(self, counts: Ints) -> int:
        return int(counts @ self._limits.sizes)

    def _lower(self, bound: float) -> None:
        if np.isfinite(bound):
            self._bound = min(self._bound, int(np.floor(bound + 1e-4)))

    def _try(self, counts: Ints) -> None:
        allowed = self._limits.repair(counts)
        if self._value(allowed) > self._value(self._best):
            self._best = allowed

    def _add(self, counts: Floats) -> bool:
        """Adds the most violated points; true if there are any."""
        excess = self._limits.excess(counts)
        excess[self._added] = 0
        worst = np.argsort(-excess, kind="stable")[:ADDED_AT_ONCE]
        worst = worst[excess[worst] > _TOLERANCE]
        self._added = np.concatenate([self._added, worst])
        return len(worst) > 0
