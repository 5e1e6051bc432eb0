# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/peers.md that a league made: open_set.py FOLDER, what `heapfit compare` wrote.

Shown is who learned nothing: ours, plug-ins and crates, and heaps of C libraries where a board
measured them (`--board`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.league import Standing, standings_of
from heapfit.league.rows import BASELINE, LIBRARY, PLAIN, row_from_dict

ENTRANTS = ("entrant", "interface", "served", "median", "worst", "accesses", "code, B", "faults")
LIBRARIES = ("library", "served", "median", "worst", "instructions", "code, B", "stack, B")


def figure(value: float | None, form: str = "") -> str:
    """As asked, or that there is none."""
    return "-" if value is None else format(value, form)


def served(one: Standing) -> str:
    return f"{one.served} of {one.recordings}"


def entrant_row(one: Standing) -> tuple[str, ...]:
    ratios = (figure(one.median, ".4f"), figure(one.worst, ".4f"))
    costs = (figure(one.accesses, ".1f"), figure(one.code), one.faults or "-")
    return one.entrant, one.interface, served(one), *ratios, *costs


def library_row(one: Standing) -> tuple[str, ...]:
    ratios = (figure(one.median, ".4f"), figure(one.worst, ".4f"))
    costs = (figure(one.instructions, ".1f"), figure(one.code), figure(one.stack))
    return one.entrant, served(one), *ratios, *costs


def out(name: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], writes: bool) -> None:
    if rows:
        console.print_table(columns, rows, width=console.WIDE)
        if writes:
            write_result(name, columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="with league.parquet")
    add_option(parser)
    asked = parser.parse_args()
    table = pq.read_table(asked.folder / "league.parquet").to_pylist()
    plain = [
        one
        for one in standings_of([row_from_dict(values) for values in table])
        if one.learned == PLAIN and one.kind != BASELINE
    ]
    entrants = [entrant_row(one) for one in plain if one.kind != LIBRARY]
    libraries = [library_row(one) for one in plain if one.kind == LIBRARY]
    out("open-set", ENTRANTS, entrants, asked.write)
    out("c-libraries", LIBRARIES, libraries, asked.write)


if __name__ == "__main__":
    main()
