# SPDX-License-Identifier: Apache-2.0
"""Pages: complete in themselves, inert whatever names they show, true to what was found."""

import base64
import hashlib
import json
import random
import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_reader import Page
from small_traces import bimodal, diverse, table2

from heapfit import _engine
from heapfit.checks.check import CheckOptions, check_recordings
from heapfit.checks.shown import read_shown
from heapfit.comparison.case import ReportCase, case_of_matrix
from heapfit.comparison.heap_map import (
    REGIONS,
    HeapMap,
    ReplaySubject,
    map_of,
    map_recordings,
    measure_case,
    subjects_of,
)
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.margin import heap_size
from heapfit.comparison.matrix import ComparisonRequest, Matrix, compare_traces
from heapfit.design.portfolio import comparison_portfolio
from heapfit.drawing import parts
from heapfit.drawing.document import Document
from heapfit.drawing.html import render, write_document
from heapfit.drawing.parts import Heading, Strip
from heapfit.fitting.fit import fit
from heapfit.fitting.fitted_heap import fit_heap
from heapfit.fitting.options import FitOptions
from heapfit.fitting.reference_heaps import ReferenceKind
from heapfit.fitting.result import Fit
from heapfit.importers import ImportOptions, open_any
from heapfit.outputs.printable import printable
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.plan.quantities import format_share
from heapfit.results.check_page import check_page
from heapfit.results.fit_page import case_from_fit, render_fit, write_report
from heapfit.results.matrix import comparison_page
from heapfit.results.packed_map import pack_map
from heapfit.results.sections.peak import find_holders
from heapfit.results.sections.plan_layers import plan_section
from heapfit.trace.live_blocks import live_blocks
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import parse_workload

pytestmark = pytest.mark.usefixtures("unmeasured")

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<!-- <script>",
    "]]></style><style>*{display:none}",
    "&lt;b&gt; &amp; <a href='http://example.org'>here</a>",
    "{{ 7 * 7 }} {% raw %}",
    "two\nlines\r\nand\ttabs",
    "\x1b[31mred\x07\x00\x7f\x9b",
    "right \u202eto left, zero\u200bwidth",
    "not \udcff UTF-8",
    "%{x} $\\sqrt{2}$",
    "x" * 5000,
]


@pytest.fixture(scope="module")
def pooled(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("pooled")
    source, options = table2(folder / "four.heap"), FitOptions(allocators=("class_pools",))
    return fit([source], folder / "out", options, write_page=write_report)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("plain")
    fitted = fit([diverse(folder / "diverse.heap")], folder / "out")
    rows = tuple(row for row in fitted.comparison.rows if not row.plan.pools)
    return replace(fitted, comparison=replace(fitted.comparison, rows=rows))


@pytest.fixture(scope="module", params=["pooled", "plain"])
def fitted(request) -> Fit:
    return request.getfixturevalue(request.param)


def text_of(fitted: Fit) -> str:
    return render_fit(fitted, load_trace(fitted.trace))


def case_of(fitted: Fit) -> ReportCase:
    return case_from_fit(fitted, load_trace(fitted.trace))


def page_of(fitted: Fit) -> Page:
    return Page(text_of(fitted))


def test_every_part_of_a_result_has_its_place_on_a_page():
    """The template asks for a part by its class's name: one renamed alone would be left out."""
    template = Path(parts.__file__).parent / "page" / "document.html.j2"
    drawn = {*re.findall(r'kind == "(\w+)"', template.read_text())}
    known = {*re.findall(r"\w+", f"{parts.Part} {parts.Holder}".replace("[Any]", ""))}
    assert known - drawn == {"Fields", "Note", "Holder"}, (
        "figures and notes have a place of their own"
    )
    assert drawn <= known


def test_the_page_names_nothing_outside_itself(fitted):
    page = page_of(fitted)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "audio", "video"}
    for attribute in ("src", "srcset", "action", "data", "poster", "background", "formaction"):
        assert page.attributes(attribute) == []
    assert all(reference.startswith("#") for reference in page.attributes("href"))
    for text in [*page.styles, *page.attributes("style")]:
        assert not re.search(r"url\(|@import|expression|https?:", text, re.IGNORECASE)


