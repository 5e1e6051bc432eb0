# SPDX-License-Identifier: Apache-2.0
"""What commands print: results on stdout, everything else on stderr, and never a control character.

Names come from files and may be hostile, so all text passes `printable`. NO_COLOR is honoured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path

from heapfit.cli.printing.lines import note, print_line
from heapfit.drawing.parts import Group, Line, Note, Part, Table, content_of
from heapfit.drawing.text import WIDTH, lay_table, lines_of, wrap_text

JSON_SCHEMA = 1
WIDE = 200  # columns of what bench/ prints, for people and for programs


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
    *,
    indent: int = 0,
    keys: int = 1,
    width: int = WIDTH,
    is_whole: bool = False,
) -> None:
    """Prints aligned columns under their names, as `lay_table` has them."""
    lines = lay_table(columns, rows, indent=indent, keys=keys, width=width, is_whole=is_whole)
    for line in lines:
        print(line)


def print_result(parts: Iterable[Part], as_json: bool) -> None:
    """Prints a command's result as text or as JSON."""
    if as_json:
        print_json(content_of(parts))
    else:
        print_text(parts)


def print_text(parts: Iterable[Part]) -> None:
    """Prints the parts of a result that are text."""
    for part in parts:
        match part:
            case Line():
                for line in lines_of(part.text, is_copied=part.is_copied):
                    print_line(line)
            case Note():
                for line in wrap_text(part.text):
                    note(line)
            case Table() if part.headings:
                print_table(
                    part.headings,
                    part.cells,
                    indent=part.indent,
                    keys=part.keys,
                    is_whole=part.is_whole,
                )
            case Group():
                print_text(part.parts)
