# SPDX-License-Identifier: Apache-2.0
"""How high the maximum of many windows goes, from the maxima of a few: extreme-value laws.

Samples are known by L-moments (Hosking, L-moments, Journal of the Royal Statistical Society B 52,
1990). One sample of 48 windows does not tell the law's shape, and a shape that is taken for known
names too much or too little. So all shapes from a tail heavier than Gumbel's (Statistics of
extremes, 1958) to a bound count, as often as samples of theirs are as skewed as the one at hand.

(level - mean) / spread of a sample is distributed as that of a sample of the standard law, of which
many are drawn. docs/chances.md has how often intervals hold.
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
_MOST_DRAWN = 10_000  # samples
SHAPES = (-0.1, 0.5)  # of Hosking's sign: 0 is Gumbel's law, above it a law has a bound
_ALIKE = 0.1  # the share of the samples drawn whose skewness is nearest to one's own
_FEWEST = 6  # values that dependent ones count as
_CERTAIN = 6.0  # the logarithm of exceedances expected, above which one is certain
_PRECISION = 1e-4  # of a level, in spreads of a sample
_NOTHING = 1e-300  # is left above a bound


@dataclass(frozen=True, slots=True)
class MaximaSample:
    """Maxima of windows, and what they let one expect of further windows.

    A level is exceeded with its chance on average over all samples that look like this one. The
    law that fits it best is exceeded more often: 2.6 times of 100 where 1 is stated, of 48 maxima
    of Gumbel's law and ten times as many windows.
    """

    mean: float
    spread: float  # the second L-moment; 0: all maxima are equal
    skew: float  # the ratio of the third to the second
    count: int  # of independent maxima that tell as much

    def level(self, windows: float, chance: float) -> float:
        """The level that the maximum of so many windows exceeds with this chance."""
        alike = _find_alike(self.count, self.skew)
        low, high = -10.0, 10.0
        while _exceed(alike, windows, high).mean() > chance:
            low, high = high, 2 * high
        while high - low > _PRECISION:
            middle = (low + high) / 2
            is_low = _exceed(alike, windows, middle).mean() > chance
            low, high = (middle, high) if is_low else (low, middle)
        return self.mean + self.spread * high

    def chance(self, level: float, windows: float) -> float:
        """The chance that the maximum of so many windows exceeds a level."""
        return float(self._chances(level, windows).mean())

    def chance_interval(self, level: float, windows: float) -> tuple[float, float]:
        """Holds the true law's chance to exceed a level 9 times of 10, and the one stated."""
        chances = self._chances(level, windows)
        low, high = (float(end) for end in np.quantile(chances, _TAILS))
        return min(low, float(chances.mean())), max(high, float(chances.mean()))

    def interval(self, windows: float, chance: float) -> tuple[float, float]:
        """Holds the level of the true law 9 times of 10, and the level that is stated always."""
        shapes, means, spreads = _find_alike(self.count, self.skew)
        true = -np.expm1(shapes * log(-log1p(-chance) / windows)) / shapes
        ends = np.quantile((true - means) / spreads, _TAILS)
        low, high = (float(self.mean + self.spread * end) for end in ends)
        stated = self.level(windows, chance)
        return min(low, stated), max(high, stated)

    def _chances(self, level: float, windows: float) -> NDArray[np.float64]:
        """The chance to exceed a level by the law of each sample that looks like this one."""
        if self.spread == 0:
            return np.array([float(level < self.mean)])
        alike = _find_alike(self.count, self.skew)
        return _exceed(alike, windows, (level - self.mean) / self.spread)


def sample_maxima(maxima: Maxima, dependence: float = 1.0) -> MaximaSample:
    """The sample of three maxima or more, of which so many neighbours tell what one alone would."""
    values = np.asarray(maxima, np.float64)
    mean, spread = (float(one) for one in _find_moments(values))
    count = max(_FEWEST, round(len(values) / dependence))
    return MaximaSample(mean, spread, float(_find_skew(values)), count)


_Samples: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _find_alike(count: int, skew: float) -> _Samples:
    """Shape, mean and spread of the drawn samples whose skewness is nearest."""
    skews, *samples = _draw_samples(count)
    half = round(_ALIKE * len(skews) / 2)
    first = min(max(0, int(np.searchsorted(skews, skew)) - half), len(skews) - 2 * half)
    shapes, means, spreads = (one[first : first + 2 * half] for one in samples)
    return shapes, means, spreads


def _exceed(alike: _Samples, windows: float, spreads_above: float) -> NDArray[np.float64]:
    """The chance of each law to exceed its sample's mean by so many of the sample's spreads."""
    shapes, means, spreads = alike
    left = np.maximum(1 - shapes * (means + spreads_above * spreads), _NOTHING)
    expected = np.log(left) / shapes + log(windows)
    return np.asarray(-np.expm1(-np.exp(np.minimum(expected, _CERTAIN))))


@lru_cache(maxsize=32)
def _draw_samples(count: int) -> tuple[NDArray[np.float64], ...]:
    """Skewness, shape, mean and spread of samples of so many maxima, by skewness.

    Their laws have location 0, scale 1 and any of the shapes.
    """
    random = np.random.default_rng(1)
    shapes = random.uniform(*SHAPES, min(max(1000, _DRAWN // count), _MOST_DRAWN))
    gumbel = random.gumbel(size=(len(shapes), count))
    values = -np.expm1(-shapes[:, None] * gumbel) / shapes[:, None]
    skews = _find_skew(values)
    order = np.argsort(skews)
    return tuple(one[order] for one in (skews, shapes, *_find_moments(values)))


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
    ends = [
        above(end)
        for law, (_, above) in enumerate(_LAWS)
        for end in _find_ends(law, len(sample), (level - mean) / spread)
    ]
    return min(ends), max(ends)


# Laws of location 0 and scale 1: how values are drawn, and the chance of one above a level.
_LAWS: tuple[tuple[Callable[..., NDArray[np.float64]], Callable[[float], float]], ...] = (
    (np.random.Generator.normal, lambda z: erfc(z / sqrt(2)) / 2),
    (np.random.Generator.gumbel, lambda z: -expm1(-exp(min(-z, _CERTAIN)))),
    (np.random.Generator.exponential, lambda z: exp(-max(z, 0.0))),
)
_TAILS = ((1 - INTERVAL) / 2, (1 + INTERVAL) / 2)


def _find_ends(law: int, count: int, spreads_above: float) -> list[float]:
    """What a level so far above a sample's mean is in a law, at both ends of the interval."""
    means, spreads = _draw_moments(law, count)
    return [*map(float, np.quantile(means + spreads_above * spreads, _TAILS))]


@lru_cache(maxsize=32)
def _draw_moments(law: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and spread of many samples of so many values of a law."""
    shape = max(1000, _DRAWN // count), count
    return _find_moments(_LAWS[law][0](np.random.default_rng(1), size=shape))


def _find_moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first two L-moments of each row."""
    count = values.shape[-1]
    mean = values.mean(axis=-1)
    weighted = np.sort(values) @ np.arange(count, dtype=np.float64) / (count * (count - 1))
    return mean, np.maximum(0.0, 2 * weighted - mean)


def _find_skew(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The third L-moment of each row over its second; 0 of equal values."""
    count = values.shape[-1]
    place = np.arange(count, dtype=np.float64)
    weight = 6 * place * (place - 1) / ((count - 1) * (count - 2)) - 6 * place / (count - 1) + 1
    spread = _find_moments(values)[1]
    return np.asarray(np.sort(values) @ weight / count / np.where(spread == 0, 1, spread))
