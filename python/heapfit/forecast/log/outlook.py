# SPDX-License-Identifier: Apache-2.0
"""What a log lets one say: whether free memory falls, and when requests fail for it.

    boots --> start-up cut, short ones pooled --> cycle taken off --> windows
    --> decline of their highs and lows --> date from the last state of the last boot

"Does not fall" is said only where a fall that matters is excluded: one that ends within ten such
logs. What is filled once falls at first and is level since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from math import ceil, inf
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from heapfit.forecast.decline import (
    Decline,
    Numbers,
    fell,
    find_decline,
    find_end,
    is_level,
    still_falls,
    wanders,
)
from heapfit.forecast.load import USUAL, find_level
from heapfit.forecast.log.states import Clock, HeapState, TelemetryLog
from heapfit.forecast.period import find_lag
from heapfit.forecast.trend import find_trend, rank_correlation
from heapfit.plan.brief import Brief

WINDOWS = 48
FEWEST_WINDOWS = 20
FEWEST_OF_CYCLES = 32  # states in which a cycle can be seen
ASSUMED = (1024, 4096)  # bytes of a request that may fail, where none did
_STARTUP = 10  # the first tenth is left out
_MOST_DEPENDENCE = 0.5  # rank correlation of neighbouring windows
_FULL_WINDOWS = 0.75  # share of windows that have a state
_EVEN_LOWS = 8  # times as high is a tooth as the lows differ, that a collector waits for
_STEEP = 5.0  # times the median move, that a collector brings back
_FINER = 8  # times as finely as there are states are waves looked for
_SLOWEST = 20  # likewise, of the periods of a wave: 2.5
_KEPT = 0.65  # of the variance around the line that a cycle explains
_PHASES = 168  # of a cycle: a week by the hour
_LAST = 3  # states, whose median is where a boot ends
_FEWEST_LIVES = 3  # boots that ended
_TIMES = (1, 10)  # as long as the log
_BURST = 0.5  # of the usual free bytes; below it a burst took most of them
_EVEN = 0.75  # of a pace is another one at least that counts as the same
_APART = 0.5  # of the free bytes; below it the largest block shows fragmentation

_LEVEL_SINCE = "it fell at first and is level since, as what is filled once"
_LOWER = "{} is lower at last, and may come up again"
_WANDERS = "{} wanders slowly up and down, as a fall of the same size would be part of it"


class _Series(NamedTuple):
    """States as columns, in the order of their places."""

    places: Numbers  # seconds or states since the boot's start
    free: Numbers
    dips: Numbers  # free bytes, or the least ever where that has just fallen
    blocks: Numbers  # largest free block; infinite where none is printed


class _Falling(NamedTuple):
    """A series that falls, in windows with as many states each."""

    decline: Decline
    highs: Numbers
    lows: Numbers
    width: float  # of a window, in seconds or states
    is_block: bool

    @property
    def lost_evenly(self) -> float:
        """The bytes lost in the newest part, if it is half of all and its halves fall alike."""
        values, since = self.lows if self.is_block else self.highs, int(self.decline.since)
        halves = np.array_split(values[len(values) - since :], 2)
        slower, faster = sorted(-np.polyfit(np.arange(len(one)), one, 1)[0] for one in halves)
        is_even = 2 * since >= len(values) and slower >= _EVEN * faster
        return self.decline.rate * since if is_even else 0.0


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
class RunOutTime:
    """When too little is left, in seconds or states behind the last state."""

    after: float
    earliest: float
    latest: float | None  # None: it may not come
    bytes_left: int  # of a request that fails then; 0: nothing is free
    is_block: bool  # the largest block is then too small
    is_assumed: bool  # that there are such requests: none failed in the log, and none was given


@dataclass(frozen=True, slots=True, repr=False)
class Outlook(Brief):
    """What a log shows of a heap, and what it lets one expect."""

    log: TelemetryLog
    boot: Sequence[HeapState]  # the last that is long enough, from which all is read
    pooled: int  # boots of about its length that were read with it; 1: it alone
    finding: Finding
    reason: str  # why, and why no date if there is none
    decline: Decline | None  # bytes for each second, or each state where the log has no clock
    run_outs: tuple[RunOutTime, ...]  # of the smallest request first
    period: float | None  # of a cycle, in seconds or states
    windows: int
    # Of runs so many times as long as the log, of a load like this one, the free bytes that a tenth
    # goes below; below 0: memory runs out. Empty where there is a trend, or too little to say.
    reserves: Mapping[int, float] = field(default_factory=dict)
    needed: Sequence[int] = ()  # sizes of requests that are to be served, as the caller says
    kept: float = 0.0  # bytes lost at this pace by the end, over half of the boot at least; 0: less

    @property
    def last(self) -> HeapState:
        """The last state of the last boot."""
        return self.log.states[-1]

    @property
    def lives(self) -> list[float]:
        """How long the former boots lasted, in seconds, the shortest first.

        Empty where there are fewer than three, or one did not end low in memory.
        """
        *before, _ = _cut_boots(self.log)
        is_told = len(before) >= _FEWEST_LIVES and all(
            len(one) >= _LAST and one[-1].lowest < _BURST * one[0].free for one in before
        )
        return sorted(map(measure_life, before)) if is_told and self.log.clock else []

    @property
    def run_out(self) -> RunOutTime | None:
        """When the smallest request fails that is looked at; None: no date."""
        return self.run_outs[0] if self.run_outs else None

    @property
    def holders(self) -> list[Outlook]:
        """What each task or pool of the log's tables holds."""
        return [find_outlook(one) for one in self.log.holders]

    @property
    def pace(self) -> float:
        """The pace of a fall that goes on, as far as it is known; 0: it may be level by now."""
        one = self.decline
        return one.rate if one and (self.run_outs or one.low > max(0.0, one.rate / 3)) else 0.0

    @property
    def held(self) -> int:
        """Of a heap's region, or of what a task holds of it: the bytes at last."""
        return (self.log.region or 0) - self.last.free

    @property
    def fitting(self) -> list[int]:
        """The number of states of the boot in which each size that is to be served fits."""
        blocks = [
            min(one.free, one.free if one.largest is None else one.largest) for one in self.boot
        ]
        return [sum(block >= size for block in blocks) for size in self.needed]

    @property
    def least(self) -> int:
        """The least free bytes that the boot shows."""
        return min(one.lowest for one in self.boot)

    @property
    def share(self) -> float | None:
        """The largest block over the free bytes: the median of the last tenth that shows it."""
        shares = [
            one.largest / one.free for one in self.boot if one.largest is not None and one.free
        ]
        return float(np.median(shares[-ceil(len(shares) / 10) :])) if shares else None

    @property
    def refused_apart(self) -> HeapState | None:
        """The last with a request failed that the free bytes would have served, but no block."""
        return next(
            (
                one
                for one in reversed(self.log.states)
                if one.failed is not None and (one.largest or 0) < one.failed <= one.free
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
                if (name == "seconds" or not self.log.setting)  # a stack prints what it has
                and all(getattr(one, name) is None for one in self.log.states)
            ),
        )


