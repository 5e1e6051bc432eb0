# SPDX-License-Identifier: Apache-2.0
"""A command's result as parts, from which both its text and its JSON are made.

             as text                     as JSON
    Fields   -                           each value under its name
    Line     a line                      -
    Note     lines on stderr             -
    Table    a column for each heading   a list under the table's field, an object for each row
    Group    its parts                   an object under the group's field

So a figure is named once, and what it is stands in one place. Parts are printed in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from heapfit.cli.printing import console

Row = TypeVar("Row")
Whole = TypeVar("Whole")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One figure of a table's rows."""

    field: str = ""  # its name in the JSON; "": not there
    heading: str = ""  # above it in the table; "": not there
    value: Callable[[Row], object] | None = None  # None: the row's attribute named `field`
    shown: Callable[[Row], object] | None = None  # in the table, where it is put otherwise

    def of(self, row: Row) -> object:
        """The figure itself."""
        return getattr(row, self.field) if self.value is None else self.value(row)

    def cell(self, row: Row) -> object:
        """As the table has it."""
        return self.of(row) if self.shown is None else self.shown(row)

    def within(self, part: Callable[[Whole], Row]) -> Column[Whole]:
        """The same figure of a part of a row."""
        shown = self.shown
        return Column(
            self.field,
            self.heading,
            lambda whole: self.of(part(whole)),
            None if shown is None else lambda whole: shown(part(whole)),
        )

    def under(self, heading: str) -> Column[Row]:
        """The same figure with another heading; "": only in the JSON."""
        return replace(self, heading=heading)


def columns(*fields: str) -> tuple[Column[Any], ...]:
    """Attributes of the rows that only the JSON has."""
    return tuple(map(Column, fields))


@dataclass(frozen=True, slots=True)
class Fields:
    """Values by their names in the JSON."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text; in several where it is wider than the page and not to be copied."""

    text: str
    is_copied: bool = False  # a path, a command, settings


@dataclass(frozen=True, slots=True)
class Note:
    """Text beside the result."""

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


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that are an object of their own in the JSON."""

    field: str
    parts: Iterable[Part]


Part: TypeAlias = Fields | Line | Note | Table[Any] | Group


def out_result(parts: Iterable[Part], as_json: bool) -> None:
    """Prints a command's result."""
    if as_json:
        console.out_json(content_of(parts))
    else:
        out_text(parts)


def out_text(parts: Iterable[Part]) -> None:
    """Prints what of a result is text."""
    for part in parts:
        match part:
            case Line():
                for line in _lines(part):
                    console.out(line)
            case Note(is_failure=True):
                console.fail(part.text)
            case Note():
                for line in console.wrapped(part.text):
                    console.note(line)
            case Table():
                _out_table(part)
            case Group():
                out_text(part.parts)


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


def shown_if(is_shown: bool, parts: Iterable[Part]) -> Iterator[Part]:
    """Parts whose text is left out unless it is shown; the JSON has their fields all the same."""
    for part in parts:
        match part:
            case _ if is_shown:
                yield part
            case Fields():
                yield part
            case Table():
                yield replace(part, columns=[column.under("") for column in part.columns])
            case Group():
                yield Group(part.field, [*shown_if(False, part.parts)])


def object_of(columns: Sequence[Column[Row]], row: Row) -> dict[str, object]:
    """A row's figures by their names in the JSON."""
    return {column.field: column.of(row) for column in columns if column.field}


def paragraph(text: str, indent: str = "") -> Iterator[Line]:
    """Text in lines of the page's width."""
    yield from map(Line, console.wrapped(text, indent))


def _lines(line: Line) -> list[str]:
    if line.is_copied or len(line.text) <= console.WIDTH:
        return [line.text]
    indent = line.text[: len(line.text) - len(line.text.lstrip())]
    return console.wrapped(line.text.strip(), indent)


def _out_table(table: Table[Any]) -> None:
    columns = [column for column in table.columns if column.heading]
    if not columns:
        return
    rows = table.rows if table.shown is None else table.shown
    cells = [[column.cell(row) for column in columns] for row in rows]
    console.out_table([column.heading for column in columns], cells, table.indent, table.keys)
