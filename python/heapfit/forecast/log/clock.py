# SPDX-License-Identifier: Apache-2.0
"""The time that a line of a log begins with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple


class Clock(StrEnum):
    """What a log's time counts from."""

    DATE = "date"  # 1970
    DAY = "time of day"  # midnight
    UPTIME = "uptime"  # the device's start
    CALLS = "calls"  # the heap's making, and each call of it is a second


class Moment(NamedTuple):
    """A time in a log."""

    seconds: float
    clock: Clock


_LEVEL = "(?:V|D|I|W|E|VERBOSE|DEBUG|INFO|WARN|WARNING|ERROR)"
_FORMS = tuple(
    (re.compile(form), clock)
    for form, clock in (
        (
            r"^\W{0,3}(?P<date>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)",
            Clock.DATE,
        ),
        # Zephyr: [hours:minutes:seconds.milliseconds,microseconds] since the start
        (r"^\[(?P<h>\d+):(?P<m>\d\d):(?P<s>\d\d\.\d{3}),\d{3}\]", Clock.UPTIME),
        # ESP-IDF and Arduino: milliseconds since the start
        (rf"^(?:\x1b\[[\d;]*m)?{_LEVEL} \((?P<ms>\d+)\)", Clock.UPTIME),
        (rf"^\[ *(?P<ms>\d+)\]\[{_LEVEL}\]", Clock.UPTIME),
        (rf"^(?P<ms>\d{{3,}})\s+{_LEVEL}\b", Clock.UPTIME),
        (r"^\W{0,3}(?P<h>\d\d?):(?P<m>\d\d):(?P<s>\d\d(?:[.,]\d+)?)\b\]?", Clock.DAY),
    )
)
_MS = 1000
_FIRST_DATE = 1e8  # seconds; a device that counts so many has run for three years
_FIRST_MILLISECONDS = 1e11


def find_moment(line: str) -> tuple[Moment | None, str]:
    """The time at the line's beginning, if there is one, and what follows it.

    >>> find_moment("[00:01:05.250,000] <inf> heap: free 90")
    (Moment(seconds=65.25, clock=<Clock.UPTIME: 'uptime'>), ' <inf> heap: free 90')
    """
    for form, clock in _FORMS:
        match = form.match(line)
        if match:
            seconds = _seconds(match.groupdict())
            return (None if seconds is None else Moment(seconds, clock)), line[match.end() :]
    return None, line


def parse_moment(text: str, name: str = "") -> Moment | None:
    """The time that a column of this name holds: a date, a time of day, or a number.

    >>> parse_moment("90500", "uptime_ms")
    Moment(seconds=90.5, clock=<Clock.UPTIME: 'uptime'>)
    """
    try:
        number = float(text)
    except ValueError:
        return find_moment(text.strip())[0]
    if not 0 <= number < 1e18:
        return None
    if number > _FIRST_MILLISECONDS:
        return Moment(number / _MS, Clock.DATE)
    if number > _FIRST_DATE:
        return Moment(number, Clock.DATE)
    return Moment(number / _MS if re.search(r"milli|ms\b", name.lower()) else number, Clock.UPTIME)


def _seconds(parts: dict[str, str | None]) -> float | None:
    if "date" in parts:
        return _date(parts["date"] or "")
    if "ms" in parts:
        return int(parts["ms"] or 0) / _MS
    return (
        3600.0 * int(parts["h"] or 0)
        + 60 * int(parts["m"] or 0)
        + float((parts["s"] or "0").replace(",", "."))
    )


def _date(text: str) -> float | None:
    """Seconds since 1970; a date without a zone is taken as UTC."""
    try:
        date = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


class Timeline:
    """Seconds that rise through a log, and where the device must have started anew."""

    _DAY = 86_400.0
    _WRAP = 2.0**32 / _MS  # where a counter of milliseconds begins again, after 49.7 days

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: float | None = None
        self._added = 0.0

    def follow(self, moment: Moment | None) -> tuple[float | None, bool]:
        """The seconds of the next moment, and True if time fell: the device was restarted."""
        if moment is None or moment.clock is not self._clock:
            return None, False
        last, seconds = self._last, moment.seconds + self._added
        if last is not None and seconds < last:
            step = self._step(last - self._added, moment.seconds)
            self._added += step
            seconds += step
        self._last = seconds
        return seconds, last is not None and seconds < last

    def restart(self) -> None:
        """Nothing is known of the time between two starts."""
        if self._clock is Clock.UPTIME:
            self._last, self._added = None, 0.0

    def _step(self, last: float, seconds: float) -> float:
        """What a counter loses where it begins again by itself; 0 where it does not."""
        if self._clock is Clock.DAY and last - seconds > self._DAY / 2:
            return self._DAY
        if self._clock is Clock.UPTIME and self._WRAP * 0.99 < last <= self._WRAP:
            return self._WRAP
        return 0.0
