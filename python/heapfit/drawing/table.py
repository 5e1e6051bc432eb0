# SPDX-License-Identifier: Apache-2.0
"""Tables laid out within a width.

    as it is      candidate  R_min   accesses/operation       where that is too wide, in this order:
    1 headings    broken at spaces and after "/"
    2 texts       left-aligned cells, widest first, broken at spaces and after _ / , :
    3 panels      below each other, each with the columns that name a row; in place of 2 where that
                  is not enough, and then 2 in a panel that is still too wide

A number is never broken, so one that is wider than the page is the only thing that leaves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

_GAP = "  "
_LEAST_TEXT = 14  # columns that a broken text keeps
_PIECE = re.compile(r"[^ _/,:]*[ _/,:]*")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """Texts under a heading, each in as many lines as it takes."""

    heading: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    is_right: bool

    @property
    def width(self) -> int:
        """The width of the widest line."""
        return max(len(line) for lines in (self.heading, *self.cells) for line in lines)


def table_lines(
    columns: Sequence[TableColumn], width: int, keys: int = 1, *, is_whole: bool = False
) -> Iterator[str]:
    """The lines of the table, its head first, none wider than `width` if that can be.

    The first `keys` columns say which row it is: each panel has them. `is_whole`: in panels alone.
    """
    fitted = list(columns)
    if _width_of(fitted) > width and not is_whole:
        fitted = [_break_heading(column) for column in columns]
        narrow = _break_texts(fitted, width)
        fitted = narrow if _width_of(narrow) <= width else fitted
    for i, panel in enumerate(_panels(fitted, width, keys)):
        yield from [""] if i > 0 else []
        yield from _lines(panel if is_whole else _break_texts(panel, width))


def break_text(text: str, width: int) -> tuple[str, ...]:
    """The text in lines of at most `width`; a piece that cannot be broken may be wider.

    >>> break_text("budgeted_16_frequent_exact", 14)
    ('budgeted_16_', 'frequent_exact')
    """
    lines = [""]
    for piece in filter(None, _PIECE.findall(text)):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip(" ")) > width:
            lines.append("")
        lines[-1] += piece
    return tuple(line.rstrip(" ") for line in lines)


def _width_of(columns: Sequence[TableColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _break_heading(column: TableColumn) -> TableColumn:
    """The column, its heading broken to the width of its cells, or of its longest piece."""
    heading = " ".join(column.heading)
    pieces = [len(piece.rstrip(" ")) for piece in _PIECE.findall(heading)]
    cells = max((len(line) for lines in column.cells for line in lines), default=1)
    return replace(column, heading=break_text(heading, max(cells, *pieces)))


def _break_texts(columns: list[TableColumn], width: int) -> list[TableColumn]:
    """The columns, the widest texts broken one after the other until the table fits."""
    done: set[int] = set()
    while (left := _width_of(columns) - width) > 0:
        texts = [i for i, one in enumerate(columns) if not one.is_right and i not in done]
        if not texts:
            break
        widest = max(texts, key=lambda i: columns[i].width)
        done.add(widest)
        narrow = max(columns[widest].width - left, _LEAST_TEXT)
        cells = tuple(break_text(" ".join(one), narrow) for one in columns[widest].cells)
        columns = [replace(c, cells=cells) if i == widest else c for i, c in enumerate(columns)]
    return columns


def _panels(columns: Sequence[TableColumn], width: int, keys: int) -> list[list[TableColumn]]:
    first, others = list(columns[:keys]), columns[keys:]
    panels = [list(first)]
    for column in others:
        if len(panels[-1]) > keys and _width_of([*panels[-1], column]) > width:
            panels.append(list(first))
        panels[-1].append(column)
    return panels


def _lines(columns: Sequence[TableColumn]) -> Iterator[str]:
    height = max(len(column.heading) for column in columns)
    head = [("",) * (height - len(column.heading)) + column.heading for column in columns]
    yield from _row(columns, head)
    for texts in zip(*(column.cells for column in columns), strict=True):
        yield from _row(columns, texts)


def _row(columns: Sequence[TableColumn], texts: Sequence[tuple[str, ...]]) -> Iterator[str]:
    for i in range(max(map(len, texts))):
        padded = (
            _pad(lines[i] if i < len(lines) else "", column)
            for lines, column in zip(texts, columns, strict=True)
        )
        yield _GAP.join(padded).rstrip()


def _pad(text: str, column: TableColumn) -> str:
    return text.rjust(column.width) if column.is_right else text.ljust(column.width)
