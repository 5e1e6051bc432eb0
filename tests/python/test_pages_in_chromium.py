# SPDX-License-Identifier: Apache-2.0
"""The pages in a browser: what is drawn, what is told of it, and how it is reached."""

import json
import os
import random
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import axe_core_python
import pytest
from small_traces import table2

from chromium import Chromium
from grid import thin
from heapfit.checks.check import check_recordings
from heapfit.checks.shown import read_shown
from heapfit.comparison.heap_map import HeapMap, map_live, map_of, subjects_of
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.drawing.html import render, write_document
from heapfit.fitting.fit import fit
from heapfit.fitting.result import Fit
from heapfit.plan.plan import Plan
from heapfit.results.check_page import check_page
from heapfit.results.fit_page import case_from_fit, write_report
from heapfit.results.live import live_page
from heapfit.results.simulation import simulation_page
from heapfit.simulation.scenario import load_scenario
from heapfit.simulation.simulate import solve
from heapfit.trace.live import LiveHeap
from heapfit.trace.loaded import load_trace
from program import run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured_module")

MAP_IS_DRAWN = "'isDrawn' in document.getElementById('heap-map').dataset"
DRAW = "drawings.forEach((one) => one.draw())"  # also what is further away
PHONE = (390, 844)
AXE = Path(axe_core_python.__file__).with_name("axe.min.js")
# What passes is not told in full: that takes half the time.
FINDINGS = """axe.run(document, {resultTypes: ["violations"]}).then(found => found.violations
    .filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => `${one.id}: ${one.nodes[0].html}`))"""
SCENARIOS = Path(__file__).parents[2] / "examples/partitions"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("fitted")
    return fit(
        [table2(folder / "four.heap", 1500)],
        folder / "out",
        write_page=write_report,
    )


@pytest.fixture(scope="module")
def heap_map(fitted) -> HeapMap:
    shown = load_trace(fitted.trace)
    return map_of(shown, subjects_of(case_from_fit(fitted, shown)))


@pytest.fixture
def page(browser, fitted):
    browser.resize(1400, 900)
    browser.prefer("light")
    browser.open(fitted.paths.report)
    browser.wait_for(MAP_IS_DRAWN)
    return browser


