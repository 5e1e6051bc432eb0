# SPDX-License-Identifier: Apache-2.0
"""A bound on the share of all runs that run out of memory, from those that were observed."""

from __future__ import annotations

import math

_CERTAINTY = 0.95
_HALVINGS = 60  # of an interval of length 1: below a double's precision


def refusal_bound(refused: int, runs: int) -> float:
    """The largest share of all runs that may see a refusal, with 95 % certainty.

    `refused` of `runs` independent runs saw one. The upper end of the exact binomial interval
    (Clopper and Pearson, 1934), one-sided; of 0 refused some 3 / `runs`.

    >>> round(refusal_bound(0, 30), 4), round(refusal_bound(1, 30), 4), refusal_bound(3, 3)
    (0.095, 0.1486, 1.0)
    """
    if refused >= runs:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        if _sum_binomial(refused, runs, share) > 1 - _CERTAINTY:
            low = share
        else:
            high = share
    return high


def _sum_binomial(refused: int, runs: int, share: float) -> float:
    """The probability of at most `refused` refused runs, if each is one with this share."""
    return math.fsum(
        math.comb(runs, count) * share**count * (1 - share) ** (runs - count)
        for count in range(refused + 1)
    )
