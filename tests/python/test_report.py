# SPDX-License-Identifier: Apache-2.0
"""The report: complete in itself, inert whatever names it shows, and true to the fit."""

import base64
import hashlib
import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_reader import Page
from small_traces import bimodal, diverse, table2

from heapfit import _engine
from heapfit.comparison.case import ReportCase
from heapfit.fitting.fit import Resources, fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.results.heap.fit import case_from_fit, render_fit, write_report, zip_folder
from heapfit.results.live_blocks import live_blocks
from heapfit.results.number_text import printable
from heapfit.results.sections.size_charts import (
    LABEL_HEIGHT,
    LABEL_WIDTH,
    MOST_BARS,
    place_labels,
    size_chart,
)
from heapfit.trace.loaded import load_trace

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
    resources = Resources(write_page=write_report)
    source, options = table2(folder / "four.heap"), FitOptions(allocators=("class_pools",))
    return fit([source], folder / "out", options, resources=resources)


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


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_is_no_markup_in_a_chart(pooled, name, tmp_path):
    text = str(page_of(named(pooled, name, tmp_path)).figures)
    ours = re.sub(r"</?(b|sub|extra)>", "", text)
    assert "<" not in ours
    assert ">" not in ours


def named(fitted: Fit, name: str, folder: Path) -> Fit:
    """The fit with `name` wherever a recording, a user or a plan brings one in."""
    plan = folder / "plan.toml"
    plan.write_bytes(f"name = {name}\n".encode(errors="replace"))
    info = replace(fitted.trace.info, program=name, source=name, notes=(name, name))
    rows = tuple(replace(row, name=name, reason=name) for row in fitted.comparison.rows)
    left_out = tuple(replace(one, name=name, why=name) for one in fitted.not_applicable)
    return replace(
        fitted,
        name=name,
        runs=(replace(fitted.runs[0], name=name, source=Path(name.replace("\0", "0"))),),
        trace=replace(fitted.trace, info=info),
        comparison=replace(fitted.comparison, rows=rows, not_applicable=left_out),
        verdict=name,
        warnings=(name, f"{name}."),
        paths=replace(fitted.paths, plan=plan),
    )


def test_every_candidate_has_its_exact_figures(fitted):
    page = page_of(fitted)
    for row in case_of(fitted).comparison.rows:
        cells = page.row(f"{row.name} ", "candidates")  # "tailored" is no "tailored_by_lifetime"
        replay = row.replay
        if row.r_safe_at_least is not None:  # left, as it cannot win; no heap is below the peak
            least = max(row.r_safe_at_least, row.u_max)
            assert cells[1:4] == ["–", f"≥ {least:,} B", f"≥ {least / row.u_max:.3f}"]
            continue
        assert [number(cell) for cell in cells[1:3]] == [row.r_min, row.r_safe]
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
        assert cells[8] == ("yes" if row.trained_on_this_trace else "no")


def number(cell: str) -> int | None:
    return None if cell == "none" else int(cell.removesuffix(" B").replace(",", ""))


def test_the_key_figures_are_the_fits(fitted):
    text = page_of(fitted).text.replace("\N{NO-BREAK SPACE}", " ")
    profile, winner, kept = fitted.profile, case_of(fitted).winner, fitted.answer.is_kept
    name, macro = (
        (fitted.answer.heap.title, "HEAP_BYTES") if kept else (winner.name, "APP_HEAP_BYTES")
    )
    for words in (
        [*fitted.answer.sentences()][-1] if kept else fitted.verdict,
        f"events {profile.events:,}",
        f"U max {profile.u_max:,} B",
        f"live blocks {profile.live_blocks_max:,}",
        f"R min {winner.r_min:,} B",
        f"R safe {winner.r_safe:,} B",
        f"alignment {winner.alignment} B",
        f"accesses {winner.accesses_per_operation:,.2f}",
        f"set to {fitted.answer.size.region:,} B {'heap' if kept else 'plan'} {name} of the peak "
        f"{fitted.answer.size.region / profile.u_max:.3f}",
        f"#define {macro} {fitted.answer.size.region}u",
    ):
        assert words in text


def test_the_warnings_are_told_and_the_notes_only_once(pooled):
    info = replace(pooled.trace.info, notes=("7 events were odd.",))
    noted = replace(
        pooled,
        trace=replace(pooled.trace, info=info),
        warnings=("7 events were odd.", "the pools are cut to this recording"),
    )
    text = page_of(noted).text
    assert text.count("7 events were odd.") == 1
    assert "the pools are cut to this recording" in text


def test_the_plan_is_shown_pool_by_pool_and_as_its_file(pooled):
    page = page_of(pooled)
    for pool in pooled.winner.plan.pools:
        cells = page.row(f"{pool.size:,} B", "plan")
        assert f"{pool.count:,}" in cells
    assert " ".join(pooled.paths.plan.read_text().split()) in page.text


