# SPDX-License-Identifier: Apache-2.0
"""The options of plan making."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.measuring import STANDARD_PRECISION, WITHOUT_EVERY_SIZE, Precision
from heapfit.design.budgets.choice import BudgetChoice
from heapfit.design.effort import BUDGETS, Effort
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import STANDARD_ALIGNMENT


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options of the plans made for one trace or for several."""

    alignment: int = STANDARD_ALIGNMENT  # of every block: 4, 8 or 16
    budgets: BudgetChoice | None = None  # of pools; None: as the effort has it
    call_sites: bool = False  # the program can pass call sites
    sized: bool = False  # it passes the sizes of blocks that it frees and resizes
    effort: Effort = Effort.STANDARD  # how far plans are looked for
    layout: Plan | None = None  # of `tailored`, the one that learns; None: the best of all
    climbs: bool = True  # single classes are turned over, behind the guesses

    @property
    def budgeting(self) -> BudgetChoice:
        """How budgets are found: the user's choice, else the effort's."""
        return self.budgets or BUDGETS[self.effort]

    @property
    def precision(self) -> Precision:
        """The precision of the search for each plan's regions."""
        return WITHOUT_EVERY_SIZE if self.effort == Effort.QUICK else STANDARD_PRECISION

    @property
    def learns(self) -> bool:
        """True if placements are learned by replaying."""
        return self.effort != Effort.QUICK
