# SPDX-License-Identifier: Apache-2.0
"""A command's result as Markdown, from the parts its text is made of: for pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from heapfit.drawing.parts import Group, Line, Note, Part, Table
from heapfit.drawing.text import cell, is_right
from heapfit.outputs.file import write_file
from heapfit.outputs.printable import printable

_MARKS = re.compile(r"([\\`*\[\]<>|~#&@])")


def markdown_of(title: str, parts: Iterable[Part]) -> str:
    """A heading, then a paragraph for each line and each table."""
    return "\n\n".join([f"### {_escape(title)}", *_paragraphs(parts)]) + "\n"


def save_markdown(path: Path, title: str, parts: Iterable[Part]) -> None:
    """Writes a result as Markdown to a file, which appears whole or not at all."""
    write_file(path, markdown_of(title, parts).encode())


def _paragraphs(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Line() | Note() if part.text:
                yield _escape(part.text)
            case Table():
                yield from _table(part)
            case Group():
                yield from _paragraphs(part.parts)


def _table(table: Table[Any]) -> Iterator[str]:
    if not table.headings or not table.cells:
        return
    sides = ["---:" if is_right(values) else "---" for values in zip(*table.cells, strict=True)]
    yield "\n".join(
        [
            _row(map(_escape, table.headings)),
            _row(sides),
            *(_row(_escape(cell(value)) for value in values) for values in table.cells),
        ]
    )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    """The text with its markup escaped, as names come from files.

    >>> print(_escape("map<int>::at|*"))
    map\\<int\\>::at\\|\\*
    """
    return _MARKS.sub(r"\\\1", printable(text))
