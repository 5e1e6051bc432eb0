# SPDX-License-Identifier: Apache-2.0
"""The methods that find budgets, and how much work they may take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

STANDARD_SEARCH = 200_000_000  # events; some seconds


class Method(StrEnum):
    """A way to find budgets."""

    GREEDY = "greedy"  # Lee and Yi, figure 4
    EXACT = "exact"
    EXHAUSTIVE = "exhaustive"  # what their table 1 compares with


@dataclass(frozen=True, slots=True)
class BudgetChoice:
    """The methods to use, and how much work they may take."""

    methods: tuple[Method, ...]
    replayed_events: int = 0  # of a search by replaying that starts from these budgets; 0: none
    seed: int = 1  # of that search


PUBLISHED_BUDGETS = BudgetChoice((Method.GREEDY,))
STANDARD_BUDGETS = BudgetChoice((Method.GREEDY, Method.EXACT))
