# SPDX-License-Identifier: Apache-2.0
"""Live bytes of a recording by windows of equal length, behind its start-up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.profile import Counts, Profile

STARTUP = 10  # the first tenth of a recording is its start-up


@dataclass(frozen=True, slots=True)
class Windows:
    """Extremes of live bytes in windows of `events` events; the start-up lies before the first."""

    events: int  # length of a window
    starts: NDArray[np.int64]  # number of each window's first event
    peaks: NDArray[np.int64]  # most live bytes of each window
    troughs: NDArray[np.int64]  # least live bytes of each window

    def __len__(self) -> int:
        return len(self.starts)


def cut_windows(profile: Profile, count: int) -> Windows:
    """At most `count` windows of whole buckets of the profile's series, up to its last whole one.

    What does not divide is start-up, too. Fewer than `count` where the series has fewer buckets.
    """
    width = profile.bucket_width
    buckets = profile.events // width
    behind = buckets - -(-buckets // STARTUP)
    each = max(1, behind // count)
    windows = behind // each
    windows = min(windows, count)
    first = buckets - windows * each

    def rows(series: Counts) -> NDArray[np.int64]:
        return series[first:buckets].astype(np.int64).reshape(windows, each)

    return Windows(
        each * width,
        (first + each * np.arange(windows, dtype=np.int64)) * width,
        rows(profile.live_highest).max(axis=1),
        rows(profile.live_lowest).min(axis=1),
    )
