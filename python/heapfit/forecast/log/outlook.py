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
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.extremes import sample_maxima
from heapfit.forecast.log.states import Clock, HeapState, TelemetryLog
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


# What a device should log next, so that more can be said: of these findings, and where all states
# lack a figure. The first row is for a single state, too.
_ADVICE = (
    (
        (Finding.TOO_SHORT, Finding.UNCLEAR),
        f"more states at equal distances: at least {FEWEST_WINDOWS} in one boot, and longer than "
        "any cycle of the load",
    ),
    (
        (Finding.FALLS,),
        "who asks: heapfit record on the device, then heapfit sites RUN names what grows",
    ),
    (
        (Finding.FRAGMENTED, Finding.SHRINKS),
        "the requests: heapfit record on the device, then heapfit fit RUN finds a better heap",
    ),
)
_ADVICE_WITHOUT = {
    "seconds": "the time of each state: without it there is no date",
    "largest": "the largest free block, which shows fragmentation: "
    "heap_caps_get_largest_free_block, vPortGetHeapStats, ESP.getMaxFreeBlockSize",
    "least": "the least ever free, which shows bursts between two states: "
    "heap_caps_get_minimum_free_size, xPortGetMinimumEverFreeHeapSize, max_allocated_bytes of "
    "sys_heap_runtime_stats_get",
}


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

    @property
    def advice(self) -> tuple[str, ...]:
        """What to record next, most useful first."""
        shown = {self.finding, Finding.TOO_SHORT} if len(self.boot) == 1 else {self.finding}
        # A heap's own windows hold what they can.
        figures = {} if self.log.clock is Clock.CALLS else _ADVICE_WITHOUT
        return (
            *(text for findings, text in _ADVICE if shown & {*findings}),
            *(
                text
                for name, text in figures.items()
                if all(getattr(one, name) is None for one in self.log.states)
            ),
        )


def find_outlook(log: TelemetryLog) -> Outlook:
    """What the longest boot of a log shows."""
    boots = [[*states] for _, states in groupby(log.states, lambda one: one.boot)]
    boot = max(boots, key=len)
    settled = boot[len(boot) // _STARTUP // 2 * 2 :] if len(boot) >= FEWEST_WINDOWS * 2 else boot
    places = _places(settled)
    period = _find_period(settled, places)
    most = len(settled) // 2 if log.clock is Clock.CALLS else min(WINDOWS, len(settled))
    width, highs, lows, blocks = _cut(settled, places, period, most)
    seen = Outlook(log, boot, Finding.STEADY, "", None, None, period, len(highs))
    if len(highs) < (FEWEST_WINDOWS if period is None else FEWEST_CYCLES):
        return _say_without_trend(replace(seen, finding=Finding.TOO_SHORT, reason=_shortage(seen)))
    of_blocks = [(blocks, blocks, Finding.SHRINKS)] if np.isfinite(blocks).all() else []
    for high, low, finding in ((highs, lows, Finding.FALLS), *of_blocks):
        decline, doubt = _find_decline(high, low, width)
        if decline is not None:
            needed = max(one.failed or 0 for one in boot) if finding is Finding.SHRINKS else None
            run_out = _find_run_out(decline, low, width, needed)
            return replace(seen, finding=finding, decline=decline, run_out=run_out)
        if doubt:
            return replace(seen, finding=Finding.UNCLEAR, reason=doubt)
    return replace(_say_without_trend(seen), reserves=(*_find_reserves(lows),))


def _find_reserves(lows: Numbers) -> Iterator[Reserve]:
    """The reserves 1 and 10 times as long, by the windows' lows.

    None where neighbouring windows depend on each other.
    """
    if rank_correlation(lows) > _MOST_DEPENDENCE:
        return
    sample = sample_maxima(-lows, find_dependence(-lows))
    for times in _TIMES:
        count = times * len(lows)
        low, high = sample.interval(count, _CHANCE)
        yield Reserve(times, -sample.level(count, _CHANCE), -high, -low, sample.chance(0, count))


def _places(states: Sequence[HeapState]) -> Numbers:
    """Where the states lie: seconds; their numbers if there is no clock, or it does not move."""
    seconds = [one.seconds for one in states if one.seconds is not None]
    if len(seconds) == len(states) and seconds[-1] > seconds[0]:
        return np.array(seconds)
    return np.arange(len(states), dtype=np.float64)


def _cut(
    states: Sequence[HeapState], places: Numbers, period: float | None, most: int
) -> tuple[float, Numbers, Numbers, Numbers]:
    """Windows of equal length, fewer where too many of them would be empty; none if all would.

    Their width in seconds or states; of each the most and the least free bytes, and the smallest
    largest block: infinite where none is printed.
    """
    span = float(places[-1] - places[0]) * (1 + 1 / max(1, len(places) - 1))
    counts = [int(span // period)] if period is not None else range(most, FEWEST_WINDOWS - 1, -4)
    free = np.array([one.free for one in states], np.float64)
    blocks = np.array([inf if one.largest is None else one.largest for one in states])
    for count in filter(None, counts):
        width = span / count if period is None else period
        first = places[-1] - width * count  # what does not divide lies before the first
        number = np.minimum(((places - first) / width - 1e-9).astype(np.int64), count - 1)
        full, begins = np.unique(number, return_index=True)
        begins = begins[full >= 0]
        if len(begins) >= _FULL_WINDOWS * count:
            highs, lows = np.maximum.reduceat(free, begins), np.minimum.reduceat(free, begins)
            return width, highs, lows, np.minimum.reduceat(blocks, begins)
    return 0.0, free[:0], free[:0], blocks[:0]


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


def _find_run_out(decline: Decline, lows: Numbers, width: float, needed: int | None) -> RunOut:
    """When the lows reach what is needed: of a block so many bytes, of all that is free nothing."""
    last = lows - decline.rate * ((len(lows) - 1 - np.arange(len(lows))) * width)
    levels = (np.median(last[-ceil(len(lows) / 4) :]), *np.quantile(last, _SPREAD))
    left, least, most = (max(0.0, float(level) - (needed or 0)) for level in levels)
    latest = max(left, most) / decline.low if decline.low > 0 else None
    earliest = min(left, least) / decline.high
    return RunOut(left / decline.rate, earliest, latest, needed or 0, needed is not None)


def _say_without_trend(seen: Outlook) -> Outlook:
    """The finding where nothing falls, or too little is seen to say so."""
    free = [one.free for one in seen.boot]
    usual = min(free) if seen.reason else float(np.median(free))
    share = seen.share
    if seen.refused_apart is not None or (share is not None and share < _APART):
        return replace(seen, finding=Finding.FRAGMENTED)
    return replace(seen, finding=Finding.LOAD) if seen.least < _BURST * usual else seen


def _shortage(seen: Outlook) -> str:
    """Why there are too few windows for a trend."""
    count = len(seen.boot)
    if count == 1:
        return "one state alone shows no trend"
    if count < FEWEST_WINDOWS:
        return f"{count} states, and a trend takes {FEWEST_WINDOWS}"
    if seen.period is not None:
        return f"{seen.windows} whole cycles, and a trend beside a cycle takes {FEWEST_CYCLES}"
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
