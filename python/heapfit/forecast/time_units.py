# SPDX-License-Identifier: Apache-2.0
"""Units of time in which spans and rates are told."""

from __future__ import annotations

from typing import NamedTuple

from heapfit.forecast.decline import Decline
from heapfit.importers.log_lines import Clock

MICROSECONDS = 1_000_000  # of a second
_FEWEST = 2  # of a unit; fewer are told in the next smaller one
_LEAST_RATE = 10  # bytes: slower declines are printed for 1,000 states


class TimeUnit(NamedTuple):
    """A unit of time."""

    seconds: int
    name: str  # behind a number
    each: str  # behind a rate


TIME_UNITS = (
    TimeUnit(86_400, "days", "a day"),
    TimeUnit(3600, "h", "an hour"),
    TimeUnit(60, "min", "a minute"),
    TimeUnit(1, "s", "a second"),
)
# Where a log has no clock, and where its clock counts calls.
_COUNTED = {
    None: TimeUnit(1, "states", "a state"),
    Clock.CALLS: TimeUnit(1, "calls", "a call"),
}


def find_unit(amount: float, clock: Clock | None = Clock.UPTIME) -> TimeUnit:
    """The largest unit of which so many seconds are two, or the smallest; what else is counted.

    >>> find_unit(7199.0).name, find_unit(7200.0).name, find_unit(7200.0, None).name
    ('min', 'h', 'states')
    """
    large = (one for one in TIME_UNITS if amount >= _FEWEST * one.seconds)
    return _COUNTED.get(clock) or next(large, TIME_UNITS[-1])


def format_number(number: float) -> str:
    """A number with three digits that count, and at most one behind the point; below 1 with two.

    >>> format_number(17.66), format_number(12_345.0), format_number(0.0412)
    ('17.7', '12,300', '0.041')
    """
    if 0 < number < 1:
        return f"{number:.2g}"
    return f"{float(f'{number:.3g}'):,.{1 if number < 100 else 0}f}".removesuffix(".0")


def format_length(amount: float, clock: Clock | None) -> str:
    """A time, or a number of states where a log has no clock.

    >>> format_length(11_520.0, Clock.UPTIME)
    '3.2 h'
    """
    unit = find_unit(amount, clock)
    return f"{format_number(amount / unit.seconds)} {unit.name}"


def format_rate(decline: Decline, clock: Clock | None, span: float) -> str:
    """The bytes that are lost, in the largest unit of which a span has two, or for states."""
    each, names, name = find_unit(span, clock)
    if clock in _COUNTED and decline.rate < _LEAST_RATE:
        each, name = 1000, f"each 1,000 {names}"
    rate, low, high = (
        format_number(one * each) for one in (decline.at_last, decline.low, decline.high)
    )
    return f"{rate} B {name}" + (f" ({low} to {high})" if decline.at_last == decline.rate else "")
