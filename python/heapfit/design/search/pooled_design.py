# SPDX-License-Identifier: Apache-2.0
"""Blocks reserved for sizes or ranges of sizes, over a shared heap: what a search changes.

A budget for one size is the paper's; one for a range keeps the smaller requests as the largest:

    sizes   ... 440 | 448  ...  512 | 520 ...
                    |  N x 512 B    |            above 440 B, up to 512 B

Without ranges the plan is `budgeted`. With them it is `class_pools`, whose general pools leave no
gap: where the budgets do, a pool without blocks passes its requests to the shared heap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heapfit.design.budgets import greedy_budgets
from heapfit.design.pools import special_pools
from heapfit.plan.plan import Plan, Pool

MOST_POOLS = 32  # of a design: twice the sizes of a start (starts.py), never measured alone
_TO_SHARED = {"search": 1, "overflow": 1}  # free blocks linked; the shared heap gets what is over


@dataclass(frozen=True, slots=True)
class Budget:
    """Blocks for the requests above `above` bytes and up to `size`; both whole alignments."""

    size: int
    above: int
    count: int


@dataclass(frozen=True, slots=True)
class SharedHeap:
    """The allocator behind the pools, and its tunables other than the alignment."""

    allocator: str
    scalars: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def from_plan(plan: Plan) -> SharedHeap:
        """The allocator of a plan without pools, as a shared heap."""
        budgets = {name: value for name, value in plan.scalars.items() if name != "alignment"}
        return SharedHeap(plan.allocator, tuple(sorted(budgets.items())))


@dataclass(frozen=True, slots=True)
class PooledDesign:
    """Budgets by ascending size, none overlapping; none at all is the shared allocator alone."""

    budgets: tuple[Budget, ...]
    shared: SharedHeap

    @staticmethod
    def from_budgets(budgets: Mapping[int, Budget], shared: SharedHeap) -> PooledDesign:
        """The design of these budgets by size, without those that have no blocks."""
        filled = (budgets[size] for size in sorted(budgets) if budgets[size].count > 0)
        return PooledDesign(tuple(filled), shared)

    @property
    def by_size(self) -> dict[int, Budget]:
        """The budgets by size, as a dict to be changed."""
        return {budget.size: budget for budget in self.budgets}

    def plan(self, alignment: int) -> Plan:
        """The design as a plan."""
        scalars = {"alignment": alignment}
        shared = Plan(self.shared.allocator, {**scalars, **dict(self.shared.scalars)})
        if not self.budgets:
            return shared
        if all(budget.above == budget.size - alignment for budget in self.budgets):
            exact = tuple(Pool(budget.size, budget.count, is_exact=True) for budget in self.budgets)
            return Plan(greedy_budgets.ALLOCATOR, scalars, exact, shared)
        return Plan(
            special_pools.ALLOCATOR, {**scalars, **_TO_SHARED}, tuple(self._general()), shared
        )

    def _general(self) -> list[Pool]:
        pools: list[Pool] = []
        reached = 0
        for budget in self.budgets:
            if budget.above > reached:
                pools.append(Pool(budget.above, 0, is_exact=False))
            pools.append(Pool(budget.size, budget.count, is_exact=False))
            reached = budget.size
        return pools


def design_from_plan(plan: Plan, shared: SharedHeap) -> PooledDesign:
    """The design of a plan of exact or general pools, over another allocator."""
    alignment = plan.scalars["alignment"]
    budgets: dict[int, Budget] = {}
    reached = 0
    for pool in sorted(plan.pools, key=lambda pool: pool.size):
        size = -(-pool.size // alignment) * alignment
        above = max(size - alignment, reached) if pool.is_exact else reached
        if above < size:
            budgets[size] = Budget(size, above, pool.count)
        reached = size
    return PooledDesign.from_budgets(budgets, shared)
