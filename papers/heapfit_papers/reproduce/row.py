# SPDX-License-Identifier: Apache-2.0
"""How a row of a paper is measured: each paper's modules have a mapping ROWS of these, by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from heapfit_papers.reproduce.finding import Finding
from heapfit_papers.reproduce.laboratory import Laboratory

Measure: TypeAlias = Callable[[Laboratory], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Row:
    """How a row is measured."""

    measure: Measure
    assumed: str = ""  # where the paper is silent
