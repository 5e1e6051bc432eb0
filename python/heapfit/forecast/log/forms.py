# SPDX-License-Identifier: Apache-2.0
"""How logs of free bytes are written: tables, JSON, Prometheus text, described and printed lines.

    line --> the first form that has figures in it --> samples

A form is a row of `FORMS`; docs/forecast.md lists them with what prints them.
"""

from __future__ import annotations

import csv
import json
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import nan
from typing import Protocol

from heapfit.errors import HeapfitError
from heapfit.forecast.log.line_fields import compile_line
from heapfit.forecast.log.states import Clock, Field, Sample
from heapfit.forecast.log.words import (
    MAIN,
    SIGN,
    Figure,
    classify,
    find_behind,
    find_memory,
    parse_bytes,
    read_figures,
    read_unit,
)
from heapfit.importers.log_lines import LogLine, parse_time

_TIMES = ("s", "ms", "us")
_COLUMNS = {  # names of columns that are too short to tell elsewhere
    "min": Field.LEAST,
    "min_kb": Field.LEAST,
    "least": Field.LEAST,
    "max": Field.LARGEST,
    "failed": Field.FAILURES,
    "err": Field.FAILURES,
    "heap": Field.HEAP,
    "usage": None,
}
# MALLOC_CAP_SPIRAM and MALLOC_CAP_INTERNAL of ESP-IDF (components/heap/include/esp_heap_caps.h).
_CAPABILITIES = {"0x00000400": "PSRAM", "0x00000800": "internal"}
_LARGEST_MIB, _LARGEST_KIB = 4, 8  # digits; with more of them free was asked for bytes
_DEEPEST = 8  # objects in objects


class Form(Protocol):
    """Reads the lines of a log that are written in one form."""

    def __call__(self, line: LogLine) -> list[Sample]:
        """The samples of a line, one for each memory; none if it has no figures of this form."""


def read_lines_by(descriptions: Sequence[str]) -> Form:
    """What reads lines that contain these texts, with {free} and so on for numbers.

    Of other lines it reads the requests that failed. HeapfitError if a field is unknown or comes
    twice, or no bytes can be told.
    """
    rules = [compile_line(text) for text in descriptions]
    fields = [{*one.groupindex} for one in rules]
    states = [one for one in fields if "free" in one or {"used", "total"} <= one]
    if not states or not all(one in states or "failed" in one for one in fields):
        raise HeapfitError(
            "--line: has no {free}, and not both {used} and {total} (say where they are)"
        )

    def read(line: LogLine) -> list[Sample]:
        told = [  # each once, and by its memory more often; the first of what overlaps counts
            one
            for rule in rules
            for one in islice(rule.finditer(line.raw), None if "memory" in rule.groupindex else 1)
        ]
        found = sorted(
            (
                one
                for i, one in enumerate(told)
                if all(one.end() <= had.start() or had.end() <= one.start() for had in told[:i])
            ),
            key=re.Match.start,
        )
        begins = [len(line.raw) - len(line.text), *map(re.Match.end, found)]
        are_several = sum("failed" not in one.re.groupindex for one in found) > 1
        return [
            _read_match(one, line, line.raw[begin : one.start(1)] if are_several else "")
            for begin, one in zip(begins, found, strict=False)
        ] or gather(
            (one for one in read_figures(line.text) if one.field is Field.FAILED), line.moments
        )

    return read


def _read_match(match: re.Match[str], line: LogLine, name: str) -> Sample:
    """What a described line tells; `name`: the words before, where a line tells several heaps."""
    groups = match.groupdict("")
    values = {
        field: parse_bytes(
            "0x" * (f"{field}_hex" in groups) + groups[field], groups.get(f"{field}_unit")
        )
        for field in Field
        if groups.get(field)
    }
    time = " ".join(f"{groups[one]} {one}" for one in _TIMES if one in groups)
    return Sample(
        values,
        dict.fromkeys(values.keys() & {*MAIN}, SIGN["of_another"].sub("", name)) if name else {},
        groups.get("memory", ""),
        is_whole=True,
        moments=parse_time(time) or line.moments,
    )


