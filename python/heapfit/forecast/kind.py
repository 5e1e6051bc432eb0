# SPDX-License-Identifier: Apache-2.0
"""What kind of recording it is, which decides what may be said of longer runs.

service    live bytes stay level after the start-up: windows of it are a sample
cycle      a service whose load comes again with a period longer than a window
growing    live bytes rise to the end and are not given back: no size lasts
job        starts, does its work and ends, or has phases that come once: the unit is a run
too short  too few events, or swings too slow, to say one of these
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.growth import (
    BlockGroup,
    find_growth,
    find_joint_trend,
    follow_groups,
    grows,
    lasts,
    sizes_grow,
    trend_of_growth,
)
from heapfit.forecast.period import find_period
from heapfit.forecast.trend import Trend, find_trend, rank_correlation
from heapfit.forecast.windows import Windows, cut_windows, find_shutdown
from heapfit.plan.brief import Brief
from heapfit.plan.quantities import format_count
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace
from heapfit.trace.views import STARTUP

WINDOWS = 48
FEWEST_EVENTS = 20  # of a window
FEWEST_FOR_SIZE = 300  # events of a recording; fewer are a start, whose size is none
_LONGEST_END = 0.05  # share of a recording that a service takes to shut down
_LEVEL = 0.1  # of the peak: by less the thirds of what is level differ
_EXPLAINS = 0.8  # of what live bytes gain at last, what grows alone
_LONG = 24_000  # events, from which on a job is told from the start of a service
_BATCH = 0.95  # of its blocks a batch never frees
_SWING = 0.15  # of the peak: slow swings above it are no level
_DEPENDENT = 0.5  # rank correlation of neighbouring windows, joined by two
_FEWEST_SWINGS = 10  # crossings of the median of windows whose swings can be told from a trend
_STILL = 0.9  # of the peak, that is live at the end of what ends at its peak
_JOINED = 3  # windows of which medians are looked at, to tell swings from phases
_FEWEST_RETURNS = 4  # crossings of these; fewer are phases that come once


class Kind(StrEnum):
    """What a recording shows of its program."""

    SERVICE = "service"
    JOB = "job"
    GROWING = "growing"
    CYCLE = "cycle"
    TOO_SHORT = "too short to say"


@dataclass(frozen=True, slots=True, repr=False)
class RecordingKind(Brief):
    """The kind of a recording, and what its windows of equal length show."""

    kind: Kind
    reason: str  # what shows it, in words
    windows: Windows
    trend: Trend  # bytes a window: of all that is live, or of what grows where the total hides it
    growth: tuple[BlockGroup, ...]  # by call site, size and thread; the largest of each first
    period: int | None  # events of a cycle
    microseconds: float  # from an event to the next; 0 where the recording has no clock
    sites: tuple[int, ...] = field(repr=False)  # all call sites of the recording
    profile: Profile = field(repr=False)

    @property
    def rate(self) -> Trend:
        """The trend in bytes from an event to the next."""
        return self.trend.scale(1 / self.windows.events)

    @property
    def grown_peaks(self) -> NDArray[np.float64]:
        """The peaks of the windows, each moved along the growth to the end of the recording."""
        return self.windows.peaks + self.trend.slope * np.arange(len(self.windows) - 1, -1, -1)

    @property
    def ends_at_peak(self) -> bool:
        """True if a level load is highest at its end, where no one sees how far it goes on."""
        profile, is_level = self.profile, self.kind in (Kind.SERVICE, Kind.CYCLE)
        is_last = is_level and profile.u_max_event >= int(self.windows.starts[-1])
        return is_last and float(profile.live_highest[-1]) >= _STILL * profile.u_max

    @property
    def is_growing(self) -> bool:
        """True if no size of the heap lasts."""
        return self.kind is Kind.GROWING

    @property
    def is_leak(self) -> bool:
        """True if blocks are kept at a pace that lasts."""
        return self.is_growing and any(
            one.is_kept and lasts(one.troughs) for one in self.growth[:1]
        )


def find_kind(trace: Trace, profile: Profile) -> RecordingKind:
    """The kind of a recording, from its profile and one more read of it."""
    windows, (kind, reason) = cut_windows(profile, WINDOWS), judge(profile)
    if kind is Kind.TOO_SHORT and not tells_windows(windows):
        return RecordingKind(
            kind, reason, windows, find_trend(windows.troughs), (), None, 0.0, (), profile
        )
    series, sites, microseconds, sizes = follow_groups(trace, windows)
    is_growing, total = grows(windows.troughs), trend_of_growth(windows.troughs)
    holds = _share_of_end(profile) <= _LONGEST_END and not _is_batch(profile)
    if not is_growing and sizes_grow(sizes, windows) and holds:
        is_growing, total = True, trend_of_growth(windows.peaks)
        kind, reason = Kind.GROWING, "requests, and live bytes with them, grow to the end"
    newest = find_trend(windows.troughs[len(windows) // 2 :])
    growth = find_growth(series, sites, trace.chains, total if is_growing else None, newest.slope)
    joint = find_joint_trend(growth) if growth else total
    if growth and holds:
        kind, reason = Kind.GROWING, "blocks born after the start-up gather and are held to the end"
    return RecordingKind(
        kind,
        reason,
        windows,
        # What filled up beside what grows, as a cache does, is in the trend of all.
        joint if not is_growing or joint.slope >= _EXPLAINS * newest.slope else newest,
        growth,
        find_period(profile) if kind is Kind.CYCLE else None,
        microseconds,
        sites,
        profile,
    )


def judge(profile: Profile) -> tuple[Kind, str]:
    """The kind by live bytes alone and what shows it, without a read of the recording."""
    windows = cut_windows(profile, WINDOWS)
    if not tells_windows(windows):
        return Kind.TOO_SHORT, (
            f"{format_count(profile.events, 'event')}; the kind takes "
            f"{WINDOWS * FEWEST_EVENTS * STARTUP // (STARTUP - 1) + 1:,} at least, "
            f"a heap's size by fit {FEWEST_FOR_SIZE}"
        )
    period, ending = find_period(profile) or 0, _share_of_end(profile)
    rises = grows(windows.troughs)
    signs = (
        (rises and ending, Kind.JOB, "what it gathers is freed at its end"),
        (rises and _is_batch(profile), Kind.JOB, "it is a batch, which keeps what it asks for"),
        (rises, Kind.GROWING, "the least live bytes of its windows rise to the end"),
        (period > windows.events, Kind.CYCLE, f"live bytes come again every {period:,} events"),
        (ending > _LONGEST_END, Kind.JOB, f"its end takes {ending:.0%} of the recording"),
        (_needs_most_at_start(profile, windows), Kind.JOB, "its start needs the most"),
        (_has_phases(windows), Kind.JOB, "it has phases that come once"),
        (
            _swings_slowly(windows.peaks[len(windows) // 3 :]),
            Kind.TOO_SHORT,
            "live bytes swing more slowly than the recording shows",
        ),
        (True, Kind.SERVICE, "live bytes stay level after the start-up"),
    )
    return next((kind, reason) for is_seen, kind, reason in signs if is_seen)


def is_work(profile: Profile) -> bool:
    """True if a recording is of work that ends: it has ended, or is long enough to look like it.

    In a short one of a service blocks gather, or phases come once, since its load has just begun.
    """
    is_seen = profile.events >= _LONG or find_shutdown(profile) < profile.events
    return judge(profile)[0] in (Kind.JOB, Kind.GROWING) and (is_seen or _is_batch(profile))


def tells_windows(windows: Windows) -> bool:
    """True if a recording is long enough for its windows to say something."""
    return len(windows) == WINDOWS and windows.events >= FEWEST_EVENTS


def _is_batch(profile: Profile) -> bool:
    """True if a program frees next to nothing of what it asks for."""
    return profile.never_freed >= _BATCH * int(profile.allocations.sum())


def _share_of_end(profile: Profile) -> float:
    """The share of events in which the program frees what it held; 0: it holds it."""
    return 1 - find_shutdown(profile) / profile.events


def _needs_most_at_start(profile: Profile, windows: Windows) -> bool:
    """True if a window of the first third holds more all the time than the others ever."""
    third = len(windows) // 3
    each = windows.events // profile.bucket_width
    count = int(windows.starts[0]) // windows.events
    lowest = profile.live_lowest[: count * each].reshape(count, each).min(axis=1)
    return bool(
        max(lowest.max(initial=0), windows.troughs[:third].max()) > windows.peaks[third:].max()
    )


def _has_phases(windows: Windows) -> bool:
    """True if windows without growth and period are not level, and do not come back."""
    peak = float(windows.peaks.max())
    third = len(windows) // 3
    is_level = all(_step(one, third) <= _LEVEL * peak for one in (windows.peaks, windows.troughs))
    medians = np.median(windows.troughs.reshape(-1, _JOINED), axis=1)
    return not is_level and _crossings(medians) < _FEWEST_RETURNS


def _swings_slowly(peaks: NDArray[np.int64]) -> bool:
    """True if the peaks of neighbouring windows depend on each other in a few large swings."""
    low, high = np.quantile(peaks, (0.1, 0.9))
    is_large = high - low > _SWING * float(peaks.max())
    is_slow = rank_correlation(peaks.reshape(-1, 2).max(axis=1)) > _DEPENDENT
    return bool(is_large and is_slow and _crossings(peaks) < _FEWEST_SWINGS)


def _step(series: NDArray[np.int64], third: int) -> float:
    """How far the medians of the second and the last third of a series are apart."""
    return abs(float(np.median(series[third : 2 * third]) - np.median(series[2 * third :])))


def _crossings(series: NDArray[Any]) -> int:
    """How often a series passes its median."""
    side = np.sign(series - np.median(series))
    return int(np.count_nonzero(np.diff(side[side != 0])))
