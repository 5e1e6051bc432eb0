# SPDX-License-Identifier: Apache-2.0
"""The objective of a design: the most that its traces need, or a quantile of what they need."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.errors import HeapfitError

MOST_FOLDS = 8  # of a holdout check


@dataclass(frozen=True, slots=True)
class Objective:
    """The least value that this share of the traces keeps to."""

    share: float  # 1: the most of all (min-max)

    def evaluate(self, values: Sequence[int | None]) -> int | None:
        """The objective's value; a None among `values` counts as more than any number.

        >>> Objective(1.0).evaluate([5, 7, None]), Objective(0.5).evaluate([5, 7, None])
        (None, 7)
        """
        if not values:
            return None
        ascending = sorted(math.inf if value is None else value for value in values)
        quantile = ascending[max(math.ceil(round(self.share * len(values), 9)), 1) - 1]
        return None if math.isinf(quantile) else int(quantile)

    @property
    def description(self) -> str:
        """The traces that the objective is about, in words.

        >>> Objective(0.9).description
        '90 % of the traces'
        """
        return "every trace" if self.share == 1 else f"{100 * self.share:g} % of the traces"


LARGEST = Objective(1.0)


def parse_objective(text: str) -> Objective:
    """The objective that a text names: max, or q and a percentage above 0 and up to 100.

    >>> parse_objective("q90"), parse_objective("max")
    (Objective(share=0.9), Objective(share=1.0))
    """
    if text == "max":
        return LARGEST
    match = re.fullmatch(r"q([0-9]{1,2}(\.[0-9]{1,6})?|100)", text)
    if match is None or float(match[1]) == 0:
        raise HeapfitError(f"objective {text}: neither max nor a quantile such as q90 or q99.9")
    return Objective(float(match[1]) / 100)
