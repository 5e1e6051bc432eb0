# SPDX-License-Identifier: Apache-2.0
"""A command's result as Markdown, from the parts its text is made of: for pull requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from heapfit.cli.printing import console
from heapfit.cli.printing.parts import Group, Line, Note, Part, Table
from heapfit.outputs.file import stage_file

_MARKS = re.compile(r"([\\`*\[\]<>|~#&@])")


def markdown_of(title: str, parts: Iterable[Part]) -> str:
    """A heading, then each line as a paragraph and each table as one."""
    return "\n\n".join([f"### {_escaped(title)}", *_paragraphs(parts)]) + "\n"


def save_markdown(path: Path, title: str, parts: Iterable[Part]) -> None:
    """Writes it to a file, which appears whole or not at all."""
    with stage_file(path) as staging:
        staging.write_text(markdown_of(title, parts), encoding="utf-8")


def _paragraphs(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Line() | Note() if part.text:
                yield _escaped(part.text)
            case Table():
                yield from _table(part)
            case Group():
                yield from _paragraphs(part.parts)


def _table(table: Table[Any]) -> Iterator[str]:
    columns = [column for column in table.columns if column.heading]
    rows = table.rows if table.shown is None else table.shown
    if not columns or not rows:
        return
    cells = [[column.cell(row) for column in columns] for row in rows]
    sides = ["---:" if console.is_right(values) else "---" for values in zip(*cells, strict=True)]
    yield "\n".join(
        [
            _row(_escaped(column.heading) for column in columns),
            _row(sides),
            *(_row(_escaped(console.cell(value)) for value in values) for values in cells),
        ]
    )


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Names come from files: nothing in them is markup.

    >>> print(_escaped("map<int>::at|*"))
    map\\<int\\>::at\\|\\*
    """
    return _MARKS.sub(r"\\\1", console.printable(text))
