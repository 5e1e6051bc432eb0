# SPDX-License-Identifier: Apache-2.0
"""What is printed, as text of a page's width: lines, tables, figures; never a control character.

Names come from files and may be hostile, so all text passes `printable`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from heapfit.drawing.table import TableColumn, table_lines
from heapfit.outputs.printable import printable
from heapfit.plan.quantities import NO_BREAK, keep_units

WIDTH = 80  # columns of what is printed, but for JSON, paths and text to copy


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


def lines_of(text: str, *, is_copied: bool) -> list[str]:
    """A line in as many as it takes, indented as it is; in one if it `is_copied` by its reader."""
    if is_copied or len(text) <= WIDTH:
        return [text]
    return wrap_text(text.strip(), text[: len(text) - len(text.lstrip())])


def lay_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    indent: int = 0,
    keys: int = 1,
    width: int = WIDTH,
    is_whole: bool = False,
) -> list[str]:
    """The lines of aligned columns under their names: text left, numbers right, None as "-".

    What is wider than `width` columns in all is broken, or if `is_whole` only put into panels.
    """
    values = list(zip(*rows, strict=True)) if rows else [()] * len(headings)
    laid = [
        TableColumn((name,), tuple((cell(one),) for one in column), is_right(column))
        for name, column in zip(headings, values, strict=True)
    ]
    lines = table_lines(laid, width - indent, keys, is_whole=is_whole)
    return [f"{' ' * indent}{line}".rstrip() for line in lines]
