# SPDX-License-Identifier: Apache-2.0
"""A series that falls in whatever shape: at what pace at last, and when it ends.

    values --> never-rising curve --> does it explain them, later, too? --> newest straight part
    --> pace --> end

The curve is the isotonic regression (Barlow et al., Statistical Inference under Order Restrictions,
1972). The newest part is the longest one whose slope agrees with those of all shorter ones (the
intersection of confidence intervals, Goldenshluger and Nemirovski 1997). All lengths are counted in
values, which are equally spaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, inf, log, log1p, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.forecast.trend import MOST_CORRELATION, NORMAL_95, correlate_neighbours, find_trend

Numbers: TypeAlias = NDArray[np.float64]

_CLEAR = 80.0  # score of a fall; 1 of 100 series without one have it at a dependence of 0.95
_CLEAR_LATER = 20.0  # likewise, of what comes behind the first three tenths
_SURE = 400.0  # score, times how often what steps up and down lose by chance, squared, is lost
_ONE_LOSS = 12.0  # of the score is left above what a single loss would explain
_LATER = 0.22  # of the loss comes there; less is what was filled at first
_TIMES = 10  # as long a series: a fall that ends within it matters
_MATTERS = 0.05  # of the level, by which steps up and down move: half of what a fall then loses
_BACK = 0.6  # of all that it moves: one step up that brings so much back ends a sawtooth
_BOUND = 0.82  # correlation of neighbours above which no level is seen
_MANY = 150  # values, or more: it is seen if there are
_PIECES = 8.5  # stretches that have nothing in common
_BOUND_OF_MANY = 0.9685  # but always up to this correlation
_BOUND_BESIDE = 0.55  # likewise, of what is left beside a cycle
_BESIDE = 0.25  # of the variance at most is then left
_PERIODS = 1.2, 7.0  # of that cycle
_ENOUGH = 1000  # values to see that, of more every other one or fewer; and to see any dip again
_NEWEST = 6  # different values of which a pace is found
_LONGER = 1.4  # times as long is the next part that is tried
_AGREES = 1.5  # standard errors within which the slopes of parts agree
_TURNS = 3.0  # standard errors by which the pace before differs, if the fall changes it
_NO_PACE = 2.0  # times the pace: a larger doubt leaves open whether a fall goes on
_STEPPED = 1.5  # times the noise, that is lost for good in steps: the fall is one of steps
_NEARBY = 7  # values over which the pace hardly changes
_SLOWER = 2.0  # times as slow as the newest part its newest values may be, at most, if it slows
_FASTER = 1.35  # likewise, as fast; always
_SPEEDED = 3.0  # times as slow as the newest part the one before counts, at most
_DOUBT = 3.0  # over the values: as much more may be left of a bend than of two lines
_UNEVEN = 1.6  # times as much as steps show do they hide: they differ, and are few
_NEAR = 0.3  # of the way from the lows to the highs the last request may still be served
_DIPS = 0.5, 0.05  # chances that the low has come that ends it: at the date, at its earliest end


@dataclass(frozen=True, slots=True)
class Decline:
    """What is lost from a value to the next at last; 95 % interval."""

    rate: float
    low: float  # 0: it may not go on
    high: float
    since: float  # length of the newest part, which has this pace
    before: float  # the pace of as long a part before it; the same where there is none; 0: a bend
    now: float  # the pace of the last value, which is more where the fall speeds up

    @property
    def at_last(self) -> float:
        """The pace of the last value where it clearly differs from the pace before, else `rate`."""
        return self.now if self.before < self.low else self.rate

    def scale(self, width: float) -> Decline:
        """The same where a value stands for so many seconds or states."""
        return Decline(
            self.rate / width,
            self.low / width,
            self.high / width,
            self.since * width,
            self.before / width,
            self.now / width,
        )


def fell(values: Numbers) -> bool:
    """True if a falling curve explains the values; the last tenth may be a burst and is left out.

    One or two losses are no fall: it takes six different values.

    >>> fell(100 - np.arange(48.0) ** 2), fell(np.arange(48.0) % 7)
    (True, False)
    """
    count = len(values) - len(values) // 10
    settled = values[:count]
    score = _score(settled)
    if len({*settled.tolist()}) < _NEWEST or score < _CLEAR:
        return False
    curve, (_, steps), ahead = _fit_falling(settled), _find_noise(settled), np.arange(1, count)
    losses = np.cumsum(settled - settled.mean())[:-1] ** 2 / (ahead * (count - ahead))
    return bool(
        (curve[0] - curve[-1]) ** 2 * score >= _SURE * count * steps
        and losses.max() < curve.var() * (1 - _ONE_LOSS / score)
    )


def still_falls(values: Numbers) -> bool:
    """True if a series that fell does so behind its first three tenths, too."""
    end = len(values) - len(values) // 10
    later = values[len(values) * 3 // 10 : end]
    whole, rest = _fit_falling(values[:end]), _fit_falling(later)
    return bool(
        _score(later) >= _CLEAR_LATER and rest[0] - rest[-1] >= _LATER * (whole[0] - whole[-1])
    )


def is_level(highs: Numbers, lows: Numbers, first: int, end: int) -> bool:
    """True if the last eighth has no new lows, or comes up to the highs from `first` to `end`.

    A loss that ends within ten such series is excluded by that: from the middle of the one to that
    of the other it takes a tenth of the level, times as much of the series as lies between them.
    """
    last = len(highs) - max(1, len(highs) // 8)
    apart = (len(highs) + last - first - end) / (2 * len(highs))
    least = apart / _TIMES * float(np.median(highs))
    lost = highs[first:end].max() - highs[last:].max(), lows[first:end].min() - lows[last:].min()
    return bool(min(lost) <= least)


def wanders(values: Numbers) -> bool:
    """True if the values go up and down by chance so slowly that a fall may be among it.

    They may not where all their changes hardly matter, where one of them brings most of it back,
    where neighbours are loosely bound, or where they are but for a cycle of 1.2 to 7 periods.
    """
    values = values[:: len(values) // _ENOUGH + 1]
    moves, count, around = np.diff(values), len(values), values - values.mean()
    if NORMAL_95 * sqrt(1.2 * float(moves @ moves)) <= _MATTERS * float(
        np.median(values)
    ) or moves.max() > _BACK * np.ptp(values):
        return False
    angles = 2 * np.pi * np.outer(np.arange(*_PERIODS, 0.2), np.linspace(0, 1, count))
    waves = np.stack([np.ones_like(angles), np.cos(angles), np.sin(angles)], axis=2)
    rest = min(_find_rests(waves, values), key=lambda one: float(one @ one))
    # Weighted alike forwards and backwards: Pantula, Gonzalez-Farias and Fuller, A comparison of
    # unit-root test criteria, Journal of Business & Economic Statistics 12, 1994.
    weight = around[1:-1] @ around[1:-1] + around @ around / count
    return bool(
        around[:-1] @ around[1:]
        > weight * (_BOUND if count < _MANY else max(_BOUND_OF_MANY, 1 - _PIECES / count))
        and not (
            rest @ rest <= _BESIDE * count * values.var()
            and correlate_neighbours(rest) <= _BOUND_BESIDE
        )
    )


def find_decline(values: Numbers) -> Decline:
    """The pace of the newest straight part."""
    noise, steps = _find_noise(values)

    def find_error(length: int) -> float:
        """The standard error of the pace of so many values."""
        return sqrt(12 * noise / length**3 + 1.2 * steps / length)

    different = (i for i in range(_NEWEST, len(values)) if len({*values[-i:].tolist()}) >= _NEWEST)
    found: list[tuple[int, float, float]] = []
    lowest, highest, count = -inf, inf, next(different, len(values))
    while not found or found[-1][0] < len(values):
        rate = -find_trend(values[-count:]).slope
        error = find_error(count)
        lowest = max(lowest, rate - _AGREES * error)
        highest = min(highest, rate + _AGREES * error)
        if lowest > highest and found[-1][1] >= -found[-1][2]:  # what rises at last swings
            break
        found.append((count, rate, error))
        count = min(int(count * _LONGER) + 1, len(values))
    (_, newest, spread), (since, rate, error) = found[0], found[-1]
    earlier = values[max(0, len(values) - 2 * since) : len(values) - since]
    earlier = earlier if len(earlier) >= _NEWEST else values
    before = -find_trend(earlier).slope
    apart = _TURNS * hypot(error, find_error(len(earlier)))
    is_faster = rate - before > apart
    if before <= rate + apart:
        before = min(before, rate)
    if before < rate:
        before = (
            max(before, rate / _SPEEDED)
            if speeds_up(values[-since - len(earlier) :], since)
            else 0.0
        )
    slowest = rate / _SLOWER if before > rate else rate
    doubt = NORMAL_95 * error / rate if rate > 0 else inf
    # A pace is above 0: as the lower end of a gamma law, which is 1 - doubt where that is small.
    least = rate * exp(-doubt - doubt**2 / 2) if doubt < _NO_PACE else 0.0
    low = min(least, max(newest - spread, slowest))
    high = max(rate + NORMAL_95 * error, min(newest + spread, rate * _FASTER))
    now = rate * sqrt(rate / before) if is_faster and before > 0 else rate
    return Decline(rate, max(0.0, low), high, since, before, now)


def speeds_up(values: Numbers, newest: int) -> bool:
    """True if a series falls ever faster, not at one pace since its newest part began.

    By what a parabola and an exponential leave of it, and two lines that meet there.

    >>> speeds_up(-(np.arange(48.0) ** 3), 24), speeds_up(-np.maximum(24, np.arange(48.0)), 24)
    (True, False)
    """
    age = np.arange(len(values)) - float(len(values) - newest)
    shapes = (age * age, np.exp(2 * age / newest), np.maximum(0, age))
    fits = np.stack([[np.ones_like(age), age, one] for one in shapes]).transpose(0, 2, 1)
    left = np.square(_find_rests(fits, values)).sum(axis=1)
    return bool(left[:2].min() <= left[2] * (1 + _DOUBT / len(values)))


def find_end(
    decline: Decline, highs: Numbers, lows: Numbers, needed: float
) -> tuple[float, float, float | None]:
    """The number of further values until a low reaches `needed`; the earliest, the latest.

    The lows go on to dip below their line as they did. The latest is nearer to the highs. A fall
    that slows down or speeds up goes on to do so: the latest is that of the first, the others those
    of the second. None if it may never come.
    """
    noise, steps = _find_noise(highs)
    count = max(4, int(decline.since) // 3)
    ends = [float(one[-count:].mean()) - decline.rate * (count - 1) / 2 for one in (lows, highs)]
    low, soon = (
        ends[0] - needed - _find_dips(highs, lows, ends[0] - needed, decline.rate)
    ).tolist()
    middle = max(0.0, low + _NEAR * (ends[1] - ends[0]))
    variance = NORMAL_95**2 * (noise / count + steps * count / 6)

    def cross(left: float, rate: float, sign: int, alone: float = 0.0) -> float:
        """When left - rate * t is as far below (1) or above (-1) 0 as chance lets it be."""
        linear, constant = 2 * left * rate + NORMAL_95**2 * steps, left**2 - variance - alone
        root = sqrt(max(0.0, linear**2 - 4 * rate**2 * constant))
        return max(0.0, (linear + sign * root) / (2 * rate**2))

    bend = (
        log(decline.before / decline.rate) / decline.since
        if min(decline.rate, decline.before) > 0
        else 0.0
    )

    def lose(left: float, rate: float) -> float:
        """When so much is lost at a pace that goes on to change."""
        share = left * bend / rate * exp(bend * decline.since / 2)
        return -log1p(-share) / bend if share < 1 else inf

    after = max(0.0, low / decline.rate) if decline.rate > 0 else inf
    earliest = cross(soon, decline.high, -1, noise) if soon > sqrt(variance) else 0.0
    if decline.at_last > decline.rate:
        after = lose(max(0.0, low), decline.rate)
    if bend < 0:  # which may be chance, but may not: the earliest end is the one to fear
        earliest = min(earliest, lose(max(0.0, soon - sqrt(variance)), decline.high))
    if decline.low <= 0:
        return after, min(after, earliest), None
    about = middle / decline.rate
    # Of steps a slow pace and a long wait for the last ones are two chances, not one.
    apart = about + hypot(middle / decline.low - about, cross(middle, decline.rate, 1) - about)
    latest = max(after, apart if steps > _STEPPED * noise else cross(middle, decline.low, 1, noise))
    if bend > 0:
        latest = max(latest, lose(middle, decline.rate))
    return after, min(after, earliest), latest if latest < inf else None


def _find_dips(highs: Numbers, lows: Numbers, left: float, rate: float) -> Numbers:
    """How far a falling line is above 0 when, with each of the chances, a low has been below 0.

    The lows dip below it as they did. Now it is at `left`. The more slowly it falls, the more
    surely the deepest ones end it.
    """
    curve = _fit_falling(highs)
    # Below the next high, as a step is no dip, and beyond what they gather more and more.
    gap = np.append(curve[1:], curve[-1]) - lows
    below = np.sort(
        -_find_rests(np.vander(np.arange(1.0 * len(gap)), 2)[None], gap)[0]
    )  # deepest first
    lines = min(left, -below[0]) - rate * np.arange(min(-below[0] / max(rate, 1e-9), _ENOUGH) + 1)
    served = np.cumprod(1 - np.searchsorted(below, -lines, "right") / len(below))
    met = np.minimum(np.searchsorted(-served, np.subtract(_DIPS, 1)), len(lines) - 1)
    return np.asarray(np.maximum(0.0, lines[met]))


def _fit_falling(values: Numbers) -> Numbers:
    """The never-rising series that is nearest to the values: neighbours that rise are joined."""
    levels: list[float] = []
    counts: list[int] = []
    for value in values.tolist():
        level, count = value, 1
        while levels and levels[-1] < level:
            count += counts[-1]
            level += (levels.pop() - level) * counts.pop() / count
        levels.append(level)
        counts.append(count)
    return np.repeat(levels, counts)


def _find_rests(shapes: Numbers, values: Numbers) -> Numbers:
    """What least squares by the columns of each of some matrices leave of the values."""
    return np.asarray(values - (shapes @ (np.linalg.pinv(shapes) @ values)[..., None])[..., 0])


def _score(values: Numbers) -> float:
    """The variance that a falling curve explains over the rest's, times independent values."""
    curve = _fit_falling(values)
    rest = values - curve
    explained, left = float(curve.var()), float(rest.var())
    if explained == 0 or left == 0:
        return inf if explained else 0.0
    neighbours = min(max(0.0, correlate_neighbours(rest)), MOST_CORRELATION)
    return len(values) * explained / left * (1 - neighbours) / (1 + neighbours)


def _find_noise(values: Numbers) -> tuple[float, float]:
    """Two variances: of each value alone, and of what is lost from one to the next for good.

    By the differences and their neighbours, around their mean nearby. Steps are counted as steps
    where they are clear.
    """
    steps = np.diff(values)
    count, width = len(steps), min(_NEARBY, len(steps))
    sums = np.concatenate([[0.0], np.cumsum(steps)])
    first = np.clip(np.arange(count) - width // 2, 0, count - width)
    rest = (steps - (sums[first + width] - sums[first]) / width) * sqrt(width / (width - 1))
    each, next_one = float(rest @ rest) / count, float(rest[:-1] @ rest[1:]) / count
    lasting = min(each, max(0.0, each + 2 * next_one - 1.5 * each / sqrt(count)))
    return (each - lasting) / 2, _UNEVEN * lasting
