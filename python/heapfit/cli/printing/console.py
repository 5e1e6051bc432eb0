# SPDX-License-Identifier: Apache-2.0
"""What commands print: results on stdout, everything else on stderr, and never a control character.

Names come from files and may be hostile, so all text passes `printable`. NO_COLOR is honoured.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path

from heapfit.cli.printing.table import TableColumn, table_lines
from heapfit.plan.quantities import NO_BREAK, keep_units

JSON_SCHEMA = 1
WIDTH = 80  # columns of what is printed, but for JSON, paths and text to copy
WIDE = 200  # of what bench/ prints, for people and for programs

_RAW_BYTE = re.compile("[\udc80-\udcff]")  # of a name that is not UTF-8, as Python keeps it

# Controls, format characters (bidirectional overrides among them), surrogates, line separators.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text without what could steer a terminal; bytes that are not UTF-8 are escaped.

    >>> printable("a\\x1b[2Jb\\u202ec"), printable("caf\\udce9")
    ('a[2Jbc', 'caf\\\\xe9')
    """
    if text.isascii() and text.isprintable():
        return text
    text = _RAW_BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:x}", text)
    return "".join(c for c in text if unicodedata.category(c) not in _UNPRINTABLE)


def print_line(text: str) -> None:
    """Prints a line of the result."""
    print(printable(text))


def note(text: str) -> None:
    """Prints a line on stderr, which is lost where that is closed or full."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(printable(text), file=sys.stderr, flush=True)


def fail(text: str) -> None:
    """Prints the one line of a failure."""
    note(failure_line(text))


def failure_line(text: str) -> str:
    """The line that `fail` prints."""
    return f"heapfit: {text}"


def print_json(content: Mapping[str, object]) -> None:
    """Prints the result as one JSON object, alone on stdout; records are objects, too."""
    print(json.dumps({"schema": JSON_SCHEMA, **content}, indent=2, default=_plain))


def _plain(value: object) -> object:
    """A value that JSON has no form for, in one that it has."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # an array or a number of numpy
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    indent: int = 0,
    keys: int = 1,
    width: int = WIDTH,
) -> None:
    """Prints aligned columns under their names: text left, numbers right, None as "-".

    What is wider than `width` columns in all is broken into panels.
    """
    values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    laid = [
        TableColumn((name,), tuple((cell(one),) for one in column), is_right(column))
        for name, column in zip(columns, values, strict=True)
    ]
    for line in table_lines(laid, width - indent, keys):
        print(f"{' ' * indent}{line}".rstrip())


def wrap_text(text: str, indent: str = "") -> list[str]:
    """A text in lines of the page's width; a word that is wider has a line of its own.

    A number stays with its unit.
    """
    lines = textwrap.wrap(
        keep_units(text),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace(NO_BREAK, " ") for line in lines]


def is_right(values: Iterable[object]) -> bool:
    """True if a column is aligned to the right: if its values are numbers."""
    return all(value is None or _is_number(value) for value in values)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def cell(value: object) -> str:
    """A value as text: integers with thousands separators, ratios with three decimals.

    >>> [cell(1234567), cell(1.16), cell(None), cell("tlsf")]
    ['1,234,567', '1.160', '-', 'tlsf']
    """
    if value is None:
        return "-"
    if _is_number(value):
        return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"
    return printable(str(value))
