# SPDX-License-Identifier: Apache-2.0
"""What recordings tell of the runs to come, whatever heap serves them, and the reserve for these.

    peaks of the windows of each recording --> skewness --+
    recordings, and the live bytes of their peaks --------+--> percent beyond what they need
    how many times as long a run is, and its chance ------+

The law was fitted to the needs of some thousand runs of 28 loads as long as their recordings, ten
and a hundred times as long (docs/margin.md, by bench/reserves.py). It holds on average over loads;
it bounds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p, log2, log10
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.kind import FEWEST_FOR_SIZE, WINDOWS, is_work, tells_windows
from heapfit.forecast.windows import cut_windows
from heapfit.trace.profile import Profile

RARE: Final = 0.01  # the chance of a run to need more than the size that is set
USUAL: Final = 0.1  # and than the bytes that most runs need
OWN_RUNS: Final = 8  # recordings that tell their spread themselves
ENOUGH_BURSTS: Final = 20  # to know how large they get
_EULER = 0.5772  # the mean of Gumbel's standard law

# By the chance: percent beyond what one recording needs, percent more for each decade that a run
# is longer, and percent for a skewness of 1 of the windows' peaks.
_LAWS: Final = {RARE: (19.0, 14.0, 40.0), USUAL: (8.0, 10.0, 40.0)}
# A job's work has an end, and the larger it is, the less its blocks' order matters: of the law,
# from a peak of 2^16 bytes on down to a peak of 2^19.
_JOB_PEAKS, _JOB_SHARES = (16.0, 19.0), (1.0, 2 / 19)
_LEVEL = 0.01  # relative spread of windows' peaks below which they are nearly the same
_BURSTS = 0.5  # skewness above which a few windows stand out; of 48 of a Gumbel law it is 0.17
_FEWEST_WINDOWS = 8  # that tell a skewness
Values: TypeAlias = Sequence[float] | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Load:
    """What recordings tell of the runs to come, whatever heap serves them."""

    peaks: tuple[int, ...]  # most live bytes of each recording; at least one
    skew: float = 0.0  # L-skewness of the peaks of windows, the mean over recordings; 0 to 0.5
    spread: float = 1.0  # 1; less where the windows' peaks are nearly the same, 0 where they are
    is_job: bool = False  # each does its work and ends, or grows to its end, for long
    events: int = FEWEST_FOR_SIZE  # of the longest recording
    bursts: int = 0  # windows that stand out, where they are too few to know how large they get

    @classmethod
    def of(cls, profiles: Sequence[Profile]) -> Load:
        """The load of recordings of one program."""
        windows = [
            one.peaks if tells_windows(one) else one.peaks[:0]
            for one in (cut_windows(profile, WINDOWS) for profile in profiles)
        ]
        skews, spreads = zip(*map(find_shape, windows), strict=True)
        is_job = all(map(is_work, profiles))
        stand_out = max(skews) > _BURSTS and max(spreads) > _LEVEL
        bursts = sum(_count_outstanding(one) for one in windows if len(one)) if stand_out else 0
        return cls(
            tuple(one.u_max for one in profiles),
            min(_BURSTS, max(0.0, float(np.mean(skews)))),
            min(1.0, max(spreads) / _LEVEL),
            is_job,
            max(one.events for one in profiles),
            0 if is_job or bursts >= ENOUGH_BURSTS else bursts,
        )

    @property
    def runs(self) -> int:
        """How many recordings there are."""
        return len(self.peaks)

    @property
    def is_start(self) -> bool:
        """True if it is too short to set a size by."""
        return self.events < FEWEST_FOR_SIZE

    @property
    def u_max(self) -> int:
        """The most live bytes of any recording."""
        return max(self.peaks)

    def reserve(self, times: float = 1.0, chance: float = RARE) -> float:
        """Percent beyond what the recordings need that a run exceeds with this chance.

        `times` as long as they are; of jobs: the most of so many runs. `chance`: RARE or USUAL.

        >>> Load((40_000,)).reserve(), Load((40_000,)).reserve(10)
        (19.0, 33.0)
        """
        if self.runs >= OWN_RUNS:
            return max(0.0, 100 * (find_level(self.peaks, times, chance) / self.u_max - 1))
        base, decade, by_skew = _LAWS[chance]
        least = base + decade * log10(times / self.runs) + by_skew * self.skew
        by_size = np.interp(log2(max(self.u_max, 1)), _JOB_PEAKS, _JOB_SHARES)
        return max(0.0, least * float(by_size if self.is_job else self.spread))


def find_level(values: Values, times: float, chance: float) -> float:
    """The level that the most of `times` further values exceeds with this chance, by Gumbel's law.

    At least the largest value. Its parameters by L-moments (Hosking, L-moments, Journal of the
    Royal Statistical Society B 52, 1990).

    >>> find_level([8, 8, 8], 10, 0.01)
    8.0
    """
    ordered = np.sort(np.asarray(values, np.float64))
    mean, spread, _ = _find_moments(ordered)
    deviates = -_EULER - log(-log1p(-chance) / times)
    return max(mean + deviates * spread / log(2), float(ordered[-1]))


def find_shape(values: Values) -> tuple[float, float]:
    """The skewness of values by L-moments, and the second of these over the largest value.

    Of few, which tell neither, 0 and 1.

    >>> find_shape([1, 2, 9]), find_shape([8] * 48)
    ((0.0, 1.0), (0.0, 0.0))
    """
    if len(values) < _FEWEST_WINDOWS:
        return 0.0, 1.0
    _, spread, third = _find_moments(np.sort(np.asarray(values, np.float64)))
    return third / spread if spread > 0 else 0.0, spread / max(*values, 1)


def _find_moments(ordered: NDArray[np.float64]) -> tuple[float, float, float]:
    """The first three L-moments of three values or more in ascending order."""
    count = len(ordered)
    place = np.arange(count, dtype=np.float64)
    mean = float(ordered.mean())
    second = float(ordered @ place) / (count * (count - 1))
    third = float(ordered @ (place * (place - 1))) / (count * (count - 1) * (count - 2))
    return mean, max(0.0, 2 * second - mean), 6 * third - 6 * second + mean


def _count_outstanding(peaks: NDArray[np.int64]) -> int:
    """The windows that lie nearer to the highest than to the median."""
    return int(np.count_nonzero(peaks > (peaks.max() + np.median(peaks)) / 2))
