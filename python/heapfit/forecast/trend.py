# SPDX-License-Identifier: Apache-2.0
"""The trend of a series, and how much its neighbours have in common.

Kendall's test with the variance of dependent values after Hamed and Rao (A modified Mann-Kendall
trend test for autocorrelated data, Journal of Hydrology 204, 1998); the slope of Theil and Sen with
Sen's interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[Any] | Sequence[float]

NORMAL_95 = 1.96  # deviations that a normal value lies within, 19 times of 20
MOST_CORRELATION = 0.95  # of neighbours; above it nothing is told from a trend
_FEWEST = 4  # values of which a trend is computed
_BIASES_OF_LINE = 3  # a line takes out more than a mean (docs/evidence/chances.md)


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through a series: what its values gain from one to the next."""

    slope: float  # the median of all pairs'
    low: float  # the slope's interval, 95 %
    high: float
    p: float  # chance of so clear an order, up or down, in a series without a trend

    def scale(self, factor: float) -> Trend:
        """The same trend in another unit, of a positive factor."""
        return Trend(self.slope * factor, self.low * factor, self.high * factor, self.p)


def find_trend(values: Values) -> Trend:
    """The trend of equally spaced values; p is 1 where there are fewer than four."""
    series = np.asarray(values, np.float64)
    if len(series) < _FEWEST:
        return Trend(0.0, 0.0, 0.0, 1.0)
    earlier, later = np.triu_indices(len(series), 1)
    rises = series[later] - series[earlier]
    slopes = np.sort(rises / (later - earlier))
    slope = float(np.median(slopes))
    score = float(np.sign(rises).sum())
    variance = _kendall_variance(series)
    if variance == 0:
        return Trend(slope, slope, slope, 1.0)
    z = max(0.0, abs(score) - 1) / sqrt(variance * find_dependence(series, slope))
    deviation = sqrt(variance * find_dependence(series, slope, _BIASES_OF_LINE))
    low, high = _interval(slopes, NORMAL_95 * deviation)
    return Trend(slope, low, high, erfc(z / sqrt(2)))


def rank_correlation(values: Values) -> float:
    """Spearman's correlation of each value with the next; 0 where either never changes."""
    series = np.asarray(values, np.float64)
    one, other = (ranks(part) - (len(part) - 1) / 2 for part in (series[:-1], series[1:]))
    scale = sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / scale if scale and len(series) >= _FEWEST else 0.0


def find_dependence(values: Values, slope: float = 0.0, biases: int = 1) -> float:
    """How many neighbours say what one alone would: n / n* of Hamed and Rao, 1 if independent.

    With the autocorrelation of a process of first order: that of neighbouring ranks without the
    trend, its bias (1 + 3 r) / n added, so many times. Each lag's own correlation, as in the
    paper, calls 6 of 100 series of 48 values with a correlation of 0.7 a trend at p below 0.002;
    this calls 1.
    """
    series = np.asarray(values, np.float64)
    n = len(series)
    rank = ranks(series - slope * np.arange(n))
    rank -= rank.mean()
    if not rank.any():
        return 1.0
    neighbours = min(max(0.0, correlate_neighbours(rank, biases)), MOST_CORRELATION)
    lags = np.arange(1, n)
    weights = (n - lags) * (n - lags - 1.0) * (n - lags - 2.0)
    return 1 + 2 / (n * (n - 1.0) * (n - 2.0)) * float(weights @ neighbours**lags)


def correlate_neighbours(rest: NDArray[Any], biases: int = 1) -> float:
    """The correlation of each value with the next around 0, without the bias that few have."""
    found = float(rest[:-1] @ rest[1:]) / float(rest @ rest)
    return found + biases * (1 + 3 * found) / len(rest)


def ranks(series: Values) -> NDArray[np.float64]:
    """The rank of each value, from 0; equal values share the mean of theirs."""
    _, group, count = np.unique(np.asarray(series), return_inverse=True, return_counts=True)
    mean_rank: NDArray[np.float64] = np.cumsum(count) - (count + 1) / 2
    return mean_rank[group]


def _kendall_variance(series: NDArray[np.float64]) -> float:
    """The variance of Kendall's score of values in any order, ties taken into account."""
    n = len(series)
    ties = np.unique(series, return_counts=True)[1].astype(np.float64)
    return float((n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18)


def _interval(slopes: NDArray[np.float64], spread: float) -> tuple[float, float]:
    """Sen's: the slopes so far below and above the median as the score may be by chance."""
    count = len(slopes)
    low = max(0, int((count - spread) / 2))
    return float(slopes[low]), float(slopes[min(count - 1, int((count + spread) / 2))])
