# SPDX-License-Identifier: Apache-2.0
"""Figures in the text of pages are those of the code and of the recordings they tell of.

Outputs that a script makes are compared whole (test_documentation.py). Here are tables, which are
those of bench/results/, and figures in sentences. A decision's page tells what was known then.
"""

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from heapfit import _engine
from heapfit.importers import ImportOptions, open_any
from heapfit.simulation.scenario import RunSettings
from heapfit.sweep import MOST_DEATHS
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("no", "one", "two", "three", "four", "five")
TABLES = SimpleNamespace(**runpy.run_path(str(ROOT / "bench/page_tables.py")))


def page(name: str) -> str:
    """Its text, lines joined."""
    return " ".join((ROOT / name).read_text().split())


@pytest.mark.parametrize("name", ["lua", "lwip-echo", "sqlite"])
def test_the_page_of_a_recording_tells_its_events_and_requests(name: str) -> None:
    trace = Trace.open(ROOT / f"examples/{name}/{name}.parquet")
    profile = profile_trace(trace)
    text = page(f"examples/{name}/README.md")
    assert f"{trace.info.events:,} events" in text
    assert f"{int(profile.allocations.sum()):,} allocations" in text


@pytest.mark.parametrize("name", ["lua", "sqlite"])
def test_the_page_of_a_recording_tells_its_sizes_and_peak(name: str) -> None:
    profile = profile_trace(Trace.open(ROOT / f"examples/{name}/{name}.parquet"))
    asked = int((profile.allocations > 0).sum())
    assert f"{asked} sizes, {profile.u_max:,} bytes live at most" in page(
        f"examples/{name}/README.md"
    )


def test_the_page_of_lwip_tells_the_sizes_asked_for_most() -> None:
    profile = profile_trace(Trace.open(ROOT / "examples/lwip-echo/lwip-echo.parquet"))
    counts = zip(profile.sizes.tolist(), profile.allocations.tolist(), strict=True)
    most = sorted(counts, key=lambda pair: -pair[1])[:4]
    first, *others = [f"{count:,} are of {size} B" for size, count in most]
    frequent = ", ".join([first, *(one.replace(" are", "") for one in others)])
    assert frequent in page("examples/lwip-echo/README.md")


@pytest.mark.parametrize("name", ["device", "nginx"])
def test_the_pairs_that_are_kept_are_those_of_the_table(name: str) -> None:
    (row,) = (row for row in TABLES.read_result("second-runs").rows if row[0] == name)
    pair = [Trace.open(ROOT / f"examples/second-runs/traces/{name}-{i}.parquet") for i in (1, 2)]
    peaks = [profile_trace(trace).u_max for trace in pair]
    assert [int(cell) for cell in row[3:5]] == [trace.info.events for trace in pair]
    assert [int(cell) for cell in row[6:8]] == peaks


def test_the_page_of_the_capture_tells_its_packets(tmp_path: Path) -> None:
    trace = open_any(ROOT / "examples/capture/network.pcap.gz", ImportOptions(), tmp_path)
    packets = int(profile_trace(trace).allocations.sum())
    assert f"{packets:,} of them IP" in page("examples/capture/README.md")


def test_the_run_of_a_scenario_has_the_standards_of_the_page() -> None:
    text = (ROOT / "docs/scenario-schema.md").read_text()
    standards = dict(re.findall(r"^\| `(\w+)` \| ([\d.,]+) \|", text, re.MULTILINE))
    run = RunSettings()
    assert len(standards) > 4
    for key, standard in standards.items():
        assert float(standard.replace(",", "")) == getattr(run, key), key


def test_the_limits_of_a_trace_are_those_of_the_engine() -> None:
    assert (_engine.LARGEST_REQUEST, _engine.LARGEST_ALIGNMENT) == (2**47, 2**24)
    for name in ("docs/trace-schema.md", "docs/import-formats.md"):
        text = page(name)
        assert "at most 2^47" in text
        assert "power of two up to 2^24" in text


def test_the_gates_hold_what_contributing_says() -> None:
    gate = runpy.run_path(str(ROOT / "scripts/check_functions.py"))
    text = page("CONTRIBUTING.md")
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


def test_a_job_may_kill_as_many_workers_as_the_page_says() -> None:
    assert f"A job that kills {WORDS[MOST_DEATHS]} workers is named" in page("docs/sweeps.md")


def test_the_small_board_tries_what_its_page_says() -> None:
    header = (ROOT / "target/contract/board_limits.h").read_text().split("#else")[0]
    limits = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", header)}
    text = page("target/README.md")
    assert f"at most {limits['LARGEST_REGION'] / 1024:g} KB" in text
    assert f"at most {limits['MOST_LIVE']} live blocks" in text
    assert f"more than {limits['LARGEST_SMALLEST_REGION']:,} B to begin with" in text


def test_the_page_of_a_report_says_how_large_one_is() -> None:
    shared = sum(
        file.stat().st_size
        for file in (ROOT / "python/heapfit/results").rglob("*")
        if file.suffix in (".js", ".css")
    )
    assert f"about {round(shared, -4) // 1000} kB of style and scripts" in page("docs/report.md")


def test_the_readme_tells_of_peers_what_their_page_does() -> None:
    programs, plain = re.findall(r"learned on (\d+) of \1, plain on (\d+)", page("docs/peers.md"))[
        0
    ]
    assert f"on all of {programs} recorded programs" in page("README.md")
    assert f"on {plain} without fitting" in page("README.md")


def test_the_readme_says_what_heapfit_is_worth_in_its_first_hundred_words() -> None:
    begin = " ".join(page("README.md").replace("*", "").split()[:110])
    (row,) = (row for row in TABLES.read_result("tailored").rows if row[0] == "median")
    heap_4 = re.search(r"heap_4 .*? median of ([\d.]+)", page("docs/peers.md"))
    assert heap_4
    worth = "in the median of {} recorded programs its allocator needs {:.2f} times"
    assert worth.format(27, float(row[1])) in begin
    [best_tlsf] = re.findall(r"[\d.]+", page("docs/peers.md").split("| median |")[1])[:1]
    assert f"TLSF {float(best_tlsf):.2f} and FreeRTOS heap_4 {float(heap_4[1]):.2f}" in begin
    assert "make demo" in begin


def test_the_readme_tells_the_medians_of_the_page_of_peers() -> None:
    peers, readme = page("docs/peers.md"), page("README.md")
    espressif, _, dlmalloc, _, plain, _ = re.findall(r"[\d.]+", peers.split("| median |")[1])[:6]
    sized = re.findall(r"[\d.]+", peers.split("| median |")[2])[2]
    for told, figure in {
        "there is memory to spare, and you can afford {} times": dlmalloc,
        "memory decides: {} times the peak at best": espressif,
        "`tailored` needs {} and": plain,
        "neither header nor map: {} in the median": sized,
    }.items():
        short = f"{round(float(figure) + 1e-9, 3):.3f}"
        assert told.format(short) in readme, told
    assert re.search(r"median of 1\.157", peers)
    assert "has a median of 1.0420" in peers


@pytest.mark.parametrize("file", [file.relative_to(ROOT) for file in TABLES.pages()], ids=str)
def test_the_tables_of_a_page_are_those_of_their_homes(file: Path) -> None:
    text = (ROOT / file).read_text()
    assert TABLES.renewed(text) == text, "run bench/page_tables.py"


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