def test_every_reference_inside_the_page_has_its_place(fitted):
    page = page_of(fitted)
    places = page.attributes("id")
    assert len(places) == len(set(places))
    assert {reference[1:] for reference in page.attributes("href")} <= set(places)
    assert set(page.attributes("data-copies")) <= set(places)
    assert set(page.figures) == {place for place in places if place.startswith("chart-")}


def test_the_policy_runs_the_pages_scripts_and_opens_no_connection(fitted):
    page = page_of(fitted)
    policy = next(
        found["content"]
        for tag, found in page.elements
        if tag == "meta" and found.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    run = [content for kind, content in page.scripts if kind is None]
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in run]
    assert rules == {
        "default-src": "'none'",
        "script-src": " ".join(f"'sha256-{digest}'" for digest in hashes),
        "style-src": "'unsafe-inline'",
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert len(run) == 5, "axes, marks, charts, the page's and the map's"
    assert all("\r" not in script for script in run), "a browser would hash other bytes"


def test_a_page_takes_less_than_600_kilobytes(fitted):
    assert len(text_of(fitted).encode()) < 600_000


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_stays_text(pooled, name, tmp_path):
    harmless, hostile = (page_of(named(pooled, n, tmp_path)) for n in ("harmless", name))
    assert hostile.structure == harmless.structure
    assert hostile.scripts[-2:] == harmless.scripts[-2:]
    shown = " ".join(printable(name).split())
    quoted_in_their_own_way = 2  # the command and the plan file
    assert hostile.text.count(shown) >= harmless.text.count("harmless") - quoted_in_their_own_way
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b]", "".join(hostile.texts))


def named(fitted: Fit, name: str, folder: Path) -> Fit:
    """The fit with `name` wherever a recording, a user or a plan brings one in."""
    plan = folder / "plan.toml"
    plan.write_bytes(f"name = {name}\n".encode(errors="replace"))
    info = replace(fitted.trace.info, program=name, source=name, notes=(name, name))
    rows = tuple(replace(row, name=name, reason=name) for row in fitted.comparison.rows)
    left_out = tuple(replace(one, name=name, why=name) for one in fitted.comparison.not_applicable)
    return replace(
        fitted,
        name=name,
        runs=(replace(fitted.runs[0], name=name, source=Path(name.replace("\0", "0"))),),
        trace=replace(fitted.trace, info=info),
        comparison=replace(fitted.comparison, rows=rows, not_applicable=left_out),
        verdict=name,
        notes=(name, name),
        warnings=(name, f"{name}."),
        paths=replace(fitted.paths, plan=plan),
    )


def test_every_candidate_has_its_exact_figures(fitted):
    page = page_of(fitted)
    for row in case_of(fitted).comparison.rows:
        cells = page.row(f"{row.name} ", "candidates")  # "tailored" is no "tailored_by_lifetime"
        replay, margin = row.replay, cells.pop(3)  # of R_safe, where it is known
        if row.r_safe_at_least is not None:  # left, as it cannot win; no heap is below the peak
            least = max(row.r_safe_at_least, row.u_max)
            assert margin == "–"
            assert cells[1:4] == ["–", f"≥ {least:,} B", f"≥ {least / row.u_max:.3f}"]
            continue
        assert [number(cell) for cell in cells[1:3]] == [row.r_min, row.r_safe]
        assert (cells[1] == "–") == (row.r_min is None and row.r_safe is not None)
        assert number(margin) == heap_size(row.needed, row.known).region >= row.r_safe
        if replay is None:
            assert cells[3:8] == ["–"] * 5
            continue
        assert float(cells[3]) == pytest.approx(row.over_u_max, abs=0.0005)
        assert float(cells[4]) == pytest.approx(row.accesses_per_operation, abs=0.005)
        assert number(cells[5]) == replay.payload_bytes
        if len(replay.series["event"]) == 0:  # its blocks were not looked at over time
            assert cells[6:8] == ["–", "–"]
        else:
            assert [*map(number, cells[6:8])] == [replay.internal_peak, replay.external_peak]
        assert cells[9] == ("yes" if row.trained_on_this_trace else "no")


