# SPDX-License-Identifier: Apache-2.0
"""A result as a page: its answer, then its sections; made of parts and rendered by one template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapfit.results import html
from heapfit.results.chart import Chart
from heapfit.results.number_text import NOT_MEASURED
from heapfit.results.parts import (
    Cell,
    Copyable,
    HeapMap,
    Line,
    NamedFigure,
    Part,
    Piece,
    Section,
    Table,
    walk,
)
from heapfit.results.text import cell

HOLDS, UNSURE, FAILED = "holds", "unsure", "failed"  # tones of an answer
_TEMPLATE = Path(__file__).with_name("document.html.j2")
_MAP_SCRIPT = Path(__file__).parent / "heap_map/map.js"


@dataclass(frozen=True, slots=True)
class Document:
    """A page: the answer, and the sections that it rests on."""

    command: str  # that made the page: "fit"
    title: str
    sentences: Sequence[str]  # the answer
    sections: Sequence[Section | HeapMap]
    kind: str = ""  # of its subject
    source: str = ""  # where the requests come from
    lead: Sequence[NamedFigure] = ()
    remarks: Sequence[str] = ()
    define: str = ""  # a line to copy into the program
    badge: str = ""  # the answer in a few words, in its colour
    tone: str = ""  # of the answer: HOLDS, UNSURE or FAILED; "": it has none
    trust: Sequence[NamedFigure] = ()  # what the answer rests on
    warnings: Sequence[str] = ()
    bytes_go: Sequence[Piece] = ()  # the parts of the bytes that are set
    downloads: tuple[str, str] | None = (
        None  # the place of the plan's text; the code as a zip, or ""
    )
    name: str = ""  # of the page, in its browser's list; "": the title

    @property
    def parts(self) -> list[Part]:
        """All parts of the page, those inside others after them."""
        return list(walk(self.sections))

    @property
    def links(self) -> list[tuple[str, str]]:
        """The anchor and name of each section that is linked, in order."""
        return [(one.place, one.link) for one in self.sections if one.link]


def render(document: Document) -> str:
    """The page as text, the same for the same document."""
    parts = document.parts
    heap_map = next((part for part in parts if isinstance(part, HeapMap)), None)
    return html.render(
        _TEMPLATE,
        document.name or document.title,
        [part for part in parts if isinstance(part, Chart)],
        own_scripts={_MAP_SCRIPT: heap_map.record} if heap_map else {},
        page=document,
        rows_of=page_rows,
    )


def write(path: Path, document: Document) -> None:
    """Writes a page; the file appears whole or not at all."""
    html.write_page(path, render(document))


def reproduce_section(command: str, *remarks: str) -> Section:
    """The command that made a page, to be copied."""
    parts: list[Part] = [*map(Line, remarks), Copyable("command-1", [command])]
    return Section("reproduce", "How to reproduce", parts, "Reproduce")


def page_rows(table: Table[Any]) -> list[list[Cell]]:
    """The rows of a table as its page has them."""
    columns = [column for column in table.columns if column.page_heading]
    rows = table.rows if table.shown is None else table.shown
    return [[_cell_of(column.page_cell(row)) for column in columns] for row in rows]


def _cell_of(value: object) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell(NOT_MEASURED if value is None else value if isinstance(value, str) else cell(value))