class Drawn:
    """A heap's canvas on the page."""

    def __init__(self, browser: Chromium, heap: int, heap_map: HeapMap) -> None:
        self.browser, self.heap, self.map = browser, heap, heap_map
        self.name = f"document.getElementById('heap-map-canvas-{heap}')"
        browser.run(f"{self.name}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        self.box = [float(one) for one in browser.run(f"{self.name}.dataset.box").split()]
        self.height = max(one.region for each in heap_map.heaps for one in each.row)

    def middle(self, block: int) -> tuple[float, float]:
        """Of a block, in CSS pixels of the canvas."""
        lifetimes, own = self.map.lifetimes, self.map.heaps[self.heap].own
        left, top, width, height = self.box
        event = (int(lifetimes.starts[block]) + int(lifetimes.ends[block])) / 2
        address = int(own.offsets[block]) + int(lifetimes.sizes[block]) / 2
        return left + event / self.map.events * width, top + height * (1 - address / self.height)

    def colour(self, x: float, y: float) -> tuple[int, ...]:
        pixel = f"{self.name}.getContext('2d').getImageData({int(x)}, {int(y)}, 1, 1).data"
        return tuple(self.browser.run(f"[...{pixel}]"))

    def point(self, x: float, y: float) -> str:
        """What the page tells of a point of the canvas."""
        bounds = f"{self.name}.getBoundingClientRect()"
        left, top = self.browser.run(f"[{bounds}.left, {bounds}.top]")
        self.browser.move(left + x, top + y)
        return self.browser.run(
            f"document.getElementById('heap-map-readout-{self.heap}').textContent"
        )


def long_lived(heap_map: HeapMap, count: int = 12) -> list[int]:
    """Blocks that are some pixels wide."""
    lifetimes = heap_map.lifetimes
    wide = [
        i
        for i in range(len(lifetimes))
        if lifetimes.ends[i] - lifetimes.starts[i] > heap_map.events / 100
    ]
    return random.Random(3).sample(wide, count)


@pytest.mark.parametrize("heap", [0, 1])
def test_what_is_told_of_a_block_is_what_the_replay_says(page, heap_map, heap):
    drawn = Drawn(page, heap, heap_map)
    lifetimes, own = heap_map.lifetimes, heap_map.heaps[heap].own
    for block in long_lived(heap_map):
        told = drawn.point(*drawn.middle(block))
        start, end = int(lifetimes.starts[block]), int(lifetimes.ends[block])
        size, place = int(lifetimes.sizes[block]), int(own.offsets[block])
        assert told.startswith(f"{size:,} B at {place:,} B; event {start + 1:,} to ")
        assert f"({end - start:,} events" in told


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_block_has_the_colour_of_its_size(page, heap_map, scheme):
    page.prefer(scheme)
    drawn = Drawn(page, 1, heap_map)
    seen: dict[tuple[int, ...], set[int]] = {}
    for block in long_lived(heap_map, 30):
        size = int(heap_map.lifetimes.sizes[block])
        if size / drawn.height * drawn.box[3] < 4:
            continue  # pixels: its edge is in its middle
        seen.setdefault(drawn.colour(*drawn.middle(block)), set()).add(size.bit_length())
    assert len(seen) == len({one for powers in seen.values() for one in powers})
    assert all(len(powers) == 1 for powers in seen.values())


def test_a_live_page_draws_the_pixels_of_a_report(browser, fitted, tmp_path):
    trace = fitted.trace
    heap = LiveHeap(Plan("tlsf", {"alignment": 8}))
    columns = ("op", "object", "size", "alignment", "time", "site", "thread")
    heap.recording = SimpleNamespace(columns=lambda: trace.batches(columns))
    (tmp_path / "live.html").write_text(render(live_page(map_live(heap), "tlsf")), encoding="utf-8")
    by_hand = parse_heap_size(f"tlsf:{map_live(heap).heaps[0].own.region}")
    plan = replace(by_hand, plan=heap.plan, heap="", base_alignment=heap.base)
    found = read_shown(check_recordings([trace], plan), [trace])
    write_document(tmp_path / "check.html", check_page(found, [trace], ""))
    drawn = []
    for name in ("live.html", "check.html"):
        browser.resize(1400, 900)
        browser.open(tmp_path / name)
        browser.wait_for(MAP_IS_DRAWN)
        drawn.append(browser.run("document.querySelector('canvas.map').toDataURL()"))
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 10_000


def test_the_slider_shows_the_request_that_fails_in_each_region(page, heap_map):
    rows = zip(*(heap.row for heap in heap_map.heaps), strict=True)
    for place, both in enumerate(rows):
        told = page.run(
            f"(slider => {{ slider.value = {place}; slider.dispatchEvent(new Event('input'));"
            "return document.getElementById('heap-map-told-region').textContent })"
            "(document.getElementById('heap-map-region'))"
        )
        assert told.startswith(f"In {both[0].region:,} B:")
        for heap, one in zip(heap_map.heaps, both, strict=True):
            refused = one.refused
            assert (
                f"{heap.name} serves every request." in told
                if refused is None
                else f"{heap.name} runs out of memory at event {refused.event + 1:,}, "
                f"a request for {refused.size:,} B: " in told
            )


def test_the_map_is_read_with_the_keyboard_alone(page, heap_map):
    drawn = Drawn(page, 1, heap_map)
    page.run(f"{drawn.name}.focus()")
    told = set()
    for _ in range(12):
        page.press("ArrowDown", 40)
        told.add(page.run("document.getElementById('heap-map-readout-1').textContent"))
    assert sum(" B at " in one for one in told) >= 3
    before = page.run(f"{drawn.name}.toDataURL()")
    page.press("+", 187)
    assert page.run(f"{drawn.name}.toDataURL()") != before


def test_a_page_asks_for_nothing_and_says_nothing(page):
    assert page.requests == []
    assert page.messages == []


@pytest.fixture(scope="module")
def pages(fitted, tmp_path_factory) -> list[Path]:
    """One of each kind that takes little to make."""
    folder = tmp_path_factory.mktemp("pages")
    scenario = load_scenario(SCENARIOS / "figure-5.toml")
    write_document(folder / "simulation.html", simulation_page(solve(scenario), "heapfit simulate"))
    plan, trace = str(fitted.paths.plan), str(fitted.trace.path)
    for words in (
        ["slotbuf", "50", "2000", "-o", "."],
        ["compare", trace, "tlsf", "t2_w1:events=500", "--report", "compare.html"],
        ["check", trace, "--plan", plan, "--report", "check.html"],
        ["check", trace, "--base", trace, "--report", "beside.html"],
        ["size", trace, "--report", "size.html"],
        ["reproduce", "000", "--small", "--report", "reproduce.html"],
    ):
        done = run_heapfit(*words, folder=folder, environment=os.environ)
        assert done.returncode == 0, done.stderr
    made = sorted(one for one in folder.rglob("*.html") if one.name != "index.html")
    return [fitted.paths.report, *made]


def test_axe_finds_nothing_serious_on_any_page_unfolded(browser, pages):
    for page, scheme in thin(2, pages, ("light", "dark")):
        browser.open(page)
        browser.run("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
        browser.run(DRAW)
        browser.run(f"{AXE.read_text()};0")
        browser.prefer(scheme)
        assert browser.run(FINDINGS) == [], (page.name, scheme)
        assert browser.messages == []
        assert browser.requests == []


def reached_by_tab(browser: Chromium) -> set[str]:
    """What the Tab key stops at: charts by their name, else the element's own."""
    browser.run("document.querySelectorAll('details:not(.data)').forEach(one => (one.open = true))")
    browser.run("document.activeElement.blur()")
    reached = set()
    for _ in range(1000):
        browser.press("Tab", 9)
        stop = browser.run(
            "(one => one === document.body ? null : one.closest('.chart')?.id ?? one.id)"
            "(document.activeElement)"
        )
        if stop is None:
            return reached
        reached.add(stop)
    raise AssertionError("the Tab key never comes to the end of the page")


def kept_by_keyboard(browser: Chromium, chart: str) -> tuple[list[str], int]:
    """Of a chart the lines that it offers to keep, and the rows of its table."""
    place = f"document.getElementById('{chart}')"
    browser.run(f"{place}.querySelector('.data summary').focus()")
    browser.press(" ", 32)
    browser.wait_for(f"{place}.querySelector('.data table') !== null")
    browser.run("saveText = (name, text) => { window.kept = [name, text]; }")
    browser.run(f"{place}.querySelector('.data button').focus()")
    browser.press(" ", 32)
    name, text = browser.run("window.kept")
    assert name == f"{chart}.csv"
    rows = browser.run(f"{place}.querySelectorAll('.data tbody tr').length")
    return text.splitlines(), rows


def test_every_chart_is_reached_by_keyboard_and_gives_its_numbers(browser, pages):
    browser.resize(1400, 900)
    for page in pages:
        browser.open(page)
        reached = reached_by_tab(browser)
        points = browser.run(
            "Object.entries(figures).map(([name, {data}]) =>"
            "[name, data.reduce((sum, one) => sum + (one.x ?? []).length, 0)])"
        )
        for chart, count in points:
            assert chart in reached, (page.name, chart)
            lines, rows = kept_by_keyboard(browser, chart)
            assert (len(lines), rows) == (count + 1, min(count, 200)), (page.name, chart)
        maps = browser.run("[...document.querySelectorAll('canvas.map')].map(one => one.id)")
        assert set(maps) <= reached
        assert not maps or "heap-map-save" in reached


MOST_SHEETS = 12  # of paper: what is folded is there, too


def test_every_page_is_short_on_paper_and_on_a_phone(browser, pages):
    for page in pages:
        browser.resize(1400, 900)
        browser.open(page)
        assert len(re.findall(rb"/Type\s*/Page\b", browser.pdf())) <= MOST_SHEETS, page.name
        browser.resize(*PHONE, is_phone=True)
        browser.open(page)
        browser.run(DRAW)
        root = "document.documentElement"
        most = 5_500 if page.name == "report.html" else 10_000
        assert browser.run(f"{root}.scrollHeight") <= most, page.name
        assert browser.run(f"{root}.scrollWidth") == PHONE[0], page.name


def test_what_is_folded_is_drawn_when_it_is_opened_and_when_it_is_printed(page, fitted):
    chart = "document.querySelector('section.folded .chart')"
    is_drawn = f"{chart}.querySelector('svg[role=img]') !== null"
    assert not page.run(is_drawn)
    page.run(f"{chart}.closest('details').open = true")
    page.wait_for(is_drawn)
    page.open(fitted.paths.report)
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(is_drawn)
    folds = "[...document.querySelectorAll('section.folded > details')]"
    assert page.run(f"{folds}.every(one => one.open)"), "paper has all"
    page.run("dispatchEvent(new Event('afterprint'))")
    assert not page.run(f"{folds}.some(one => one.open)")


def test_who_holds_the_peak_is_sorted_filtered_and_found_from_the_map(page, heap_map):
    table = "document.querySelector('#peak table.sortable')"
    names = f"[...{table}.tBodies[0].rows].filter(row => !row.hidden).map(row => row.innerText)"
    held = "[...document.querySelectorAll('#peak tbody tr')].map(row => row.cells[1].innerText)"
    page.run(f"{table}.tHead.rows[0].cells[1].querySelector('button').click()")
    figures = [int(re.sub(r"\D", "", one)) for one in page.run(held)]
    assert figures == sorted(figures, reverse=True) != []
    page.run(f"{table}.tHead.rows[0].cells[1].querySelector('button').click()")
    assert [int(re.sub(r"\D", "", one)) for one in page.run(held)] == sorted(figures)
    word = page.run(names)[0].split("\t")[0]
    field = "document.querySelector('#peak .filter input')"
    page.run(f"{field}.value = {json.dumps(word)}; {field}.dispatchEvent(new Event('input'))")
    assert 1 <= len(page.run(names)) < len(figures)
    drawn, block = Drawn(page, 1, heap_map), long_lived(heap_map)[0]
    told = drawn.point(*drawn.middle(block))
    for kind in ("pointerdown", "pointerup"):
        x, y = drawn.middle(block)
        page.run(
            f"(() => {{const event = new PointerEvent('{kind}', {{pointerType: 'pen'}});"
            f"Object.defineProperties(event, {{offsetX: {{value: {x}}}, offsetY: {{value: {y}}}}});"
            f"{drawn.name}.dispatchEvent(event)}})()"
        )
    page.run(f"{drawn.name}.dispatchEvent(new PointerEvent('pointerleave'))")
    kept = page.run("document.getElementById('heap-map-readout-1').textContent")
    assert kept.startswith(told), "the text of what was clicked is kept"


def test_a_chart_tells_its_numbers_and_hides_a_curve_by_keyboard(page):
    page.run("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
    chart = "document.getElementById('chart-memory')"
    curves = f"{chart}.querySelectorAll('svg[role=img] path[style^=stroke]').length"
    page.run(f"{chart}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    page.wait_for(f"{curves} > 0")
    before = page.run(curves)
    page.run(f"{chart}.querySelector('button[aria-pressed=true]').focus()")
    page.press(" ", 32)
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "false"
    assert page.run(curves) < before
    rows = f"[...{chart}.querySelectorAll('tbody tr')].map(row => row.innerText.split('\\t'))"
    told = page.run(rows)
    series = page.run("figures['chart-memory'].data.map(one => [one.name, one.x.length])")
    assert len(told) == min(200, sum(length for _, length in series))
    assert told[0][0] == series[0][0]
