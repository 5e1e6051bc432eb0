# SPDX-License-Identifier: Apache-2.0
"""The pages of compare, design and check: what they say is what the library found."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from page_reader import Page
from small_traces import table2

from heapfit import _engine
from heapfit.checks.check import CheckOptions, check_recordings
from heapfit.checks.shown import read_shown
from heapfit.comparison.case import case_of_matrix, case_of_several, make_case
from heapfit.comparison.comparison import compare
from heapfit.comparison.heap_map import map_of, map_recordings, measure_case, subject_from_heap
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.matrix import ComparisonRequest, Matrix, compare_traces
from heapfit.comparison.trial import least_size
from heapfit.comparison.verdict import select_row
from heapfit.design.budgets.choice import STANDARD_BUDGETS
from heapfit.design.plan_files import designs_of
from heapfit.design.portfolio import comparison_portfolio
from heapfit.design.robust.design import RobustOptions, design_robust
from heapfit.design.space import portfolio_of
from heapfit.fitting.fitted_heap import fit_heap
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, file_name, load_plan
from heapfit.plan.quantities import format_share
from heapfit.results.heap.check import check_page
from heapfit.results.html import write
from heapfit.results.matrix import comparison_page
from heapfit.results.plans import plans_page
from heapfit.results.plans_of_several import several_plans_page
from heapfit.results.sections.risk import risk_section
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import parse_workload


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def traces(folder) -> list[Trace]:
    made = [table2(folder / f"{i}.heap", events=400, seed=i) for i in (1, 2, 3)]
    return [open_any(one, ImportOptions(), folder) for one in made]


def read(path: Path) -> Page:
    page = Page(path.read_text())
    places = page.attributes("id")
    assert len(places) == len(set(places))
    assert {one[1:] for one in page.attributes("href")} <= set(places)
    assert set(page.figures) == {one for one in places if one.startswith("chart-")}
    return page


def told(page: Page) -> str:
    return page.text.replace("\N{NO-BREAK SPACE}", " ")


def rows_of(page: Page, section: str) -> list[list[str]]:
    pairs = zip(page.sections, page.rows, strict=True)
    return [[cell.replace("\N{NO-BREAK SPACE}", " ").strip() for cell in row]
            for its, row in pairs if its == section]  # fmt: skip


@pytest.fixture(scope="module")
def matrix(traces) -> Matrix:
    sources = [("first", traces[0]), ("drawn", parse_workload("t2_w1:events=300"))]
    return compare_traces(sources, ComparisonRequest(("tlsf", "best_fit")), comparison_portfolio)


def test_a_comparisons_page_has_each_trace_and_shows_the_one_with_the_largest_peak(
    matrix, traces, folder
):
    sources = [traces[0], parse_workload("t2_w1:events=300")]
    case = case_of_matrix(matrix, sources, (), folder)
    write(folder / "a.html", comparison_page(case, measure_case(case), matrix=matrix))
    page = read(folder / "a.html")
    table = {row[0]: row[1:] for row in rows_of(page, "traces")[1:]}
    for name in matrix.names:
        cells = [column.cell(name).over_u_max for column in matrix.columns]
        assert table[name] == [f"{one:.3f}" for one in (*cells, matrix.mean_over_u_max(name))]
    highest = max(matrix.columns, key=lambda one: one.comparison.u_max)
    assert f"Below: {highest.label}, which has the largest peak" in told(page)
    assert f"The peak: {highest.comparison.u_max:,} B live" in told(page)


def test_a_designs_page_says_what_the_plan_to_take_needs(traces, folder):
    options = RobustOptions(choice=STANDARD_BUDGETS)
    loaded = load_trace(traces[0])
    comparison = compare(loaded, portfolio_of(loaded, options))
    paths = tuple(folder / f"{file_name(row.name)}.toml" for row in comparison.rows)
    designs = designs_of(comparison, paths, loaded)
    case = make_case(loaded, comparison, select_row(comparison), ())
    write(folder / "b.html", plans_page(designs, case, measure_case(case), ""))
    page = read(folder / "b.html")
    files = [row[3] for row in rows_of(page, "plans") if row[-1].endswith(".toml")]
    assert files == [path.name for path in designs.paths]
    winner = next(row for row in designs.comparison.rows if not row.is_cut_to_trace)
    assert f"{winner.name} needs {winner.r_safe:,} B for this recording" in told(page)


def test_a_design_for_several_shows_seen_and_unseen_runs_against_the_region(traces, folder):
    options = RobustOptions(choice=STANDARD_BUDGETS)
    designs = design_robust(traces, options)
    names = ["first", "second", "third"]
    case = case_of_several(designs, traces, alignment=8, precision=options.precision, programs=())
    write(folder / "c.html", several_plans_page(designs, names, case, measure_case(case), ""))
    page = read(folder / "c.html")
    chosen = select_row(designs)
    figure = page.figures["chart-risk"]
    dots = {one["name"]: one["whole"] for one in figure["data"]}
    assert dots["recorded runs"] == sorted(chosen.needs)
    if chosen.trained_on_this_trace:
        found = [need for name, needs in dots.items() if "hold-out" in name for need in needs]
        assert sorted(found) == sorted(chosen.unseen)
    assert figure["layout"]["shapes"][0]["x0"] == chosen.heap_size.region
    low, high = figure["layout"]["xaxis"]["range"]
    assert low < min(chosen.needs) < chosen.heap_size.region < high
    assert f"{chosen.name} needs {chosen.r_safe:,} B for all 3 runs" in told(page)


@pytest.mark.parametrize(
    ("needs", "region", "ends"),
    [
        ((95_000, 95_200, 95_400), 97_824, (94_530, 98_294)),  # beyond a gap, but set
        ((100, 104, 110, 900), 108, (92, 118)),
    ],
)
def test_the_scale_of_runs_always_shows_the_region_that_is_set(needs, region, ends):
    (chart,) = risk_section({"runs": needs}, region, "").parts
    assert tuple(chart.layout["xaxis"]["range"]) == ends


@pytest.fixture(scope="module")
def plan(traces, folder) -> PlanFile:
    fit_heap(traces[0]).write_plans(folder / "one")
    return load_plan(folder / "one/tlsf.toml")


def test_a_checks_page_says_who_is_refused_and_what_fills_the_region_then(traces, plan, folder):
    tight = replace(plan, region=plan.r_safe - 256)
    check = check_recordings(traces, tight, CheckOptions(measure=True))
    write(folder / "d.html", check_page(read_shown(check, traces), traces, "heapfit check"))
    page = read(folder / "d.html")
    table = {
        re.split(r" hold-out| used for", row[0])[0]: row for row in rows_of(page, "recordings")
    }
    for one in check.recordings:
        row = table[one.run.name]
        assert row[2] == f"{one.run.peak:,} B"
        assert row[4] == f"{one.needed.r_safe:,} B"
        assert row[5] == ("none" if one.run.refusal is None else f"{one.run.refusal.event:,}")
    refused = [one.run for one in check.recordings if one.run.refusal]
    assert refused, "the first needs 256 B more"
    assert f"{refused[0].name} first at event {refused[0].refusal.event:,}" in told(page)
    assert f"Out of memory: {refused[0].refusal.live:,} B live" in told(page)
    assert '<div class="verdict failed">' in (folder / "d.html").read_text("utf-8")


def test_what_a_recording_needs_is_what_its_replays_say(traces, plan, folder):
    """The page's own search, which halves, finds a region that runs above one that does not."""
    loose = replace(plan, region=4 * plan.region)
    check = check_recordings(traces[:2], loose)
    write(folder / "e.html", check_page(read_shown(check, traces[:2]), traces[:2], "heapfit check"))
    page = read(folder / "e.html")
    for trace, row in zip(traces, rows_of(page, "recordings")[1:], strict=False):
        need = int(row[4].removeprefix("at most ").removesuffix(" B").replace(",", ""))
        trial = _engine.Trial(plan.plan.engine(), trace.events({}), plan.base_alignment)
        assert trial.run(need).runs
        assert need <= loose.region
    assert "All 2 recordings pass" in told(page)
    assert '<div class="verdict holds">' in (folder / "e.html").read_text("utf-8")


