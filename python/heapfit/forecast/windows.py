# SPDX-License-Identifier: Apache-2.0
"""Live bytes of a recording by windows of equal length, between its start-up and its shutdown.

    live bytes     ______________
                  /              \
                 /                \\__
    events  0 | start-up | windows | shutdown | end
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.profile import Counts, Profile
from heapfit.trace.views import STARTUP

_RELEASED = 0.5  # of the median of live bytes: what ends below it was shut down
_WORKING = 0.7  # of the median: the shutdown begins when it is last left


@dataclass(frozen=True, slots=True)
class Windows:
    """Extremes of live bytes in windows of `events` events, one after the other."""

    events: int  # length of a window
    starts: NDArray[np.int64]  # number of each window's first event
    peaks: NDArray[np.int64]  # most live bytes of each window
    troughs: NDArray[np.int64]  # least live bytes of each window

    def __len__(self) -> int:
        return len(self.starts)


def find_shutdown(profile: Profile) -> int:
    """The event at which the program begins to free what it holds; the end if it holds it."""
    live, median = profile.live_lowest, float(np.median(profile.live_lowest))
    if float(live[-1]) >= _RELEASED * median:
        return profile.events
    working = np.flatnonzero(live >= _WORKING * median)
    return min(profile.events, (int(working[-1]) + 1) * profile.bucket_width)


def cut_windows(profile: Profile, count: int) -> Windows:
    """Cuts at most `count` windows of whole buckets of the profile's series.

    What does not divide is start-up, too. Fewer than `count` where the series has fewer buckets.
    """
    width = profile.bucket_width
    buckets = find_shutdown(profile) // width
    between = buckets - -(-buckets // STARTUP)
    each = max(1, between // count)
    windows = min(between // each, count)
    first = buckets - windows * each

    def rows(series: Counts) -> NDArray[np.int64]:
        return series[first:buckets].astype(np.int64).reshape(windows, each)

    return Windows(
        each * width,
        (first + each * np.arange(windows, dtype=np.int64)) * width,
        rows(profile.live_highest).max(axis=1),
        rows(profile.live_lowest).min(axis=1),
    )
