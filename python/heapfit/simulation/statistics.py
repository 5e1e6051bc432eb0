# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals of a mean: Student's t over independent values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.bisection import bisect_real

_LARGEST_T = 1e6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and how far from it the true one may lie; None from fewer than two values."""

    mean: float
    half_width: float | None = None

    def holds(self, value: float) -> bool:
        """True if `value` lies in the interval."""
        return self.half_width is not None and abs(value - self.mean) <= self.half_width


def estimate(values: Sequence[float], confidence: float) -> Estimate:
    """The mean of independent values and its interval at this confidence."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return Estimate(mean)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Estimate(mean, student_t(confidence, n - 1) * math.sqrt(variance / n))


def student_t(confidence: float, freedom: int) -> float:
    """The t that |T| stays below with this probability, by bisection.

    >>> round(student_t(0.95, 9), 3), round(student_t(0.99, 4), 3)
    (2.262, 4.604)
    """
    return bisect_real(lambda t: _share_within(t, freedom) >= confidence, 0.0, _LARGEST_T)


def _share_within(t: float, freedom: int) -> float:
    """P(|T| < t): Abramowitz and Stegun 1964, 26.7.3 and 26.7.4, in at most `freedom` terms."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = freedom % 2
    total, term = 0.0, cosine if is_odd else 1.0
    for k in range(2 + is_odd, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
