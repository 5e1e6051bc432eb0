# SPDX-License-Identifier: Apache-2.0
"""bench/page_tables.py: what a script writes is what a page shows."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TABLES = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "bench/page_tables.py")))
BLOCK = "Before.\n\n<!-- table: speeds -->\nold\n<!-- end -->\n\nBehind.\n"


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(TABLES.write_result.__globals__, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["/somewhere/bench/speeds.py", "--all", "--write"])
    TABLES.write_result("speeds", ("heap", "calls"), [("a", 1234), ("b", "0.50")])
    return tmp_path


def test_a_page_shows_what_was_written_when_and_by_what() -> None:
    lines = TABLES.renewed(BLOCK).splitlines()
    assert lines[:3] == ["Before.", "", "<!-- table: speeds -->"]
    assert lines[3:7] == ["| heap | calls |", "|---|---|", "| a | 1,234 |", "| b | 0.50 |"]
    assert lines[8].startswith("Measured on 20")
    assert lines[8].endswith(", by `python bench/speeds.py --all`.")
    assert lines[9:] == ["<!-- end -->", "", "Behind."]


def test_a_part_that_is_measured_again_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["speeds.py", "--only", "b"])
    TABLES.write_result("speeds", ("heap", "calls"), [("b", 7), ("c", 8)])
    known = TABLES.read_result("speeds")
    assert [row[:2] for row in known.rows] == [["a", "1234"], ["b", "7"], ["c", "8"]]
    assert known.by == "`python bench/speeds.py --all`"


def test_a_table_is_not_mixed_with_one_of_other_columns() -> None:
    with pytest.raises(AssertionError, match="other columns"):
        TABLES.write_result("speeds", ("heap", "seconds"), [("a", 1)])


def test_tables_stand_side_by_side_by_their_first_cells() -> None:
    TABLES.write_result("sizes", ("heap", "bytes"), [("b", 20), ("a", 10)])
    lines = TABLES.renewed(BLOCK.replace("speeds", "speeds sizes")).splitlines()
    assert lines[3] == "| heap | calls | bytes |"
    assert lines[5:7] == ["| a | 1,234 | 10 |", "| b | 0.50 | 20 |"]
    assert lines[8].count("Measured on") == 2
