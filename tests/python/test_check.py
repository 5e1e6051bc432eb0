# SPDX-License-Identifier: Apache-2.0
"""`heapfit check`: what is green, what is red, and what is said to have grown."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_traces import bimodal, heapfit, heapfit_json, load_lines

from heapfit import _engine
from heapfit.checks.check import CheckOptions, RecordingNeeds, _fills, check_recordings
from heapfit.checks.growth import MOST, Holdings, LiveBytes, changes, holdings_of
from heapfit.checks.prospect import Prospect, find_prospect
from heapfit.checks.refusals import count_refusals
from heapfit.checks.run import PlanRun, run_recording
from heapfit.checks.system_run import place_in_region
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_names import SYSTEM_HEAPS
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, make_heap_plan, parse_heap_size
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.margin import MarginBasis, MarginKind, heap_size
from heapfit.comparison.trial import Refusal
from heapfit.drawing.markdown import markdown_of
from heapfit.drawing.parts import Column, Fields, Line, Table
from heapfit.errors import HeapfitError
from heapfit.forecast.load import Load
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, TrainingRecord, save_plan
from heapfit.results.check import _describe_prospect, check_parts, describe_run
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

FAILED = 3
CAPTURE = Path(__file__).parents[2] / "examples/capture/network.pcap.gz"
_ASKED = ("op", "object", "size")
REGION, PEAK = 4096, 3000  # of the plan that most tests check


def plan_file(**changed: object) -> PlanFile:
    """first_fit in 4 KiB, for a peak of 3,000 bytes and with a margin of 10 %."""
    made = PlanFile(
        name="small",
        plan=Plan("first_fit", {"alignment": 8}),
        region=REGION,
        r_min=3200,
        base_alignment=16,
        u_max=PEAK,
        pointer_bits=32,
        trained_on=TrainingRecord("old", f"sha256:{'0' * 64}", 100),
        heapfit_version=_engine.version,
        r_safe=3200,
        peak=PEAK,
        margin=10.0,
    )
    return replace(made, **changed)


def recording(path: Path, lines: list[str], bits: int = 32) -> Path:
    path.write_text("\n".join(["# heap-events 1", f"# pointer_bits {bits}", *lines]) + "\n")
    return path


def blocks(sizes: list[int]) -> list[str]:
    """Requests that are freed in the order in which they come."""
    asked = [f"a {i} {size}" for i, size in enumerate(sizes)]
    return asked + [f"f {i}" for i in range(len(sizes))]


def broken_up() -> list[str]:
    """Small blocks among large ones that go: 1,000 B are asked for, of 2,600 free in pieces."""
    asked = blocks([600, 32] * 5)[:10]
    return [*asked, *(f"f {i}" for i in range(0, 10, 2)), "a 10 1000", "f 10"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_plan(tmp_path / "plan.toml", plan_file())
    recording(tmp_path / "same.heap", blocks([1000] * 3))
    recording(tmp_path / "less.heap", blocks([1000] * 2))
    recording(tmp_path / "more.heap", blocks([1000] * 3 + [150]))
    recording(tmp_path / "leak.heap", [f"a {i} 500" for i in range(12)])
    recording(tmp_path / "broken.heap", broken_up())
    return tmp_path


def check(folder: Path, *arguments: object) -> tuple[int, dict]:
    done = heapfit("check", *arguments, "--plan", "plan.toml", "--json", folder=folder)
    return done.returncode, json.loads(done.stdout)


def test_recordings_that_run_are_replayed_once_each(folder: Path) -> None:
    status, content = check(folder, "same.heap", "less.heap")
    assert status == 0
    assert [one["verdict"] for one in content["recordings"]] == ["fits", "fits"]
    assert content["events_replayed"] == sum(one["events"] for one in content["recordings"]) == 10
    assert content["events_of_searches"] == 0
    assert content["is_passed"]


def test_a_leak_is_red_and_told_as_more_than_planned(folder: Path) -> None:
    shown = heapfit("check", "leak.heap", "--plan", "plan.toml", folder=folder)
    assert shown.returncode == FAILED
    assert "FAIL: leak runs out of memory in 4,096 B (small) at event " in shown.stdout
    assert "above the planned peak." in shown.stdout
    assert "Its peak is 6,000 B; the plan's recordings had 3,000 B (+100.0 %)." in shown.stdout


def test_a_heap_that_is_broken_up_is_red_although_the_load_is_as_planned(folder: Path) -> None:
    save_plan(folder / "plan.toml", plan_file(region=3400, peak=3160, u_max=3160))
    status, content = check(folder, "broken.heap")
    (one,) = content["recordings"]
    assert (status, one["findings"]) == (FAILED, ["ran_out"])
    assert one["refusal"]["live"] == 5 * 32
    assert one["refusal"]["largest_hole"] < one["refusal"]["size"] == 1000 < one["refusal"]["free"]
    shown = heapfit("check", "broken.heap", "--plan", "plan.toml", folder=folder)
    assert "within the planned peak: the heap is fragmented." in " ".join(shown.stdout.split())


def test_what_failed_is_told_with_the_region_it_needs(folder: Path) -> None:
    _, content = check(folder, "leak.heap")
    (one,) = content["recordings"]
    again = heapfit_json("compare", "leak.heap", "first_fit", folder=folder)
    assert one["r_safe"] == again["rows"][0]["r_safe"] > REGION
    assert content["events_of_searches"] > 0


def test_line_1_is_the_verdict_and_then_comes_the_cause(folder: Path) -> None:
    """What is compared with is named once, and another program's recording is said."""
    other = replace(plan_file().trained_on, program="pump")
    save_plan(folder / "plan.toml", plan_file(trained_on=other))
    trace = open_any(folder / "same.heap", ImportOptions(), folder)
    columns = trace.batches(_ASKED)
    write_trace(folder / "same.parquet", columns, TraceInfo(program="valve", pointer_bits=32))
    done = heapfit("check", "same.parquet", "--plan", "plan.toml", folder=folder)
    first, more, second = done.stdout.splitlines()
    left = round(REGION - REGION / 1.1, -1)
    assert f"{first} {more}" == (
        f"PASS: same fits in {REGION:,} B (small) with some {left:,.0f} B left by its peak "
        "(--measure is exact)."
    )
    assert second == "same is a recording of valve, the plan of pump."
    asked = ("leak.heap", "--plan", "plan.toml", "--base", "same.heap")
    failed = heapfit("check", *asked, folder=folder).stdout.splitlines()
    assert failed[0].startswith(f"FAIL: leak runs out of memory in {REGION:,} B (small) at event ")
    text = " ".join(failed)
    assert "; it needs " in text
    assert "Cause: blocks up to 512 B: 6,000 B held at the peak (same: 0 B)." in text
    assert f"Its peak is 6,000 B; same had {PEAK:,} B (+100.0 %)." in text
    content = load_trace(Trace.open(folder / "same.parquet")).content
    made_from = TrainingRecord("same", content, 1)
    save_plan(folder / "found.toml", plan_file(trained_on=made_from))
    alone = heapfit("check", asked[0], "--plan", "found.toml", folder=folder).stdout
    assert "Cause: blocks up to 512 B: 6,000 B held at the peak (planned: 0 B)." in alone
    save_plan(folder / "lost.toml", plan_file(trained_on=replace(made_from, trace="../same")))
    assert "planned: " in heapfit("check", asked[0], "--plan", "lost.toml", folder=folder).stdout
    save_plan(folder / "lost.toml", plan_file(trained_on=replace(made_from, content="sha256:0")))
    assert (
        "planned: " not in heapfit("check", asked[0], "--plan", "lost.toml", folder=folder).stdout
    )
    (folder / "same.parquet").unlink()  # the text that it was made of has the same requests
    (folder / "same.txt").write_text("notes on the run\n")
    os.mkfifo(folder / "same.pipe")  # nobody writes
    assert (
        "planned: 0 B" in heapfit("check", asked[0], "--plan", "found.toml", folder=folder).stdout
    )
    assert heapfit("check", *asked[:-2], "--report", "p.html", folder=folder).returncode == FAILED
    page = (folder / "p.html").read_text()
    assert '<span class="mark failed">ran out</span>' in page and ">Ran out</span>" in page


