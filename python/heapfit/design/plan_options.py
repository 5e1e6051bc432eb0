# SPDX-License-Identifier: Apache-2.0
"""What a user may want different of the plans that are made."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.compare.comparison import STANDARD_EFFORT, Effort
from heapfit.design.budgets.choice import STANDARD_BUDGETS, BudgetChoice
from heapfit.trace.loaded import STANDARD_ALIGNMENT


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Of one trace or of several."""

    alignment: int = STANDARD_ALIGNMENT
    choice: BudgetChoice = STANDARD_BUDGETS
    call_sites: bool = False  # the program can pass call sites
    sized: bool = False  # it hands over the sizes of blocks that it frees and resizes
    effort: Effort = STANDARD_EFFORT  # on each plan's regions
