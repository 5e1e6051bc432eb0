# SPDX-License-Identifier: Apache-2.0
"""The results of a heap on changed programs (changed_programs.py), and the sentence on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heapfit.plan.plan_file import MOST_MARGIN


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The result of one change of a program in one plan's heap."""

    name: str
    growth: float  # of the peak, in percent
    is_counted: bool
    holds: bool  # in the region with the margin of the plan's kind, for the changed peak
    needed: float = 0.0  # percent beyond R_safe / U_max that is enough, where it does not hold

    @property
    def needed_text(self) -> str:
        """The need in words; a plan of counted blocks may have none."""
        return f"{self.needed:g} % more" if self.needed < MOST_MARGIN else "ever more memory"


@dataclass(frozen=True, slots=True)
class ChangeTest:
    """The results of all changes of a program in one plan's heap."""

    results: tuple[ChangeResult, ...] = ()  # of those that change anything
    events: int = 0  # replayed
    margin: float = 0.0  # percent, of the plan's kind: what holds in
    is_complete: bool = True  # False: some changes are still to be tried

    @property
    def needed(self) -> float:
        """Percent beyond R_safe / U_max that counted changes need; 0: the kind's margin will do."""
        return max((one.needed for one in self.results), default=0.0)

    @property
    def counted(self) -> tuple[ChangeResult, ...]:
        """The results that decide the margin."""
        return tuple(one for one in self.results if one.is_counted)

    @property
    def broken(self) -> tuple[ChangeResult, ...]:
        """The counted results that the margin of the kind does not cover, the worst first."""
        broken = (one for one in self.counted if not one.holds)
        return tuple(sorted(broken, key=lambda one: -one.needed))

    def to_rows(self) -> list[dict[str, Any]]:
        """Each result as in the JSON output."""
        return [
            {
                "name": one.name,
                "peak_growth_percent": one.growth,
                "is_counted": one.is_counted,
                "holds": one.holds,
                "needed_percent": one.needed,
            }
            for one in self.results
        ]

    def sentence(self, margin: float) -> str:
        """What was tried and what it needs, in a sentence; `margin`: percent that is set."""
        if not self.counted:
            return "Next build: no change of the program was tried."
        worst = (*self.broken, self.counted[0])[0]
        others = f"{len(self.counted) - 1} other changes"
        if worst.holds:
            where = "it holds" if margin >= self.margin else f"{self.margin:g} % margin holds"
            return f"Next build: {where} with {worst.name} and {others}."
        limit = (
            f"more than the margin of {margin:g} %"
            if worst.needed > margin
            else "which the margin covers"
        )
        held = f"{sum(one.holds for one in self.counted)} of {others} hold without it"
        return f"Next build: with {worst.name} it needs {worst.needed_text}, {limit}; {held}."
