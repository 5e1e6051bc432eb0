# SPDX-License-Identifier: Apache-2.0
"""The one grammar of lines that a user describes, for calls and for telemetry.

    "free {free} of {total:x}"  -->  text, field, text, field, text  -->  regular expression

A field is {name} or {name:form}: x is hexadecimal without 0x; s, ms and us are units of time. The
engine reads calls, by the same fields (log_pattern.cpp); a line of telemetry is read here.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from heapfit.errors import HeapfitError, did_you_mean

AMOUNTS: Final = ("free", "used", "total", "largest", "least", "failed")  # bytes of a heap
_NUMBER: Final = (
    r"(?P<NAME>-?(?:\d{1,3}(?:[SEPARATORS]\d{3}){1,6}|\d{1,20})(?:\.\d{1,20})?"
    r"|0[xX][0-9a-fA-F]{1,20}|-?nan|-?inf)"
)
_UNIT: Final = r"\s?(?P<NAME_unit>bytes?|[km]i?b|[kmb])(?!\w|\s?=)"
_TIME: Final = (
    r"(?P<NAME>\d{4}-\d\d-\d\d[T ][\d:.,]{1,20}(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,9}:\d\d:\d\d(?:[.,]\d{1,20})?"
    r"|\d{1,20}(?:\.\d{1,20})?)(?: ms| s since 1970)?"  # as log_lines.py tells a count's unit
)
# Each field with its form, as a regular expression; NAME is its group's: of a time its unit. Which
# SEPARATORS of thousands there are depends on the text behind.
_FIELDS: Final = MappingProxyType(
    {
        **dict.fromkeys(AMOUNTS, f"{_NUMBER}(?:{_UNIT})?"),
        **{f"{name}:x": r"(?P<NAME>[0-9a-fA-F]{1,20})(?P<NAME_hex>)" for name in AMOUNTS},
        **{  # of a call, which is no figure
            f"{name}{form}": r"[\w.]{1,60}"
            for name in ("address", "size", "old", "count", "task", "site")
            for form in ("", ":x", ":w2", ":w4", ":w8")
        },
        **dict.fromkeys(("time:s", "time:ms", "time:us"), _TIME),
        "memory": r"(?P<memory>[\w.-]{1,60})",
        "any": "",  # what is there up to the text behind
    }
)
_FIELD: Final = re.compile(r"\{([a-z]+(?::[a-z]*\d?)?)\}")
# Texts behind a field that could as well be its end, of some fields and of others.
_UNCLEAR: Final = MappingProxyType(
    {"any": re.compile(r"(?!)"), "memory": re.compile(r"[\w.-]"), "time": re.compile(r"[\w.,:+-]")}
)
_INSIDE: Final = re.compile(r"[\w.']")


def compile_line(text: str) -> re.Pattern[str]:
    """A described line as a regular expression with a group for each figure and its unit.

    HeapfitError if a field is unknown, comes twice, or may end in two ways.

    >>> compile_line("free {free} of {total}").search("free 8 of 16 KB")["total_unit"]
    'KB'
    >>> compile_line("{free} kB left").search("free: 135 KB left")["free_unit"]
    'KB'
    """
    first, *rest = _FIELD.split(text)
    fields = [one.partition(":")[0] for one in rest[::2]]
    # A field at the front begins where no such one is cut, so that a search has few beginnings.
    front = {"memory": r"(?<![\w.-])", "any": ""}.get("".join(fields[:1]), r"(?<!\d)")
    rule, unclear = _escape(first) or front, 0  # fields whose end the text behind does not tell
    for i, (name, behind) in enumerate(zip(rest[::2], rest[1::2], strict=True)):
        field, is_last = fields[i], i + 1 == len(fields)
        if field != "any" and field in fields[:i]:
            raise HeapfitError(f"--line: {{{field}}} comes twice (name each figure once)")
        group = name.rpartition(":")[2] if field == "time" else field
        unclear += not is_last and bool(_UNCLEAR.get(field, _INSIDE).match(behind))
        if not is_last and (not behind or unclear > 1):
            raise HeapfitError(f"--line: a blank has to stand behind {{{field}}}")
        unit = re.match(_UNIT, behind, re.IGNORECASE) if name in AMOUNTS else None
        # A unit that is written behind an amount is the amount's, and each line has one.
        expression = (_NUMBER + _UNIT if unit else _express(name)).replace("NAME", group)
        # A comma behind ends the number, as in a row of numbers.
        expression = expression.replace("SEPARATORS", "'_" if behind.startswith(",") else ",'_")
        end = _escape(behind[unit.end() if unit else 0 :])
        most = rule and (100 if unclear else 400)  # characters; at the front a search skips them
        rule += rf"(?>.{{0,{most or 0}}}?{end})" if field == "any" else expression + end
    return re.compile(rule, re.IGNORECASE)


def _express(name: str) -> str:
    """The expression of a field with its form; HeapfitError names those that there are."""
    if name in _FIELDS:
        return _FIELDS[name]
    field = name.partition(":")[0]
    known = [f"{{{one}}}" for one in _FIELDS if one.partition(":")[0] == field]
    if known:
        raise HeapfitError(f"--line: {{{name}}} tells no unit or form: write {' or '.join(known)}")
    raise HeapfitError(f"--line: {{{field}}} is no field ({did_you_mean(field, [*_FIELDS])})")


def _escape(text: str) -> str:
    """A text as a regular expression that never takes it in two ways."""
    return r"\s{1,40}+".join(map(re.escape, re.split(r"\s+", text)))
