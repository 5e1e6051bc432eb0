# SPDX-License-Identifier: Apache-2.0
"""A document rendered as one self-contained HTML file.

What a recording brings in (names, sources, notes) is hostile. Four walls keep it text: jinja2
escapes every expression, unprintable characters are written out, data lie in a JSON block that
cannot be left, and the content security policy runs no script but those written here, known by
their hashes, and opens no connection.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from heapfit import _engine
from heapfit.drawing import number_text
from heapfit.drawing.chart import Chart
from heapfit.drawing.document import Document
from heapfit.drawing.parts import Cell, HeapMapView, Table, walk
from heapfit.drawing.text import cell
from heapfit.outputs.file import write_file
from heapfit.outputs.printable import printable
from heapfit.plan.quantities import keep_units

_SHARED = Path(__file__).parent / "page"  # the frame of all pages, their style and script
# Each uses what stands before it; the last is for a page with a heap map.
_SCRIPTS = ("axes.js", "marks.js", "charts.js", "page.js", "map.js")
_VERBATIM_OR_TEXT = re.compile(r"(<(script|style|pre|code)\b.*?</\2>)|(?<=>)[^<]+", re.DOTALL)


def render(document: Document) -> str:
    """The page as text, the same for the same document."""
    parts = list(walk(document.sections))
    record = next((part.record for part in parts if isinstance(part, HeapMapView)), None)
    scripts = [_own(name) for name in (_SCRIPTS if record else _SCRIPTS[:-1])]
    page = _environment().get_template("document.html.j2")
    return keep_units_with_figures(
        page.render(
            page=document,
            version=_engine.version,
            figures={part.identity: part.figure() for part in parts if isinstance(part, Chart)},
            heap_map_record=record,
            policy=_policy(scripts),
            scripts=scripts,
            style=_own("page.css"),
            rows_of=page_rows,
        )
    )


def write_document(path: Path, document: Document) -> None:
    """Writes the page of a document."""
    write_page(path, render(document))


def page_rows(table: Table[Any]) -> list[list[Cell]]:
    """The rows of a table as its page has them."""
    columns = [column for column in table.columns if column.page_heading]
    rows = table.rows if table.shown is None else table.shown
    return [[_cell_of(column.page_cell(row)) for column in columns] for row in rows]


def _cell_of(value: object) -> Cell:
    if isinstance(value, Cell):
        return value
    text = number_text.NOT_MEASURED if value is None else value
    return Cell(text if isinstance(text, str) else cell(text))


def keep_units_with_figures(page: str) -> str:
    """The page with no break between a figure and its unit, but in what is copied or run.

    >>> keep_units_with_figures("<td>83 %</td><pre>a 5 B</pre>").replace("\xa0", "_")
    '<td>83_%</td><pre>a 5 B</pre>'
    """
    return _VERBATIM_OR_TEXT.sub(lambda found: found[1] or keep_units(found[0]), page)


def write_page(path: Path, text: str) -> None:
    """Writes a page; the file appears whole or not at all."""
    write_file(path, text.encode())


def _own(name: str) -> str:
    return (_SHARED / name).read_text(encoding="utf-8")


def _policy(scripts: list[str]) -> str:
    """A content security policy that runs `scripts` alone and fetches nothing.

    Charts set styles on their elements; texts are kept through blob: addresses.
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_SHARED),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Markup, which is a subclass of text, and numbers stay as they are.
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    for name in ("count", "size", "sentence"):
        environment.filters[name] = getattr(number_text, name)
    return environment