def number(cell: str) -> int | None:
    return None if cell in ("none", "–") else int(cell.removesuffix(" B").replace(",", ""))


def test_the_key_figures_are_the_fits(fitted):
    text = page_of(fitted).text.replace("\N{NO-BREAK SPACE}", " ")
    profile, winner, kept = fitted.profile, case_of(fitted).winner, fitted.answer.is_kept
    macro = "HEAP_BYTES" if kept else "APP_HEAP_BYTES"
    for words in (
        fitted.headline,
        fitted.verdict,
        f"events {profile.events:,}",
        f"U max {profile.u_max:,} B",
        f"live blocks {profile.live_blocks_max:,}",
        f"{winner.r_min:,} B {winner.r_safe:,} B",
        f"with the reserve {fitted.answer.size.region / profile.u_max:.3f}.",
        f"#define {macro} {fitted.answer.size.region}u",
    ):
        assert words in text


def test_each_section_of_a_fits_page_tells_its_part_of_the_result(fitted):
    case, pools = case_of(fitted), fitted.winner.plan.pools
    alike, region = facts_of(case), f"{fitted.answer.size.region:,} B"
    counted = ReferenceKind.COUNTED  # on the recording, without a reserve
    heaps = [one for one in fitted.references if one.region and one.standing is not counted]
    runs = [f"{one.name} {one.usual:,} B {one.needed:,} B" for one in fitted.longer.rows]
    own = {
        "choices": ["What you could choose", *(f"{one.title} " for one in heaps)],
        "kind": ["Kind of recording: service A service: "],
        "longer": ["Longer runs", f"The heap is set to {region}.", *runs],
        "pools": ["Live blocks of each pool"]
        + [f"{pool.size:,} B {pool.count} reserved, at most " for pool in pools],
        "candidates": [*alike["candidates"], fitted.verdict],
        "reproduce": ["How to reproduce", f"heapfit fit {fitted.runs[0].source} --alignment 8"],
    }
    order = "peak heap-map choices kind longer bytes pools candidates program notes plan reproduce"
    page = page_of(fitted)
    require_facts(page, order.replace(" pools" * (not pools), ""), alike | own, case)
    listed = [row[1] for row in rows_of(page, "choices")[1:]]
    assert listed == [f"{size:,} B" for size in sorted(one.region for one in heaps)]


def facts_of(case: ReportCase) -> dict[str, list[str]]:
    """What the sections of any page about a case tell of it: title first."""
    profile, winner = case.shown.profile, case.winner
    alloc, zeroed, aligned, resized, freed = profile.operations.tolist()
    (most, blocks), *_ = find_holders(case.shown, profile.u_max_event)
    peak, region = f"{profile.u_max:,} B", f"{winner.replay_region:,} B"
    counted = f"alloc {alloc + zeroed + aligned:,} · free {freed:,} · resize {resized:,}"
    return {
        "peak": [
            f"The peak: {peak} live after event {profile.u_max_event + 1:,}",
            f" {most.name} {most.bytes:,} B {blocks} {format_share(most.bytes / profile.u_max)}",
        ],
        "heap-map": ["Where every block lies", f"{winner.name}: {region}", case.beside.title],
        "bytes": ["Where the bytes of each heap are", f" {winner.name} {peak}", f" B {region}"],
        "candidates": ["The choice", *(f"{row.name} " for row in case.comparison.rows)],
        "program": ["The program: memory over time, sizes, lifetimes", counted],
        "notes": ["Notes from the import Nothing was skipped"],
        "plan": ["The plan", f"Allocator: {winner.plan.allocator} ", "alignment 8 Alignment"],
        "reproduce": ["How to reproduce"],
    }


