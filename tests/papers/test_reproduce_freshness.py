# SPDX-License-Identifier: Apache-2.0
"""docs/evidence/reproduce.md is what the code says: all published, and what cheap rows find.

The rows left out here take minutes; HEAPFIT_ALL_ROWS=1 measures them too (`make test-long`). CPU
times differ from run to run and are not compared, nor are bytes of code, which a compiler decides.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from heapfit_papers.pages.markdown import format_published, row_lines
from heapfit_papers.reproduce.finding import Verdict
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.paper_000_first import report_runs as measure_runs
from heapfit_papers.reproduce.published import load_published
from heapfit_papers.reproduce.rows import reproduce

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/evidence/reproduce.md").read_text(encoding="utf-8")
SIMULATION = (ROOT / "docs/evidence/simulation.md").read_text(encoding="utf-8")
SLOW = {
    "000-12",
    *("001-1", "001-2", "001-10", "001-11", "001-12"),
    *("002-1", "002-5", "002-6", "002-7", "002-8", "002-9"),
    *("003-5", "003-7", "003-8", "003-9", "003-10", "003-12", "003-13", "003-14", "003-16"),
    "003-17",
}
COMPILED = {"001-16", "002-12", "003-15", "003-16"}
ALL = os.environ.get("HEAPFIT_ALL_ROWS") == "1"
MEASURED = [
    row for row in load_published().rows if row not in COMPILED and (ALL or row not in SLOW)
]
TIMES = re.compile(r"[\d.,]+ (ms|times)\b")


@pytest.fixture(scope="module")
def full(report_runs):
    made = Laboratory()
    made.provide(measure_runs, report_runs)
    return made


def page_rows() -> Mapping[str, list[str]]:
    """Lines of the page's tables by row: the first one has its id."""
    rows: dict[str, list[str]] = {}
    for line in PAGE.splitlines():
        cells = cells_of(line)
        if len(cells) == 5 and (cells[0] in load_published().rows or (rows and not cells[0])):
            identity = cells[0] or next(reversed(rows))
            rows.setdefault(identity, []).append(line)
    return rows


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.mark.parametrize("identity", MEASURED)
def test_what_is_found_anew_stands_on_the_page(identity, full):
    [result] = reproduce([identity], full)
    told = [TIMES.sub("#", line) for line in row_lines(result)]
    assert told == [TIMES.sub("#", line) for line in page_rows()[identity]]


@pytest.mark.parametrize("identity", load_published().rows)
def test_all_that_is_published_of_a_row_stands_on_the_page_with_its_kind(identity):
    figures = load_published().rows[identity].figures.values()
    told = [(cells[1], cells[3]) for cells in map(cells_of, page_rows()[identity])]
    assert told == [(format_published(one), str(one.kind)) for one in figures]


def test_the_counts_of_the_papers_add_up_to_those_of_all():
    told = re.findall(r"^(\d+) figures in (\d+) rows\.", PAGE, re.MULTILINE)
    total, *each = [tuple(map(int, one)) for one in told]
    assert len(each) == len(load_published().papers)
    assert total == tuple(map(sum, zip(*each, strict=True)))


def test_figure_8_is_told_alike_on_the_page_of_simulation():
    """A statement's verdict is the same on both pages, row by row."""
    lines = [cells_of(line) for line in SIMULATION.splitlines() if line.startswith("| 002-")]
    assert {cells[0] for cells in lines} >= {"002-6", "002-7", "002-8", "002-9", "002-10"}
    for identity, _, _, *verdicts in lines:
        mine = [cells_of(line)[4] for line in page_rows()[identity]]
        assert verdicts == [worst(mine)], identity


def worst(verdicts: list[str]) -> str:
    """As a row of several figures stands: see RowResult."""
    order = (Verdict.DIFFERS, Verdict.MATCHES, Verdict.NO_EVIDENCE, Verdict.UNKNOWN)
    return next(str(one) for one in order if one in verdicts)
