# SPDX-License-Identifier: Apache-2.0
"""How high the maximum of many windows goes, from the maxima of a few: Gumbel's law.

By L-moments (Hosking, L-moments, Journal of the Royal Statistical Society B 52, 1990); the law is
Gumbel's (Statistics of extremes, 1958). A law with a free shape says nothing on 50 windows.

Levels, chances and intervals are exact for a law of known shape: (level - mean) / spread of a
sample is distributed as that of a sample of the standard law, of which many are drawn.
docs/chances.md has their coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erfc, exp, expm1, log, log1p, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.trend import find_dependence

Maxima: TypeAlias = NDArray[Any] | Sequence[float]

INTERVAL = 0.9  # the share of samples whose interval holds the true value
_DRAWN = 400_000  # values of a standard law, in samples as large as the one that is judged
_FEWEST = 4  # values that dependent ones count as
_FACTOR_STEP = 1e-4  # of a sample's spread


@dataclass(frozen=True, slots=True)
class Gumbel:
    """The law of a window's maximum; in the unit of the maxima."""

    location: float
    scale: float  # 0: all maxima are equal

    def level(self, windows: float, chance: float) -> float:
        """What the maximum of so many windows exceeds with this chance.

        >>> round(Gumbel(100.0, 10.0).level(480, 0.1), 1)
        184.2
        """
        return self.location - self.scale * log(-log1p(-chance) / windows)

    def chance(self, level: float, windows: float) -> float:
        """The chance that the maximum of so many windows exceeds a level.

        >>> round(Gumbel(100.0, 10.0).chance(184.2, 480), 2)
        0.1
        """
        if self.scale == 0:
            return float(level < self.location)
        above = (self.location - level) / self.scale + log(windows)
        return -expm1(-exp(above)) if above < log(700) else 1.0


def find_level_interval(
    maxima: Maxima, windows: float, chance: float, widening: float = 1.0
) -> tuple[float, float]:
    """The interval of the level that the maximum of so many windows exceeds with this chance.

    It holds the true level of maxima by Gumbel's law 9 times of 10. Maxima that depend on each
    other count as fewer, and show their spread too small by `widening`.
    """
    mean, spread, count = _summarize(maxima)
    means, spreads = _draw_moments(1, count)
    standard = Gumbel(0.0, 1.0).level(windows, chance)
    ends = np.quantile((standard - means) / spreads, _TAILS)
    low, high = mean + widening * spread * ends
    return float(low), float(high)


def predict_level(maxima: Maxima, windows: float, chance: float, widening: float = 1.0) -> float:
    """The level that the maximum of so many further windows exceeds with this chance.

    A law fitted to few maxima is itself uncertain. The level is so much higher that, over all
    samples by Gumbel's law, it is exceeded as often as stated. Dependent maxima count as in
    `find_level_interval`.
    """
    mean, spread, count = _summarize(maxima)
    return mean + widening * spread * _find_factor(count, windows, chance)


def predict_chance(maxima: Maxima, level: float, windows: float, widening: float = 1.0) -> float:
    """The chance that the maximum of so many further windows exceeds a level, as predict_level."""
    mean, spread, count = _summarize(maxima)
    if spread == 0:
        return float(level < mean)
    return _exceed((level - mean) / (widening * spread), count, windows)


def find_chance_interval(values: Maxima, level: float) -> tuple[float, float]:
    """The interval of the chance that the next independent value is above a level.

    It holds the true chance at least 9 times of 10 for values of a normal, Gumbel's or exponential
    law: the widest of the three. Equal values tell no spread, so their number alone counts.
    """
    sample = np.asarray(values, np.float64)
    mean, spread = (float(one) for one in _find_moments(sample))
    if spread == 0:
        rare = 1 - _TAILS[0] ** (1 / len(sample))
        return (1 - rare, 1.0) if level < mean else (0.0, rare)
    ends = []
    for place, law in enumerate(_LAWS):
        means, spreads = _draw_moments(place, len(sample))
        ends += [*map(law.above, np.quantile(means + (level - mean) / spread * spreads, _TAILS))]
    return min(ends), max(ends)


@dataclass(frozen=True, slots=True)
class _Law:
    """A law of location 0 and scale 1."""

    draw: Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
    above: Callable[[float], float]  # the chance of a value above


_LAWS = (
    _Law(lambda random, shape: random.normal(size=shape), lambda z: erfc(z / sqrt(2)) / 2),
    _Law(
        lambda random, shape: random.gumbel(size=shape), lambda z: Gumbel(0.0, 1.0).chance(z, 1.0)
    ),
    _Law(lambda random, shape: random.exponential(size=shape), lambda z: exp(-max(z, 0.0))),
)
_TAILS = ((1 - INTERVAL) / 2, (1 + INTERVAL) / 2)


def _summarize(maxima: Maxima) -> tuple[float, float, int]:
    """The first two L-moments, and as how many independent values the maxima count."""
    values = np.asarray(maxima, np.float64)
    mean, spread = _find_moments(values)
    return float(mean), float(spread), max(_FEWEST, round(len(values) / find_dependence(values)))


def _exceed(factor: float, count: int, windows: float) -> float:
    """The chance that the maximum of windows exceeds mean + factor * spread of a sample."""
    means, spreads = _draw_moments(1, count)
    above = np.minimum(log(windows) - means - factor * spreads, log(700))
    return float(np.mean(-np.expm1(-np.exp(above))))


@lru_cache(maxsize=128)
def _find_factor(count: int, windows: float, chance: float) -> float:
    """The factor with this chance, by bisection: more spreads, a smaller chance."""
    low, high = 0.0, 1.0
    while _exceed(high, count, windows) > chance:
        low, high = high, 2 * high
    while high - low > _FACTOR_STEP:
        middle = (low + high) / 2
        low, high = (middle, high) if _exceed(middle, count, windows) > chance else (low, middle)
    return high


@lru_cache(maxsize=32)
def _draw_moments(law: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and spread of many samples of so many values of a law."""
    samples = max(1000, _DRAWN // count)
    return _find_moments(_LAWS[law].draw(np.random.default_rng(1), (samples, count)))


def _find_moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first two L-moments of each row."""
    count = values.shape[-1]
    mean = values.mean(axis=-1)
    weighted = np.sort(values) @ np.arange(count, dtype=np.float64) / (count * (count - 1))
    return mean, np.maximum(0.0, 2 * weighted - mean)