class Printed:
    """Lines as firmware prints them, with the memory that headings name."""

    def __init__(self) -> None:
        self._heading = self._before = ""
        self._last: Field | None = None

    def __call__(self, line: LogLine) -> list[Sample]:
        if SIGN["of_a_region"].search(line.raw):
            return []
        series = "".join(SIGN["metric"].findall(line.text))
        prefix = series or find_memory(line.raw[: len(line.raw) - len(line.text)])
        text = line.text.replace(series, "")
        if text.isdecimal() and not re.search(r"\d", self._before):  # as a shell answers
            text = f"{self._before} {text}"
        self._before = line.text
        figures = [*read_figures(text, prefix or self._heading, self._last)]
        if not figures:
            if heading := SIGN["heading"].match(line.text) or SIGN["command"].match(line.raw):
                name = heading[heading.lastgroup or ""].strip(" '\"-[]")
                self._heading, self._last = _CAPABILITIES.get(name, name), None
            return []
        self._last = next((one.field for one in reversed(figures) if one.field in MAIN), self._last)
        return gather(figures, line.moments)


def gather(figures: Iterable[Figure], moments: dict[Clock, float]) -> list[Sample]:
    """The figures of a line by their memories; where they come again they are another heap's."""
    listed, samples = [*figures], list[Sample]()
    last: dict[str, tuple[Sample, str]] = {}  # of each memory, and the text before its words
    for i, (field, value, memory, name) in enumerate(listed):
        known = last[memory][0].values if memory in last else {}
        is_first = field in known and (field in MAIN or field is next(iter(known)))
        if memory not in last or (
            is_first
            and any(
                one.memory == memory and one.field in known and one.field in MAIN
                for one in listed[i:]
            )
        ):
            samples.append(Sample(memory=memory, moments=moments))
            last[memory] = samples[-1], listed[i - 1].name if i else ""
        sample, before = last[memory]
        sample.values.setdefault(field, value)
        words = name.removeprefix(before)
        sample.names.setdefault(field, name if words == name else SIGN["of_another"].sub("", words))
    return samples


