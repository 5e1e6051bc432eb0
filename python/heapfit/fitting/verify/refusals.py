# SPDX-License-Identifier: Apache-2.0
"""What runs in which nothing was refused say of runs that nobody has seen."""

from __future__ import annotations

import math

_CERTAINTY = 0.95
_HALVINGS = 60  # of an interval of length 1: below a double's precision


def most_refused(refused: int, runs: int) -> float:
    """The largest share of all runs that may see a refusal, with 95 % certainty.

    `refused` of `runs` independent runs saw one. The upper end of the exact binomial interval
    (Clopper and Pearson, 1934), one-sided; of 0 refused some 3 / `runs`.

    >>> round(most_refused(0, 30), 4), round(most_refused(1, 30), 4), most_refused(3, 3)
    (0.095, 0.1486, 1.0)
    """
    if refused >= runs:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        if _at_most(refused, runs, share) > 1 - _CERTAINTY:
            low = share
        else:
            high = share
    return high


def _at_most(refused: int, runs: int, share: float) -> float:
    """The probability of at most so many refused where a run is refused with this one."""
    return math.fsum(
        math.comb(runs, count) * share**count * (1 - share) ** (runs - count)
        for count in range(refused + 1)
    )
