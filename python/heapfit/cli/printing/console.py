# SPDX-License-Identifier: Apache-2.0
"""What commands print: results on stdout, everything else on stderr, and never a control character.

Names come from files and may be hostile, so all text passes `printable`. Progress bars appear only
where stderr is a terminal; NO_COLOR is honoured.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from heapfit.progress import Progress, no_progress

JSON_SCHEMA = 1
WIDTH = 100  # columns of what is printed, but where a single word or table needs more

# Controls, format characters (bidirectional overrides among them), surrogates, line separators.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    """The text without what could steer a terminal.

    >>> printable("a\\x1b[2Jb\\u202ec")
    'a[2Jbc'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if unicodedata.category(c) not in _UNPRINTABLE)


def out(text: str) -> None:
    """One line of result."""
    print(printable(text))


def note(text: str) -> None:
    """One line beside the result."""
    print(printable(text), file=sys.stderr)


def fail(text: str) -> None:
    """The one line of a failure."""
    note(f"heapfit: {text}")


def out_json(content: Mapping[str, Any]) -> None:
    """The result as one JSON object; the only thing on stdout."""
    print(json.dumps({"schema": JSON_SCHEMA, **content}, indent=2))


def out_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Aligned columns under their names: text to the left, numbers to the right, None as "-"."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, texts)) for texts in zip(columns, *cells, strict=True)]
    is_right = [
        all(value is None or _is_number(value) for value in values)
        for values in (zip(*rows, strict=True) if rows else [()] * len(columns))
    ]
    for texts in [list(columns), *cells]:
        padded = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(texts, widths, is_right, strict=True)
        )
        print("  ".join(padded).rstrip())


def out_wrapped(columns: Sequence[str], rows: Sequence[Sequence[str]], wide: Sequence[str]) -> None:
    """Columns of text, the `wide` ones wrapped so that all stand within the terminal, or WIDTH."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True)
    for column in columns:
        table.add_column(column, ratio=1 if column in wide else None, no_wrap=column not in wide)
    for row in rows:
        table.add_row(*(Text("\n".join(map(printable, cell.split("\n")))) for cell in row))
    width = None if sys.stdout.isatty() else WIDTH
    drawing = Console(file=sys.stdout, width=width, highlight=False)
    with drawing.capture() as drawn:
        drawing.print(table)
    for line in drawn.get().splitlines():
        print(line.rstrip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    """Integers with thousands marked, ratios with three decimals.

    >>> [_cell(1234567), _cell(1.16), _cell(None), _cell("tlsf")]
    ['1,234,567', '1.160', '-', 'tlsf']
    """
    if value is None:
        return "-"
    if _is_number(value):
        return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"
    return printable(str(value))


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars on stderr, one for each step that is not done; nothing where it is no terminal."""
    if not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    steps: dict[str, Any] = {}
    with Bars(console=Console(stderr=True), transient=True) as bars:

        def show(step: str, done: float) -> None:
            if done >= 1.0:
                if step in steps:
                    bars.remove_task(steps.pop(step))
                return
            if step not in steps:
                steps[step] = bars.add_task(_escaped(step), total=1.0)
            bars.update(steps[step], completed=done)

        yield show


def _escaped(step: str) -> str:
    from rich.markup import escape

    return escape(printable(step))
