# SPDX-License-Identifier: Apache-2.0
"""What a log lets one say: whether free memory falls, and when none is left.

    longest boot --> start-up cut --> windows --> trend of their highs and lows --> when it ends

A date is given only where free memory falls clearly: in the highs and the lows of at least 20
windows, or 7 cycles, and in their later half, too, since what is filled once falls at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from math import ceil

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.extremes import sample_maxima
from heapfit.forecast.log.clock import Clock
from heapfit.forecast.log.states import HeapState, TelemetryLog
from heapfit.forecast.period import find_lag
from heapfit.forecast.trend import find_dependence, find_trend, rank_correlation

WINDOWS = 48
FEWEST_WINDOWS = 20
FEWEST_CYCLES = 7
_STARTUP = 10  # the first tenth is left out
_CLEAR = 0.002  # p below which a series has a trend
_CLEAR_OF_CYCLES = 0.02  # in both the highs and the lows of fewer windows
_LATER_SLOPE = 0.5  # of the whole slope, that the last two thirds and the last third have
_MOST_DEPENDENCE = 0.5  # rank correlation of neighbouring windows behind the trend
_STRAIGHT = 0.1  # of what is lost: the spread around a line that needs no independence
_FULL_WINDOWS = 0.9  # share of windows that have a state
_SHORTEST_CYCLE = 4  # states
_TIMES = (1, 10)  # as long as the log
_CHANCE = 0.1
_SPREAD = (0.05, 0.95)  # quantiles of the lows around their line: the least may end it
_BURST = 0.5  # of the usual free bytes; below it a burst took most of them
_APART = 0.5  # of the free bytes; below it the largest block shows fragmentation

Numbers = NDArray[np.float64]


class Finding(StrEnum):
    """What a log shows above all."""

    FALLS = "free memory falls"
    SHRINKS = "the largest free block shrinks"
    FRAGMENTED = "free memory is fragmented"
    LOAD = "a burst takes most of it"
    STEADY = "steady"
    TOO_SHORT = "too short to say"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Decline:
    """Bytes lost for each second, or each state where the log has no clock; 95 % interval."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RunOut:
    """When too little is left, in seconds or states behind the last state."""

    after: float
    earliest: float
    latest: float | None  # None: it may not come
    bytes_left: int  # where it ends: 0, or the request that has failed
    is_block: bool  # it is the largest block that ends