def test_a_fit_without_pools_has_no_part_on_pools(plain):
    page = page_of(plain)
    assert not plain.winner.plan.pools
    assert "pools" not in page.attributes("id")
    assert not any(identity.startswith("chart-pool") for identity in page.figures)


def test_a_capture_says_so_and_names_its_queue(pooled):
    info = replace(pooled.trace.info, kind="packets", queue="fill-drain:1000")
    text = page_of(replace(pooled, trace=replace(pooled.trace, info=info))).text
    assert "packet capture" in text
    assert "--queue fill-drain:1000" in text


def test_a_trace_of_one_size_has_its_page(tmp_path):
    events = [
        line for i in range(50) for line in (f"a {2 * i} 64", f"a {2 * i + 1} 64", f"f {2 * i}")
    ]
    source = tmp_path / "one.heap"
    head = ["# heap-events 1", "# pointer_bits: 32", "# source recorder/target, Zephyr"]
    source.write_text("\n".join([*head, *events]) + "\n")
    page = page_of(fit([source], tmp_path / "out"))
    assert page.row("64 B", "program")[1:3] == ["100", "100 %"]
    assert "from firmware, Zephyr" in page.text


def test_where_sizes_are_many_those_too_close_share_a_bar(pooled):
    many = np.arange(1, 20_001)
    profile = replace(pooled.profile, sizes=many, allocations=many[::-1].copy())
    chart = size_chart(profile, [64], 0.001)
    others, special, *_ = chart.data
    assert chart.layout["yaxis"]["range"][1] > max(others["y"])
    assert (special["customdata"], len(others["x"]) <= MOST_BARS) == ([["64\xa0B", 19_937]], True)
    told = [words.replace(",", "").split()[:3:2] for words, _ in others["customdata"]]
    first = [int(one[0]) for one in told]
    assert first == sorted(first)
    assert sum(amount for _, amount in others["customdata"]) + 19_937 == many.sum()
    assert sum(others["y"]) + sum(special["y"]) == pytest.approx(1)


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
    assert footprint["x"] == series["event"].tolist()
    assert footprint["y"] == series["footprint"].tolist()


@pytest.mark.parametrize("make", [table2, bimodal, diverse])
def test_each_pool_is_charted_with_the_requests_the_engine_gives_it(make, tmp_path):
    fitted = fit([make(tmp_path / "made.heap")], tmp_path / "out")
    for row in fitted.comparison.rows:
        pools = [(pool.size, pool.is_exact) for pool in row.plan.pools]
        charted = live_blocks(fitted.trace.events(), row.plan, 10)
        assert [live.pool for live in charted] == list(row.plan.pools)
        if pools:
            peaks = _engine.pool_peaks(
                fitted.trace.events(), pools, row.alignment, row.plan.allocator
            )
            assert [live.peak for live in charted] == list(peaks.counts)


def test_labels_of_special_sizes_do_not_overlap():
    places = [
        (label["x"], label["y"])
        for label in place_labels([(s, 0.1 + s / 1e4) for s in range(56, 128, 8)], (0.0, 4.0), 0.12)
    ]
    for i, (x, y) in enumerate(places):
        for other_x, other_y in places[:i]:
            apart = abs(x - other_x) / 4.0 >= LABEL_WIDTH or abs(y - other_y) >= LABEL_HEIGHT * 0.12
            assert apart


def test_the_page_carries_the_code_as_a_zip_that_is_the_same_each_time(pooled):
    written = pooled.paths.report.read_text()
    carried = re.search(r'id="code-zip">([^<]+)<', written)
    assert carried is not None
    assert carried[1] == zip_folder(pooled.paths.code)
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(carried[1])))
    files = [one for one in pooled.paths.code.rglob("*") if one.is_file()]
    assert {name: archive.read(name) for name in archive.namelist()} == {
        str(one.relative_to(pooled.paths.code.parent)): one.read_bytes() for one in files
    }


def test_a_page_that_would_be_too_large_carries_no_code(pooled):
    shown = load_trace(pooled.trace)
    assert "code-zip" in render_fit(pooled, shown, lambda: "UEs=")
    assert "code-zip" not in render_fit(pooled, shown, lambda: "A" * 600_000)


def test_of_several_recordings_the_floor_and_the_ratio_are_those_of_the_largest_peak(plain):
    size = replace(plain.answer.size, u_max=400, r_safe=500, peak=400)
    page = page_of(replace(plain, answer=replace(plain.answer, size=size, is_kept=False)))
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    left = size.region - 400
    assert f"peak of live bytes 400 B a better heap saves at most {left} B" in text
    assert f"of the peak {size.region / 400:.3f}" in text
