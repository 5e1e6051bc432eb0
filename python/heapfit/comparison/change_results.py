# SPDX-License-Identifier: Apache-2.0
"""The results of a heap on changed programs (changed_programs.py), and the sentence on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heapfit.plan.quantities import MOST_MARGIN

_MOST_TOLD = 2  # changes that do not hold


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The result of one change of a program in one plan's heap."""

    name: str
    growth: float  # of the peak, in percent
    is_counted: bool
    holds: bool  # in the region with the margin of the plan's kind, for the changed peak
    needed: float = 0.0  # percent beyond R_safe / U_max that is enough, where it does not hold
    takes: int | None = None  # bytes of the heap that is set, at least these; None: not replayed

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
        return tuple(
            sorted((one for one in self.counted if not one.holds), key=lambda one: -one.needed)
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Each result as in the JSON output."""
        return [
            {
                "name": one.name,
                "peak_growth_percent": one.growth,
                "is_counted": one.is_counted,
                "holds": one.holds,
                "needed_percent": one.needed,
                "takes": one.takes,
            }
            for one in self.results
        ]

    def sentence(self, memory: int, set_to: Callable[[int], int] = int) -> str:
        """Which changes hold in the heap as it is set, and what the others take of it.

        `set_to`: how the heap counts its memory.
        """
        replayed = sorted(self.results, key=lambda one: -(one.takes or 0))
        broken = [one for one in replayed if (one.takes or 0) > memory]
        texts = [f"{one.name} takes {set_to(one.takes or 0):,} B" for one in broken[:_MOST_TOLD]]
        more = f", and {len(broken) - _MOST_TOLD} more do" if len(broken) > _MOST_TOLD else ""
        count = len(replayed)
        held = f"{count - len(broken)} of {count} changes hold" if count else "no change was tried"
        return f"{held}{' (' if texts else ''}{', '.join(texts)}{more}{')' if texts else ''}"