@dataclass(frozen=True, slots=True)
class Reserve:
    """What stays free in a run so many times as long as the log, of a load like this one."""

    times: int
    free: float  # bytes that a tenth of such runs goes below; below 0: memory runs out
    low: float  # interval of 90 %
    high: float
    chance: float  # that memory runs out


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a log shows of a heap, and what it lets one expect."""

    log: TelemetryLog
    boot: Sequence[HeapState]  # the longest one, from which all is read
    finding: Finding
    reason: str  # why, and why no date if there is none
    decline: Decline | None
    run_out: RunOut | None
    period: float | None  # of a cycle, in seconds or states
    windows: int
    reserves: tuple[Reserve, ...] = ()  # empty where there is a trend, or too little to say

    @property
    def last(self) -> HeapState:
        """The last state of the boot."""
        return self.boot[-1]

    @property
    def least(self) -> int:
        """The least free bytes that the boot shows."""
        return min(one.free if one.least is None else min(one.free, one.least) for one in self.boot)

    @property
    def share(self) -> float | None:
        """The largest block over the free bytes: the median of the last tenth that shows it."""
        known = [one for one in self.boot if one.largest is not None and one.free]
        shares = [(one.largest or 0) / one.free for one in known]
        return float(np.median(shares[-ceil(len(shares) / 10) :])) if shares else None

    @property
    def refused_apart(self) -> HeapState | None:
        """The last state in which a request failed that the free bytes would have served."""
        return next(
            (
                one
                for one in reversed(self.log.states)
                if one.failed is not None and one.failed <= one.free
            ),
            None,
        )


@dataclass(frozen=True, slots=True)
class _Windows:
    """The extremes of equal windows; `width` in seconds or states."""

    width: float
    highs: Numbers
    lows: Numbers
    blocks: Numbers | None  # the smallest largest block of each

    def __len__(self) -> int:
        return len(self.highs)


@dataclass(frozen=True, slots=True)
class _View:
    """The boot that is judged, and its windows."""

    log: TelemetryLog
    boot: Sequence[HeapState]
    period: float | None
    windows: _Windows | None


def find_outlook(log: TelemetryLog) -> Outlook:
    """What the longest boot of a log shows."""
    boots = [[*states] for _, states in groupby(log.states, lambda one: one.boot)]
    boot = max(boots, key=len)
    settled = boot[len(boot) // _STARTUP // 2 * 2 :] if len(boot) >= FEWEST_WINDOWS * 2 else boot
    places = _places(settled)
    period = _find_period(settled, places)
    most = len(settled) // 2 if log.clock is Clock.CALLS else min(WINDOWS, len(settled))
    view = _View(log, boot, period, _cut(settled, places, period, most))
    windows = view.windows
    if windows is None or len(windows) < (FEWEST_WINDOWS if period is None else FEWEST_CYCLES):
        return _say_without_trend(view, _shortage(view))
    for is_block, highs in enumerate((windows.highs, windows.blocks)):
        if highs is None:
            continue
        lows = highs if is_block else windows.lows
        decline, doubt = _find_decline(highs, lows, windows.width)
        if decline is not None:
            return _say_decline(view, decline, lows, bool(is_block))
        if doubt:
            return _outlook(view, Finding.UNCLEAR, doubt)
    return replace(_say_without_trend(view, ""), reserves=(*_find_reserves(windows),))


def _find_reserves(windows: _Windows) -> Iterator[Reserve]:
    """The reserves 1 and 10 times as long, by the windows' lows.

    None where neighbouring windows depend on each other.
    """
    if rank_correlation(windows.lows) > _MOST_DEPENDENCE:
        return
    sample = sample_maxima(-windows.lows, find_dependence(-windows.lows))
    for times in _TIMES:
        count = times * len(windows)
        low, high = sample.interval(count, _CHANCE)
        yield Reserve(times, -sample.level(count, _CHANCE), -high, -low, sample.chance(0, count))


def _outlook(
    view: _View,
    finding: Finding,
    reason: str,
    decline: Decline | None = None,
    run_out: RunOut | None = None,
) -> Outlook:
    count = 0 if view.windows is None else len(view.windows)
    return Outlook(view.log, view.boot, finding, reason, decline, run_out, view.period, count)


def _places(states: Sequence[HeapState]) -> Numbers:
    """Where the states lie: seconds; their numbers if there is no clock, or it does not move."""
    seconds = [one.seconds for one in states if one.seconds is not None]
    if len(seconds) == len(states) and seconds[-1] > seconds[0]:
        return np.array(seconds)
    return np.arange(len(states), dtype=np.float64)


def _cut(
    states: Sequence[HeapState], places: Numbers, period: float | None, most: int
) -> _Windows | None:
    """Windows of equal length, fewer where too many of them would be empty."""
    span = float(places[-1] - places[0]) * (1 + 1 / max(1, len(places) - 1))
    counts = [int(span // period)] if period is not None else range(most, FEWEST_WINDOWS - 1, -4)
    for count in counts:
        if count < 1:
            continue
        width = span / count if period is None else period
        first = places[-1] - width * count  # what does not divide lies before the first
        number = np.minimum(((places - first) / width - 1e-9).astype(np.int64), count - 1)
        full = np.unique(number[number >= 0])
        if len(full) >= _FULL_WINDOWS * count:
            return _reduce(states, number, full, width)
    return None


def _reduce(
    states: Sequence[HeapState], number: NDArray[np.int64], full: NDArray[np.int64], width: float
) -> _Windows:
    free = np.array([one.free for one in states], np.float64)
    blocks = [one.largest for one in states]
    has_blocks = np.array([one is not None for one in blocks])
    block = np.array([one or 0 for one in blocks], np.float64)
    groups = [number == one for one in full]
    known = all((group & has_blocks).any() for group in groups)
    return _Windows(
        width,
        np.array([free[group].max() for group in groups]),
        np.array([free[group].min() for group in groups]),
        np.array([block[group & has_blocks].min() for group in groups]) if known else None,
    )


def _find_decline(highs: Numbers, lows: Numbers, width: float) -> tuple[Decline | None, str]:
    """How fast a series falls, if it clearly does; else why it may fall and may not."""
    trend = find_trend(highs)
    low_trend = find_trend(lows)
    is_short = len(highs) < FEWEST_WINDOWS
    p = max(trend.p, low_trend.p) if is_short else trend.p
    if max(trend.slope, low_trend.slope) >= 0 or p >= (_CLEAR_OF_CYCLES if is_short else _CLEAR):
        return None, ""
    later = [find_trend(highs[min(i * len(highs) // 3, len(highs) - 4) :]).slope for i in (1, 2)]
    if max(later) > _LATER_SLOPE * trend.slope:
        return None, "it fell at first and not later: what is filled once does so"
    left = highs - trend.slope * np.arange(len(highs))
    lowest, highest = np.quantile(left, [0.1, 0.9])
    is_straight = highest - lowest < _STRAIGHT * -trend.slope * len(highs)
    pairs = left[: len(left) // 2 * 2].reshape(-1, 2).max(axis=1)
    if not is_straight and min(rank_correlation(left), rank_correlation(pairs)) > _MOST_DEPENDENCE:
        return None, "it falls, but in waves longer than the windows, which may turn"
    return Decline(-trend.slope / width, -trend.high / width, -trend.low / width), ""


def _say_decline(view: _View, decline: Decline, lows: Numbers, is_block: bool) -> Outlook:
    """The outlook of a decline, with the time when the lows reach what is needed."""
    width = 0.0 if view.windows is None else view.windows.width
    later = -ceil(len(lows) / 4)
    behind = (len(lows) - 1 - np.arange(len(lows))) * width
    last = lows - decline.rate * behind
    needed = max((one.failed or 0 for one in view.boot), default=0) if is_block else 0
    levels = (np.median(last[later:]), *np.quantile(last, _SPREAD))
    left, least, most = (max(0.0, float(level) - needed) for level in levels)
    latest = max(left, most) / decline.low if decline.low > 0 else None
    earliest = min(left, least) / decline.high
    run_out = RunOut(left / decline.rate, earliest, latest, needed, is_block)
    finding = Finding.SHRINKS if is_block else Finding.FALLS
    return _outlook(view, finding, "", decline, run_out)


def _say_without_trend(view: _View, shortage: str) -> Outlook:
    outlook = _outlook(view, Finding.TOO_SHORT if shortage else Finding.STEADY, shortage)
    free = [one.free for one in view.boot]
    usual = min(free) if shortage else float(np.median(free))
    share = outlook.share
    if outlook.refused_apart is not None or (share is not None and share < _APART):
        return replace(outlook, finding=Finding.FRAGMENTED)
    if outlook.least < _BURST * usual:
        return replace(outlook, finding=Finding.LOAD)
    return outlook


def _shortage(view: _View) -> str:
    """Why there are too few windows for a trend."""
    count = len(view.boot)
    if count == 1:
        return "one state alone shows no trend"
    if count < FEWEST_WINDOWS:
        return f"{count} states, and a trend takes {FEWEST_WINDOWS}"
    if view.period is not None:
        cycles = 0 if view.windows is None else len(view.windows)
        return f"{cycles} whole cycles, and a trend beside a cycle takes {FEWEST_CYCLES}"
    return "most states lie close together, with long gaps between"


def _find_period(states: Sequence[HeapState], places: Numbers) -> float | None:
    """The period of a cycle in the free bytes, in seconds or states; None if there is none."""
    count = min(len(states) // 2, WINDOWS * 10)
    if count < FEWEST_WINDOWS * 2:
        return None
    grid = np.linspace(places[0], places[-1], count)
    values = np.interp(grid, places, [one.free for one in states])
    values -= np.polyval(np.polyfit(grid - grid[0], values, 1), grid - grid[0])
    lag = find_lag(values)
    return None if lag is None or lag < _SHORTEST_CYCLE else float(lag * (grid[1] - grid[0]))
