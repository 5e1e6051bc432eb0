# SPDX-License-Identifier: Apache-2.0
"""What a user may want different of the plans that are made."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.measuring import Precision
from heapfit.design.budgets.choice import BudgetChoice
from heapfit.design.effort import Effort, budgets_of, precision_of
from heapfit.trace.loaded import STANDARD_ALIGNMENT


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Of one trace or of several."""

    alignment: int = STANDARD_ALIGNMENT
    choice: BudgetChoice | None = None  # None: as the effort has it
    call_sites: bool = False  # the program can pass call sites
    sized: bool = False  # it hands over the sizes of blocks that it frees and resizes
    exact: bool = False  # every size is tried of each plan's regions
    effort: Effort = Effort.STANDARD

    @property
    def budgets(self) -> BudgetChoice:
        """How budgets are to be found."""
        return self.choice or budgets_of(self.effort)

    @property
    def precision(self) -> Precision:
        """On each plan's regions."""
        return precision_of(self.effort, self.exact)

    @property
    def learns(self) -> bool:
        """Whether placements are learned by replaying."""
        return self.effort != Effort.QUICK
