# SPDX-License-Identifier: Apache-2.0
"""The period of a load that rises and falls again and again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.profile import Profile

FEWEST_PERIODS = 3  # in a recording of a cycle
_ALIKE = 0.5  # correlation of a cycle with itself, one period later
_NEARLY = 0.9  # of the highest
_APART = 0.1  # and at most this between: what only changes slowly is no cycle


def find_period(profile: Profile) -> int | None:
    """The events after which live bytes come again as they were; None if they do not."""
    lag = find_lag((profile.live_lowest.astype(np.float64) + profile.live_highest) / 2)
    return None if lag is None else lag * profile.bucket_width


def find_lag(values: NDArray[np.float64]) -> int | None:
    """The number of values after which a series comes again as it was; None if it does not.

    What is alike once is no period: it is nearly the most alike of all lags up to half of the
    series, longer ones than could be told, too, and is so again after twice as long.
    """
    correlations = _autocorrelation(values)
    apart = np.flatnonzero(correlations < _APART)
    first, last = int(apart[0]) if len(apart) else len(values), len(values) // FEWEST_PERIODS
    if first + 2 >= last:
        return None
    inner = correlations[first:last]
    is_peak = (inner[1:-1] >= inner[:-2]) & (inner[1:-1] >= inner[2:])
    least = max(_ALIKE, _NEARLY * correlations[first : len(values) // 2].max())
    return next(
        (
            lag
            for lag in (first + 1 + np.flatnonzero(is_peak & (inner[1:-1] >= least))).tolist()
            if correlations[int(1.96 * lag) - 2 : int(2.04 * lag) + 3].max()
            >= _NEARLY**2 * correlations[lag]
        ),
        None,
    )


def _autocorrelation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The correlation with itself at each lag, of the pairs that there are."""
    count = len(values)
    power = np.abs(np.fft.rfft(values - values.mean(), 2 * count)) ** 2
    correlations: NDArray[np.float64] = np.fft.irfft(power)[:count] / np.arange(count, 0, -1)
    return correlations / correlations[0] if correlations[0] else correlations