def test_two_recordings_have_both_maps_at_one_scale(traces, folder):
    older, newer = traces[:2]
    check = check_recordings([newer], None, CheckOptions((older,)))
    write(folder / "f.html", check_page(read_shown(check, [newer]), [newer], "heapfit check"))
    text = (folder / "f.html").read_text("utf-8")
    record = json.loads(re.search(r'id="map-data">(.*?)</script>', text, re.DOTALL)[1])
    needs = [check.base.needed, check.recordings[0].needed.r_safe]
    assert [one["own"]["region"] for one in record["heaps"]] == needs
    assert record["height"] == max(needs)
    page = read(folder / "f.html")
    peaks = [profile_trace(one).u_max for one in (older, newer)]
    growth = format_share(peaks[1] / peaks[0] - 1)
    row = [f"{peaks[1]:,} B", growth, f"{needs[1]:,} B"]
    assert rows_of(page, "recordings")[1][2:] == row
    assert rows_of(page, "grew")


def test_each_block_of_a_joint_map_lies_where_its_own_map_has_it(traces):
    pairs, alone = [], []
    for trace in traces[:2]:
        loaded = load_trace(trace)
        subject = subject_from_heap(
            "tlsf", Heap("tlsf", Plan("tlsf", {"alignment": 8})), loaded, (65_536, 8)
        )
        pairs.append((loaded, subject))
        alone.append(map_of(loaded, [subject]))
    joint = map_recordings(pairs)
    assert joint.events == max(one.events for one in alone)
    for number, one in enumerate(alone):
        offsets = joint.heaps[number].own.offsets
        is_own = offsets < 65_536
        assert offsets[is_own].tolist() == one.heaps[0].own.offsets.tolist()
        assert joint.lifetimes.starts[is_own].tolist() == one.lifetimes.starts.tolist()
        assert joint.lifetimes.sizes[is_own].tolist() == one.lifetimes.sizes.tolist()


def test_the_least_size_that_works_is_found_by_halving():
    for first in range(7):
        assert least_size(lambda size, first=first: size >= 10 * first, range(10, 60, 10)) == (
            max(10 * first, 10) if first < 6 else None
        )
