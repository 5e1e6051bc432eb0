# SPDX-License-Identifier: Apache-2.0
"""The one reader of a log's lines, for calls and for telemetry: prefixes off, boots told apart.

    bytes --> line --> colours, clocks, levels, tags, source lines off --> text, time, boot

A row of the table is one way in which a line begins, with who prints it so. Rows are taken off
until none fits, so a terminal's clock may stand before the device's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import inf
from typing import NamedTuple

LONGEST_LINE = 4096  # bytes; what is longer is skipped


class Clock(StrEnum):
    """What a log's time counts from."""

    DATE = "date"  # 1970
    YEAR = "time of year"  # the first of January, of a year that is not told
    DAY = "time of day"  # midnight
    UPTIME = "uptime"  # the device's start
    CALLS = "calls"  # the heap's making, and each call of it is a second


class Moment(NamedTuple):
    """A time in a log."""

    seconds: float
    clock: Clock


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line without what stands before its text."""

    number: int  # in the file, from 1
    raw: str  # without colours
    text: str  # without prefixes
    moments: dict[Clock, float]  # seconds by each clock that it begins with, which do not wrap
    boot: int  # starts of the device before it
    is_start: bool  # it tells a start of the device


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAME = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?"
_HMS = (
    r"(?P<h>\d\d?):(?P<m>\d\d)(?::(?P<s>\d\d(?:[.,:]\d{1,9})?))?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\b)?(?!\d)"
)
_ZONE = r"(?:\s?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)(?!\w))?"
_CLOCK_BEHIND = rf"(?:,?[T_ :\-]\s*{_HMS}{_ZONE}|(?!\d))"
_WORDS = (
    "VERBOSE|VERB|DEBUG|DBG|INFO|INF|NOTICE|WARN|WRN|WARNING|ERROR|ERR|TRACE"
    "|dbg|inf|wrn|err|verbose|debug|info|warn|warning|error|trace"
)
_LEVEL = f"(?:[VDIWEF]|{_WORDS})"
_DAYS = r"(?:(?P<days>\d+)\s*(?:d|days?)[\s,:]*)"
_OPEN = (
    r"""^[\s\[(<"'|*>@+-]{0,80}"""
    r"""(?:(?:ts|t|time|timestamp|date|@timestamp)\s*[=:]\s*["\[]?|[Tt]\+)?"""
)
_CLOSE = r"""(?:[\])>"'}|:;]|,(?=\s)|\s->|\s>)*\s*"""
# How lines begin: the time, what it counts from, and who prints it. No clock: it is no time.
_PREFIXES: tuple[tuple[Clock | None, str, str], ...] = (
    (Clock.DATE, r"(?P<Y>\d{4})[-/.](?P<M>\d\d?)[-/.](?P<D>\d\d?)" + _CLOCK_BEHIND, "ISO 8601"),
    (
        Clock.DATE,
        r"(?P<Y>20\d\d)(?P<M>\d\d)(?P<D>\d\d)[T _-]?(?P<h>\d\d):?(?P<m>\d\d):?"
        r"(?P<s>\d\d(?:[.,]\d+)?)?" + _ZONE,
        "ISO 8601 without signs",
    ),
    (
        Clock.DATE,
        r"(?P<D>\d\d?)[.-](?P<M>\d\d?)[.-](?P<Y>\d{4}|\d\d(?=[ ,T]))\.?" + _CLOCK_BEHIND,
        "day first",
    ),
    (
        Clock.DATE,
        r"(?P<M>0?[1-9]|1[0-2])/(?P<D>\d\d?)/(?P<Y>\d{4}|\d\d(?=[ ,T]))" + _CLOCK_BEHIND,
        "month first",
    ),
    (
        Clock.DATE,
        r"(?P<D>1[3-9]|2\d|3[01])/(?P<M>\d\d?)/(?P<Y>\d{4}|\d\d(?=[ ,T]))" + _CLOCK_BEHIND,
        "day first, where it can be no month",
    ),
    (
        Clock.DATE,
        _WEEKDAY + rf"(?P<D>\d\d?)[ \-/]{_NAME}[ \-/](?P<Y>\d{{4}}){_CLOCK_BEHIND}",
        "RFC 5322, ctime in words",
    ),
    (
        Clock.DATE,
        _WEEKDAY + rf"{_NAME}\s+(?P<D>\d\d?),?\s+{_HMS}\s+(?:[A-Z]{{3,4}}\s+)?(?P<Y>\d{{4}})",
        "ctime, dmesg -T",
    ),
    (
        Clock.DATE,
        _WEEKDAY + rf"{_NAME}\s+(?P<D>\d\d?),?\s+(?P<Y>\d{{4}}),?\s+{_HMS}{_ZONE}",
        "date with a name",
    ),
    (Clock.YEAR, rf"{_WEEKDAY}{_NAME}\s+(?P<D>\d\d?)\s+{_HMS}", "syslog, journald"),
    (Clock.YEAR, rf"(?:{_LEVEL})?(?P<M>\d\d)-?(?P<D>\d\d)\s{_HMS}", "logcat, glog, RT-Thread"),
    (Clock.DATE, r"(?P<S>1[4-9]\d{8}(?:\.\d+)?)(?![\d.])", "seconds since 1970: candump"),
    (Clock.DATE, r"(?P<ms>1[4-9]\d{11})(?!\d)", "milliseconds since 1970"),
    (
        Clock.UPTIME,
        r"(?:(?P<days>\d+)d?[,:]\s*)?(?P<h>\d+):(?P<m>\d\d):(?P<s>\d\d\.\d{3}),\d{3}\b",
        "Zephyr: hours:minutes:seconds.milliseconds,microseconds",
    ),
    (Clock.UPTIME, rf"(?:[Uu]p(?:time)?:?\s*)?{_DAYS}{_HMS}", "uptime with days"),
    (
        Clock.UPTIME,
        rf"(?:[Uu]p(?:time)?[:=]?\s*)?{_DAYS}?(?:(?P<h>\d+)\s?h(?:ours?)?[\s,:]*)"
        r"(?:(?P<m>\d+)\s?m(?:in)?[\s,:]*)?(?:(?P<s>\d+)\s?s(?:ec)?)?\b",
        "1d02h03m04s",
    ),
    (Clock.UPTIME, rf"[Uu]p(?:time)?[:=]?\s*{_HMS}", "uptime"),
    (Clock.UPTIME, rf"{_LEVEL}\s?\((?P<ms>\d+)\)", "ESP-IDF: milliseconds"),
    (Clock.DAY, rf"{_LEVEL}\s?\({_HMS}\)", "ESP-IDF: time of day"),
    (Clock.DAY, rf"{_LEVEL}\s+{_HMS}", "levels before a time of day"),
    (Clock.UPTIME, rf"{_LEVEL}\s?\[\s*(?P<ms>\d+)\]", "levels before milliseconds"),
    (Clock.UPTIME, r"(?P<h>\d{3,}):(?P<m>\d\d):(?P<s>\d\d(?:\.\d+)?)\b", "hours beyond a day"),
    (Clock.UPTIME, r"(?P<ms>0\d{9})\s?(?=\[)", "Particle: milliseconds in ten digits"),
    (Clock.UPTIME, rf"\[\s*(?P<ms>\d+)\]\[{_LEVEL}\]", "Arduino for ESP32: milliseconds"),
    (
        Clock.UPTIME,
        rf"(?P<ms>\d{{3,}})\s+(?:\[{_LEVEL}\]|{_LEVEL}\b)",
        "programs' own loggers: milliseconds",
    ),
    (Clock.UPTIME, r"(?<=\[)(?<!\d)\s*(?P<S>\d+\.\d+)\]", "dmesg, NuttX: seconds"),
    (Clock.UPTIME, r"(?P<ms>\d+)\s?ms\b", "milliseconds"),
    (Clock.UPTIME, r"(?P<S>\d+(?:\.\d+)?)\s?s(?:ec\w*)?\b", "seconds"),
    (Clock.UPTIME, r"(?:ms|millis(?:\(\))?)\s*[:=]\s*(?P<ms>\d+)", "milliseconds by name"),
    (None, r"\[0\d{7,}\]", "Zephyr's raw cycles, of no unit"),
    (Clock.UPTIME, r"\[\s*(?P<ms>\d+)\](?=\s*\S)", "[millis]"),
    (Clock.UPTIME, r"(?P<ms>\d{4,}):\s(?=\s*[^\s\d])", "millis:"),
    (Clock.UPTIME, r"(?P<S>\d+\.\d{6})[:\s](?=\s*\D)", "ts: seconds with six digits behind"),
    (None, r"\d+\s+(?P<ticks>\d+)\s+\[[^\]]*\]", "FreeRTOS: line, ticks and task"),
    (Clock.DAY, _HMS, "serial monitors"),
    (
        None,
        rf"{_LEVEL}(?:\]|>|,(?=\s\[)|/[\w.-]+\s?:?)|(?:{_WORDS})\s?[:|](?!\s*\d)|(?:{_WORDS})(?=\s+[(\[|<])",
        "levels",
    ),
    (None, r"(?<=\[)(?![^\]]{0,40}\d{4})[^\]\[=]{0,40}\](?!\s?[=:]?\s*\d)", "tags, tasks, threads"),
    (
        None,
        r"[\w./\\-]{1,120}\.(?:c|cc|cpp|h|hpp|ino|py|rs|go|js|lua):\d+(?::\d+)?",
        "source, line",
    ),
    (None, r"(?:[\w.-]{1,64}\s+)?[\w./-]{1,64}\[\d+\]:", "syslog: host, program and process"),
    (None, r"#\d+(?![\w.])", "number of a line"),
    (Clock.UPTIME, r"(?<=[Tt]\+)(?P<S>\d+(?:\.\d+)?)(?![\w.:])", "T+: seconds since the start"),
    (None, r"(?:[\w.-]{1,64}\s+)?kernel:(?=\s*\[)", "syslog of a kernel"),
    (None, r"(?<![<\w])[\w.:/~@-]{1,24}(?:\$|#|(?<![-=])>)\s", "prompts of shells"),
    (None, r"(?:stdout|stderr)\s[FP]\s|[a-zA-Z][\w.]*[-_]\d+\s+\|\s", "containers"),
)
_RULES = tuple((clock, re.compile(_OPEN + rule + _CLOSE)) for clock, rule, _ in _PREFIXES)
# Which row fits, in one go: the name of the group is its place.
_ANY_RULE = re.compile(
    _OPEN
    + "|".join(
        f"(?P<r{i}>{re.sub('[?]P<[a-zA-Z]+>', '?:', rule)})"
        for i, (_, rule, _) in enumerate(_PREFIXES)
    ).join(("(?:", ")"))
    + _CLOSE
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00\ufeff\x08]|\r$")
# A time that stands behind other words.
_TOLD = re.compile(
    r"\b[Uu]p(?:time)?[:=\s]{0,3}(?P<S>\d+(?:\.\d+)?)\s?(?:s|sec\w*)?(?![\w.:]|\s+[a-z]{2})"
    r"|\b(?:[Uu]ptime_?ms|millis(?:\(\))?|ms)\W{0,3}(?P<ms>\d+)(?![\w.])"
    rf"|\b[Uu]p(?:time)?\W{{0,3}}{_DAYS}?{_HMS}"
)
_PRIORITY = re.compile(r"^<\d{1,3}>(?:1 )?")  # syslog
# A start of the device: boot ROMs of ESP32 and ESP8266, ESP-IDF, Zephyr, MCUboot, NuttX, RT-Thread,
# U-Boot, and what programs print of the reason.
_START = re.compile(
    r"(rst:0x)|(^ ?ets [A-Z][a-z]{2} +\d)|(^ESP-ROM:)|(rst cause ?:)"
    r"|(cpu_start: (?:Pro|Multi|Uni))"
    r"|(\*\*\* ?Booting )|(^NuttShell \(NSH\))|(^U-Boot \d)|(^ ?\\ \| /\s*$)"
    r"|(\b(?:reset|reboot|restart)(?:ed|ing)? ?(?:reason|cause)\b)",
    re.IGNORECASE,
)
_START_WORDS = (  # of which each line that tells a start has one
    *(b"rst:0x", b"ets ", b"esp-rom:", b"rst cause", b"cpu_start", b"booting ", b"nuttshell"),
    *(b"u-boot", b"\\ | /", b"reset", b"reboot", b"restart"),
)
_MOST_PREFIXES = 8
_JITTER = 2.0  # seconds by which lines of several tasks may stand in another order
_BOOT_LINES = 40  # lines that a start takes, which may tell it in several ways
# Where a clock begins again by itself: from what on, and after how long.
_DAY, _YEAR, _WRAP = 86_400.0, 365 * 86_400.0, 2.0**32 / 1000
_WRAPS = {
    Clock.DAY: (_DAY / 2, _DAY),
    Clock.YEAR: (_YEAR / 2, _YEAR),
    Clock.UPTIME: (_WRAP * 0.99, _WRAP),
}


class LineReader:
    """Makes lines of a log's text, each with the boot that it belongs to.

    A boot begins where the boot loader or the program says so, or where a clock falls.
    """

    def __init__(self) -> None:
        self.boot = 0  # starts so far
        self._started = -_BOOT_LINES  # the line that told the last start
        self._kinds: set[int] = set()  # in which ways it was told
        self._last: dict[Clock, float] = {}
        self._added: dict[Clock, float] = {}  # where a clock began again by itself

    def read(self, number: int, line: str) -> LogLine:
        """The next line of the log."""
        raw = _COLOUR.sub("", line)
        said, before = _START.search(raw), self.boot
        moments, text = split_prefix(raw)
        if said:
            self.boot += self._is_another(number, said.lastindex or 0)
            self._last.pop(Clock.UPTIME, None)
        times = self.advance(number, moments)
        return LogLine(number, raw, text, times, self.boot, self.boot > before)

    def advance(self, number: int, moments: Mapping[Clock, float]) -> dict[Clock, float]:
        """The times of a line, which go on where a clock begins again by itself."""
        if sum(self._advance(clock, seconds) for clock, seconds in moments.items()):
            self._started, self._kinds = number, set()
            self.boot += 1
        return {clock: self._last[clock] for clock in moments}

    def _is_another(self, number: int, kind: int) -> bool:
        """Whether a line tells another start than the lines just before it."""
        is_another = number - self._started > _BOOT_LINES or kind in self._kinds
        if is_another:
            self._started, self._kinds = number, set()
        self._kinds.add(kind)
        return is_another

    def _advance(self, clock: Clock, seconds: float) -> bool:
        """Whether a clock falls, which ends a boot."""
        added, last = self._added.get(clock, 0.0), self._last.get(clock)
        drop = 0.0 if last is None else last - added - seconds
        begin, length = _WRAPS.get(clock, (inf, inf))
        if drop > length / 2 and drop + seconds >= begin:
            added, drop = added + length, 0.0
        fell = drop > _JITTER
        self._added[clock] = added
        self._last[clock] = seconds + added
        return fell


def may_tell_start(text: bytes) -> bool:
    """Whether a text has any of the words of a start of the device: quick, for long ones.

    >>> may_tell_start(b"*** Booting Zephyr OS build v3.7.0 ***"), may_tell_start(b"malloc(8)")
    (True, False)
    """
    small = text.lower()
    return any(word in small for word in _START_WORDS)


def split_prefix(line: str) -> tuple[dict[Clock, float], str]:
    """The times that a line begins with, by their clocks, and its text behind all prefixes.

    >>> split_prefix("12:00:01 -> [00:01:05.250,000] <inf> heap: free 90")
    ({<Clock.DAY: 'time of day'>: 43201.0, <Clock.UPTIME: 'uptime'>: 65.25}, 'heap: free 90')
    """
    text, moments = _PRIORITY.sub("", _COLOUR.sub("", line)), dict[Clock, float]()
    for _ in range(_MOST_PREFIXES):
        found = _ANY_RULE.match(text)
        if found is None or found.end() == len(text):
            break
        clock, rule = _RULES[int((found.lastgroup or "")[1:])]
        match = rule.match(text) if clock else None
        seconds = _count_seconds(match.groupdict()) if match else None
        if clock is not None and seconds is not None:
            moments.setdefault(clock, seconds)
        text = text[found.end() :]
    if not moments and (told := _TOLD.search(text)):
        moments[Clock.UPTIME] = _count_seconds(told.groupdict()) or 0.0
    return moments, text.strip()


def parse_moment(text: str) -> Moment | None:
    """The time that a text is, a date or a time of day; None if it is none.

    >>> parse_moment("20.01.1970 01:00:00 AM")
    Moment(seconds=1645200.0, clock=<Clock.DATE: 'date'>)
    """
    moments, _ = split_prefix(text + " x")
    return next((Moment(seconds, clock) for clock, seconds in moments.items()), None)


def _count_seconds(parts: dict[str, str | None]) -> float | None:
    """The seconds that the groups of a prefix tell; None if there is no such date."""
    numbers = {
        name: float(text.replace(",", ".").replace(":", ".").rstrip("."))
        for name, text in parts.items()
        if text and name in ("days", "h", "m", "s", "ms", "S")
    }
    h = numbers.get("h", 0.0)
    if half := parts.get("half"):
        h = h % 12 + (12 if half in "pP" else 0)
    seconds = (
        86_400 * numbers.get("days", 0.0)
        + 3600 * h
        + 60 * numbers.get("m", 0.0)
        + numbers.get("s", 0.0)
        + numbers.get("ms", 0.0) / 1000
        + numbers.get("S", 0.0)
    )
    if parts.get("D") is None:
        return seconds
    month = int(parts["M"] or 0) if parts.get("M") else 1 + _MONTHS.index(parts["month"] or "")
    year = int(parts.get("Y") or 1970)
    day = f"{year + 2000 * (year < 100):04}-{month:02}-{int(parts['D'] or 0):02}"
    zone = (parts.get("zone") or "").strip("UTCGMZ") or "+00:00"
    try:
        return datetime.fromisoformat(f"{day}T00:00{zone}").timestamp() + seconds
    except ValueError:
        return None
