# SPDX-License-Identifier: Apache-2.0
"""How high the maximum of many windows goes, from the maxima of a few: Gumbel's law.

Known by L-moments (Hosking, L-moments, Journal of the Royal Statistical Society B 52, 1990); the
law is Gumbel's (Statistics of extremes, 1958). A law with a free shape says nothing on 50 windows.

Intervals are exact for a law of known shape: (level - mean) / spread of a sample is distributed as
that of a sample of the standard law, of which many are drawn. docs/chances.md has their coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erfc, exp, expm1, log, log1p, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Maxima: TypeAlias = NDArray[Any] | Sequence[float]

INTERVAL = 0.9  # the share of samples whose interval holds the true value
_DRAWN = 400_000  # values of a standard law, in samples as large as the one that is judged
_FEWEST = 4  # values that dependent ones count as
_CERTAIN = 6.0  # the logarithm of exceedances expected, above which one is certain
_PRECISION = 1e-4  # of a level, in spreads of a sample


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
        return -expm1(-exp(min(above, _CERTAIN)))


@dataclass(frozen=True, slots=True)
class GumbelSample:
    """Maxima of windows, and what they let one expect of further windows.

    A level is exceeded with its chance on average over all samples of Gumbel's law, since the one
    at hand may show its scale too small. The law that fits it best is exceeded more often: 2.6
    times of 100 where 1 is stated, of 48 maxima and ten times as many windows.
    """

    mean: float
    spread: float  # the second L-moment; 0: all maxima are equal
    count: int  # of maxima
    dependence: float = 1.0  # neighbouring maxima that tell what one alone would

    def level(self, windows: float, chance: float) -> float:
        """The level that the maximum of so many windows exceeds with this chance."""
        return self.mean + self.spread * _standard_level(self._weight, windows, chance)

    def chance(self, level: float, windows: float) -> float:
        """The chance that the maximum of so many windows exceeds a level."""
        if self.spread == 0:
            return float(level < self.mean)
        return _mean_chance(self._weight, windows, (level - self.mean) / self.spread)

    def interval(self, windows: float, chance: float) -> tuple[float, float]:
        """Holds the level of the true law 9 times of 10, and the level that is stated always."""
        means, spreads = _draw_moments(1, max(_FEWEST, round(self.count / self.dependence)))
        standard = Gumbel(0.0, 1.0).level(windows, chance)
        ends = np.quantile((standard - means) / spreads, _TAILS)
        low, high = (float(self.mean + self.spread * end) for end in ends)
        stated = self.level(windows, chance)
        return min(low, stated), max(high, stated)

    @property
    def _weight(self) -> int:
        """The independent maxima that tell as much of the law's mean and scale.

        Of n that depend the mean is as uncertain as that of n / d, the scale as that of
        2 n d / (d d + 1). The root of d is near the latter; docs/lasting.md judges it.
        """
        return max(_FEWEST, round(self.count / sqrt(self.dependence)))


def sample_gumbel(maxima: Maxima, dependence: float = 1.0) -> GumbelSample:
    """The sample of at least two maxima."""
    values = np.asarray(maxima, np.float64)
    mean, spread = _find_moments(values)
    return GumbelSample(float(mean), float(spread), len(values), dependence)


def _mean_chance(count: int, windows: float, spreads_above: float) -> float:
    """The mean chance to exceed a sample's mean by so many of its spreads, over all samples."""
    means, spreads = _draw_moments(1, count)
    above = log(windows) - means - spreads_above * spreads
    return float(np.mean(-np.expm1(-np.exp(np.minimum(above, _CERTAIN)))))


@lru_cache(maxsize=128)
def _standard_level(count: int, windows: float, chance: float) -> float:
    """The spreads above a sample's mean that are exceeded with this chance."""
    low, high = -10.0, 10.0
    while _mean_chance(count, windows, high) > chance:
        low, high = high, 2 * high
    while high - low > _PRECISION:
        middle = (low + high) / 2
        is_low = _mean_chance(count, windows, middle) > chance
        low, high = (middle, high) if is_low else (low, middle)
    return high


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