def test_sizes_that_grew_are_told_beside_the_base(folder: Path) -> None:
    _, content = check(folder, "leak.heap", "--base", "less.heap", "--base", "same.heap")
    assert content["base"] == {"name": "same", "peak": PEAK}
    (one,) = content["recordings"]
    (grown,) = one["sizes"]
    assert grown["name"] == 512
    assert grown["before"]["at_peak"] == 0
    assert grown["now"]["at_peak"] == 6000
    assert one["growth"] == pytest.approx(100)


@pytest.mark.parametrize(("limit", "status"), [("4%", FAILED), ("5", 0), ("5.0 %", 0)])
def test_growth_is_limited_against_the_highest_base(folder: Path, limit: str, status: int) -> None:
    asked = ("more.heap", "--base", "less.heap", "--base", "same.heap", "--growth", limit)
    found, content = check(folder, *asked)
    assert found == status
    assert [one["findings"] for one in content["recordings"]] == [["grew"] if status else
                                                                  ["margin_eaten"]]  # fmt: skip


def test_of_several_bases_it_is_told_that_growth_is_against_the_highest(folder: Path) -> None:
    words = ("check", "more.heap", "same.heap", "--plan", "plan.toml", "--base", "less.heap")
    one, two = (
        " ".join(heapfit(*words, *more, folder=folder).stdout.split())
        for more in ((), ("--base", "same.heap"))
    )
    assert "relative to less (" in one and "highest" not in one
    assert "relative to same (" in two and "B), the highest of 2 bases." in two


def test_one_size_for_9_and_for_99_of_100_is_told_once() -> None:
    same = Prospect(runs=10, failed=0, margin_end=None, needed=(23_200, 23_200))
    told = "By the needs of these 10 recordings 99 of 100 further ones run in 23,200 B."
    assert _describe_prospect(same) == told
    other = _describe_prospect(replace(same, needed=(22_800, 23_200)))
    assert other == told.replace("99", "9 of 10 further ones run in 22,800 B, 99", 1).replace(
        "100 further ones run", "100"
    )


def test_an_allocator_named_with_a_region_tells_what_it_keeps_of_it(tmp_path: Path) -> None:
    (tmp_path / "run.heap").write_text("# heap-events 1\na 0 512\na 1 400\n")
    kept = "232 of the 1,024 B are the heap's own or blocks of its pools, before any request."
    shown = {
        heap: heapfit("check", "run.heap", "--heap", heap, folder=tmp_path).stdout
        for heap in ("buddy:1024", "heap_4:512")
    }
    assert kept in " ".join(shown["buddy:1024"].split())
    assert "before any" not in shown["heap_4:512"]


def test_without_a_base_growth_is_against_the_plans_own_recordings(folder: Path) -> None:
    assert check(folder, "more.heap", "--growth", "4%")[0] == FAILED
    assert check(folder, "same.heap", "--growth", "0%")[0] == 0


def test_a_margin_that_is_eaten_warns_and_fails_a_strict_check(folder: Path) -> None:
    status, content = check(folder, "more.heap")
    (one,) = content["recordings"]
    assert (status, one["findings"]) == (0, ["margin_eaten"])
    assert one["margin_eaten"] == pytest.approx(50)  # 5 % of load, of a margin of 10 %
    assert check(folder, "more.heap", "--strict")[0] == FAILED
    assert check(folder, "same.heap", "--strict")[0] == 0


@pytest.mark.parametrize(
    "text",
    [
        "malloc(8) = 0x10\nmallo",
        "malloc(8) = 0x10\nmalloc(9) = 0x10\n",
        "@ ./a:[0x401163] + 0x4052a0 0x8\n",
    ],
)
def test_what_is_not_whole_warns_and_fails_a_strict_check(tmp_path, text):
    (tmp_path / "cut.log").write_text(text)
    (tmp_path / "whole.log").write_text("malloc(8) = 0x10\n")
    asked = ("cut.log", "--base", "whole.log", "--growth", "900%")
    (one,) = heapfit_json("check", *asked, folder=tmp_path)["recordings"]
    assert (one["findings"], one["verdict"]) == (["not_whole"], "not whole")
    assert "cut.log is not whole: " in heapfit("check", *asked, folder=tmp_path).stdout
    assert heapfit("check", *asked, "--strict", folder=tmp_path).returncode == FAILED
    whole = ("whole.log", "--base", "whole.log", "--strict")
    assert heapfit("check", *whole, folder=tmp_path).returncode == 0


