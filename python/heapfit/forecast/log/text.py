# SPDX-License-Identifier: Apache-2.0
"""Lines of text as samples: what firmware prints, Prometheus text, and lines of a given form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from math import nan
from typing import TypeAlias

from heapfit.errors import HeapfitError, did_you_mean
from heapfit.forecast.log.clock import Clock, Moment, find_moment, parse_moment
from heapfit.forecast.log.labels import classify, find_figures, parse_bytes
from heapfit.forecast.log.states import Field, Figure, Sample

Lines: TypeAlias = Iterable[tuple[int, str]]  # with their numbers, from 1

# One region of ESP-IDF's heap_caps_print_heap_info, whose totals follow.
_OF_A_REGION = re.compile(r"^\s*At 0x|alloc_blocks")
_STARTS = re.compile(r"\brst:0x|^ ?ets [A-Z][a-z]{2} +\d|\*\*\* ?Booting ", re.IGNORECASE)
_BARE = re.compile(r"^\s*(\d+)\s*$")
_METRIC = re.compile(
    r"^(?P<name>[a-zA-Z_:][\w:]*)(?P<labels>\{[^}]*\})?\s+(?P<value>[-+\w.]+)(?:\s+(?P<time>\d+))?$"
)
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_IN_A_LINE = (Field.FREE, Field.LEAST, Field.LARGEST, Field.FAILED)
_TIME = "time"
_AMOUNT = r"(-?[\d,]*\d(?:\.\d+)?|-?nan|-?inf)\s?(?:({unit}bytes?|[km]i?b|[kmb])(?!\w))?"
_CLOCK = (
    r"(\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?|\d+:\d\d:\d\d(?:[.,]\d+)?"
    r"|\d+(?:\.\d+)?)"
)


def read_printed(lines: Lines) -> Iterator[Sample]:
    """The samples of lines as firmware prints them."""
    for number, line in lines:
        if _STARTS.search(line):
            yield Sample(number, None, (), is_start=True)
        if _OF_A_REGION.search(line):
            continue
        moment, rest = find_moment(line)
        figures = [*find_figures(rest)]
        if figures:
            yield Sample(number, moment, figures)


def read_bare(lines: Lines) -> Iterator[Sample]:
    """Lines of nothing but a number, the free bytes, as a program prints that calls a function."""
    for number, line in lines:
        match = _BARE.match(line)
        if match:
            yield Sample(number, None, [Figure(Field.FREE, parse_bytes(match[1]), "")])


def is_prometheus(line: str) -> bool:
    """True for a line that Prometheus text has and a log hardly."""
    return line.startswith(("# HELP ", "# TYPE ")) or bool(
        re.match(r"^[a-z_:][\w:]*_(bytes|total|free|count)(\{[^}]*\})?\s+[\d.eE+]+(\s+\d+)?$", line)
    )


def read_prometheus(lines: Lines) -> Iterator[Sample]:
    """The samples of Prometheus text: scrapes one after the other."""
    for number, line in lines:
        match = _METRIC.match(line.strip())
        field = classify(match["name"].removesuffix("_bytes") + " ") if match else None
        if match is None or field is None:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            value = nan
        moment = Moment(int(match["time"]) / 1000, Clock.DATE) if match["time"] else None
        name = match["name"] + (match["labels"] or "")
        yield Sample(number, moment, [Figure(field, parse_bytes(str(value)), name)])


def make_line_reader(pattern: str) -> Callable[[Lines], Iterator[Sample]]:
    """A reader of lines that contain this text, with {free}, {least} and so on for numbers.

    HeapfitError if a name in braces is unknown or comes twice, or none of them is {free}.
    """
    names = _PLACEHOLDER.findall(pattern)
    known = [*map(str, _IN_A_LINE), _TIME]
    for name in names:
        if name not in known:
            raise HeapfitError(f"--line: {{{name}}} is no figure ({did_you_mean(name, known)})")
        if names.count(name) > 1:
            raise HeapfitError(f"--line: {{{name}}} comes twice (name each figure once)")
    if Field.FREE not in names:
        raise HeapfitError("--line: has no {free} (say where the free bytes are)")
    form = re.compile("".join(_line_parts(pattern)), re.IGNORECASE)

    def read_lines(lines: Lines) -> Iterator[Sample]:
        for number, line in lines:
            match = form.search(line)
            if match:
                groups = match.groupdict()
                time = groups.get(_TIME)
                moment = parse_moment(time) if time else find_moment(line)[0]
                figures = [
                    Figure(field, parse_bytes(groups[field], groups[f"{field}_unit"] or ""), "")
                    for field in _IN_A_LINE
                    if field in groups
                ]
                yield Sample(number, moment, figures, is_whole=True)

    return read_lines


def _line_parts(pattern: str) -> Iterator[str]:
    """The parts of the regular expression for a line; blanks stand for any blanks."""
    for i, part in enumerate(_PLACEHOLDER.split(pattern)):
        if i % 2 == 0:
            yield r"\s+".join(map(re.escape, re.split(r"\s+", part)))
        elif part == _TIME:
            yield _CLOCK.replace("(", f"(?P<{_TIME}>", 1)
        else:
            yield _AMOUNT.replace("(", f"(?P<{part}>", 1).replace("({unit}", f"(?P<{part}_unit>")
