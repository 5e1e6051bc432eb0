# SPDX-License-Identifier: Apache-2.0
"""Rows as samples: CSV with a line of names, and JSON lines."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from math import nan

from heapfit.forecast.log.clock import Moment, parse_moment
from heapfit.forecast.log.labels import classify, parse_bytes
from heapfit.forecast.log.states import Field, Figure, Sample
from heapfit.forecast.log.text import Lines

_SEPARATORS = ",;\t"
_TIME = re.compile(r"^(time\w*|date\w*|ts|t|(up)?time\w*|m?illis|ms|sec\w*|s)$|timestamp|uptime")
_SHORT = {
    "min": Field.LEAST,
    "least": Field.LEAST,
    "max": Field.LARGEST,
    "failed": Field.FAILURES,
    "heap": Field.FREE,
}
_DEEPEST = 8  # objects in objects


def find_separator(line: str) -> str | None:
    """What separates the names of a CSV file's columns; None if the line is no such names.

    >>> find_separator("time,free_heap,largest"), find_separator("free: 90, largest: 80")
    (',', None)
    """
    if re.search(r"[:=]|(?<!\w)\d", line):
        return None
    for separator in _SEPARATORS:
        names = line.split(separator)
        if len(names) > 1 and Field.FREE in map(_field, names):
            return separator
    return None


def read_csv(lines: Lines, separator: str) -> Iterator[Sample]:
    """The samples of a CSV file whose first line names the columns."""
    names: list[str] = []
    for number, line in lines:
        row = next(csv.reader([line], delimiter=separator, strict=False), [])
        if not names:
            names = [name.strip() for name in row]
        elif any(cell.strip() for cell in row):
            yield _sample(number, dict(zip(names, row, strict=False)))


def read_json(lines: Lines) -> Iterator[Sample]:
    """The samples of JSON lines; what is no object is skipped."""
    for number, line in lines:
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            yield _sample(number, dict(_flatten(content, "", _DEEPEST)))


def _flatten(content: dict[str, object], prefix: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, dict) and depth:
            yield from _flatten(value, f"{prefix}{name}.", depth - 1)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            yield f"{prefix}{name}", str(value)


def _sample(number: int, row: dict[str, str]) -> Sample:
    moment: Moment | None = None
    figures: list[Figure] = []
    for name, text in row.items():
        short = name.rpartition(".")[2].strip().lower()
        field = _field(name)
        if _TIME.search(short) and field is None:
            moment = moment or parse_moment(text, short)
        elif field and text.strip() and field not in {one.field for one in figures}:
            figures.append(Figure(field, _bytes(text), name))
    return Sample(number, moment, figures, is_whole=True)


def _field(name: str) -> Field | None:
    """What a column is; a name without a heap's words may be short."""
    short = _SHORT.get(name.strip().lower().rpartition(".")[2])
    return short or classify(name.replace(".", " ") + " ")


def _bytes(text: str) -> float:
    match = re.fullmatch(r"\s*(-?[\w.,+-]+?)\s?([kmKM]i?[bB]|[kmbKMB]|bytes?)?\s*", text)
    return parse_bytes(match[1], match[2] or "") if match else nan
