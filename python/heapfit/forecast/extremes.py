# SPDX-License-Identifier: Apache-2.0
"""How high the maximum of many windows goes, from the maxima of a few: Gumbel's law.

Fitted by L-moments (Hosking, L-moments, Journal of the Royal Statistical Society B 52, 1990); the
law is Gumbel's (Statistics of extremes, 1958). A law with a free shape says nothing on 50 windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, expm1, log, log1p
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Maxima: TypeAlias = NDArray[Any] | Sequence[float]

_EULER = 0.5772156649015329


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

    def widen(self, factor: float) -> Gumbel:
        """The law with the same mean and so many times the scale."""
        scale = factor * self.scale
        return Gumbel(self.location + _EULER * (self.scale - scale), scale)


def fit_gumbel(maxima: Maxima) -> Gumbel:
    """The law by the first two L-moments; at least two maxima."""
    values = np.sort(np.asarray(maxima, np.float64))
    count = len(values)
    mean = float(values.mean())
    weighted = float(values @ np.arange(count)) / (count * (count - 1))
    scale = max(0.0, 2 * weighted - mean) / log(2)
    return Gumbel(mean - _EULER * scale, scale)


def bootstrap_interval(
    maxima: Maxima,
    measure: Callable[[Gumbel], float],
    seed: int = 1,
    resamples: int = 200,
    share: float = 0.9,
) -> tuple[float, float]:
    """The interval that holds a share of what resampled maxima give.

    Blocks of neighbours are drawn, as many as the cube root of their number is long, so that what
    neighbours have in common stays.
    """
    values = np.asarray(maxima, np.float64)
    count = len(values)
    length = max(1, round(count ** (1 / 3)))
    random = np.random.default_rng(seed)
    starts = random.integers(0, count - length + 1, (resamples, -(-count // length)))
    places = (starts[:, :, None] + np.arange(length)).reshape(resamples, -1)[:, :count]
    found = [measure(fit_gumbel(values[row])) for row in places]
    low, high = np.quantile(found, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