def served(kept: int, rounds: int = 1500) -> list[str]:
    """Rounds of three messages, and a block of 28 B after each 20th of which `kept` are kept."""
    lines = ["a 0 20000"]
    for i in range(rounds):
        sizes = (40 + 8 * (i % 7), 400 + 16 * (i % 5), 96)
        lines += [f"a {i * 4 + place} {size}" for place, size in enumerate(sizes, 1)]
        lines += [f"f {i * 4 + place}" for place in (1, 2, 3)]
        if i % 20 == 0:
            lines += [f"a {10**6 + i} 28"] + [f"f {10**6 + i}"] * (i // 20 >= kept)
    return lines


def test_a_leak_that_fits_warns_and_fails_a_strict_check(tmp_path: Path) -> None:
    leaks = recording(tmp_path / "leaks.heap", served(75))
    level = recording(tmp_path / "level.heap", served(0))
    asked = ("--heap", "heap_4:64K")
    (one,) = heapfit_json("check", leaks, *asked, folder=tmp_path)["recordings"]
    assert (one["findings"], one["verdict"]) == (["leaks"], "leaks")
    shown = " ".join(heapfit("check", leaks, *asked, folder=tmp_path).stdout.split())
    assert shown.startswith("PASS: ") and "--strict fails on it." in shown
    strict = heapfit("check", leaks, *asked, "--strict", folder=tmp_path)
    told = " ".join(strict.stdout.split())
    assert strict.returncode == FAILED
    assert told.startswith("FAIL: leaks leaks, though it fits in 65,536 B (heap_4)")
    rate = 1000 * 28 * 75 / (1 + 1500 * 6 + 75)
    pace = float(told.split("28 B blocks: ")[1].split(" B per")[0])
    assert pace == pytest.approx(rate, rel=0.02)
    assert heapfit("check", level, *asked, "--strict", folder=tmp_path).returncode == 0
    beside = heapfit("check", leaks, "--base", level, "--strict", folder=tmp_path)
    assert beside.returncode == FAILED and beside.stdout.startswith(
        "FAIL: leaks leaks and has a peak "
    )
    assert "no growth fails" not in beside.stdout
    assert ". Cause: leak: the program keeps 28 B blocks: " in " ".join(beside.stdout.split())
    for name, run in (("a", leaks), ("b", level)):
        done = heapfit("check", run, *asked, "--strict", "--json", folder=tmp_path)
        (tmp_path / f"{name}.json").write_text(done.stdout)
    parts = ("check", tmp_path / "a.json", tmp_path / "b.json", "--merge", *asked)
    assert heapfit(*parts, folder=tmp_path).returncode == FAILED
    heapfit("check", leaks, *asked, "--strict", "--report", tmp_path / "p.html", folder=tmp_path)
    assert '<span class="mark unsure">leaks</span>' in (tmp_path / "p.html").read_text()


def test_a_leak_is_the_cause_only_where_the_program_without_it_is_served(tmp_path: Path) -> None:
    leaks = recording(tmp_path / "leaks.heap", served(75))
    level = recording(tmp_path / "level.heap", served(0))
    causes = {}
    for size in range(20_400, 24_000, 300):
        heap = ("--heap", f"heap_4:{size}")
        words = " ".join(heapfit("check", leaks, *heap, folder=tmp_path).stdout.split())
        is_served = heapfit("check", level, *heap, folder=tmp_path).returncode == 0
        if words.startswith("FAIL") and "at event 29 of" not in words:  # with one block kept
            assert words.count("Cause: ") == 1 and "eak: the program keeps 28 B blocks" in words
            causes[size] = (is_served, "Cause: leak: " in words)
    assert set(causes.values()) == {(True, True), (False, False)}, causes


@pytest.mark.parametrize(
    ("is_leak", "free", "hole", "is_filled"),
    [(False, 3_328, 500, False), (False, 512, 500, True), (True, 3_328, 500, True),
     (True, 3_328, 522, False), (False, 0, 0, True)],
)  # fmt: skip
def test_what_may_be_a_cache_is_no_cause_where_the_request_was_free_in_pieces(
    is_leak, free, hole, is_filled
):
    kind = SimpleNamespace(is_leak=is_leak, rate=SimpleNamespace(slope=0.66))
    refusal = Refusal(event=3_552, size=522, live=7_216, free=free, largest_hole=hole)
    assert _fills(kind, refusal) == is_filled


def test_a_peak_above_the_limit_is_told_beside_the_heap_that_ran_out(folder: Path) -> None:
    asked = ("leak.heap", "--plan", "plan.toml", "--base", "same.heap", "--growth", "5%")
    text = " ".join(heapfit("check", *asked, folder=folder).stdout.split())
    assert text.startswith("FAIL: leak runs out of memory in ")
    assert "Its peak is 6,000 B; same had 3,000 B (+100.0 %, above 5 %)." in text


def test_a_measured_recording_tells_what_fragmentation_takes_of_the_margin(folder: Path) -> None:
    save_plan(folder / "plan.toml", plan_file(region=3096))
    status, content = check(folder, "same.heap", "--measure")
    (one,) = content["recordings"]
    assert (status, one["findings"]) == (0, ["margin_eaten"])
    without = 3096 / 1.1
    assert one["margin_eaten"] == pytest.approx((one["r_safe"] - without) / (3096 - without) * 100)


def test_a_plan_without_a_margin_is_not_judged_by_it(folder: Path) -> None:
    save_plan(folder / "plan.toml", plan_file(margin=None))
    done = heapfit("check", "more.heap", "--plan", "plan.toml", "--strict", folder=folder)
    assert done.returncode == 0
    assert "small: states no margin, so its use is not judged" in done.stderr


def test_more_alignment_than_the_regions_start_has_is_red(folder: Path) -> None:
    recording(folder / "aligned.heap", ["m 0 100 64", "f 0"])
    status, content = check(folder, "aligned.heap")
    assert (status, content["recordings"][0]["findings"]) == (FAILED, ["misaligned"])


# What is checked: facts that the screen has, and what it has not.
SCREENS = {
    "same.heap": (["PASS: same fits in 4,096 B (small) with some 370 B left by its peak (--meas"],
        ["recording", "growth:", "Its peak"]),
    "same.heap less.heap": (["all 2 recordings fit in 4,096 B (small), same with some 370 B left",
        "growth: of the peak, relative to the plan (3,000 B)."], ["Limit", "highest", "No limit"]),
    "leak.heap large.heap same.heap": (["FAIL: 2 of 3 recordings fail; large runs out of memory",
        "at event 4 of 8; it needs 7,056 B, the most of them. ", "leak runs out of memory",
        "Run on past it, the heap refuses 4 of 12 requests (33.3 %)", "Bytes held by size, largest "
        "first:"], ["PASS", "in 4,096 B (small) at event 9 of 12; it needs 6,072 B, the most"]),
    "aligned.heap": (["FAIL: aligned asks for blocks aligned to 64 bytes; the heap is aligned to "
        "16."], ["Run on past it", "free for requests"]),
    "more.heap --growth 4%": (["3,150 B, +5.0 % beside the plan, and 4 % is allowed.",
        "had 3,000 B (+5.0 %, above 4 %)."], ["uses"]),
    "more.heap": (["190 B left by its peak (--measure is exact); it uses at least 50.0 % of the "
        "reserve. Its peak is 3,150 B; the plan's recordings had 3,000 B (+5.0 %)."], ["above"]),
    "more.heap --measure": (["with 888 B left: it needs 3,208 B; it uses 50.0 % of the reserve. A "
        "request for up to 880 B would be served at any moment."], ["at least", "by its peak"]),
    "more.heap less.heap --base same.heap --growth 4%": (["FAIL: 1 of 2 recordings fail; more has",
        "relative to same (3,000 B). Limit: 4 %.", "Bytes held by size, largest growth first:"],
        ["the most of them"]),
    "same.heap less.heap more.heap --measure": (["PASS: all 3 recordings fit in 4,096 B (small), "
        "more with 888 B left: it needs 3,208 B.", "It takes 8 recordings and --measure to tell "
        "what further ones need; these are 3.", "at any moment of more, the tightest."], []),
}  # fmt: skip


@pytest.mark.parametrize("asked", SCREENS)
def test_a_screen_has_what_its_check_shows_and_no_more(folder: Path, asked: str) -> None:
    recording(folder / "large.heap", blocks([1000] * 3 + [4000]))
    recording(folder / "aligned.heap", ["m 0 100 64", "f 0"])
    shown = heapfit("check", *asked.split(), "--plan", "plan.toml", folder=folder).stdout
    told, (facts, others) = " ".join(shown.split()), SCREENS[asked]
    assert [fact for fact in facts if fact not in told] == []
    assert [other for other in others if other in told] == []


def test_of_a_comparison_the_needs_of_both_are_told_and_that_no_limit_is_set(folder: Path) -> None:
    def compare(*asked: str) -> str:
        return " ".join(
            heapfit("check", *asked, "--base", "same.heap", folder=folder).stdout.split()
        )

    unset = "No limit is set, so no growth fails: --growth 10% sets one."
    more, same = compare("more.heap"), compare("same.heap", "--growth", "4%")
    assert more.startswith(
        "more has a peak of 3,150 B, same had 3,000 B (+5.0 %); heap_4 needs 3,192"
    )
    assert "in the base 3,032 B. " in more and unset in more
    assert same.startswith("PASS: same has a peak") and unset not in same
    assert "same: no size, call site or task holds more than in the base." in same


def test_markdown_has_the_verdict_and_the_tables(folder: Path) -> None:
    asked = ("same.heap", "leak.heap", "--plan", "plan.toml", "--report", "pull.md")
    assert heapfit("check", *asked, folder=folder).returncode == FAILED
    page = (folder / "pull.md").read_text()
    assert page.startswith("### FAIL: 1 of 2 recordings fail; leak runs out of memory in 4,096 B ")
    assert "| leak | ran out | 12 | 6,000 | +100.0 % |" in page
    assert "| size up to | at the peak | on average |" in page
    assert heapfit("check", "same.heap", *asked[2:], folder=folder).returncode == 0
    assert (
        (folder / "pull.md")
        .read_text()
        .startswith("### PASS: same fits in 4,096 B (small) with some ")
    )


@pytest.mark.parametrize(
    ("changed", "lines", "bits", "message"),
    [
        ({}, blocks([8]), 64, "odd: recorded on 64 bit, the plan small on 32 bit"),
        ({"region": None}, blocks([8]), 32, "small: the plan sets no region"),
        (
            {"trained_on": TrainingRecord("p", f"sha256:{'0' * 64}", 9, "packets")},
            blocks([8]),
            32,
            "odd: is a recording of heap, the plan small is of packets",
        ),
    ],
)
def test_what_cannot_be_checked_is_one_line(
    folder: Path, changed: dict, lines: list[str], bits: int, message: str
) -> None:
    save_plan(folder / "plan.toml", plan_file(**changed))
    recording(folder / "odd.heap", lines, bits)
    asked = ("odd.heap", "--plan", "plan.toml", "--report", "pull.md")
    done = heapfit("check", *asked, folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert message in line
    assert not (folder / "pull.md").exists()


def test_a_recording_of_unknown_pointer_size_is_checked_with_a_word_of_warning(
    folder: Path,
) -> None:
    recording(folder / "odd.heap", blocks([8]), 0)
    done = heapfit("check", "odd.heap", "--plan", "plan.toml", folder=folder)
    assert done.returncode == 0
    assert "odd: pointer size unknown; the plan is for 32 bit" in done.stderr


def test_a_plan_of_no_recording_is_judged_by_its_region_alone(folder: Path) -> None:
    none = TrainingRecord("by hand", f"sha256:{'0' * 64}", 0)
    made = plan_file(trained_on=none, u_max=0, pointer_bits=0, peak=None, margin=None)
    save_plan(folder / "plan.toml", made)
    asked = ("leak.heap", "--plan", "plan.toml", "--growth", "1%")
    done = heapfit("check", *asked, folder=folder)
    assert done.returncode == FAILED
    assert "Its peak is 6,000 B." in done.stdout
    assert "small: states no peak, so growth is not judged (give --base)." in done.stderr
    save_plan(folder / "plan.toml", replace(made, region=1_000_000))
    packets = heapfit("check", CAPTURE, "--plan", "plan.toml", folder=folder)
    assert packets.returncode == 0


def test_a_capture_is_checked_on_a_plan_for_packets(folder: Path) -> None:
    trained_on = TrainingRecord("net", f"sha256:{'0' * 64}", 9, "packets")
    save_plan(folder / "plan.toml", plan_file(region=1_000_000, trained_on=trained_on))
    asked = (CAPTURE, "--queue", "fill-drain:100", "--plan", "plan.toml")
    done = heapfit("check", *asked, folder=folder)
    assert (done.returncode, done.stderr) == (0, "network: 2 packets without IP skipped\n")


def test_pools_of_other_sizes_are_told_apart_from_a_broken_heap(folder: Path) -> None:
    pools = Plan("class_pools", {"alignment": 8}, (Pool(504, 4, False), Pool(1000, 1, False)))
    save_plan(folder / "plan.toml", plan_file(plan=pools, r_min=None, r_safe=None))
    shown = heapfit("check", "same.heap", "--plan", "plan.toml", folder=folder)
    assert "within the planned peak: the pools do not fit these sizes." in " ".join(
        shown.stdout.split()
    )


def test_without_a_plan_recordings_are_compared_with_the_base(folder: Path) -> None:
    asked = ("more.heap", "--base", "less.heap", "--base", "same.heap", "--json")
    content = json.loads(heapfit("check", *asked, folder=folder).stdout)
    (one,) = content["recordings"]
    assert content["base"] == {"name": "same", "peak": PEAK, "needed": 3032}  # a header of 8 each
    assert (one["verdict"], one["growth"], one["r_safe"]) == ("compared", 5.0, 3032 + 160)
    assert [(grown["name"], grown["now"]["at_peak"]) for grown in one["sizes"]] == [(160, 150)]
    shown = heapfit("check", *asked[:-1], folder=folder).stdout
    assert "so no growth fails: --growth" in shown
    assert "Grew most: blocks up to 160 B: 150 B held at the peak (same: 0 B)." in shown
    less = heapfit("check", "less.heap", "--base", "same.heap", folder=folder).stdout
    assert "Cause" not in less and "Grew most" not in less
    grown = heapfit("check", *asked[:-1], "--growth", "4%", folder=folder).stdout.splitlines()
    cause = "Cause: blocks up to 160 B: 150 B held at the peak (same: 0 B)."
    assert grown[0].startswith("FAIL: more has a peak") and cause in grown[:4]
    limited = CheckOptions((folder / "same.heap",), growth=4.0)
    assert not check_recordings([folder / "more.heap"], None, limited).holds
    wide = recording(folder / "wide.heap", blocks([1000]), bits=64)
    for other, reason in ((wide, "64 bit"), (CAPTURE, "of packets")):
        with pytest.raises(HeapfitError, match=reason):
            check_recordings([other], None, limited)
    with pytest.raises(HeapfitError, match="nothing to compare with"):
        check_recordings([wide], None)


# ---- `check --heap HEAP:BYTES`


@pytest.fixture(scope="module")
def stored_folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("check-heap")
    bimodal(made / "run.heap", events=600)
    with (made / "run.heap").open("a") as file:
        file.write("a 900000 40\nr 900000 4000\nr 900000 30\nf 900000\n")
    assert heapfit("import", "run.heap", folder=made).returncode == 0
    return made


@pytest.mark.parametrize("name", [*SYSTEM_HEAPS, "tlsf"])
def test_a_heap_is_held_in_what_it_needs_and_in_no_less(stored_folder, name):
    trace = Trace.open(stored_folder / "run.parquet")
    needs = measure(find_heap(name, 8), [trace])
    heap, memory = needs.heap, needs.most
    plan = make_heap_plan(heap, heap.set_to(memory))
    assert heap_of_plan(plan) == heap
    assert check_recordings([trace], plan).holds
    below = check_recordings([trace], make_heap_plan(heap, heap.set_to(memory) - 8))
    (one,) = below.recordings
    assert one.run.refusal is not None
    assert one.needed.r_safe == heap.set_to(memory)
    assert one.refusals.refused >= 1


def test_what_a_smaller_heap_refuses_is_counted_one_by_one(stored_folder):
    """Beside a replay that drops refused objects from the requests and asks again."""
    trace = Trace.open(stored_folder / "run.parquet")
    loaded = load_trace(trace)
    plan = parse_heap_size("newlib-nano:40K")
    counted = count_refusals(loaded, plan, ())
    assert 0 < counted.refused < counted.requests / 2
    assert sum(group.refused for group in counted.sizes) == counted.refused
    assert all(group.refused <= group.requests for group in counted.sizes)
    heap, asked = heap_of_plan(plan), requests_of(trace)
    replay = loaded_replay(heap, asked, heap.region(heap.memory_of(plan.region)))
    assert counted.refused == replay.refusals


def loaded_replay(heap, requests, region):
    replay = _engine.Replay(heap.plan.engine(), region, keep_going=True)
    replay.feed(requests.engine())
    return replay.result()


@pytest.mark.parametrize(
    ("heap", "holes"),
    [
        ("heap_4", [(1008, "96 B", "104 B"), (504, "104 B", "112 B")]),
        ("tlsf", [(1008, "96 B", "104 B"), (504, "104 B", "112 B")]),
        ("partition_pool:partition_size=256", None),
    ],
)
def test_measured_holes_lie_between_blocks_that_are_named(tmp_path, heap, holes):
    sizes, names = (96, 1000, 104, 496, 112, 4000), range(6)
    lines = [f"a {name} {size}" for name, size in zip(names, sizes, strict=True)]
    lines[5:5] = ["f 1", "f 3"]
    (tmp_path / "run.heap").write_text("\n".join(lines) + "\n")
    asked = ("run.heap", "--heap", f"{heap}:64K", "--measure")
    (one,) = heapfit_json("check", *asked, folder=tmp_path)["recordings"]
    found = [(one["size"], one["below"], one["above"]) for one in one["holes"] or []]
    assert (found or None) == holes
    shown = " ".join(heapfit("check", *asked, folder=tmp_path).stdout.split())
    told = "the heap has 2 holes of 32 B or more between blocks; the largest, 1,008 B, lies between"
    assert (f"{told} 96 B and 104 B." in shown) == bool(holes)


def test_the_largest_request_comes_after_events_and_not_inside_a_resize(tmp_path):
    """Where a block moves into the hole before it, the hole's rest and its old place become one."""
    rows = ("a 0 2000", "a 1 1000", "f 0", "a 2 5000", "r 1 1200")
    (tmp_path / "run.heap").write_text("\n".join(rows) + "\n")
    asked = ("run.heap", "--heap", "heap_4:8192", "--measure")
    (one,) = heapfit_json("check", *asked, folder=tmp_path)["recordings"]
    assert one["largest"] == 2008 - 1208 + 1008 - 8  # as heap_4.c serves


@pytest.mark.parametrize("heap", ["heap_4:48K", "tlsf:60000", "dlmalloc:52K"])
def test_the_largest_request_at_any_moment_is_what_the_tightest_moment_has_free(tmp_path, heap):
    """Beside the largest free block after each event, which these heaps give whole."""
    trace = generate_workload(parse_workload("slotbuf:events=600", 5), tmp_path / "run.parquet")
    loaded, plan = load_trace(trace), parse_heap_size(heap)
    placed = place_in_region(loaded, plan, trace.base_alignment_for(plan.base_alignment))
    least = plan.region
    for count in range(1, len(placed.asked.served.op) + 1):
        replay = placed.make_replay()
        assert replay.feed(placed.asked.served.engine(0, count))
        least = min(least, replay.blocks().largest_free)
    assert placed.find_largest_request() == least // 8 * 8
    asked = ("run.parquet", "--heap", heap, "--measure")
    (one,) = heapfit_json("check", *asked, folder=tmp_path)["recordings"]
    is_more = least // 8 * 8 > plan.region - one["r_safe"]
    why = "; more than is left, as smaller heaps place blocks otherwise" if is_more else ""
    told = f"A request for up to {least // 8 * 8:,} B would be served at any moment{why}."
    assert told in " ".join(heapfit("check", *asked, folder=tmp_path).stdout.split())
    assert is_more == (heap == "tlsf:60000")


def test_no_request_is_served_at_any_moment_where_the_peak_leaves_no_room(tmp_path):
    (tmp_path / "run.heap").write_text("a 1 1000\na 2 1000\nf 1\n")
    asked = ("run.heap", "--heap", "heap_4:2040", "--measure")  # 8 B a header, 16 its own
    (one,) = heapfit_json("check", *asked, folder=tmp_path)["recordings"]
    assert one["largest"] == 0


def test_a_failed_check_says_what_would_be_refused(stored_folder):
    done = heapfit("check", "run.parquet", "--heap", "heap_4:40K", folder=stored_folder)
    assert done.returncode == 3
    shown = " ".join(done.stdout.split())
    assert shown.startswith("FAIL: run runs out of memory in 40,960 B (heap_4) at event ")
    assert "Run on past it, the heap refuses" in shown
    done = heapfit("check", "run.parquet", "--heap", "heap_4:40K", "--json", folder=stored_folder)
    content = json.loads(done.stdout)
    (one,) = content["recordings"]
    assert one["refusals"]["refused"] >= 1
    assert content["peak"] is None and one["peak"] > 0
    done = heapfit("check", "run.parquet", "--heap", "heap_4:1M", folder=stored_folder)
    told = "PASS: run fits in 1,048,576 B (heap_4); --measure tells what is left"
    told += ", and if larger heaps fit."
    assert (done.returncode, " ".join(done.stdout.split())) == (0, told)


@pytest.mark.parametrize(
    ("size", "needed", "said"),
    [
        (900, (900, 900), "in 900 B (tlsf) with 0 B left"),
        (909, (800, 900), "in 909 B (tlsf) with 9 B left"),
        (893, (900, 900), "in 893 B (tlsf) with 0 B left: it needs 900 B"),
        (850, (800, 900), "in 850 B (tlsf) but not in every larger heap up to 900 B"),
        (700, (900, 900), "; it needs 900 B"),
        (
            700,
            (800, 900),
            "needs 900 B to run in every larger one tried, too (800 B is the smallest",
        ),
        (700, (None, None), "; it needs another heap: no region serves it"),
    ],
)
def test_a_heap_that_runs_by_luck_is_told_from_one_that_is_enough(size, needed, said):
    refusal = Refusal(0, 8, 0, 0, 0) if size == 700 else None
    run = PlanRun("run", TraceInfo(events=9), 8, 9, refusal)
    plan = replace(parse_heap_size("tlsf:64K"), region=size)
    assert said in describe_run(run, plan, RecordingNeeds(*needed, 0))


@pytest.mark.parametrize(
    ("text", "named", "size"),
    [
        ("heap_4:64K", "heap_4", 65536),
        ("tlsf:probes=0:8K", "tlsf:probes=0", 8192),
        ("lwip-mem:64001", "lwip-mem", 64001),
    ],
)
def test_a_size_follows_the_last_colon(text, named, size):
    plan = parse_heap_size(text)
    assert (plan.heap, plan.region) == (named, size)
    assert heap_of_plan(plan).plan == plan.plan


def test_the_size_that_a_failed_check_names_lies_above_the_one_that_failed(tmp_path):
    """TLSF runs in 1,963,824 B and all larger sizes that a search tries, and fails in others."""
    rng, lines, live = np.random.default_rng(0), ["# pointer_bits 32"], list[int]()
    for i in range(2500):
        if live and rng.random() < 0.48:
            lines.append(f"f {live.pop(int(rng.integers(len(live))))}")
        else:
            lines.append(f"a {i} {int(16 * 2 ** rng.uniform(0, 13))}")
            live.append(i)
    (tmp_path / "run.heap").write_text("\n".join([*lines, ""]))
    found = heapfit("check", "run.heap", "--heap", "mattconte-tlsf:2016488", folder=tmp_path)
    assert found.returncode == 3
    said = " ".join(found.stdout.split())
    assert "it needs 2,016,496 B to run in every larger one tried, too" in said


def test_a_kept_heap_that_holds_no_block_is_out_of_memory_at_the_first_request(tmp_path):
    trace = load_lines(tmp_path / "run.heap", ["a 0 100", "a 1 50", "f 0"]).trace
    run = run_recording(trace, replace(parse_heap_size("heap_4:64K"), region=8), "run")
    assert (run.replayed, run.refusal) == (0, Refusal(0, 100, 0, 0, 0))


@pytest.mark.parametrize("text", ["heap_4:4G", "tlsf:4294967296", "newlib:4294967295"])
def test_a_heap_of_4_gib_with_its_own_statics_is_rejected_by_its_name(text: str) -> None:
    with pytest.raises(HeapfitError, match=f"^{text}: a heap is smaller than 4 GiB"):
        parse_heap_size(text)
    assert parse_heap_size("heap_4:4294967295").region == 4_294_967_295


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, f"^{text}: give the heap and its size: HEAP:BYTES")
            for text in ("64K", "heap_4", "64K:tlsf")
        ),
        ("tlsf:probes=0", "^tlsf:probes=0: give the heap and its size"),
        ("heap_9:8K", "^heap_9: no such heap"),
        ("heap_4:x", "^x is not a size in bytes"),
    ],
)
def test_a_heap_without_its_size_is_rejected(text, message):
    with pytest.raises(HeapfitError, match=message):
        parse_heap_size(text)


