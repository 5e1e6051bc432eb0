# SPDX-License-Identifier: Apache-2.0
"""Figures in the text of pages are those of the code and of the recordings they tell of.

Tables and outputs that a script makes are compared whole (test_documentation.py); here are those
that people wrote. What was measured once says when, and with what.
"""

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapfit import _engine
from heapfit.importers import ImportOptions, open_any
from heapfit.simulation.scenario import RunSettings
from heapfit.sweep import MOST_DEATHS
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("no", "one", "two", "three", "four", "five")
# Pages with tables that nothing renews: each says when it was measured, and with which version.
MEASURED_ONCE = {
    "docs/peers.md": r"built and run by us on \d{4}-\d\d-\d\d",
    "docs/attacks.md": r"measured once, on \d{4}-\d\d-\d\d with heapfit \d",
    "docs/drawn-traces.md": r"measured once, on \d{4}-\d\d-\d\d with heapfit \d",
    "target/README.md": r"measured once, on \d{4}-\d\d-\d\d with heapfit \d",
    "docs/generate.md": r"gcc` 12\.2, `-Os`, \d{4}-\d\d-\d\d\)",
    "docs/on-target.md": r"measured once, on \d{4}-\d\d-\d\d with heapfit \d",
    "docs/now.md": r"Measured on \d{4}-\d\d-\d\d with heapfit \d",
    "docs/report.md": r"Measured on \d{4}-\d\d-\d\d with heapfit \d",
    "docs/long-recordings.md": r"Measured on \d{4}-\d\d-\d\d with heapfit \d",
    "docs/plugins.md": r"\d{4}-\d\d-\d\d; instructions of a call in the mean",
    "docs/margin.md": r"Measured on \d{4}-\d\d-\d\d with heapfit \d",
    "examples/second-runs/README.md": r"one recording each, of \d{4}-\d\d-\d\d on",
}


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
    table = (ROOT / "examples/second-runs/README.md").read_text()
    (row,) = re.findall(rf"^\| {name} \|.*\| (.*) \| (.*) \|$", table, re.MULTILINE)
    pair = [Trace.open(ROOT / f"examples/second-runs/traces/{name}-{i}.parquet") for i in (1, 2)]
    peaks = [profile_trace(trace).u_max for trace in pair]
    assert row[0].split(", ")[:2] == [f"{trace.info.events:,}" for trace in pair]
    assert row[1].split(", ")[:2] == [f"{peak:,}" for peak in peaks]


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
        ("parameters, but of a command", gate["MOST_PARAMETERS"]),
        ("blocks in one another", gate["MOST_NESTED"]),
        ("imports inside functions, for type checkers, by name", gate["MOST_LATE_IMPORTS"]),
    ):
        assert f"| {what} | {limit}" in text


def test_a_job_may_kill_as_many_workers_as_the_page_says() -> None:
    assert f"A job that kills {WORDS[MOST_DEATHS]} workers is named" in page("docs/sweeps.md")


def test_the_blocks_of_workload_2_are_as_large_as_the_page_says(tmp_path: Path) -> None:
    trace = generate_workload(parse_workload("t2_w2"), tmp_path / "w.parquet")
    assert f"whose blocks are {profile_trace(trace).u_max:,} B at most" in page("docs/compare.md")


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
        for file in (ROOT / "python/heapfit/report").rglob("*")
        if file.suffix in (".js", ".css")
    )
    assert f"about {round(shared, -4) // 1000} kB of style and scripts" in page("docs/report.md")


def test_the_readme_tells_of_peers_what_their_page_does() -> None:
    programs, plain = re.findall(r"learned on (\d+) of \1, plain on (\d+)", page("docs/peers.md"))[
        0
    ]
    assert f"on all of {programs} recorded programs" in page("README.md")
    assert f"on {plain} as it is" in page("README.md")


def test_the_readme_tells_the_medians_of_the_page_of_peers() -> None:
    peers, readme = page("docs/peers.md"), page("README.md")
    espressif, _, dlmalloc, _, plain, _ = re.findall(r"[\d.]+", peers.split("| median |")[1])[:6]
    sized = re.findall(r"[\d.]+", peers.split("| median |")[2])[2]
    for told, figure in {
        "dlmalloc | there is memory to spare, and {} times": dlmalloc,
        "memory decides: {} times the peak at best": espressif,
        "`tailored` needs {} and": plain,
        "neither header nor map: {} in the median": sized,
    }.items():
        short = f"{round(float(figure) + 1e-9, 3):.3f}"
        assert told.format(short) in readme, told
    assert re.search(r"median of 1\.157", peers)
    assert "has a median of 1.0420" in peers


@pytest.mark.parametrize(("name", "date"), MEASURED_ONCE.items())
def test_what_was_measured_once_says_when(name: str, date: str) -> None:
    assert re.search(date, page(name))


def tables_of_figures() -> Iterator[str]:
    """Pages that people write with a table whose rows hold three figures or more."""
    for path in sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")]):
        rows = re.findall(r"^\|.*\|$", path.read_text(), re.MULTILINE)
        if any(len(re.findall(r"\d+[.,]\d+", row)) >= 3 for row in rows):
            yield str(path.relative_to(ROOT))


def test_a_page_with_a_table_of_figures_is_made_by_a_script_or_says_when() -> None:
    made = re.findall(r"mv build/page (\S+)", (ROOT / "Makefile").read_text())
    own_pages = {"docs/design.md", "docs/front.md", "docs/energy.md"}
    pages = set(tables_of_figures())
    assert "docs/peers.md" in pages
    assert pages - {*made, *MEASURED_ONCE, *own_pages} == set()
