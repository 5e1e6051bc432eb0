# SPDX-License-Identifier: Apache-2.0
"""Units of time in which spans and rates are told."""

from __future__ import annotations

from typing import NamedTuple

MICROSECONDS = 1_000_000  # of a second
_FEWEST = 2  # of a unit; fewer are told in the next smaller one


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


def find_unit(seconds: float, fewest: int = _FEWEST) -> TimeUnit:
    """The largest unit of which a span has as many, or the smallest.

    >>> find_unit(7199.0).name, find_unit(7200.0).name
    ('min', 'h')
    """
    return next((one for one in TIME_UNITS if seconds >= fewest * one.seconds), TIME_UNITS[-1])
