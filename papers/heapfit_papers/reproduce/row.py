# SPDX-License-Identifier: Apache-2.0
"""How a row of a paper is measured and judged: each paper's modules have a mapping ROWS, by id.

Measuring gives what was found and knows no verdict; judging knows the published figures and
measures nothing. So a test changes what was measured and sees each verdict turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from heapfit_papers.reproduce.finding import Finding
from heapfit_papers.reproduce.laboratory import Laboratory

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """How a row is measured, once for all rows that share it, and judged."""

    measure: Callable[[Laboratory], T]
    judge: Callable[[T], Sequence[Finding]]
    assumed: str = ""  # where the paper is silent


# Rows measure what they like: each one's own type is checked where it is made.
Rows: TypeAlias = dict[str, Row[Any]]