def find_outlook(log: TelemetryLog, needed: Sequence[int] = ()) -> Outlook:
    """What a log's last boot shows that is at least half as long as the longest and tells a trend.

    Short ones of about its length are read together.
    `needed`: sizes of requests that are to be dated, in place of those that failed.
    """
    boots = _cut_boots(log)
    longest = max(map(len, boots))
    is_pooled = 2 < longest < FEWEST_WINDOWS
    fewest = longest / 2 if is_pooled else max(longest / 2, min(longest, FEWEST_WINDOWS))
    alike = [one for one in boots if len(one) >= fewest][0 if is_pooled else -1 :]
    series = _pool([_read_series(one) for one in alike])
    period = _find_period(series)
    states = len(series.places)
    most = states // 2 if log.clock is Clock.CALLS else min(WINDOWS, states)
    width, highs, lows = _cut(series, most)
    seen = Outlook(
        log, alike[-1], len(alike), Finding.STEADY, "", None, (), period, len(highs), needed=needed
    )
    if not len(highs):
        return _say_without_trend(replace(seen, finding=Finding.TOO_SHORT, reason=_shortage(seen)))
    last = series if alike[-1] is boots[-1] else _read_series(boots[-1])
    falling = [*_find_falling(series, last, most, period)]
    if falling:
        first = falling[0]
        return replace(
            seen,
            finding=Finding.SHRINKS if first.is_block else Finding.FALLS,
            decline=first.decline.scale(first.width),
            kept=first.lost_evenly,
            run_outs=(*_find_run_outs(falling, seen),),
        )
    for name, one in _list_measures(series):
        if doubt := _find_doubt(_calm(one, period if name else None), most):
            return replace(seen, finding=Finding.UNCLEAR, reason=doubt.format(name or "it"))
    seen = _say_without_trend(
        replace(seen, reason=_LEVEL_SINCE if period is None and fell(highs) else "")
    )
    together = ceil((period or 0) / width) or 1
    whole = len(lows) // together * together
    return replace(
        seen,
        reserves=_find_reserves(lows[len(lows) - whole :].reshape(-1, together).min(axis=1)),
    )