def require_facts(page: Page, order: str, facts: dict[str, list[str]], case: ReportCase) -> None:
    """The sections in this order, their facts, and the lines of the chart of memory."""
    found = {place: " ".join(text.split()) for place, text in page.told.items()}
    assert [place for place in found if place in facts] == order.split()
    for place in order.split():
        title, *others = facts[place]
        assert found[place].startswith(title)
        for words in others:
            assert words.replace("\N{NO-BREAK SPACE}", " ") in found[place]
    curves = {one["name"]: one for one in page.figures["chart-memory"]["data"]}
    for name, size in (
        ("U<sub>max</sub>", case.winner.u_max),
        ("region", case.winner.replay_region),
    ):
        assert set(curves[f"{name} {size:,}\N{NO-BREAK SPACE}B"]["y"]) == {size}
    assert f"footprint, {case.winner.name}" in curves


def test_the_plan_is_shown_pool_by_pool_and_as_its_file(pooled):
    page = page_of(pooled)
    for pool in pooled.winner.plan.pools:
        cells = page.row(f"{pool.size:,} B", "plan")
        assert f"{pool.count:,}" in cells
    assert " ".join(pooled.paths.plan.read_text().split()) in page.text


def test_every_colour_of_a_chart_is_defined_for_light_and_for_dark(pooled):
    page = page_of(pooled)
    light, dark = "".join(page.styles).split("prefers-color-scheme: dark", 1)
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", str(page.figures) + str(page.scripts)))
    assert used
    for colour in used:
        assert f"{colour}:" in light
        assert f"{colour}:" in dark


def test_the_curves_are_those_of_the_profile_and_the_replay(pooled):
    curves = {curve["name"]: curve for curve in page_of(pooled).figures["chart-memory"]["data"]}
    series = pooled.winner.replay.series
    assert max(curves["live bytes"]["y"]) == pooled.profile.u_max
    footprint = curves[f"footprint, {pooled.winner.name}"]
    assert footprint["x"] == (series["event"] + 1).tolist()
    assert footprint["y"] == series["footprint"].tolist()


@pytest.mark.parametrize("make", [table2, bimodal, diverse])
def test_each_pool_is_charted_with_the_requests_the_engine_gives_it(make, tmp_path):
    fitted = fit([make(tmp_path / "made.heap")], tmp_path / "out")
    for row in fitted.comparison.rows:
        pools = [(pool.size, pool.is_exact) for pool in row.plan.pools]
        if pools:
            charted = live_blocks(fitted.trace.events(), row.plan, 10)
            peaks = _engine.pool_peaks(
                fitted.trace.events(), pools, row.alignment, row.plan.allocator
            )
            assert [pool for pool, *_ in charted] == list(row.plan.pools)
            assert [max(highest) for *_, highest in charted] == list(peaks.counts)


# ---- pages of compare, fit and check


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
    write_document(folder / "a.html", comparison_page(case, measure_case(case), matrix=matrix))
    page = read(folder / "a.html")
    order = "peak heap-map traces bytes candidates program notes plan reproduce"
    require_facts(page, order, facts_of(case) | {"traces": ["All traces"]}, case)
    table = {row[0]: row[1:] for row in rows_of(page, "traces")[1:]}
    for name in matrix.names:
        cells = [column.cell(name) for column in matrix.columns]
        shown = [f"{one.r_safe:,} {one.over_u_max:.3f}" for one in cells]
        assert [one.partition("~")[0].strip("*#^") for one in table[name]] == [
            *shown,
            f"{matrix.mean_over_u_max(name):.3f}",
            f"{max(one.r_safe for one in cells):,}",  # the bytes that serve all
        ]
    highest = max(matrix.columns, key=lambda one: one.comparison.u_max)
    assert f"Below: {highest.label}, which has the largest peak" in told(page)
    assert f"The peak: {highest.comparison.u_max:,} B live" in told(page)


