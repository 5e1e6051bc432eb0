# SPDX-License-Identifier: Apache-2.0
"""A command's result as parts, from which its text, its JSON and its page are made.

                as text           as JSON                     on a page
    Fields      -                 each value under its name   -
    Line        a line            -                           a paragraph
    Note        lines on stderr   -                           -
    Table       a table           a list of objects           a table
    Group       its parts         an object of its parts      its parts
    Section     its parts         -                           its parts under a heading
    Details     its parts         -                           its parts, to be opened
    all others  -                 -                           what their names say

So the name and the meaning of a figure are written once. Parts are told in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar, cast

from heapfit.drawing.chart import Chart

Row = TypeVar("Row")
Whole = TypeVar("Whole")


class Cell(NamedTuple):
    """A figure of a page's table with what is said beside it."""

    text: str
    small: tuple[str, ...] = ()  # remarks, each on a line below it
    mark: str = ""  # a word in a box behind it
    tone: str = ""  # of the mark


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One figure of a table's rows."""

    field: str = ""  # its name in the JSON; "": not there
    heading: str = ""  # above it in the table; "": not there
    value: Callable[[Row], object] | None = None  # None: the row's attribute named `field`
    shown: Callable[[Row], object] | None = None  # in the table, where that differs
    page: str | None = None  # above it on a page, where that differs; "": not there
    told: Callable[[Any], str | Cell] | None = None  # the table's figure, as a page has it

    def figure(self, row: Row) -> object:
        """The figure of a row, as the JSON has it."""
        return getattr(row, self.field) if self.value is None else self.value(row)

    def cell(self, row: Row) -> object:
        """The figure of a row, as the table has it."""
        return self.figure(row) if self.shown is None else self.shown(row)

    def page_cell(self, row: Row) -> object:
        """The figure of a row, as a page's table has it."""
        return self.cell(row) if self.told is None else self.told(self.cell(row))

    def adapt(self, part: Callable[[Whole], Row]) -> Column[Whole]:
        """The same figure for rows of which `part` is a row of this column."""
        shown = self.shown
        return replace(
            cast("Column[Whole]", self),
            value=lambda whole: self.figure(part(whole)),
            shown=None if shown is None else lambda whole: shown(part(whole)),
        )

    def with_heading(self, heading: str) -> Column[Row]:
        """The same figure with another heading; "": only in the JSON."""
        return replace(self, heading=heading, page=None)

    @property
    def page_heading(self) -> str:
        """What stands above it on a page; "": it is not there."""
        return self.heading if self.page is None else self.page


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


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """Rows that have the same figures."""

    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    field: str = ""  # the list's name in the JSON; "": not there
    shown: Sequence[Row] | None = None  # the table's rows, where they are fewer or sorted otherwise
    indent: int = 0  # columns before it
    keys: int = 1  # of its columns, the first, say which row it is
    is_whole: bool = False  # headings and texts are not broken where it is too wide
    caption: str = ""  # on a page
    look: str = "cards numbers"  # on a page: its classes; "sortable": with a filter, too
    lead: Row | None = None  # the row that a page shows in colour

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


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a heading, which links of the page lead to."""

    place: str  # the element's id
    title: str  # "": none
    parts: Sequence[Part]
    name: str | None = None  # of the link; None: the title, "": there is none
    is_folded: bool = False

    @property
    def link(self) -> str:
        """The text of the link to it; "": there is none."""
        return self.title if self.name is None else self.name


@dataclass(frozen=True, slots=True)
class Details:
    """Parts that are opened by a click on their summary."""

    summary: str
    parts: Sequence[Part]
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Groups of parts side by side, as many as the width takes."""

    parts: Sequence[Group]
    look: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Copyable:
    """Lines with a button that copies them."""

    identity: str
    lines: Sequence[str]


class NamedFigure(NamedTuple):
    """A figure with its name and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Key figures, each in a box."""

    figures: Sequence[NamedFigure]


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; of a pair, the first is in bold."""

    items: Sequence[str | tuple[str, str]]


class Piece(NamedTuple):
    """A piece of a bar or of a block that is divided to scale."""

    name: str
    bytes: int
    look: str = ""  # a class, or a colour such as "--live"
    label: str = ""
    parts: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Strip:
    """A bar of pieces, as wide as they are large; without a caption the parts of each below it."""

    pieces: Sequence[Piece]
    caption: str = ""  # "": a table says the same


@dataclass(frozen=True, slots=True)
class HeapMapView:
    """The map of heaps, of packed.py's record: a section of its own."""

    record: Mapping[str, Any]
    link: str = "Heap map"
    place: ClassVar[str] = "heap-map"


@dataclass(frozen=True, slots=True)
class Glossary:
    """What each word of the field means."""


Holder: TypeAlias = "Group | Section | Details | Grid"
Part: TypeAlias = (
    "Fields | Line | Note | Table[Any] | Chart | Heading | Copyable | Tiles | Bullets"
    " | Strip | HeapMapView | Glossary | Holder"
)


def walk(parts: Iterable[Part]) -> Iterator[Part]:
    """All parts, those inside others after them."""
    for part in parts:
        yield part
        if isinstance(part, Group | Section | Details | Grid):
            yield from walk(part.parts)


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
        if is_shown or isinstance(part, Fields):
            yield part
        elif isinstance(part, Table):
            yield replace(part, columns=[column.with_heading("") for column in part.columns])
        elif isinstance(part, Group):
            yield Group(part.field, [*hide_unless(False, part.parts)])


def object_of(columns: Sequence[Column[Row]], row: Row) -> dict[str, object]:
    """A row's figures by their names in the JSON."""
    return {column.field: column.figure(row) for column in columns if column.field}


def which_hold(*said: tuple[object, str]) -> list[str]:
    """The texts of which the condition before them holds.

    >>> which_hold((True, "a"), (0, "b"), ([8], "c"))
    ['a', 'c']
    """
    return [text for holds, text in said if holds]


def paragraph(text: str | None) -> list[Line]:
    """A text, if there is any, in lines of the page's width."""
    return [Line(text)] if text else []