def _cut_boots(log: TelemetryLog) -> list[list[HeapState]]:
    """The states of each boot, but those of another version than the one that ran last."""
    return [
        [*states]
        for (program, _), states in groupby(log.states, attrgetter("program", "boot"))
        if program in ("", log.states[-1].program)
    ]


def measure_life(boot: Sequence[HeapState]) -> float:
    """The seconds from a boot's first state to its last."""
    return (boot[-1].seconds or 0.0) - (boot[0].seconds or 0.0)


def _list_measures(series: _Series) -> Iterator[tuple[str, _Series]]:
    """The free bytes, and the largest block where it is printed, with its name."""
    is_known = np.isfinite(series.blocks)
    if not np.array_equal(series.free, series.blocks):  # else the block is all that is known
        yield "", series
    if np.count_nonzero(is_known) >= FEWEST_WINDOWS:
        places, _, _, blocks = (one[is_known] for one in series)
        yield "its largest block", _Series(places, blocks, blocks, blocks)


def _find_doubt(series: _Series, most: int) -> str:
    """Why it cannot be told of a series that does not fall that it is level; "" if it is."""
    _, highs, lows = _cut(series, most)
    begin, end = (0.3, 0.7) if fell(highs) else (0.0, 0.5)
    if len(highs) and not is_level(highs, lows, int(begin * len(highs)), int(end * len(highs))):
        return _LOWER
    # What fills still does so at first, as a slow walk would.
    return _WANDERS if wanders(series.free[int(2 * begin * len(series.free)) :]) else ""


def _find_falling(
    series: _Series, last: _Series, most: int, period: float | None
) -> Iterator[_Falling]:
    """The free bytes and the largest block, where they fall, on the level of the last boot."""
    # What the last boot has more at its end, of a cycle as well, if it is another one.
    ends, owns = (
        {name: float(np.median(one.free[-_LAST:])) for name, one in _list_measures(whole)}
        for whole in (last, series)
    )
    found: _Falling | None = None
    for name, raw in _list_measures(series):
        width, highs, lows = _cut(one := _calm(raw, period), most)
        gained = ends[name] - owns[name] if name in ends.keys() & owns.keys() else 0.0
        values = lows if name else highs
        if len(values) and fell(values) and still_falls(values):
            # A collector that waits until little is left: only when its highs come down there, of
            # which each is that of the last tooth.
            if (
                find_trend(lows).slope > find_trend(highs).slope / 2
                and _EVEN_LOWS * lows.std() < (highs - lows).mean()
                and (tooth := _find_tooth(one))
            ):
                lows = highs - (highs[0] - highs[-1]) * tooth / (width * len(highs))
            found = _Falling(find_decline(values), highs + gained, lows + gained, width, bool(name))
            yield found
        elif found and len(highs) == len(found.highs) and _stays_beside(series):
            yield found._replace(highs=highs + gained, lows=lows + gained, is_block=True)


