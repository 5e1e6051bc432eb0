#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of figures on pages, each from its one home; --check only names the pages that differ.

    <!-- table: peers tailored -->
    <!-- end -->

Between such lines of a page stand the tables of bench/results/peers.csv and tailored.csv, side by
side. Such a file has a comment that says by what it was measured, a header, and in each row's last
column when. The scripts of bench/ write it if they are given --write. The table of margins is that
of the code.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit import _engine
from heapfit.comparison.margin import MarginBasis, MarginKind, margin_for
from heapfit.forecast.load import Load

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"
MEASURED = "measured"  # the last column
BLOCK = re.compile(
    r"(<!-- table: ([\w-]+(?: [\w-]+)*) -->\n).*?(?=^<!-- end -->)", re.MULTILINE | re.DOTALL
)
ASKED = ((1, 1), (2, 1), (4, 1), (7, 1), (1, 10), (4, 10), (1, 100))  # recordings, times as long
LOADS_TOLD = (
    ("a service, a cycle, too short to say", 40_000, False),
    ("a job up to 64 KiB", 64 << 10, True),
    ("a job of 128 KiB", 128 << 10, True),
    ("a job of 256 KiB", 256 << 10, True),
    ("a job from 512 KiB on", 512 << 10, True),
)

Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class Result:
    """A table, and in one phrase by what it was measured."""

    by: str
    columns: list[str]
    rows: list[list[str]]

    def sentence(self) -> str:
        when = sorted({row[-1] for row in self.rows})
        return f"Measured on {', on '.join(when)}, by {self.by}."


def result_lines(results: Sequence[Result]) -> Iterator[str]:
    """Side by side, by their rows' first cells, with the sentences that say when."""
    first, *others = results
    columns = [*first.columns[:-1], *(one for other in others for one in other.columns[1:-1])]
    by_name = [{row[0]: row[1:-1] for row in other.rows} for other in others]
    rows = [
        [*row[:-1], *(cell for other in by_name for cell in other[row[0]])] for row in first.rows
    ]
    yield from table_lines(columns, rows)
    yield "\n" + " ".join(one.sentence() for one in results)


def table_lines(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    for cells in (columns, *rows):
        yield f"| {' | '.join(map(shown, cells))} |"
        if cells is columns:
            yield f"|{'---|' * len(columns)}"


def shown(cell: object) -> str:
    """Whole numbers with commas, all else as it is."""
    return f"{int(str(cell)):,}" if re.fullmatch(r"\d+", str(cell)) else str(cell)


def read_result(name: str) -> Result:
    by, *lines = (RESULTS / f"{name}.csv").read_text().splitlines()
    columns, *rows = csv.reader(lines)
    return Result(by.removeprefix("# by "), columns, rows)


def write_result(name: str, columns: Sequence[str], rows: Sequence[Row], keys: int = 1) -> None:
    """Rows replace those with the same first cells; if others stay, so does what measured them."""
    path = RESULTS / f"{name}.csv"
    when = f"{datetime.date.today()} with heapfit {_engine.version}"
    words = [f"bench/{Path(sys.argv[0]).name}", *sys.argv[1:]]
    by = f"`python {' '.join(one for one in words if one != '--write')}`"
    found = [[*map(str, row), when] for row in rows]
    table = {tuple(row[:keys]): row for row in found}
    if path.exists():
        known = read_result(name)
        assert known.columns == [*columns, MEASURED], f"{path}: other columns"
        before = {tuple(row[:keys]): row for row in known.rows}
        by = known.by if before.keys() - table.keys() else by
        table = before | table
    with path.open("w", newline="") as file:
        file.write(f"# by {by}\n")
        csv.writer(file, lineterminator="\n").writerows([[*columns, MEASURED], *table.values()])


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="renew the table in bench/results/")


def margin_lines() -> Iterator[str]:
    """The reserve of heapfit.forecast.load in percent, of windows that are not skewed."""
    rows = [
        (name, *(f"{reserve_of(size, is_job, *one):g} %" for one in ASKED))
        for name, size, is_job in LOADS_TOLD
    ]
    heads = [f"{count} recording{'s' * (count > 1)}, {times} x as long" for count, times in ASKED]
    return table_lines(("load", *heads), rows)


def reserve_of(u_max: int, is_job: bool, count: int, times: int) -> float:
    known = MarginBasis(Load((u_max,) * count, is_job=is_job), MarginKind.PLAIN)
    return margin_for(known, times)


def block_of(found: re.Match[str]) -> str:
    names = found[2].split()
    lines = margin_lines() if names == ["margins"] else result_lines(list(map(read_result, names)))
    return found[1] + "\n".join(lines) + "\n"


def renewed(page: str) -> str:
    """The page with each table as its home has it."""
    return BLOCK.sub(block_of, page)


def pages() -> list[Path]:
    """Every page that git knows."""
    listing = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listing.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if a page differs")
    asked = parser.parse_args()
    stale = [page for page in pages() if renewed(page.read_text()) != page.read_text()]
    for page in stale:
        print(page.relative_to(ROOT))
        if not asked.check:
            page.write_text(renewed(page.read_text()))
    sys.exit(1 if asked.check and stale else 0)


if __name__ == "__main__":
    main()