@pytest.mark.parametrize("names", [("heap_4",), ("heap_4", "best_fit")])
def test_a_comparisons_page_draws_no_heap_twice(names, traces, folder):
    matrix = compare_traces([("", traces[0])], ComparisonRequest(names), comparison_portfolio)
    heap_map, peaks = measure_case(case_of_matrix(matrix, traces[:1], (), folder))
    for drawn in (heap_map.heaps, peaks):
        assert sum("heap_4" in one.name for one in drawn) == 1


@pytest.fixture(scope="module")
def plan(traces, folder) -> PlanFile:
    fit_heap(traces[0]).write_plans(folder / "one")
    return load_plan(folder / "one/tlsf.toml")


def test_a_checks_page_says_who_is_refused_and_what_fills_the_region_then(traces, plan, folder):
    tight = replace(plan, region=plan.r_safe - 256)
    check = check_recordings(traces, tight, CheckOptions(measure=True))
    write_document(
        folder / "d.html", check_page(read_shown(check, traces), traces, "heapfit check")
    )
    page = read(folder / "d.html")
    table = {
        re.split(r" hold-out| used for", row[0])[0]: row for row in rows_of(page, "recordings")
    }
    for one in check.recordings:
        row = table[one.run.name]
        assert row[2] == f"{one.run.peak:,} B"
        assert row[4] == f"{one.needed.r_safe:,} B"
        refused = one.run.refusal
        assert row[5] == ("none" if refused is None else f"at event {refused.event + 1:,}")
    refused = [one.run for one in check.failed if one.run.refusal]
    assert refused, "the first needs 256 B more"
    assert f"{refused[0].name} runs out of memory in {tight.region:,} B (tlsf) at event" in told(
        page
    )
    assert f"Out of memory: {refused[0].refusal.live:,} B live" in told(page)
    assert '<div class="verdict failed">' in (folder / "d.html").read_text("utf-8")


