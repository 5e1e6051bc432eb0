# SPDX-License-Identifier: Apache-2.0
"""The options of plan making."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.measuring import Precision
from heapfit.design.budgets.certified import Method
from heapfit.design.effort import Effort
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import STANDARD_ALIGNMENT


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options of the plans made for one trace or for several."""

    alignment: int = STANDARD_ALIGNMENT  # of every block: 4, 8 or 16
    seed: int = 1  # of what is learned by replaying
    call_sites: bool = False  # the program can pass call sites
    sized: bool = False  # it passes the sizes of blocks that it frees and resizes
    effort: Effort = Effort.STANDARD  # how far plans are looked for
    layout: Plan | None = None  # of `tailored`, the one that learns; None: the best of all
    climbs: bool = True  # single classes are turned over, behind the guesses

    @property
    def budgeting(self) -> tuple[Method, ...]:
        """The methods that find budgets: the published one, and what proves its budgets."""
        return (Method.GREEDY, Method.EXACT) if self.learns else (Method.GREEDY,)

    @property
    def precision(self) -> Precision:
        """The precision of the search for each plan's regions."""
        return Precision(every_size=False if self.effort == Effort.QUICK else None)

    @property
    def learns(self) -> bool:
        """True if placements are learned by replaying."""
        return self.effort != Effort.QUICK