def read_json(line: LogLine) -> list[Sample]:
    """An object in a line, behind whatever stands before it; figures by their paths."""
    start = line.raw.find("{")
    try:
        content = json.loads(line.raw[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return []
    if not isinstance(content, dict):
        return []
    return _read_row(dict(_flatten(content, "", _DEEPEST)), line.moments)


def _flatten(content: dict[str, object], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, dict) and depth:
            yield from _flatten(value, f"{prefix}{name}.", depth - 1)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            yield f"{prefix}{name}", str(value)


class TableForm:
    """Rows below a line of names: CSV, Markdown, and what shells print in columns."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._wide: list[str] = []  # where names are of several words
        self._separator: str | None = None  # None: blanks
        self._tag = ""  # before the names, and before rows
        self._before = ""

    def __call__(self, line: LogLine) -> list[Sample]:
        before, self._before = self._before, line.raw
        if SIGN["rule"].match(line.raw) and "|" not in line.raw:
            starts = [match.start() for match in re.finditer("-+", line.raw)]
            self._set_names(
                [
                    before[start:end].strip()
                    for start, end in zip(starts, [*starts[1:], None], strict=True)
                ],
                None,
            )
            return []
        tag, sign, text = line.text.rpartition(": ")
        signs = (",", ";", "\t") * (not tag) + ("|", None)  # a sentence behind a tag has commas
        for separator in () if SIGN["no_names"].search(SIGN["labels"].sub("", text)) else signs:
            if self._set_names(_cut(text, separator), separator):
                self._wide, self._tag = re.split(r"\s{2,}|\t", text.strip()), tag + sign
                return []
        return self._read(line) if self._names else []

    def _set_names(self, names: list[str], separator: str | None) -> bool:
        if separator is None and all(map(SIGN["name_column"].fullmatch, map(str.lower, names[:2]))):
            names = ["name", *names[2:]]  # as "Pool name"
        if {"size", "total"} <= {one.lower() for one in names}:
            names = ["block" if one.lower() == "size" else one for one in names]
        fields = {_name_column(name) for name in names} - {None}
        is_one = separator or re.match("(?i)(task|thread|module|owner)$", "".join(names[:1]))
        is_head = (
            len(names) > 1
            and all(names[1:])
            and bool(fields & {*MAIN})
            and len(fields if separator else fields - {Field.HEAP}) > (not is_one)
        )
        if is_head:
            self._names, self._separator = names, separator
        return is_head

    def _read(self, line: LogLine) -> list[Sample]:
        names, cells = self._names, _cut(line.raw, self._separator)
        if self._separator is None:
            text = line.text.removeprefix(self._tag)
            cells = cells if len(cells) <= len(names) else text.split()  # behind a clock
            names = names if len(cells) >= len(names) else self._wide
            more = len(cells) - len(names)  # words of a name
            if more > 0 and SIGN["name_column"].fullmatch(names[-1].lower()):
                cells = text.split(None, len(names) - 1)
            elif more > 0 and SIGN["name_column"].fullmatch(names[0].lower()):
                cells = [" ".join(cells[: more + 1]), *cells[more + 1 :]]
            elif more:
                cells = text.split(None, len(names))
            if len(cells) < len(names):
                return []
            names = ["name", *names][-len(cells) :]
        elif len(cells) > len(names) and not re.search(r"\d", cells[0]):  # of a row without one
            names = ["name", *names]
        row = dict(zip(names, cells, strict=False))
        if "shared" in row and all(len(cell) <= _LARGEST_KIB for cell in cells):  # Linux's free
            # Of free -m; older ones without what is available run where a few MB are all.
            is_large = len(row["total"]) <= _LARGEST_MIB - ("available" not in row)
            row = {
                name: re.sub(r"^\d+$", rf"\g<0> {'KM'[is_large]}B", cell)
                for name, cell in row.items()
            }
            row["free"] = row.get("available", row["free"])  # with what only caches files
        has_bytes = any(
            _name_column(name) in MAIN and re.search(r"\d|nan", row[name]) for name in row
        )
        is_row = self._separator is not None or (
            # In a column of figures stands a number, or that there is none.
            all(
                _name_column(name) in (None, Field.HEAP) or SIGN["numeral"].match(cell)
                for name, cell in row.items()
            )
            and not re.search(r"\s\S+:(\s|$)", line.text.removeprefix(self._tag))
        )
        return _read_row(row, line.moments) if has_bytes and is_row else []


def _cut(text: str, separator: str | None) -> list[str]:
    return (
        text.split()
        if separator is None
        else [
            cell.strip()
            for row in csv.reader([text.strip().strip("|")], delimiter=separator)
            for cell in row
        ]
    )


def _read_row(row: Mapping[str, str], times: dict[Clock, float]) -> list[Sample]:
    """The cells of a row by the names of their columns, or of an object by their paths."""
    figures, names = list[Figure](), dict[str, str]()
    for name, text in row.items():
        path, _, short = name.rpartition(".")
        last = figures[-1].field if figures else None
        field, match = find_behind(_name_column(name), name, last), SIGN["cell"].fullmatch(text)
        is_number = bool(field and match and match[1].isdecimal())
        of = SIGN["name_column"].fullmatch(short.lower())
        if of and not is_number:
            names[of.lastgroup or "pool"] = text.strip()
        elif field and text.strip():
            value = parse_bytes(match[1], match[2] or read_unit(name)) if match else nan
            figures.append(Figure(field, value, find_memory(name) or path, name))
    main = [one.memory for one in figures if one.field in MAIN]
    is_of_task = {one.field for one in figures} <= {Field.ALLOCATED, Field.MOST}  # else it prints
    own = names.get("pool") or names.get("task" if is_of_task else "", "")
    figures = [
        one if one.memory in main else one._replace(memory=main[0]) for one in figures if main
    ]
    samples = gather(  # or what a message in a cell tells
        figures or (one for text in row.values() if " " in text for one in read_figures(text)),
        dict(ChainMap(*map(_find_time, row, row.values()))) or times,
    )
    for one in samples:
        one.is_whole, one.memory = True, " ".join(filter(None, (own, one.memory)))
    return samples


def _find_time(name: str, text: str) -> dict[Clock, float]:
    """The time in a cell, if its column is one of times; in an object a letter is no name of it.

    A number is seconds, or what the name tells. A date needs no name.
    """
    path, _, short = name.strip().lower().rpartition(".")
    is_time = SIGN["date_cell"].match(text) or (
        SIGN["time_column"].search(short) and not (path and len(short) < 2)
    )
    unit = " ms" if re.search(r"milli|ms\b", short) else " s"
    # A count's own unit is that of log_lines.py.
    return (
        parse_time(text.strip().replace("_ms", " ms") + unit)
        if is_time and not _name_column(name)
        else {}
    )


def _name_column(name: str) -> Field | None:
    """What a column is; a name without a heap's words may be short."""
    short = name.strip().lower().rpartition(".")[2]
    return _COLUMNS[short] if short in _COLUMNS else classify(name.replace(".", " ") + " ")


def read_bare(line: LogLine) -> list[Sample]:
    """A number and nothing else, as of println(xPortGetFreeHeapSize())."""
    return [
        Sample({Field.FREE: parse_bytes(text)}, is_whole=True, moments=line.moments)
        for text in (line.raw.strip(),)
        if text.isdecimal()
    ]


def make_forms() -> tuple[tuple[str, Form], ...]:
    """What reads the lines of a log; of each line the first form counts that has figures in it."""
    return (
        ("JSON lines", read_json),
        ("table", TableForm()),
        ("printed lines", Printed()),
    )
