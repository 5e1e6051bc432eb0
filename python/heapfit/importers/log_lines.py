# SPDX-License-Identifier: Apache-2.0
"""The one reader of a log's lines, for calls and for telemetry: prefixes off, boots told apart.

    bytes --> line --> colours, clocks, levels, tags, source lines off --> text, time, boot

A row of the table is one way in which a line begins, with who prints it so. Rows are taken off
until none fits, so a terminal's clock may stand before the device's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice, pairwise
from math import ceil, inf
from statistics import median

from heapfit.fact_files import read_facts, read_rules

LONGEST_LINE = 4096  # bytes; what is longer is skipped


class Clock(StrEnum):
    """What a log's time counts from."""

    DATE = "date"  # 1970
    YEAR = "time of year"  # the first of January, of a year that is not told
    DAY = "time of day"  # midnight
    UPTIME = "uptime"  # the device's start
    CALLS = "calls"  # the heap's making, and each call of it is a second


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line without what stands before its text."""

    raw: str  # without colours
    text: str  # without prefixes
    moments: dict[Clock, float]  # seconds by each clock that it begins with, which do not wrap
    is_start: bool  # it tells a start of the device


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OPEN = (
    r"""^[\s\[(<"'|*>@+-]{0,80}"""
    r"""(?:(?:ts|[tT]|time|timestamp|date|@timestamp)\s*[=:]\s*["\[]?|[Tt]\+)?"""
)
_CLOSE = r"""(?:[\])>"'}|:;]|,(?=\s)|\s->|\s>)*\s*"""
_FACTS = read_facts(__file__, "log_lines.toml")
_SIGN = read_rules(__file__, "log_lines.toml")
_PARTS = _FACTS["part"] | {"MONTH": rf"(?P<month>(?i:{'|'.join(_MONTHS)}))[a-z]*"}


def _expand(rule: str | Sequence[str]) -> str:
    """A rule with the parts that it names."""
    return re.sub("%([A-Z_]+)%", lambda part: _expand(_PARTS[part[1]]), "".join(rule))


CALLS = _expand("%CALLS%")
_PREFIXES = tuple(
    (Clock(one["clock"]) if "clock" in one else None, _expand(one["rule"]))
    for one in _FACTS["prefix"]
)
_RULES = tuple((clock, re.compile(_OPEN + rule + _CLOSE)) for clock, rule in _PREFIXES)
# Which row fits, in one go: the name of the group is its place.
_ANY_RULE = re.compile(
    _OPEN
    + "|".join(
        f"(?P<r{i}>{re.sub('[?]P<[a-zA-Z]+>', '?:', rule)})"
        for i, (_, rule) in enumerate(_PREFIXES)
    ).join(("(?:", ")"))
    + _CLOSE
)
# Times that stand behind other words.
_TOLD = tuple((Clock(one["clock"]), re.compile(_expand(one["rule"]))) for one in _FACTS["behind"])
_DAY_LINE = re.compile(_expand(_FACTS["day"]["rule"]))
_DEVICE = re.compile("|".join(_expand(one["rule"]) for one in _FACTS["device"]))
_START = re.compile("|".join(f"({one['rule']})" for one in _FACTS["start"]), re.IGNORECASE)
_START_WORDS = {word.encode() for one in _FACTS["start"] for word in one["words"]}
_MOST_PREFIXES = 8
_JITTER = 2.0  # seconds by which lines of several tasks may stand in another order
_FALL = 0.02  # seconds of an uptime that may begin again; less is the order of lines
_FEWEST_TIMES = 3  # that a boot has more of, where it takes less
BEHIND = 16  # lines behind one, by which it is known whether an uptime begins again there
_BOOT_LINES = 40  # lines that a start takes, which may tell it in several ways
# Where a clock begins again by itself: from what on, and after how long.
_DAY, _YEAR, _WRAP = 86_400.0, 365 * 86_400.0, 2.0**32 / 1000
_WRAPS: dict[Clock | str, tuple[float, float]] = {
    Clock.DAY: (_DAY / 2, _DAY),
    Clock.YEAR: (_YEAR / 2, _YEAR),
    Clock.UPTIME: (_WRAP * 0.99, _WRAP),
    "us": (_WRAP * 0.9e-3, _WRAP * 1e-3),  # an uptime in microseconds: after 71.6 min
}
_SLACK = 3600.0  # seconds that a device's clock may be behind that of the terminal
# Seconds in what a prefix counts.
_UNITS = {
    "days": _DAY,
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "S": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "x": 1e-3,
}
_EPOCH = (1_400_000_000, 2_000_000_000)  # seconds since 1970; in ms an uptime of 16.2 to 23.1 days
# Threads that have a number; of a clock's steps: what falls more often is none, or begins again;
# seconds that it takes at least until one is set; steps that are rather us than ms; ms of an hour.
_MOST_THREADS, _OFTEN, _SOON, _SLOW, _HOUR = 16, 0.1, 10, 9_000_000, 3_600_000
# What is supposed of counts, by the sign or unit that they get.
_SUPPOSED = {
    " us": "its count is taken as microseconds, by its steps (print seconds, if it is ms)",
    "#": "its clock begins again by itself, and lines lie too far apart to count how often: no "
    "time (print seconds, or 64 bits)",
    "_ms": "its uptime is taken as ms, by its steps (--line 'uptime={time:s} ... {free}' takes "
    "seconds)",
}
# A date in numbers alone: which of them may be the year, the month and the day.
_ORDERS = ((4, 3, 1), (4, 1, 3), (1, 3, 4))


class LineReader:
    """Makes lines of a log's text, each with the boot that it belongs to.

    A boot begins where the boot loader or the program says so, or where a clock falls.
    """

    def __init__(self) -> None:
        self.boot = 0  # starts so far
        self.program = ""  # the version that started last, where it is told
        self._started = -_BOOT_LINES  # the line that told the last start
        self._kinds: set[int] = set()  # in which ways it was told
        self._times: dict[Clock, list[float]] = {}  # of this boot: its first ones, and the last
        self._added: dict[Clock, float] = {}  # where a clock began again by itself
        self._uptime: Clock | str = Clock.UPTIME  # the line's, as _WRAPS names it
        self._day: float | None = None  # of times of day, by the line above that tells it
        self._midnight: float | None = None  # when the clock of times of day began

    def read(self, number: int, line: str, behind: Sequence[str] = ()) -> LogLine:
        """The next line of the log; `behind`: up to BEHIND lines that follow."""
        raw = _SIGN["colour"].sub("", line)
        moments, text = split_prefix(raw)
        said, before = _START.search(raw) or _START.search(text), self.boot
        self._uptime = (
            "us" if _SIGN["microseconds"].search(raw, 0, len(raw) - len(text)) else Clock.UPTIME
        )
        if day := _DAY_LINE.fullmatch(raw):
            self._day = _count_seconds(day.groupdict())
        if said:
            self.boot += self._is_another(number, said.lastindex or 0)
            self._times.pop(Clock.UPTIME, None)
        told = number - self._started <= _BOOT_LINES and _SIGN["program"].search(raw)
        self.program = told[1] if told else self.program
        # A day is that of the lines below, and no boot's end.
        times = ({Clock.DATE: self._day or 0.0} if day else {}) | self.advance(
            number, moments, behind
        )
        return LogLine(raw, text, times, self.boot > before)

    def advance(
        self, number: int, moments: Mapping[Clock, float], behind: Sequence[str] = ()
    ) -> dict[Clock, float]:
        """The times of a line, which go on where a clock begins again by itself."""
        if sum(self._advance(clock, seconds, behind) for clock, seconds in moments.items()):
            self.boot += self._is_another(number, 0)
        times = {clock: self._times[clock][-1] for clock in moments}
        if Clock.DAY in times and self._day is not None:
            days = ceil((self._day - _SLACK * bool(self._day % _DAY) - times[Clock.DAY]) / _DAY)
            self._midnight, self._day = days * _DAY, None
        if Clock.DAY in times and self._midnight is not None:
            times.setdefault(Clock.DATE, self._midnight + times[Clock.DAY])
        return times

    def _is_another(self, number: int, kind: int) -> bool:
        """True if a line tells another start than the lines just before it; 0: by its clock."""
        is_another = number - self._started > _BOOT_LINES or kind in self._kinds
        if is_another:
            self._started, self._kinds = number, set()
        self._kinds.add(kind)
        return is_another

    def _advance(self, clock: Clock, seconds: float, behind: Sequence[str]) -> bool:
        """True if a clock falls, which ends a boot."""
        times, added = self._times.setdefault(clock, []), self._added.get(clock, 0.0)
        drop = times[-1] - added - seconds if times else 0.0
        begin, length = _WRAPS.get(self._uptime if clock is Clock.UPTIME else clock, (inf, inf))
        if drop > length / 2 and begin <= drop + seconds <= length:
            added, drop = added + length, 0.0
        fell = drop > _JITTER or (
            clock is Clock.UPTIME and drop > _FALL and _begins_again(seconds + added, times, behind)
        )
        if fell:
            times.clear()
        self._added[clock] = added
        times[4 * BEHIND :] = [seconds + added]
        return fell


def _begins_again(seconds: float, times: Sequence[float], behind: Sequence[str]) -> bool:
    """True if an uptime goes on from near the first of `times`: a boot's first ones, and its last.

    A late line of another task is soon followed by its likes; a boot takes about as many lines as
    the one before. What falls more often is the number of a task.
    """
    is_first = seconds <= 1.1 * times[0] + _FALL and len({*times}) > _FEWEST_TIMES
    if not is_first or any(before - after > _FALL for before, after in pairwise(times)):
        return False
    later = [split_prefix(line)[0].get(Clock.UPTIME, 0.0) for line in behind]
    back = next((i for i, one in enumerate(filter(None, later), 1) if one >= times[-1]), inf)
    return 2 * back > len(times)


def find_devices(lines: Sequence[str], tags: Collection[str] | None = ()) -> list[set[str]]:
    """The devices that each line of a log is of: all those that it names, where it tells a day.

    "" is that of lines that name none; of all lines where no two devices are named. `tags`: those
    in brackets that are devices, too; None: all.
    """
    texts = [_SIGN["colour"].sub("", text) for text in lines]
    names = [
        one[one.lastindex or 0].replace("/", ".")
        if one and (tags is None or not one["tag"] or one["tag"] in tags)
        else ""
        for one in map(_DEVICE.search, texts)
    ]
    return (
        [
            known if _DAY_LINE.fullmatch(text) else {name}
            for text, name in zip(texts, names, strict=True)
        ]
        if len((known := {*names}) - {""}) > 1
        else [{""}] * len(names)
    )


def may_tell_start(text: bytes) -> bool:
    """True if a text has any of the words of a start of the device: quick, for long ones.

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
    text, moments = _SIGN["priority"].sub("", _SIGN["colour"].sub("", line)), dict[Clock, float]()
    for _ in range(_MOST_PREFIXES):
        found = _ANY_RULE.match(text)
        if found is None:
            break
        clock, rule = _RULES[int((found.lastgroup or "")[1:])]
        match = rule.match(text) if clock else None
        seconds = _count_seconds(match.groupdict()) if match else None
        # "35 ms" alone is how long something took.
        if clock and seconds is not None and (clock != Clock.UPTIME or found.end() < len(text)):
            moments.setdefault(clock, seconds)
        if found.end() == len(text):
            break
        text = text[found.end() :]
    for clock, rule in () if moments else _TOLD:
        if told := rule.search(text):
            moments.setdefault(clock, _count_seconds(told.groupdict()) or 0.0)
    return moments, text.strip()


def order_dates(lines: Sequence[str]) -> tuple[Sequence[str], str]:
    """The lines with dates in numbers as ISO 8601 has them; what was supposed, if it may be wrong.

    The day or the month comes first: by the right order every month is one, and the dates rise and
    take the shorter time.

    >>> order_dates(["31/01/2026 free 90", "01/02/2026 free 80"])
    (['2026-01-31 free 90', '2026-02-01 free 80'], '')
    """
    clocks = [match for line in lines for match in _SIGN["days_clock"].finditer(line)]
    if clocks and all(int(one[2]) < 24 and int(one[4]) < 60 for one in clocks):
        lines = [_SIGN["days_clock"].sub(r"\1d \2:\3:\4", line) for line in lines]
    lines, silent = _settle_counts(lines)
    found = [match for line in lines for match in _SIGN["date"].finditer(line)]
    if not found:
        return lines, silent
    sign, weights = found[0][2], [_weigh_order(found, *order) for order in _ORDERS]
    best = min(  # nobody writes the month before a full stop, and most before a stroke
        range(3),
        key=lambda i: (weights[i][0], sign == "." and i == 1, weights[i], i ^ (sign == "/")),
    )
    year, month, day = _ORDERS[best]
    is_unclear = weights[0] == weights[1] and sign != "." and any(one[1] != one[3] for one in found)
    told = f"dates such as {found[0][0]} are read with the {'day' if best == 0 else 'month'} first"
    return [
        _SIGN["date"].sub(lambda one: f"{one[year]:>04}-{one[month]:>02}-{one[day]:>02}", line)
        for line in lines
    ], f"{told}, as nothing in the log tells" if is_unclear and best < 2 else silent


def _settle_counts(lines: Sequence[str]) -> tuple[Sequence[str], str]:
    """The lines with what their counts are, as far as all of them tell it; why they are no time.

    >>> _settle_counts(["[2] free 90", "[62] free 80", "[1764495000] free 70"])[0][1:]
    ['[62 s since 1970] free 80', '[1764495000] free 70']
    """
    names = next(filter(None, map(_SIGN["uptime_column"].match, lines)), None)
    cell = _SIGN["uptime_cell"].pattern.replace(
        "COLUMNS", str(len(re.findall(r"[,;\t]", names[1] if names else "")))
    )
    found = max(
        (
            [*map(re.compile(rule).match, lines)]
            for rule in (_SIGN["count"], cell)[: 1 + bool(names)]
        ),
        key=lambda one: len([*filter(None, one)]),
    )
    counts = [int(one["count"]) for one in found if one]
    sign, unit, least, most = _find_unit(
        counts, any(one["uptime"] is not None for one in found if one)
    )
    return [
        f"{one['open']}{sign}{one['text']}{one['behind'] or unit}{line[one.end() :]}"
        if one and least <= int(one["count"]) < most
        else line
        for line, one in zip(lines, found, strict=True)
    ], _SUPPOSED.get(sign or unit, "") * (least == 0)


def _find_unit(counts: Sequence[int], is_uptime: bool) -> tuple[str, str, float, float]:
    """What stands before and behind some counts: of those between two numbers.

    Numbers of threads come again and again. What passes where it may be seconds since 1970 within
    a day counts ms, or us where it steps by more than 9,000,000 and by no whole hours in ms; what
    jumps there is a clock that is set. An uptime that steps by a thousand or more counts ms; by
    half hours, seconds.
    """
    (begin, end), values = _EPOCH, {*counts}
    falls = sorted(after for before, after in pairwise(counts) if after < before)
    is_often = len(falls) > max(2.0, _OFTEN * len(counts))
    is_few = len(counts) > max(2, 2 * len(values)) and len(values) <= _MOST_THREADS
    begins_again = is_often and falls[len(falls) // 2] > 50 * _WRAP and max(values) > 500 * _WRAP
    near = ({one < edge for one in counts if abs(one - edge) < 1000 * _DAY} for edge in _EPOCH)
    sets = sum(before < begin <= after < end for before, after in pairwise(counts))
    risen = sum(after - before for before, after in pairwise(counts) if before < after < begin)
    step = median([after - before for before, after in pairwise(counts) if after > before] or [0])
    told = (
        (
            is_uptime and not is_often and step >= 1000 and (step % 1800 > 0 or step % 1000 == 0),
            ("_ms", "", 0, inf),
        ),
        (is_few and (is_often or len(values) == 1), ("#", "", begin, end)),
        (begins_again, ("#", "", 0, inf)),
        (
            step > _SLOW and 0.02 < step / _HOUR % 1 < 0.98 and any(len(one) > 1 for one in near),
            ("", " us", 0, inf),
        ),
        (any(len(one) > 1 for one in near), ("", " ms", 0, inf)),
        (0 < _SOON * sets <= risen and max(values) < end, ("", " s since 1970", 0, begin)),
    )
    return next((unit for holds, unit in told if holds), ("", "", 0, 0))


def _weigh_order(
    dates: Sequence[re.Match[str]], year: int, month: int, day: int
) -> tuple[int, int, int]:
    """What speaks against an order of dates: months and days that are none, falls, days in all."""
    days = [372 * int(one[year]) + 31 * int(one[month]) + int(one[day]) for one in dates]
    falls = sum(after < before for before, after in pairwise(days))
    wrong = sum(int(one[month]) > 12 or int(one[day]) > 31 for one in dates)
    return wrong, falls, max(days) - min(days)


def parse_time(text: str) -> dict[Clock, float]:
    """The time that a text is, a date or a time of day; empty if it is none.

    >>> parse_time("20 Jan 1970 01:00:00 AM"), parse_time("90500 ms")
    ({<Clock.DATE: 'date'>: 1645200.0}, {<Clock.UPTIME: 'uptime'>: 90.5})
    """
    return dict(islice(split_prefix(text + " x")[0].items(), 1))


def _count_seconds(parts: dict[str, str | None]) -> float | None:
    """The seconds that the groups of a prefix tell; None if there is no such date."""
    seconds = sum(
        _UNITS[name]
        * (
            int(text, 16)
            if name == "x"
            else float(text.replace(",", ".").replace(":", ".").rstrip("."))
        )
        for name, text in parts.items()
        if text and name in _UNITS
    )
    if half := parts.get("half"):
        seconds += _DAY / 2 * ((half in "pP") - (parts["h"] == "12"))
    if parts.get("D") is None:
        return seconds
    month = (
        int(parts["M"] or 0)
        if parts.get("M")
        else 1 + _MONTHS.index((parts["month"] or "").title())
    )
    year = int(parts.get("Y") or 1970)
    day = f"{year + 2000 * (year < 100):04}-{month:02}-{int(parts['D'] or 0):02}"
    zone = (parts.get("zone") or "").strip("UTCGMZ") or "+00:00"
    try:
        return datetime.fromisoformat(f"{day}T00:00{zone}").timestamp() + seconds
    except ValueError:
        return None
