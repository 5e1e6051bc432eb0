# SPDX-License-Identifier: Apache-2.0
"""Tables of long texts: columns wrapped so that all stand within the page."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from heapfit.drawing.parts import Line
from heapfit.drawing.text import WIDTH
from heapfit.outputs.printable import printable


def wrap_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], wide: Sequence[str]
) -> Iterator[Line]:
    """The table's lines, as wide as the terminal, else WIDTH; its `wide` columns are wrapped."""
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
        yield Line(line.rstrip())
