#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/peers.md with the table of a league's result: peers_page.py FOLDER.

The folder is the output of `heapfit compare --output`. Shown is who learned nothing, ours and
others'.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from heapfit.league import Standing, standings_of
from heapfit.league.rows import BASELINE, PLAIN, from_plain

PAGE = Path(__file__).resolve().parents[1] / "docs/peers.md"
HEAD = "| entrant | interface | served | median | worst | accesses | code, B | faults |"
_FIGURE = {1: ",.1f", 4: ".4f", 0: ",d"}


def table_lines(standings: tuple[Standing, ...]) -> Iterator[str]:
    """One line an entrant, in the order of the standings."""
    yield HEAD
    yield "|---|---|---|---|---|---|---|---|"
    for one in standings:
        if one.learned == PLAIN and one.kind != BASELINE:
            cells = [
                *(one.entrant, one.interface, f"{one.served} of {one.recordings}"),
                *(shown(one.median, 4), shown(one.worst, 4), shown(one.accesses, 1)),
                *(shown(one.code, 0), one.faults or "-"),
            ]
            yield f"| {' | '.join(cells)} |"


def shown(value: float | None, digits: int) -> str:
    """A figure, or that there is none."""
    return "-" if value is None else format(value, _FIGURE[digits])


def with_table(page: str, table: Iterator[str]) -> str:
    """The page, the table under HEAD replaced."""
    before, _, rest = page.partition(HEAD)
    behind = rest.partition("\n\n")[2]
    lines = "\n".join(table)
    return f"{before}{lines}\n" + (f"\n{behind}" if behind else "")


def main() -> None:
    """Prints the page."""
    if len(sys.argv) != 2:
        sys.exit("usage: peers_page.py FOLDER")
    rows = pq.read_table(Path(sys.argv[1]) / "league.parquet").to_pylist()
    standings = standings_of([from_plain(values) for values in rows])
    print(with_table(PAGE.read_text(), table_lines(standings)), end="")


if __name__ == "__main__":
    main()
