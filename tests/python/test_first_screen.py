# SPDX-License-Identifier: Apache-2.0
"""The first screen of `fit`: the answer, in words and figures that are those of the fit."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from captures import ethernet, ipv4, pcap
from loads import STANDARD, write_load
from page_reader import Page
from small_traces import table2

from heapfit import _engine
from heapfit.cli.fit import parts_of_fit
from heapfit.cli.printing.console import print_text
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.design.effort import Effort
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.reference_heaps import ReferenceKind
from heapfit.fitting.result import Fit
from heapfit.forecast.horizon import parse_horizon
from heapfit.plan.plan_file import load_plan
from heapfit.results.fit_page import render_fit, write_report
from heapfit.results.screen import reference_columns
from heapfit.sizing.settings import SettingsOptions
from heapfit.sizing.systems import settings_for
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import TraceInfo, write_trace

pytestmark = pytest.mark.usefixtures("unmeasured")

ECHO = Path(__file__).parents[2] / "examples/lwip-echo/lwip-echo.parquet"
OURS = re.compile(r"U_max|R_safe|R_min|\bstep\b|P_i|tailored|budgeted|best_fit")


TOLD: list[float] = []  # shares of progress


@pytest.fixture(scope="module")
def echo(tmp_path_factory) -> Fit:
    return fit(
        [ECHO],
        tmp_path_factory.mktemp("echo") / "out",
        progress=lambda _, share: TOLD.append(share),
    )


def printed(fitted: Fit, capsys) -> list[str]:
    print_text(parts_of_fit(fitted))
    return capsys.readouterr().out.splitlines()


def require_a_screen(lines: list[str]) -> None:
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    assert not OURS.search("\n".join(lines[:4]))


def beside(fitted: Fit, standing: ReferenceKind) -> int:
    (row,) = (one for one in fitted.references if one.standing is standing)
    assert row.region is not None
    return row.region


def test_line_1_is_the_answer_and_then_what_it_is_made_of(echo, capsys):
    lines = printed(replace(echo, paths=replace(echo.paths, code=Path("out/code"))), capsys)
    shown = [line for line in lines if "/" not in line or "instr./call" in line]
    require_a_screen(shown)
    size, region = echo.answer.size, echo.answer.size.region
    heap_4 = beside(echo, ReferenceKind.RULE)
    saved = f"{100 * (1 - region / heap_4):.1f} %"
    assert lines[0] == (
        f"Set the heap to {region:,} B ({region / 1024:.1f} KiB): {saved} less than FreeRTOS "
        "heap_4."
    )
    allocator, reserve = size.r_safe - size.u_max, region - size.r_safe
    assert f"{size.u_max:,} peak + {allocator:,} allocator + {reserve:,} reserve" in lines[1]
    needed, reserved = size.r_safe / size.u_max, region / size.u_max
    assert f"needs {needed:.3f} of the peak; with the reserve {reserved:.3f}." in lines[2]
    price = echo.fitted.costs.mean / echo.compared.costs.mean
    assert f"{price:.1f} times the instructions of FreeRTOS heap_4." in " ".join(
        " ".join(lines).split()
    )
    (row,) = (line.split() for line in lines if "FreeRTOS heap_4 " in line and "%" in line)
    assert row[2:5] == [f"{heap_4:,}", *saved.split()]
    assert len(shown) <= 16


def test_the_rows_are_what_is_measured_for_each_with_its_own_margin(echo):
    size, events = echo.answer.size, echo.trace.events()
    needed = measure(find_heap("heap_4", 8), [echo.trace]).most
    assert beside(echo, ReferenceKind.RULE) == replace(size, r_safe=needed).region
    assert beside(echo, ReferenceKind.FITTED) == size.region == echo.plan_file.region
    good_fit = _engine.Trial(_engine.Plan("good_fit"), events, 8).scan().r_safe
    rows = {row.title: row for row in echo.references}
    assert rows["heapfit good_fit"].region == replace(size, r_safe=good_fit).region
    rungs = [row for row in echo.references if row.standing is ReferenceKind.RUNG]
    assert rungs == [rows["heapfit good_fit"]], "others save no 1 % over what is quicker"
    (tlsf,) = (row for row in echo.comparison.rows if row.name == "tlsf")
    assert rows["heapfit's TLSF"].region == replace(size, r_safe=tlsf.r_safe).region
    counted = min(row.r_safe for row in echo.comparison.rows if row.is_cut_to_trace and row.r_safe)
    assert beside(echo, ReferenceKind.COUNTED) == counted < size.region


def test_what_is_saved_stands_beside_each_other_heap_that_serves(echo):
    rule = next(row for row in echo.references if row.standing is ReferenceKind.RULE)
    unserved = replace(rule, size=None)
    fitted = replace(rule, standing=ReferenceKind.FITTED)
    (shown,) = (one.shown for one in reference_columns(echo, False) if one.heading == "saves")
    assert rule.region is not None
    saved = 100 * (rule.region - echo.fitted.region) / rule.region
    assert [shown(row) for row in (rule, unserved, fitted)] == [f"{saved:.1f} %", None, None]


def test_a_sentence_and_three_rows_say_what_runs_of_each_length_need(echo, capsys):
    rows, region = echo.longer.rows, echo.answer.size.region
    assert [row.times for row in rows] == [1, 10, 100]
    assert rows[0].needed == region
    needed = [row.needed for row in rows]
    assert needed == sorted(needed)
    assert all(row.usual <= row.needed for row in rows)
    said = f"10 x as long up to {needed[1]:,} B, 100 x as long up to {needed[2]:,} B."
    assert said in " ".join(" ".join(printed(echo, capsys)).split())
    print_text(parts_of_fit(echo, is_whole=True))
    lines = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith("a run "))
    for row, line in zip(rows, lines[start + 1 : start + 5], strict=False):
        assert line.split()[-2:] == [f"{row.usual:,}", f"{row.needed:,}"]


@pytest.mark.parametrize("name", ["30d", "40x", "1000000 events"])
def test_a_horizon_is_a_row_and_says_what_to_set_where_the_heap_is_too_small(
    name, tmp_path, capsys
):
    source = write_load("steady", STANDARD, 1, tmp_path / "steady.parquet").path
    horizon = parse_horizon(name)
    fitted = fit([source], tmp_path / "out", FitOptions(horizon=horizon, margin=0))
    asked, shown = fitted.longer.asked, fitted.kinds.shown
    text = " ".join(" ".join(printed(fitted, capsys)).split())
    assert asked.is_asked
    if name == "30d":  # 2.6 million seconds of a recording of 20
        assert asked.needed is None
        assert "times the recording, and 100 times are as far as it tells" in text
        return
    assert asked.times == {"40x": 40, "1000000 events": 25}[name]
    assert asked.needed > fitted.answer.size.region
    assert f"{name} up to {asked.needed:,} B" in fitted.replayed
    assert fitted.longer.sentence(10**9) == "It is enough for 100 x as long, too."
    assert shown.microseconds > 0


def test_a_horizon_raises_the_region_of_answer_plan_and_code(tmp_path, capsys):
    sources = [
        write_load("steady", STANDARD, seed, tmp_path / f"steady{seed}.parquet").path
        for seed in (1, 2)
    ]
    horizon = parse_horizon("40x")
    fitted = fit(sources, tmp_path / "out", FitOptions(horizon=horizon, code=True))
    assert fitted.answer.known.load.runs == 2
    size, asked = fitted.answer.size, fitted.longer.asked
    assert asked.needed <= size.region < asked.needed * 1.002
    shorter = fit(sources, tmp_path / "as long").answer.size
    assert size == replace(shorter, margin=size.margin) and size.margin > shorter.margin
    assert load_plan(tmp_path / "out/plan.toml").region == fitted.plan_file.region
    assert fitted.answer.is_kept or fitted.plan_file.region == size.region
    told = " ".join(" ".join(printed(fitted, capsys)).split())
    assert re.search("for a run of 40x[: ]", told.lower())
    assert {row.size.margin for row in fitted.references if row.size} == {size.margin}


def test_a_leak_is_named_and_gets_no_size_but_for_a_horizon(tmp_path, capsys):
    leak = write_load("leak_site", STANDARD, 1, tmp_path / "leak.parquet").path
    fitted = fit([leak], tmp_path / "out", write_page=write_report)
    lines, page = printed(fitted, capsys), fitted.paths.report.read_text()
    assert re.match(r"Leak: call site \w+ keeps [\d,]+ B blocks: [\d,.]+ B per 1,000", lines[0])
    text = " ".join(" ".join(lines).split())
    assert re.search(
        r"A heap of [\d,]+ B \([\w' ]+\) is full about .* into a run.* Fix it and record again\.",
        text,
    )
    for line in (fitted.sized, "_BYTES", "instr./call"):
        assert line not in text + page[: page.index("<footer")]
    assert load_plan(tmp_path / "out/plan.toml").region == fitted.answer.size.region
    print_text(parts_of_fit(fitted, is_whole=True))
    whole = " ".join(capsys.readouterr().out.split())
    assert fitted.sized in whole
    with pytest.raises(HeapfitError, match=r"no size lasts\. Leak: .* is full about .* Fix it"):
        settings_for("freertos", [leak], SettingsOptions())
    longer = fit([leak], tmp_path / "long", FitOptions(horizon=parse_horizon("10x")))
    assert longer.longer.is_growing
    text = " ".join(" ".join(printed(longer, capsys)).split())
    assert text.startswith("Leak: ") and "or a run of 10x at this growth" in text


@pytest.mark.parametrize(
    "text", ["", "x", "9" * 400 + "x", "10", "-3d", "0x", "10 minutes", "1e3x", "3 d d"]
)
def test_a_horizon_that_is_none_is_refused(text):
    with pytest.raises(HeapfitError, match="is no length of time"):
        parse_horizon(text)


@pytest.mark.usefixtures("echo")
def test_the_progress_of_a_fit_never_falls_and_ends_at_1():
    assert sorted(TOLD) == TOLD
    assert TOLD[-1] == 1.0


def test_todays_heap_comes_first_and_may_be_kept(tmp_path, capsys):
    sources = [table2(tmp_path / f"run-{i}.heap", events=400, seed=i) for i in (1, 2)]
    fitted = fit(sources, tmp_path / "out", FitOptions(now="heap_4"))
    lines = printed(fitted, capsys)
    require_a_screen([line for line in lines if "/" not in line])
    assert [row.standing for row in fitted.references[:2]] == [
        ReferenceKind.TODAY,
        ReferenceKind.FITTED,
    ]
    assert fitted.today is not None
    assert fitted.today.is_kept == ("eep heap_4 and " in lines[0])
    if fitted.today.is_kept:
        assert fitted.holdout.seen_refused == 0


def few(folder: Path) -> tuple[list[Path], FitOptions]:
    return [table2(folder / "one.heap", events=400)], FitOptions()


def two_runs(folder: Path) -> tuple[list[Path], FitOptions]:
    return [table2(folder / f"run-{seed}.heap", 400, seed) for seed in (1, 2)], FitOptions()


def capture(folder: Path) -> tuple[list[Path], FitOptions]:
    frames = [ethernet(ipv4(60 + 40 * (i % 7))) for i in range(300)]
    source = folder / "packets.pcap"
    source.write_bytes(pcap([(0.001 * i, one, len(one)) for i, one in enumerate(frames)]))
    return [source], FitOptions()


def kept(folder: Path) -> tuple[list[Path], FitOptions]:
    return few(folder)[0], FitOptions(now="heap_4")


def stacked(folder: Path) -> tuple[list[Path], FitOptions]:
    """The last block goes first: nothing is fragmented, so no heap needs less."""
    ids = range(300)
    pushed = [f"a {i} {800 + 8 * (7 * i % 50)}\n" for i in ids]
    lines = [
        line
        for i in ids[::20]
        for line in (*pushed[i : i + 20], *(f"f {j}\n" for j in reversed(ids[i : i + 20])))
    ]
    (folder / "stack.heap").write_text("".join(lines))
    return [folder / "stack.heap"], FitOptions(now="heap_4")


_ANSWER = r"^(For now set the heap to [\d,]+ B|No fitted heap is worth it: [\w' ]+ at [\d,]+ B)"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (few, rf"{_ANSWER}.* 1 recording is too few"),
        (two_runs, rf"{_ANSWER}.* 2 recordings are too few"),
        (capture, rf"{_ANSWER}.* Assumed: 1,000 packets wait"),
        (kept, r"^For now keep heap_4 and set config\w+ to [\d,]+ B.* Too few .* to change\."),
        (stacked, r"^Keep heap_4 and for now set config\w+ to [\d,]+ B(?!.*to change\.)"),
    ],
)
def test_line_1_answers_for_every_kind_of_input(form, said, tmp_path, capsys):
    sources, options = form(tmp_path)
    fitted = fit(sources, tmp_path / "out", options)
    lines = printed(fitted, capsys)
    require_a_screen([line for line in lines if "/" not in line])
    assert re.search(said, " ".join(" ".join(lines).split())), lines
    peak = f"{fitted.answer.size.u_max:,} peak + "
    assert peak in " ".join(" ".join(lines[:4]).split())


def test_a_start_of_a_few_events_gets_no_size(tmp_path, capsys):
    fitted = fit([table2(tmp_path / "start.heap", events=200)], tmp_path / "out")
    text = " ".join(" ".join(printed(fitted, capsys)).split())
    assert "200 events cannot tell a size: record 300 at least" in text
    assert "et the heap to" not in text
    assert "Replayed" not in text
    assert (fitted.longer.rows, fitted.answer.known.is_enough) == ((), False)


def test_what_ends_at_its_peak_says_so(tmp_path):
    loaded = load_trace(write_load("steady", STANDARD, 1, tmp_path / "steady.parquet"))
    (columns,) = loaded.batches(("op", "object", "size"))
    born = int(columns["object"].max()) + 1
    burst = {"op": np.zeros(100), "object": born + np.arange(100), "size": np.full(100, 512)}
    made = {
        name: np.append(values, burst[name]).astype(values.dtype)
        for name, values in columns.items()
    }
    source = write_trace(tmp_path / "burst.parquet", [made], TraceInfo()).path
    fitted = fit([source], tmp_path / "out", FitOptions(effort=Effort.QUICK))
    assert "burst ends at its peak: record on until it is given back" in fitted.warnings
    steady = fit([loaded.trace.path], tmp_path / "level", FitOptions(effort=Effort.QUICK))
    assert not any("ends at its peak" in one for one in steady.warnings)


def test_a_note_that_not_all_recordings_have_names_one_that_does(tmp_path, capsys):
    notes = {
        "first": ("all have it",),
        "odd": ("all have it", "1 is odd"),
        "last": ("all have it",),
    }
    runs = []
    for seed, (name, told) in enumerate(notes.items()):
        load = load_trace(write_load("steady", STANDARD, seed, tmp_path / f"{seed}.parquet"))
        columns = list(load.batches(("op", "object", "size")))
        runs.append(write_trace(tmp_path / f"{name}.parquet", columns, TraceInfo(notes=told)).path)
    options = FitOptions(effort=Effort.QUICK)
    fitted = fit(runs, tmp_path / "out", options, write_page=write_report)
    assert fitted.notes == ("all have it", "odd: 1 is odd")
    lines = printed(fitted, capsys)
    assert "  odd: 1 is odd." in lines and "  All have it." in lines
    page = fitted.paths.report.read_text()
    assert "first and 2 more" in page and page.count("odd: 1 is odd") == 1


def test_what_a_page_offers_has_a_reserve(echo):
    page = Page(render_fit(echo, load_trace(echo.trace)))
    offered = [
        row for row, place in zip(page.rows, page.sections, strict=True) if place == "choices"
    ]
    text = " ".join(word for row in offered for cell in row for word in cell.split())
    assert f"{beside(echo, ReferenceKind.FITTED):,} B" in text
    assert f"{beside(echo, ReferenceKind.COUNTED):,} B" not in text
