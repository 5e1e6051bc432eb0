# SPDX-License-Identifier: Apache-2.0
"""The plans worth measuring for a trace, each with the reason it is tried, or why it does not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heapfit.plan import Plan


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan to measure."""

    name: str
    plan: Plan
    reason: str  # one line


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A kind of plan this trace has no use for."""

    name: str
    why: str  # one line
