# SPDX-License-Identifier: Apache-2.0
"""How logs are written, as tables: clocks, words before numbers, units, and forms of lines.

    line --> its clock off --> the first form that fits the log --> a sample

A row is one way to print, with who prints it so. docs/forecast.md lists the forms.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import nan
from typing import TypeAlias

from heapfit.errors import HeapfitError, did_you_mean
from heapfit.forecast.log.states import LARGEST_VALUE, Clock, Field, Moment, Sample

LineReader: TypeAlias = Callable[[str], Sample | None]  # None: the line has no figures

_LEVEL = "(?:V|D|I|W|E|VERBOSE|DEBUG|INFO|WARN|WARNING|ERROR)"
# The time that a line begins with, and what it counts from.
_CLOCKS = (
    (  # ISO 8601
        re.compile(
            r"^\W{0,3}(?P<date>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)"
        ),
        Clock.DATE,
    ),
    (  # Zephyr: [hours:minutes:seconds.milliseconds,microseconds]
        re.compile(r"^\[(?P<h>\d+):(?P<m>\d\d):(?P<s>\d\d\.\d{3}),\d{3}\]"),
        Clock.UPTIME,
    ),
    (re.compile(rf"^(?:\x1b\[[\d;]*m)?{_LEVEL} \((?P<ms>\d+)\)"), Clock.UPTIME),  # ESP-IDF
    (re.compile(rf"^\[ *(?P<ms>\d+)\]\[{_LEVEL}\]"), Clock.UPTIME),  # Arduino for ESP32
    (re.compile(rf"^(?P<ms>\d{{3,}})\s+{_LEVEL}\b"), Clock.UPTIME),  # programs' own loggers
    (  # serial monitors
        re.compile(r"^\W{0,3}(?P<h>\d\d?):(?P<m>\d\d):(?P<s>\d\d(?:[.,]\d+)?)\b\]?"),
        Clock.DAY,
    ),
)
# What a number is by the words before it; the first row that matches counts. None: it says nothing
# of the heap. The words are those of ESP-IDF, FreeRTOS, Zephyr and the esp8266 core, and of what
# people print with their functions.
_LABELS = (
    (
        None,
        re.compile(
            r"psram|spi ?ram|flash|sketch|stack|spiffs|frag|smallest|diff|since|integrity|task|swap"
            r"|percent|pct|disk|temperature|rssi"
        ),
    ),
    (
        Field.FAILURES,
        re.compile(r"fail\w*\W*(count|cnt|request|alloc\w*\W*(:|=|cnt|count|total|$)|times|total)"),
    ),
    (Field.FAILED, re.compile(r"fail|out of memory|unable to alloc")),
    (Field.MOST, re.compile(r"(max\w*|peak|most)\W*(ever\W*)?(used|alloc\w*ed)|peak|high\W*water")),
    (
        Field.LARGEST,
        re.compile(
            r"larg|bigg|max\w*\W*(free\W*)?(heap\W*)?(block|chunk)|max\w*\W*alloc|contiguous"
        ),
    ),
    (Field.ALLOCATED, re.compile(r"allocated|\bused\b|in use")),
    (None, re.compile(r"blocks|number|count|calls|frees|success")),
    (
        Field.LEAST,
        re.compile(
            r"(min\w*|least|lowest|ever)\b.*(free|heap|remain|water)"
            r"|low\W*water|free.*\b(min\w*|lowest|ever)\b|min_?free"
        ),
    ),
    (Field.FREE, re.compile(r"\bfree\b|free\W*(heap|mem|ram|space|size|bytes)|avail|heap\W*$")),
)
# What else a number is in a line that speaks of free bytes before.
_LABELS_BEHIND_FREE = (
    (Field.LEAST, re.compile(r"\b(min|minimum|lowest|low)\W*$", re.IGNORECASE)),
    (Field.LARGEST, re.compile(r"\bmax\W*$", re.IGNORECASE)),
)
_COLUMNS = {  # names of columns that are too short to tell elsewhere
    "min": Field.LEAST,
    "least": Field.LEAST,
    "max": Field.LARGEST,
    "failed": Field.FAILURES,
    "heap": Field.FREE,
}
_TIME_COLUMN = re.compile(
    r"^(time\w*|date\w*|ts|t|(up)?time\w*|m?illis|ms|sec\w*|s)$|timestamp|uptime"
)
_UNITS = {"k": 1024, "m": 1024**2}  # by the first letter; B without one
_AMOUNT = r"(?P<%s>-?[\d,]*\d(?:\.\d+)?|-?nan|-?inf)\s?(?:(?P<%s_unit>bytes?|[km]i?b|[kmb])(?!\w))?"
_TIME = (
    r"(?P<time>\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?|\d+:\d\d:\d\d(?:[.,]\d+)?"
    r"|\d+(?:\.\d+)?)"
)
_PLACEHOLDERS = {  # of --line
    **{name: _AMOUNT % (name, name) for name in ("free", "least", "largest", "failed")},
    "time": _TIME,
}
# A start of the device: the boot ROM of an ESP32, that of an ESP8266, Zephyr.
_START = re.compile(r"\brst:0x|^ ?ets [A-Z][a-z]{2} +\d|\*\*\* ?Booting ", re.IGNORECASE)
# One region of ESP-IDF's heap_caps_print_heap_info, whose totals follow.
_OF_A_REGION = re.compile(r"^\s*At 0x|alloc_blocks")
_BARE = re.compile(r"^\s*(?P<free>\d+)\s*$")  # println(xPortGetFreeHeapSize())
_METRIC = re.compile(
    r"^(?P<name>[a-zA-Z_:][\w:]*)(?P<labels>\{[^}]*\})?\s+(?P<value>[-+\w.]+)(?:\s+(?P<time>\d+))?$"
)
_TELLS_METRICS = re.compile(
    r"^(# (HELP|TYPE) |[a-z_:][\w:]*_(bytes|total|free|count)(\{[^}]*\})?\s+[\d.eE+]+(\s+\d+)?$)"
)

_NUMBER = re.compile(
    r"(?<![\w.])(?P<value>-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|-?nan|-?inf)"
    r"\s?(?P<unit>%|bytes?|[km]i?b|[kmb])?(?![\w%])",
    re.IGNORECASE,
)
_CELL = re.compile(r"\s*(-?[\w.,+-]+?)\s?([kmKM]i?[bB]|[kmbKMB]|bytes?)?\s*")
_FREE_BEHIND = re.compile(r"^\s*(?:bytes?\s+)?free\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST_NAME = 60  # characters
_LOOKED_AT = 50  # lines, by which the form is found
_DEEPEST = 8  # objects in objects
_MS = 1000
_FIRST_DATE = 1e8  # seconds; a device that counts so many has run for three years
_FIRST_MILLISECONDS = 1e11


def find_moment(line: str) -> tuple[Moment | None, str]:
    """The time at the line's beginning, if there is one, and what follows it.

    >>> find_moment("[00:01:05.250,000] <inf> heap: free 90")
    (Moment(seconds=65.25, clock=<Clock.UPTIME: 'uptime'>), ' <inf> heap: free 90')
    """
    for form, clock in _CLOCKS:
        if match := form.match(line):
            seconds = _count_seconds(match.groupdict("0"))
            return None if seconds is None else Moment(seconds, clock), line[match.end() :]
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
    is_date = number > _FIRST_DATE
    is_in_ms = re.search(r"milli|ms\b", name.lower()) and not is_date
    seconds = number / _MS if is_in_ms or number > _FIRST_MILLISECONDS else number
    return Moment(seconds, Clock.DATE if is_date else Clock.UPTIME)


def _count_seconds(parts: Mapping[str, str]) -> float | None:
    """Seconds of a date since 1970, in UTC if it has no zone; None if there is no such date."""
    if "date" not in parts:
        h, m, s, ms = (
            float(parts.get(one, "0").replace(",", ".")) for one in ("h", "m", "s", "ms")
        )
        return 3600 * h + 60 * m + s + ms / _MS
    try:
        date = datetime.fromisoformat(parts["date"].replace(",", "."))
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def classify(label: str) -> Field | None:
    """What the number behind these words is; None: nothing of a heap.

    >>> classify("largest_free_block"), classify("number of free blocks: ")
    (<Field.LARGEST: 'largest'>, None)
    """
    words = _CAMEL.sub(" ", label[-_LONGEST_NAME:]).replace("_", " ").lower()
    return next((field for field, rule in _LABELS if rule.search(words)), None)


def parse_bytes(value: str, unit: str | None = "") -> float:
    """The bytes that a number stands for; NaN if there can be none.

    >>> parse_bytes("10.5", "KB"), parse_bytes("-4"), parse_bytes("1,024")
    (10752.0, nan, 1024.0)
    """
    try:
        size = float(value.replace(",", "")) * _UNITS.get((unit or "")[:1].lower(), 1)
    except ValueError:
        return nan
    return size if 0 <= size <= LARGEST_VALUE else nan


def find_form(texts: Sequence[str]) -> tuple[str, LineReader]:
    """The form of a log, and what reads its lines; `texts` are those that are not blank."""
    return next((name, read) for name, choose in _FORMS if (read := choose(texts)) is not None)


def read_by_pattern(pattern: str) -> LineReader:
    """What reads lines that contain this text, with {free}, {least} and so on for numbers.

    HeapfitError if a name in braces is unknown or comes twice, or none of them is {free}.
    """
    parts = _PLACEHOLDER.split(pattern)
    names = parts[1::2]
    for name in names:
        if name not in _PLACEHOLDERS:
            raise HeapfitError(
                f"--line: {{{name}}} is no figure ({did_you_mean(name, _PLACEHOLDERS)})"
            )
        if names.count(name) > 1:
            raise HeapfitError(f"--line: {{{name}}} comes twice (name each figure once)")
    if Field.FREE not in names:
        raise HeapfitError("--line: has no {free} (say where the free bytes are)")
    parts[1::2] = [_PLACEHOLDERS[name] for name in names]
    parts[::2] = [r"\s+".join(map(re.escape, re.split(r"\s+", text))) for text in parts[::2]]
    return _read_by(re.compile("".join(parts), re.IGNORECASE))


def _read_by(form: re.Pattern[str]) -> LineReader:
    """What reads lines by the groups of a regular expression: fields, their units, and a time."""

    def read(line: str) -> Sample | None:
        match = form.search(line)
        if match is None:
            return None
        groups = match.groupdict()
        time = groups.get("time")
        moment = parse_moment(time) if time else find_moment(line)[0]
        values = {
            field: parse_bytes(groups[field], groups.get(f"{field}_unit"))
            for field in Field
            if field in groups
        }
        return Sample(moment, values, is_whole=True)

    return read


def _read_words(line: str) -> Sample | None:
    """A line as firmware prints it: each field once, with its name before it."""
    is_start = bool(_START.search(line))
    moment, rest = (None, "") if _OF_A_REGION.search(line) else find_moment(line)
    values: dict[Field, float] = {}
    heap, end = "", 0
    for match in _NUMBER.finditer(rest):
        label, end = rest[end : match.start()], match.end()
        field = None if match["unit"] == "%" else _name_number(label, rest[end:], values)
        if field is None or field in values:
            continue
        values[field] = parse_bytes(match["value"], match["unit"])
        if field is Field.FREE:
            heap = re.sub(r"\d+", "", rest[: match.start()])[-_LONGEST_NAME:].strip(" :=\t'\"")
    if values:
        return Sample(moment, values, heap, is_start=is_start)
    return Sample(is_start=True) if is_start else None


def _has_words(line: str) -> bool:
    """True if a line has figures."""
    sample = _read_words(line)
    return sample is not None and bool(sample.values)


def _name_number(label: str, behind: str, before: dict[Field, float]) -> Field | None:
    """What a number is by the words before and behind it, and by the figure before it."""
    field = classify(label)
    if field is None and next(reversed(before), None) is Field.FREE:
        field = next((one for one, rule in _LABELS_BEHIND_FREE if rule.search(label)), None)
    return Field.FREE if field is None and _FREE_BEHIND.match(behind) else field


def _read_metric(line: str) -> Sample | None:
    """A line of Prometheus text: scrapes stand one after the other."""
    match = _METRIC.match(line.strip())
    field = classify(match["name"].removesuffix("_bytes") + " ") if match else None
    if match is None or field is None:
        return None
    moment = Moment(int(match["time"]) / _MS, Clock.DATE) if match["time"] else None
    heap = match["name"] + (match["labels"] or "") if field is Field.FREE else ""
    return Sample(moment, {field: parse_bytes(match["value"])}, heap)


def _read_json(line: str) -> Sample | None:
    """An object in a line; what is none is skipped."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _read_row(_flatten(content, "", _DEEPEST)) if isinstance(content, dict) else None


