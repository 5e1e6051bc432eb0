# SPDX-License-Identifier: Apache-2.0
"""How budgets are to be found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

STANDARD_SECONDS = 10.0


class Method(StrEnum):
    """A way to find budgets."""

    GREEDY = "greedy"  # Lee and Yi, figure 4
    EXACT = "exact"
    EXHAUSTIVE = "exhaustive"  # what their table 1 compares with


@dataclass(frozen=True, slots=True)
class BudgetChoice:
    """Which methods, and how long the exact one may take."""

    methods: tuple[Method, ...]
    seconds: float = STANDARD_SECONDS  # for each selection of sizes; a gap may stay then


PUBLISHED_BUDGETS = BudgetChoice((Method.GREEDY,))
STANDARD_BUDGETS = BudgetChoice((Method.GREEDY, Method.EXACT))
