# SPDX-License-Identifier: Apache-2.0
"""A bound on the share of all runs that fail, from independent ones that were observed."""

from __future__ import annotations

import math

from heapfit.bisection import bisect_real

RISK = 0.05  # that a bound is too low


def bound_failures(failed: int, runs: int, risk: float = RISK) -> float:
    """The largest share of all runs that may fail, but for this risk.

    `failed` of `runs` independent runs did. The upper end of the exact binomial interval (Clopper
    and Pearson, 1934), one-sided. Where a region is the most that `runs` runs needed, it bounds the
    share that needs more (Wilks, 1941).

    >>> round(bound_failures(0, 30), 4), round(bound_failures(1, 30), 4), bound_failures(3, 3)
    (0.095, 0.1486, 1.0)
    """
    if failed >= runs:
        return 1.0
    return bisect_real(lambda share: _sum_binomial(failed, runs, share) <= risk, 0.0, 1.0)


def share_risk(look: int, looks: int) -> float:
    """The risk left to the bound of a look, from 1, so that all looks together have RISK.

    Each has half of what is left, the last one all of it: so a first look pays little for further
    ones that may not come.

    >>> [share_risk(look, 3) for look in (1, 2, 3)]
    [0.025, 0.0125, 0.0125]
    """
    return RISK / (1 << min(look, looks - 1))


def _sum_binomial(failed: int, runs: int, share: float) -> float:
    """The probability of at most `failed` failed runs, if each is one with this share."""
    return math.fsum(
        math.comb(runs, count) * share**count * (1 - share) ** (runs - count)
        for count in range(failed + 1)
    )