def test_one_of_plan_and_heap_is_given(stored_folder):
    (stored_folder / "tlsf.toml").write_text('region = 65536\n[plan]\nallocator = "tlsf"\n')
    for words in ((), ("--plan", "tlsf.toml", "--heap", "heap_4:8K")):
        assert heapfit("check", "run.parquet", *words, folder=stored_folder).returncode == 2


# ---- the next recording


def test_few_recordings_tell_nothing_of_further_ones():
    prospect = find_prospect([1000.0] * 3, 0, 1200)
    assert (prospect.needed, prospect.margin_end) == (None, None)


def test_eight_searched_needs_tell_what_further_ones_need():
    needs = [40_000, 41_000, 39_500, 42_000, 40_300, 41_700, 39_900, 40_800]
    known = MarginBasis(Load(tuple(need - 2000 for need in needs)), MarginKind.PLAIN)
    usual, rare = find_prospect(needs, 0, 43_000, known).needed
    assert rare == heap_size(42_000, known).region  # what `fit` would set
    assert max(needs) <= usual < rare
    assert find_prospect(needs, 0, 43_000).needed is None


def test_needs_that_grow_say_when_the_margin_is_eaten():
    needs = 1000 + 10 * np.arange(12) + np.random.default_rng(3).normal(0, 5, 12)
    prospect = find_prospect(needs, 0, 1300)
    assert prospect.needed is None
    end = prospect.margin_end
    assert end is not None
    assert end.latest is not None
    assert end.earliest <= end.after <= end.latest
    assert end.after == pytest.approx((1300 - 1110) / 10, rel=0.1)