def _stays_beside(series: _Series) -> bool:
    """True if what lies beside the largest block differs by less than a quarter of what is lost."""
    known = np.isfinite(series.blocks)
    free, beside = (one[known] for one in (series.free, series.free - series.blocks))
    ends = np.array_split(free, 3)[::2]
    return bool(4 * beside.std() < np.median(ends[0]) - np.median(ends[1]))


def _find_reserves(lows: Numbers) -> Mapping[int, float]:
    """The reserves 1 and 10 times as long, by the windows' lows.

    None where neighbouring windows depend on each other.
    """
    is_bound = len(lows) < FEWEST_WINDOWS or rank_correlation(lows) > _MOST_DEPENDENCE
    return {
        times: -find_level(-lows, times * len(lows), USUAL)
        for times in (() if is_bound else _TIMES)
    }


def _read_series(boot: Sequence[HeapState]) -> _Series:
    """The series of a boot behind its start-up; places are seconds or states since its start."""
    places = _places(boot)
    known = [one.free if one.least is None else one.least for one in boot]
    free = np.array([one.free for one in boot], np.float64)
    dips = np.where(np.diff(known, prepend=known[0]) < 0, np.minimum(free, known), free)
    blocks = np.array([inf if one.largest is None else one.largest for one in boot])
    begin = len(boot) // _STARTUP // 2 * 2 if len(boot) >= FEWEST_WINDOWS * 2 else 0
    return _Series(*(one[begin:] for one in (places - places[0], free, dips, blocks)))


def _pool(boots: Sequence[_Series]) -> _Series:
    """Boots as one, by the time since their start, each on the level of the last one.

    Levels are those of the time that all have.
    """
    joint = min(one.places[-1] for one in boots)
    levels = [float(one.free[one.places <= joint].mean()) for one in boots]
    moved = [
        one._replace(free=one.free + levels[-1] - level, dips=one.dips + levels[-1] - level)
        for one, level in zip(boots, levels, strict=True)
    ]
    rows = [np.concatenate(column) for column in zip(*moved, strict=True)]
    return _Series(*(row[np.argsort(rows[0], kind="stable")] for row in rows))


def _places(states: Sequence[HeapState]) -> Numbers:
    """Where the states lie: seconds; their numbers if there is no clock, or it does not move."""
    seconds = [one.seconds for one in states if one.seconds is not None]
    if len(seconds) == len(states) and seconds[-1] > seconds[0]:
        return np.array(seconds)
    return np.arange(len(states), dtype=np.float64)


def _calm(series: _Series, period: float | None) -> _Series:
    """A series at the lowest phase of its cycle, if it has one."""
    more = 0.0 if period is None else _find_season(series, period)
    return series._replace(free=series.free - more, dips=series.dips - more)


def _find_season(series: _Series, period: float) -> Numbers:
    """What is free at each state beyond the lowest phase of a cycle, by the mean of each phase."""
    line = np.polyval(np.polyfit(series.places, series.free, 1), series.places)
    phases = min(_PHASES, int(len(series.places) * period / series.places[-1]))
    phase = (series.places / period % 1 * phases).astype(np.int64)
    mean = np.bincount(phase, series.free - line) / np.maximum(1, np.bincount(phase))
    return np.asarray((mean - mean.min())[phase])


def _cut(series: _Series, most: int) -> tuple[float, Numbers, Numbers]:
    """Windows of equal length, fewer where too many of them would be empty; none if all would.

    With as many states each if they are even: one more in some of them is a swing of its own.
    Their width in seconds or states; of each the most and the least free bytes. Empty ones lie
    between their neighbours. Those between two steep rises have the ones of the time since.
    """
    places = series.places
    span = float(places[-1] - places[0]) * (1 + 1 / max(1, len(places) - 1))
    even = len(places) // ceil(len(places) / most)
    for count in (one for one in (even, *range(most, 0, -4)) if one >= FEWEST_WINDOWS):
        number = np.minimum(
            ((places - places[-1] + span) / span * count - 1e-9).astype(int), count - 1
        )
        full, begins = np.unique(number, return_index=True)
        if len(full) >= _FULL_WINDOWS * count:
            highs, lows = (
                np.interp(np.arange(count), full, extreme.reduceat(values, begins))
                for extreme, values in ((np.maximum, series.free), (np.minimum, series.dips))
            )
            behind = int(count * _find_tooth(series) / span)  # windows that have a rise at least
            last = [slice(max(0, i - behind), max(i, behind) + 1) for i in range(count)]
            return (
                span / count,
                np.array([highs[one].max() for one in last]),
                np.array([lows[one].min() for one in last]),
            )
    return 0.0, series.free[:0], series.free[:0]


