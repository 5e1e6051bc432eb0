# SPDX-License-Identifier: Apache-2.0
"""What a number in a log is, by the words before it.

The words are those of ESP-IDF, FreeRTOS, Zephyr and the esp8266 core, and of what people print with
their functions; docs/forecast.md lists the forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import nan

from heapfit.forecast.log.states import LARGEST_VALUE, Field, Figure

_NUMBER = re.compile(
    r"(?<![\w.])(?P<value>-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|-?nan|-?inf)"
    r"\s?(?P<unit>%|bytes?|[km]i?b|[kmb])?(?![\w%])",
    re.IGNORECASE,
)
_UNITS = {"k": 1024, "m": 1024**2}
_LONGEST_NAME = 60  # characters
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# The first that matches names the field; None: a number that says nothing of the heap.
_RULES: tuple[tuple[Field | None, re.Pattern[str]], ...] = tuple(
    (field, re.compile(words))
    for field, words in (
        (
            None,
            r"psram|spi ?ram|flash|sketch|stack|spiffs|frag|smallest|diff|since|integrity|task|swap"
            r"|percent|pct|disk|temperature|rssi",
        ),
        (
            Field.FAILURES,
            r"fail\w*\W*(count|cnt|request|alloc\w*\W*(:|=|cnt|count|total|$)|times|total)",
        ),
        (Field.FAILED, r"fail|out of memory|unable to alloc"),
        (Field.MOST, r"(max\w*|peak|most)\W*(ever\W*)?(used|alloc\w*ed)|peak|high\W*water"),
        (
            Field.LARGEST,
            r"larg|bigg|max\w*\W*(free\W*)?(heap\W*)?(block|chunk)|max\w*\W*alloc|contiguous",
        ),
        (Field.ALLOCATED, r"allocated|\bused\b|in use"),
        (None, r"blocks|number|count|calls|frees|success"),
        (
            Field.LEAST,
            r"(min\w*|least|lowest|ever)\b.*(free|heap|remain|water)"
            r"|low\W*water|free.*\b(min\w*|lowest|ever)\b|min_?free",
        ),
        (Field.FREE, r"\bfree\b|free\W*(heap|mem|ram|space|size|bytes)|avail|heap\W*$"),
    )
)
_BARE_LEAST = re.compile(r"\b(min|minimum|lowest|low)\W*$")
_BARE_LARGEST = re.compile(r"\bmax\W*$")
_FREE_BEHIND = re.compile(r"^\s*(?:bytes?\s+)?free\b", re.IGNORECASE)


def classify(label: str) -> Field | None:
    """What the number behind these words is; None: nothing of a heap.

    >>> classify("largest_free_block"), classify("number of free blocks: ")
    (<Field.LARGEST: 'largest'>, None)
    """
    words = _CAMEL.sub(" ", label[-_LONGEST_NAME:]).replace("_", " ").lower()
    return next((field for field, rule in _RULES if rule.search(words)), None)


def find_figures(line: str) -> Iterator[Figure]:
    """The heap's figures in a line, each field once."""
    found: set[Field] = set()
    last: Field | None = None
    end = 0
    for match in _NUMBER.finditer(line):
        label = line[end : match.start()]
        end = match.end()
        if match["unit"] == "%":
            continue
        field = classify(label) or _classify_bare(label, last)
        if field is None and _FREE_BEHIND.match(line[end:]):
            field = Field.FREE
        if field is None or field in found:
            continue
        found.add(field)
        last = field
        name = re.sub(r"\d+", "", line[: match.start()])[-_LONGEST_NAME:].strip(" :=\t'\"")
        yield Figure(field, parse_bytes(match["value"], match["unit"] or ""), name)


def _classify_bare(label: str, last: Field | None) -> Field | None:
    """`min` and `max` behind free bytes, of which the line speaks."""
    words = label.lower()
    if last is Field.FREE and _BARE_LEAST.search(words):
        return Field.LEAST
    if last is Field.FREE and _BARE_LARGEST.search(words):
        return Field.LARGEST
    return None


def parse_bytes(value: str, unit: str = "") -> float:
    """The bytes that a number stands for; NaN if there can be none.

    >>> parse_bytes("10.5", "KB"), parse_bytes("-4"), parse_bytes("1,024")
    (10752.0, nan, 1024.0)
    """
    try:
        size = float(value.replace(",", "")) * _UNITS.get(unit[:1].lower(), 1)
    except ValueError:
        return nan
    return size if 0 <= size <= LARGEST_VALUE else nan