def test_needs_that_are_reckoned_from_peaks_tell_no_bytes(tmp_path):
    sizes = (2000, 2400, 1900, 2300, 2100, 2250, 1950, 2200)
    files = [recording(tmp_path / f"{size}.heap", blocks([size, size // 7])) for size in sizes]
    measured = check_recordings(files, plan_file(), CheckOptions(measure=True))
    needs = [one.needed.r_safe for one in measured.recordings if one.needed and one.needed.r_safe]
    assert measured.prospect.needed is not None
    assert measured.prospect.needed[0] >= max(needs)
    reckoned = check_recordings(files, plan_file())
    assert reckoned.prospect.needed is None
    text = [part.text for part in check_parts(reckoned) if isinstance(part, Line)]
    assert any("Their needs, with --measure, tell what further ones need." in line for line in text)
    few = check_recordings(files[:4], plan_file(), CheckOptions(measure=True))
    text = [part.text for part in check_parts(few) if isinstance(part, Line)]
    told = "It takes 8 recordings and --measure to tell what further ones need; these are 4."
    assert any(told in line for line in text)


def test_recordings_that_ask_for_the_same_count_once(tmp_path):
    """Eight files of one content are one run: not enough for bytes, nor for a bound."""
    files = [recording(tmp_path / f"run{i}.heap", blocks([2000, 300])) for i in range(8)]
    prospect = check_recordings(files, plan_file()).prospect
    assert (prospect.runs, prospect.needed) == (1, None)
    other = recording(tmp_path / "other.heap", blocks([2000, 301]))
    assert check_recordings([*files, other], plan_file()).prospect.runs == 2


# ---- what sizes and call sites hold

#           event:   0                  1                  2            3      4
LINES = ["a 0 100 0 1 aa", "a 1 30 0 1 bb", "r 0 300 0 1 cc", "f 1 0 1", "f 0 0 1"]


def holdings(tmp_path: Path, lines: Sequence[str]) -> Holdings:
    return holdings_of(load_lines(tmp_path / "trace.heap", lines))


def test_a_resized_block_ends_and_one_of_the_new_size_begins(tmp_path: Path) -> None:
    found = holdings(tmp_path, LINES)
    assert found.sizes == {
        112: LiveBytes(0, pytest.approx(100 * 2 / 5)),
        32: LiveBytes(30, pytest.approx(30 * 2 / 5)),
        320: LiveBytes(300, pytest.approx(300 * 2 / 5)),
    }
    assert found.sites == {
        "000000aa": LiveBytes(0, pytest.approx(100 * 2 / 5)),
        "000000bb": LiveBytes(30, pytest.approx(30 * 2 / 5)),
        "000000cc": LiveBytes(300, pytest.approx(300 * 2 / 5)),
    }


def test_a_block_that_is_never_freed_is_held_to_the_end(tmp_path: Path) -> None:
    found = holdings(tmp_path, ["a 0 64", "a 1 8", "f 1", "a 2 8", "f 2"])
    assert found.sizes == {
        64: LiveBytes(64, pytest.approx(64)),
        8: LiveBytes(8, pytest.approx(16 / 5)),
    }
    assert found.sites == {}


def test_tasks_are_told_apart_where_there_are_several(tmp_path: Path) -> None:
    found = holdings(tmp_path, ["a 0 100 0 1", "a 1 30 0 2", "f 1 0 1"])
    assert found.tasks == {1: LiveBytes(100, pytest.approx(100)), 2: LiveBytes(30, 30 / 3)}
    grown = changes(found, Holdings({}, {}, {1: LiveBytes(90, 95), 2: LiveBytes(30, 12)}))
    assert [(one.name, one.growth) for one in grown.tasks] == [(1, 10)]
    assert holdings(tmp_path, LINES).tasks == {}


def test_what_grew_comes_first_and_what_shrank_not_at_all() -> None:
    before = Holdings({8: LiveBytes(80, 80), 16: LiveBytes(160, 10), 32: LiveBytes(0, 0)}, {})
    now = Holdings(
        {8: LiveBytes(60, 70), 16: LiveBytes(160, 50), 32: LiveBytes(30, 1), 64: LiveBytes(128, 2)},
        {},
    )
    found = changes(now, before)
    assert [(one.name, one.growth) for one in found.sizes] == [(64, 128), (16, 40), (32, 30)]
    assert found.sizes[0].before == LiveBytes(0, 0)
    assert not found.are_builds_different


def test_without_a_base_the_largest_are_told_and_no_more_than_a_few() -> None:
    now = Holdings({size: LiveBytes(size, 0) for size in range(8, 8 + 2 * MOST)}, {})
    found = changes(now, None)
    assert [one.name for one in found.sizes] == list(range(8 + 2 * MOST - 1, 8 + MOST - 1, -1))
    assert all(one.before is None for one in found.sizes)


def test_without_a_base_it_is_told_how_to_find_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "by-site.log").write_text(
        "".join(f"#m:0x{0x1000 + 256 * i:x};0x41c5-200\n" for i in range(20))
    )
    (tmp_path / "plain.heap").write_text("# heap-events 1\n" + "a 0 9000\n")
    told = "What each keeps to the end: `heapfit sites RECORDING --view later`.\n"
    for name in ("by-site.log", "plain.heap"):
        done = heapfit("check", name, "--heap", "heap_4:2K", folder=tmp_path)
        assert done.returncode == FAILED
        assert done.stdout.endswith(told) == (name == "by-site.log")


@pytest.mark.parametrize(("known", "are_different"), [("0000000a", False), ("0000000c", True)])
def test_call_sites_of_another_build_are_told(known: str, are_different: bool) -> None:
    now = Holdings({}, {"0000000a": LiveBytes(60, 1), "0000000b": LiveBytes(40, 1)})
    before = Holdings({}, {known: LiveBytes(50, 1)})
    found = changes(now, before)
    assert found.are_builds_different is are_different
    assert all((one.before is None) == are_different for one in found.sites)


def test_names_in_markdown_are_no_markup() -> None:
    columns: list[Column[str]] = [
        Column(heading="call site", shown=lambda name: name),
        Column(heading="bytes", shown=len),
    ]
    parts = [Fields({"no": 1}), Line("<b> & *c*"), Line(""), Table(columns, ["a|b`\x1b[2J"])]
    assert markdown_of("x [y]", parts) == (
        "### x \\[y\\]\n\n\\<b\\> \\& \\*c\\*\n\n"
        "| call site | bytes |\n| --- | ---: |\n| a\\|b\\`\\\\x1b\\[2J | 8 |\n"
    )


# ---- examples/check in short

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/check"
CLEAN = 2  # runs of either load


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("check")


@pytest.fixture(scope="module")
def bench(made: Path) -> list[str]:
    """What the bench prints, line by line."""
    words = [sys.executable, ROOT / "bench/check.py", "--clean", str(CLEAN), "--folder", made]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_clean_runs_are_green_and_mistakes_are_red(bench: list[str]) -> None:
    assert bench[-5:] == [
        "examples/check/run ends with 0: reached",
        "false alarms: 0 of 4: reached",
        "the leak is red: reached",
        "kept messages are red, under no higher peak: reached",
        "at most 1.1 n events are replayed where all pass: reached",
    ]
    table = {line.split()[0]: line.split()[1:4] for line in bench[1:5]}
    assert table["clean"] == table["more"] == ["2", "0", "1.000"]
    assert [words[:2] for name, words in table.items() if name in ("leak", "keep")] == [
        ["1", "1"],
        ["1", "1"],
    ]


@pytest.mark.parametrize(("mistake", "function"), [("leak", "come"), ("keep", "receive")])
def test_the_function_that_holds_more_is_named_first(
    bench: list[str], made: Path, mistake: str, function: str
) -> None:
    assert bench
    text, _, sites = (made / f"{mistake}.md").read_text().rpartition("| call site |")
    assert ("Leak: " in text) == (mistake == "leak")
    first = sites.splitlines()[2]
    assert first.startswith(f"| {function}, telemetry+0x")  # built without -g


@pytest.mark.parametrize("recording", ["base", "leak", "keep"])
def test_the_recordings_kept_are_those_that_the_script_makes(
    bench: list[str], made: Path, recording: str
) -> None:
    assert bench
    made = made / f"{recording}{'-1' if recording == 'base' else ''}.parquet"
    kept = EXAMPLE / f"traces/{recording}.parquet"
    assert content_hash(Trace.open(made)) == content_hash(Trace.open(kept))