def _find_tooth(series: _Series) -> float:
    """The longest time from a steep rise to the next, as a collector makes them; 0 without such.

    Half as many at most are half as steep.
    """
    moves = np.diff(series.free)
    steep = moves > max(moves.max() / 2, _STEEP * np.median(np.abs(moves)))
    are_few = 2 * np.count_nonzero(moves > moves.max() / 4) <= 3 * np.count_nonzero(steep) > 3
    return float(np.diff(series.places[1:][steep]).max()) if are_few else 0.0


def _find_run_outs(falling: Sequence[_Falling], seen: Outlook) -> Iterator[RunOutTime]:
    """When a given request fails; without one, as large a one as failed, else assumed ones.

    What falls first counts. Assumed are those that the heap serves to the end of the log.
    """
    failed = max(one.failed or 0 for one in seen.log.states)
    least = min(float(one.lows[-ceil(len(one.lows) / 8) :].mean()) for one in falling)
    # A failure is seen at the next state, and with a cycle at its next low, half of it on average.
    span = falling[0].width * len(falling[0].highs)
    apart = span / len(seen.boot) + (seen.period or 0) / 2
    assumed = [one for one in ASSUMED if one < least and seen.log.unit == "B"]
    known = sorted(seen.needed) or [failed][: bool(failed)]
    for size in known or assumed or [0]:
        ends = [
            RunOutTime(
                after * one.width,
                earliest * one.width,
                latest and latest * one.width + apart,
                size,
                one.is_block,
                not known and size > 0,
            )
            for one in falling
            if one.decline.rate > 0
            for after, earliest, latest in (find_end(one.decline, one.highs, one.lows, size),)
            # What may not go on, and takes longer than ten such logs, has no date.
            if latest is not None or after < max(_TIMES) * len(one.highs)
        ]
        if ends:
            yield min(ends, key=lambda one: one.after)


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
    return (
        "one state alone shows no trend"
        if count == 1
        else f"{count} states, and a trend takes {FEWEST_WINDOWS}"
        if count < FEWEST_WINDOWS
        else "most states lie close together, with long gaps between"
    )


def _find_period(series: _Series) -> float | None:
    """The period of a cycle in the free bytes, in seconds or states; None if there is none."""
    # Of many states every other one or fewer are enough.
    series = _Series(*(one[:: len(series.places) // 10_000 + 1] for one in series))
    places, count = series.places, min(len(series.places), WINDOWS * 10)
    if count < FEWEST_OF_CYCLES:
        return None
    grid = np.linspace(places[0], places[-1], count)
    values = np.interp(grid, places, series.free)
    values -= np.polyval(np.polyfit(grid - grid[0], values, 1), grid - grid[0])
    lag: float | None = find_lag(values)
    if lag is None:
        # Few periods, or few states in one: a wave may show them.
        power = np.abs(np.fft.rfft(values, _FINER * count))[_SLOWEST:] ** 2
        if 2 * power.max() < _KEPT * count * float(values @ values):
            return None
        lag = _FINER * count / (_SLOWEST + int(power.argmax()))
    # Noise moves the lag by up to a period over the number of periods, the grid by half a step.
    best, apart = lag * (grid[1] - grid[0]), max(0.5, lag * lag / count) * (grid[1] - grid[0])
    for finer in (1, 1 / 30):
        best = max(
            (best + np.linspace(-1, 1, 81) * apart * finer).tolist(),
            key=lambda one: float(_find_season(series, one).var()),
        )
    # One that is not kept, as a collector's, explains only the part of the log where it is.
    return best if _find_season(series, best).var() >= _KEPT * values.var() else None