def test_two_recordings_have_both_maps_at_one_scale(traces, folder):
    newer = traces[1]  # of more than twice the peak: what is shown rounded differs by a hundredth
    older = open_any(table2(folder / "short.heap", events=30), ImportOptions(), folder)
    check = check_recordings([newer], None, CheckOptions((older,)))
    write_document(
        folder / "f.html", check_page(read_shown(check, [newer]), [newer], "heapfit check")
    )
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
        subject = ReplaySubject.of_heap(
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


# ---- the map


def growing(path: Path) -> Path:
    """Blocks that grow, shrink and are asked for with 0 bytes, recorded with times."""
    draw, live, lines = random.Random(7), [], ["# pointer_bits: 32"]
    for i in range(600):
        lines.append(f"a {i} {draw.choice((0, 24, 100, 700))}")
        live.append(i)
        if i % 3 == 0:
            lines.append(f"r {draw.choice(live)} {draw.choice((8, 60, 400))}")
        if len(live) > 40:
            lines.append(f"f {live.pop(draw.randrange(40))}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module", params=[table2, bimodal, growing])
def mapped(request, tmp_path_factory) -> tuple[Fit, LoadedTrace, HeapMap]:
    folder = tmp_path_factory.mktemp("mapped")
    fitted = fit([request.param(folder / "made.heap")], folder / "out", FitOptions())
    shown = load_trace(fitted.trace)
    return fitted, shown, map_of(shown, subjects_of(case_from_fit(fitted, shown)))


def columns_of(record: dict) -> dict[str, np.ndarray]:
    """As map.js reads them."""
    whole = zlib.decompress(base64.b64decode(record["packed"]))
    columns, at = {}, 0
    for name, count, width in record["columns"]:
        part = np.frombuffer(whole, np.uint8, count * width, at)
        at += count * width
        planes = part.reshape(width, count).astype(np.uint32)
        columns[name] = sum(planes[i] << np.uint32(8 * i) for i in range(width))
    assert at == len(whole)
    return columns


def test_the_chosen_heaps_blocks_are_a_placement_of_the_whole_trace(mapped):
    fitted, _, heap_map = mapped
    ours = heap_map.heaps[-1]
    assert ours.own.region == fitted.winner.replay_region
    assert ours.own.runs
    height = _engine.check_placement(heap_map.lifetimes, ours.own.offsets)
    assert fitted.profile.u_max <= height <= ours.own.region


def test_todays_blocks_are_a_placement_within_the_memory_that_its_user_sets(mapped):
    fitted, _, heap_map = mapped
    todays, _ = heap_map.heaps
    assert todays.own.runs
    assert len(todays.own.offsets) == len(heap_map.lifetimes)
    assert int((todays.own.offsets + heap_map.lifetimes.sizes).max()) <= todays.own.region
    if not fitted.profile.operations[3]:
        _engine.check_placement(heap_map.lifetimes, todays.own.offsets)


def test_both_heaps_are_replayed_in_the_same_regions_and_say_what_is_refused(mapped):
    fitted, shown, heap_map = mapped
    todays, ours = ([one.region for one in heap.row] for heap in heap_map.heaps)
    assert todays == ours
    assert len(ours) >= REGIONS
    assert {heap.own.region for heap in heap_map.heaps} <= set(ours)
    trial = _engine.Trial(
        fitted.winner.plan.engine(),
        shown.events_for(fitted.winner.plan),
        fitted.comparison.base_alignment,
    )
    for one in heap_map.heaps[-1].row:
        assert one.runs == trial.run(one.region).runs
        if one.refused:
            assert one.refused.event == trial.run(one.region).events
            assert one.refused.size == shown.events.sizes()[one.refused.event]
            assert one.refused.largest_hole <= one.refused.free


def test_what_is_packed_is_read_back(mapped):
    _, _, heap_map = mapped
    record = pack_map(heap_map)
    columns = columns_of(record)
    lifetimes = heap_map.lifetimes
    assert np.cumsum(columns["starts"]).tolist() == lifetimes.starts.tolist()
    assert columns["lengths"].tolist() == (lifetimes.ends - lifetimes.starts).tolist()
    sizes = [int(label.replace(",", "")) for label in record["sizes"]["labels"]]
    assert [sizes[one] for one in columns["sizes"]] == lifetimes.sizes.tolist()
    for h, heap in enumerate(heap_map.heaps):
        own = columns[f"place-{h}"]
        assert own.tolist() == heap.own.offsets.tolist()
        for k, one in enumerate(heap.row):
            apart = columns[f"place-{h}-{k}"]
            assert (own[: len(apart)] + apart).tolist() == one.offsets.tolist()


def test_a_run_too_long_to_be_told_has_a_picture_and_the_blocks_around_its_peak(mapped):
    _, _, heap_map = mapped
    record = pack_map(heap_map, most=100)
    columns = columns_of(record)
    first, end = record["window"]
    starts = np.cumsum(columns["starts"])
    assert first <= heap_map.peak < end
    assert (starts < end).all()
    assert (starts + columns["lengths"] > first).all()
    sizes = [int(label.replace(",", "")) for label in record["sizes"]["labels"]]
    every = heap_map.lifetimes
    is_told = (every.starts < end) & (every.ends > first)
    assert [sizes[one] for one in columns["sizes"]] == every.sizes[is_told].tolist()
    assert len(sizes) == len(set(columns["sizes"].tolist())) == len(record["sizes"]["colours"])
    width, height = record["picture"]
    cells = columns["picture-1"].reshape(height, width)
    lifetimes, own = heap_map.lifetimes, heap_map.heaps[1].own
    middle = (2 * (width // 2) + 1) * heap_map.events / (2 * width)
    is_live = (lifetimes.starts <= middle) & (middle < lifetimes.ends)
    begins, ends = own.offsets[is_live], (own.offsets + lifetimes.sizes)[is_live]
    middles = [(2 * row + 1) * record["height"] / (2 * height) for row in range(height)]
    covered = sum(((begins <= one) & (one < ends)).any() for one in middles)
    assert np.count_nonzero(cells[:, width // 2]) == covered
    columns_of_row, rows = record["rowPicture"]
    assert len(columns["picture-1-0"]) == columns_of_row * rows


def test_a_plan_whose_blocks_lie_in_pieces_has_no_map(mapped):
    fitted, shown, _ = mapped
    pieces = replace(fitted.winner.plan, allocator="chained_pool")
    case, heap = case_from_fit(fitted, shown), replace(fitted.winner.heap, plan=pieces)
    assert subjects_of(replace(case, winner=replace(fitted.winner, heap=heap))) == ()


def test_at_the_peak_each_byte_of_a_heap_is_told_once(mapped):
    fitted, shown, heap_map = mapped
    subjects = subjects_of(case_from_fit(fitted, shown))
    for subject, heap in zip(subjects, heap_map.heaps, strict=True):
        found = subject.measure_use(heap_map.peak)
        assert found.region == heap.own.region
        parts = (found.rounding, found.holes, found.largest_free, found.control)
        assert min(parts) >= 0
        assert found.control > 0
    assert subjects[-1].measure_use(heap_map.peak).payload == fitted.profile.u_max
    is_moving = fitted.profile.operations[3] > 0  # then it holds both blocks while it copies
    assert (subjects[0].measure_use(heap_map.peak).payload == fitted.profile.u_max) or is_moving


def test_the_holders_of_the_peak_hold_all_of_it(mapped):
    fitted, shown, _ = mapped
    by_size = find_holders(shown, fitted.profile.u_max_event)
    assert sum(one.bytes for one, _ in by_size) == fitted.profile.u_max
    sites = np.arange(len(shown.events), dtype=np.uint32) % 3
    by_site = find_holders(replace(shown, sites=sites), fitted.profile.u_max_event)
    assert {one.name for one, _ in by_site} == {"unknown", "00000001", "00000002"}
    assert sum(one.bytes for one, _ in by_site) == fitted.profile.u_max
    assert all(sum(part.bytes for part in one.parts) == one.bytes for one, _ in by_site)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_is_no_markup_in_a_chart(pooled, name, tmp_path):
    text = str(page_of(named(pooled, name, tmp_path)).figures)
    ours = re.sub(r"</?(b|sub|extra)>", "", text)
    assert "<" not in ours
    assert ">" not in ours


def test_a_plan_is_drawn_to_scale_level_by_level():
    plan = Plan("budgeted", {}, (Pool(24, 40, True), Pool(104, 2, True)), Plan("tlsf"))
    drawn, bare = (plan_section(plan, region, ["a = 1"]).parts for region in (4096, None))
    (strip,) = (one for one in drawn if isinstance(one, Strip))
    pieces = [(one.name, one.bytes, one.look, one.label) for one in strip.pieces]
    assert pieces == [
        ("control", 24, "rest", ""),
        ("24 B", 40 * 24, "pool", "24 B"),
        ("104 B", 2 * 104, "pool", ""),  # too narrow for a label
        ("shared", 4096 - 24 - 960 - 208, "rest", "shared"),
    ]
    assert strip.caption.startswith("The region to scale")
    assert not any(isinstance(one, Strip) for one in bare)
    assert [one.text for one in drawn if isinstance(one, Heading)] == [
        "Allocator: budgeted",
        "Shared allocator, for requests that no pool serves: tlsf",
        "The plan file",
    ]
    page = Page(render(Document("fit", "", (), [plan_section(plan, 4096, ["a = 1"])])))
    rounds = "requests that round up to this size"
    for row in (
        ["24 B", "40", "960 B", "23.4 %", rounds],
        ["104 B", "2", "208 B", "5.1 %", rounds],
        ["together", "42", "1,168 B", "", ""],
    ):
        assert row in [[" ".join(cell.split()) for cell in one] for one in page.rows]
    kept = plan_section(Plan("tlsf"), None, heap="heap_4").parts[0]
    assert "heap_4 is the system's own heap: no code is written for it." in kept.text
