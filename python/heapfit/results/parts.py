# SPDX-License-Identifier: Apache-2.0
"""A command's result as parts, from which both its text and its JSON are made.

             as text                     as JSON
    Fields   -                           each value under its name
    Line     a line                      -
    Note     lines on stderr             -
    Table    a column for each heading   a list under the table's field, an object for each row
    Group    its parts                   an object under the group's field

So the name and the meaning of a figure are written once. Parts are printed in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

Row = TypeVar("Row")
Whole = TypeVar("Whole")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One figure of a table's rows."""

    field: str = ""  # its name in the JSON; "": not there
    heading: str = ""  # above it in the table; "": not there
    value: Callable[[Row], object] | None = None  # None: the row's attribute named `field`
    shown: Callable[[Row], object] | None = None  # in the table, where that differs

    def figure(self, row: Row) -> object:
        """The figure of a row, as the JSON has it."""
        return getattr(row, self.field) if self.value is None else self.value(row)

    def cell(self, row: Row) -> object:
        """The figure of a row, as the table has it."""
        return self.figure(row) if self.shown is None else self.shown(row)

    def adapt(self, part: Callable[[Whole], Row]) -> Column[Whole]:
        """The same figure for rows of which `part` is a row of this column."""
        shown = self.shown
        return Column(
            self.field,
            self.heading,
            lambda whole: self.figure(part(whole)),
            None if shown is None else lambda whole: shown(part(whole)),
        )

    def with_heading(self, heading: str) -> Column[Row]:
        """The same figure with another heading; "": only in the JSON."""
        return replace(self, heading=heading)


def columns(*fields: str) -> tuple[Column[Any], ...]:
    """Columns of the rows' attributes that only the JSON has."""
    return tuple(map(Column, fields))


@dataclass(frozen=True, slots=True)
class Fields:
    """Values by their names in the JSON."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; wrapped to the page's width unless it is to be copied."""

    text: str
    is_copied: bool = False  # a path, a command, settings


@dataclass(frozen=True, slots=True)
class Note:
    """Text on stderr, apart from the result."""

    text: str
    is_failure: bool = False  # of one input of several: one line, whatever it names


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """Rows that have the same figures."""

    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    field: str = ""  # the list's name in the JSON; "": not there
    shown: Sequence[Row] | None = None  # the table's rows, where they are fewer or sorted otherwise
    indent: int = 0  # columns before it
    keys: int = 1  # of its columns, the first, say which row it is

    @property
    def visible(self) -> list[Column[Row]]:
        """The columns that the table has as text."""
        return [column for column in self.columns if column.heading]

    @property
    def headings(self) -> list[str]:
        """What stands above these columns."""
        return [column.heading for column in self.visible]

    @property
    def cells(self) -> list[list[object]]:
        """The figures below them, a row each."""
        rows = self.rows if self.shown is None else self.shown
        return [[column.cell(row) for column in self.visible] for row in rows]


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that are an object of their own in the JSON."""

    field: str
    parts: Iterable[Part]


Part: TypeAlias = Fields | Line | Note | Table[Any] | Group


def content_of(parts: Iterable[Part]) -> dict[str, object]:
    """A result by the names that its figures have in the JSON.

    >>> content_of([Fields({"u_max": 24}), Line("24 B"), Table([Column("real")], [7], "rows")])
    {'u_max': 24, 'rows': [{'real': 7}]}
    """
    content: dict[str, object] = {}
    for part in parts:
        match part:
            case Fields():
                content.update(part.values)
            case Table() if part.field:
                content[part.field] = [object_of(part.columns, row) for row in part.rows]
            case Group():
                content[part.field] = content_of(part.parts)
    return content


def hide_unless(is_shown: bool, parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, without their text unless `is_shown`; the JSON has their fields all the same."""
    for part in parts:
        match part:
            case _ if is_shown:
                yield part
            case Fields():
                yield part
            case Table():
                yield replace(part, columns=[column.with_heading("") for column in part.columns])
            case Group():
                yield Group(part.field, [*hide_unless(False, part.parts)])


def object_of(columns: Sequence[Column[Row]], row: Row) -> dict[str, object]:
    """A row's figures by their names in the JSON."""
    return {column.field: column.figure(row) for column in columns if column.field}


def paragraph(text: str, indent: str = "") -> Iterator[Line]:
    """A text, if there is any, in lines of the page's width."""
    if text:
        yield Line(indent + text)