def _flatten(content: dict[str, object], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, dict) and depth:
            yield from _flatten(value, f"{prefix}{name}.", depth - 1)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            yield f"{prefix}{name}", str(value)


def _read_csv(texts: Sequence[str]) -> LineReader | None:
    """What reads rows behind a line of names; None if the first line is no such names."""
    head = texts[0].strip()
    ways = {one: [*map(_name_column, head.split(one))] for one in ",;\t" if one in head}
    separator = next((one for one, fields in ways.items() if Field.FREE in fields), None)
    if separator is None or re.search(r"[:=]|(?<!\w)\d", head):
        return None
    names: list[str] = []

    def read(line: str) -> Sample | None:
        row = next(csv.reader([line], delimiter=separator, strict=False), [])
        if not names:
            names.extend(name.strip() for name in row)
            return None
        return _read_row(zip(names, row, strict=False)) if any(map(str.strip, row)) else None

    return read


def _read_row(row: Iterable[tuple[str, str]]) -> Sample:
    """The cells of a row by the names of their columns, the last of a name."""
    sample = Sample(is_whole=True)
    for name, text in dict(row).items():
        short = name.rpartition(".")[2].strip().lower()
        field = _name_column(name)
        if _TIME_COLUMN.search(short) and field is None:
            sample.moment = sample.moment or parse_moment(text, short)
        elif field and text.strip() and field not in sample.values:
            match = _CELL.fullmatch(text)
            sample.values[field] = parse_bytes(match[1], match[2]) if match else nan
            sample.heap = name if field is Field.FREE else sample.heap
    return sample


def _name_column(name: str) -> Field | None:
    """What a column is; a name without a heap's words may be short."""
    short = _COLUMNS.get(name.strip().lower().rpartition(".")[2])
    return short or classify(name.replace(".", " ") + " ")


# What reads the lines of a log, by all that are not blank; the first row that fits counts.
_FORMS: tuple[tuple[str, Callable[[Sequence[str]], LineReader | None]], ...] = (
    ("JSON lines", lambda texts: _read_json if texts[0].strip().startswith("{") else None),
    ("CSV", _read_csv),
    (
        "Prometheus text",
        lambda texts: (
            _read_metric
            if any(_TELLS_METRICS.match(text.strip()) for text in texts[:_LOOKED_AT])
            else None
        ),
    ),
    ("printed lines", lambda texts: _read_words if any(map(_has_words, texts)) else None),
    ("bare numbers", lambda _: _read_by(_BARE)),
)
