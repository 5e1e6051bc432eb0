# SPDX-License-Identifier: Apache-2.0
"""bench/page_tables.py: what a script writes is what a page shows, and pages show it.

Outputs that a script makes are compared whole (test_documentation.py). A decision's page tells what
was known then.
"""

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from heapfit.simulation.scenario import RunSettings
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[2]
TABLES = SimpleNamespace(**runpy.run_path(str(ROOT / "bench/page_tables.py")))
BLOCK = "Before.\n\n<!-- table: speeds -->\nold\n<!-- end -->\n\nBehind.\n"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(TABLES.write_result.__globals__, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["/somewhere/bench/speeds.py", "--all", "--write"])
    TABLES.write_result("speeds", ("heap", "calls"), [("a", 1234), ("b", "0.50")])
    return tmp_path


@pytest.mark.usefixtures("results")
def test_a_page_shows_what_was_written_when_and_by_what() -> None:
    lines = TABLES.renewed(BLOCK).splitlines()
    assert lines[:3] == ["Before.", "", "<!-- table: speeds -->"]
    assert lines[3:7] == ["| heap | calls |", "|---|---|", "| a | 1,234 |", "| b | 0.50 |"]
    assert lines[8].startswith("Measured on 20")
    assert lines[8].endswith(", by `python bench/speeds.py --all`.")
    assert lines[9:] == ["<!-- end -->", "", "Behind."]


@pytest.mark.usefixtures("results")
def test_a_part_that_is_measured_again_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["speeds.py", "--only", "b"])
    TABLES.write_result("speeds", ("heap", "calls"), [("b", 7), ("c", 8)])
    known = TABLES.read_result("speeds")
    assert [row[:2] for row in known.rows] == [["a", "1234"], ["b", "7"], ["c", "8"]]
    assert known.by == "`python bench/speeds.py --all`"


@pytest.mark.usefixtures("results")
def test_a_table_is_not_mixed_with_one_of_other_columns() -> None:
    with pytest.raises(AssertionError, match="other columns"):
        TABLES.write_result("speeds", ("heap", "seconds"), [("a", 1)])


@pytest.mark.usefixtures("results")
def test_tables_stand_side_by_side_by_their_first_cells() -> None:
    TABLES.write_result("sizes", ("heap", "bytes"), [("b", 20), ("a", 10)])
    lines = TABLES.renewed(BLOCK.replace("speeds", "speeds sizes")).splitlines()
    assert lines[3] == "| heap | calls | bytes |"
    assert lines[5:7] == ["| a | 1,234 | 10 |", "| b | 0.50 | 20 |"]
    assert lines[8].count("Measured on") == 2


@pytest.mark.parametrize("name", ["device", "nginx"])
def test_the_pairs_that_are_kept_are_those_of_the_table(name: str) -> None:
    (row,) = (row for row in TABLES.read_result("second-runs").rows if row[0] == name)
    pair = [Trace.open(ROOT / f"examples/second-runs/traces/{name}-{i}.parquet") for i in (1, 2)]
    peaks = [profile_trace(trace).u_max for trace in pair]
    assert [int(cell) for cell in row[3:5]] == [trace.info.events for trace in pair]
    assert [int(cell) for cell in row[6:8]] == peaks


def test_the_run_of_a_scenario_has_the_standards_of_the_page() -> None:
    text = (ROOT / "docs/scenario-schema.md").read_text()
    standards = dict(re.findall(r"^\| `(\w+)` \| ([\d.,]+) \|", text, re.MULTILINE))
    run = RunSettings()
    assert len(standards) > 4
    for key, standard in standards.items():
        assert float(standard.replace(",", "")) == getattr(run, key), key


def test_the_gates_hold_what_contributing_says() -> None:
    gate = runpy.run_path(str(ROOT / "scripts/check_functions.py"))
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for what, limit in (
        ("lines of a function", gate["MOST_LINES"]),
        (
            f"parameters; with more than {gate['MOST_UNNAMED']}, the package's are keyword-only "
            "from the third on",
            gate["MOST_PARAMETERS"],
        ),
        ("blocks in one another", gate["MOST_NESTED"]),
        ("imports inside functions, for type checkers, by name", gate["MOST_LATE_IMPORTS"]),
    ):
        assert f"| {what} | {limit}" in text


def test_the_tables_of_pages_are_those_of_their_homes() -> None:
    stale = [
        file for file in TABLES.pages() if TABLES.renewed(file.read_text()) != file.read_text()
    ]
    assert stale == [], "run bench/page_tables.py"


def test_every_result_is_on_a_page_and_says_when_and_by_what_it_was_measured() -> None:
    shown = {
        name
        for file in TABLES.pages()
        for _, names in TABLES.BLOCK.findall(file.read_text())
        for name in names.split()
    }
    results = {path.stem for path in TABLES.RESULTS.iterdir()}
    assert shown - {"margins"} == results
    for name in results:
        result = TABLES.read_result(name)
        assert result.columns[-1] == TABLES.MEASURED
        assert len(result.by) > 8, name
        for row in result.rows:
            assert re.match(r"\d{4}-\d\d-\d\d with \w", row[-1]), (name, row)
            assert len(row) == len(result.columns)


@pytest.mark.parametrize("name", ["peers", "rust-crates", "tailored"])
def test_medians_and_worst_cases_are_those_of_the_programs(name: str) -> None:
    result = TABLES.read_result(name)
    sums = {row[0]: row[1:-1] for row in result.rows if row[0] in {"median", "worst"}}
    programs = [row[1:-1] for row in result.rows if row[0] not in sums]
    columns = [sorted(column) for column in zip(*programs, strict=True)]
    assert sums["median"] == [column[len(column) // 2] for column in columns]
    assert "worst" not in sums or sums["worst"] == [column[-1] for column in columns]


def tables_of_figures() -> Iterator[str]:
    """Pages with a table outside of such blocks whose rows hold three figures or more."""
    for path in TABLES.pages():
        written = TABLES.BLOCK.sub("", path.read_text())
        rows = re.findall(r"^\|.*\|$", written, re.MULTILINE)
        if any(len(re.findall(r"\d+[.,]\d+", row)) >= 3 for row in rows):
            yield str(path.relative_to(ROOT))


def test_a_table_of_figures_is_made_by_a_script() -> None:
    made = {*re.findall(r"mv build/page (\S+)", (ROOT / "Makefile").read_text())}
    pages = {page for page in tables_of_figures() if not page.startswith("docs/decisions/")}
    assert "docs/hardening.md" in pages
    assert pages - made == set()
