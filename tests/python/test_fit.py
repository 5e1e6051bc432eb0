# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit` from end to end on small made-up traces."""

import os
import shutil
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from events import cut
from small_traces import bimodal, fit_json, heapfit, heapfit_json, table2, tiny

from grid import ALL
from heapfit import _engine
from heapfit.checks.check import check_recordings
from heapfit.checks.system_run import place_in_region
from heapfit.comparison.heap_map import subjects_of
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind
from heapfit.comparison.verdict import select_row
from heapfit.design.effort import MEANING, Effort
from heapfit.design.offers import MOST_MEMORY
from heapfit.design.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.choosing import choose
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit
from heapfit.fitting.verify.placements import find_first_difference
from heapfit.forecast.load import Load
from heapfit.generate import generate
from heapfit.outputs.folder import exchange
from heapfit.plan.plan_file import load_plan, save_plan
from heapfit.results.fit_page import case_from_fit, render_fit, write_report
from heapfit.sizing.systems import SettingsOptions, settings_for
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("fit")
    return fit([table2(folder / "four.heap")], folder / "out", write_page=write_report)


def everything(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*"))


def test_a_fit_writes_trace_plan_code_and_report(fitted):
    paths = fitted.paths
    assert sorted(path.name for path in paths.folder.iterdir()) == [
        "code",
        "four.parquet",
        "plan.toml",
        "report.html",
    ]
    assert any(path.suffix == ".c" for path in paths.code.rglob("*"))
    assert paths.report.read_text().lstrip().lower().startswith("<!doctype html>")


def test_the_plan_written_is_the_winners(fitted):
    plan_file = load_plan(fitted.paths.plan)
    assert plan_file == fitted.plan_file
    assert plan_file.plan == fitted.winner.plan
    assert plan_file.r_safe == fitted.winner.r_safe
    assert plan_file.region == fitted.answer.size.region > plan_file.r_safe
    assert plan_file.peak == plan_file.u_max == fitted.profile.u_max
    assert plan_file.margin == fitted.answer.size.margin


def test_the_winner_runs_in_its_region_and_not_in_less(fitted):
    plan, needed = fitted.winner.plan.engine(), fitted.winner.r_safe
    runs = [_engine.Replay(plan, one).feed(fitted.trace.events()) for one in (needed - 8, needed)]
    assert runs == [False, True]
    assert needed >= fitted.profile.u_max


def test_from_one_recording_no_blocks_are_counted_on_it(fitted):
    assert not fitted.winner.is_cut_to_trace
    counted = [row for row in fitted.comparison.rows if row.is_cut_to_trace]
    assert min(row.r_safe for row in counted if row.r_safe) < fitted.winner.r_safe
    assert "If every run were identical, " in fitted.verdict
    assert not any("counted on this one recording" in warning for warning in fitted.warnings)


def test_the_regions_base_is_as_aligned_as_the_trace_asks(tmp_path):
    source = tmp_path / "aligned.heap"
    source.write_text("# heap-events 1\n# pointer_bits 32\na 0 100\nm 1 64 64\nf 0\nf 1\n")
    assert fit([source], tmp_path / "out").plan_file.base_alignment == 64


@pytest.mark.parametrize(
    ("bits", "told"),
    [(64, "recorded on 64 bit: "), (0, "recorded with pointers of unknown size: ")],
)
def test_a_heap_not_recorded_on_32_bit_is_warned_of(tmp_path, bits, told):
    source = bimodal(tmp_path / "packets.heap", events=200, pointer_bits=bits)
    warnings = fit([source], tmp_path / "out").warnings
    assert any(warning.startswith(told) for warning in warnings)


def test_a_trace_that_allocates_nothing_is_refused(tmp_path):
    source = tmp_path / "nothing.heap"
    source.write_text("a 0 0\nf 0\n")
    with pytest.raises(HeapfitError, match="nothing is ever allocated"):
        fit([source], tmp_path / "out")


def test_a_request_that_no_region_can_hold_is_refused(tmp_path):
    source = tmp_path / "huge.heap"
    source.write_text(f"a 0 {5 << 30}\nf 0\n")
    with pytest.raises(HeapfitError, match="nothing else is asked for"):
        fit([source], tmp_path / "out")


def test_json_tells_every_fit_and_its_work_over_all_recordings(tmp_path):
    for name, seed in (("four.heap", 1), ("five.heap", 2)):
        table2(tmp_path / name, events=1000, seed=seed)
    several = fit_json("four.heap", "five.heap", folder=tmp_path)["work"]
    assert several["over_trace"] == pytest.approx(several["events"] / 2000, abs=0.1)
    (told,) = heapfit_json("fit", "four.heap", folder=tmp_path)["fits"]
    assert told["rows"][0]["plan"]["allocator"]
    assert told["paths"]["plan"] == "out/four/plan.toml"
    assert told["trace"]["pointer_bits"] == 32
    assert told["answer"]["region"] > told["answer"]["r_safe"]
    assert told["answer"]["recordings"] == 1


def test_a_larger_peak_makes_the_heap_larger_a_smaller_one_does_not(fitted, tmp_path):
    u_max, region = fitted.profile.u_max, fitted.answer.size.region
    more = fit([fitted.shown.source], tmp_path / "more", FitOptions(peak=2 * u_max))
    less = fit([fitted.shown.source], tmp_path / "less", FitOptions(peak=u_max // 2))
    assert 2 * region - 16 <= more.plan_file.region <= 2 * region
    assert more.plan_file.peak == 2 * u_max
    assert less.plan_file.region == region
    assert "and changes nothing" in [*less.answer.sentences()][-1]


# What 20 recordings with a peak of 10,000 B say, by what differs of them, the size, the answer.
PARTS = "10,000 peak + 1,000 allocator + 1,104 reserve (other runs and changes)."
TO_SET = "et the heap to 12,104 B (11.8 KiB)."
KEPT = "eep heap_4 and set configTOTAL_HEAP_SIZE to 12,104 B (11.8 KiB)."
FEW = "1 recording is too few for a peak below 64 KiB: record 4 and fit them together."
SAID = [
    ({}, {}, {}, [f"S{TO_SET}", PARTS, "It needs 1.100 of the peak; with the reserve 1.210."]),
    ({"peaks": (10_000,)}, {}, {}, [f"For now s{TO_SET}", PARTS, FEW]),
    ({}, {}, {"is_kept": True}, [f"K{KEPT}", PARTS]),
    ({"peaks": (10_000,)}, {}, {"is_kept": True, "is_open": True}, [f"For now k{KEPT}", FEW]),
    ({}, {}, {"is_kept": True, "is_known": False}, ["No fitted heap is worth it: FreeRTOS heap_4 "
        "at 12,104 B (11.8 KiB) does."]),
    ({}, {}, {"asked_peak": 9_999}, [f"S{TO_SET}", "Your --peak of 9,999 B is below the recorded "
        "one and changes nothing: smaller heaps are relatively more fragmented."]),
    ({}, {"peak": 20_000}, {"asked_peak": 20_000}, ["Set the heap to 24,200 B (23.6 KiB).",
        "20,000 expected peak + 2,000 allocator + 2,200 reserve (other runs and changes)."]),
    ({"events": 10}, {}, {}, ["10 events cannot tell a size: record 300 at least, of the program "
        "at its work."]),
]  # fmt: skip


@pytest.mark.parametrize(("load", "size", "answer", "said"), SAID)
def test_an_answer_says_what_to_set_its_parts_and_what_limits_it(load, size, answer, said):
    known = MarginBasis(Load(**{"peaks": (10_000,) * 20, "events": 5_000} | load), MarginKind.PLAIN)
    heap = find_heap("heap_4", 8) if answer.get("is_kept") else find_heap("tlsf", 8)
    sized = replace(HeapSize(11_000, 10_000, 10_000, 10), **size)
    told = Answer(sized, known, **{"asked_peak": None, "heap": heap} | answer)
    sentences = told.sentences()
    assert (sentences[0], [one for one in said if one not in sentences]) == (said[0], [])
    limits = [one for one in sentences if "too few" in one or "--peak" in one]
    assert limits == [one for one in said if "too few" in one or "--peak" in one]
    is_start = "tell a size" in said[0] or "worth it" in said[0]
    lasting = told.headline(lasts="10 min", saving="9 % less")
    assert (": 9 % less." in lasting) != is_start
    assert lasting.startswith("For a run of 10 min ") != is_start


def test_a_margin_may_be_asked_for(fitted, tmp_path):
    bare = fit([fitted.shown.source], tmp_path / "bare", FitOptions(margin=0))
    assert bare.plan_file.region == bare.winner.r_safe
    assert bare.plan_file.margin == 0


@pytest.fixture(scope="module")
def joint(tmp_path_factory) -> Fit:
    folder = tmp_path_factory.mktemp("joint")
    sources = [table2(folder / f"run-{seed}.heap", events=600, seed=seed) for seed in (1, 2, 3)]
    return fit(sources, folder / "out", FitOptions(code=True), write_page=write_report)


def test_one_heap_serves_every_recording(joint):
    assert [run.name for run in joint.runs] == ["run-1", "run-2", "run-3"]
    plan = load_plan(joint.paths.plan)
    assert plan.runs == 3
    assert plan.r_safe == joint.winner.r_safe
    assert max(run.r_safe for run in joint.runs) == joint.answer.size.r_safe
    assert plan.u_max == max(run.u_max for run in joint.runs)
    for path in joint.paths.traces:
        events = load_trace(Trace.open(path)).events
        assert _engine.Replay(plan.plan.engine(), plan.region).feed(events)


def test_equal_recordings_count_as_one(fitted, tmp_path):
    copy = shutil.copy(fitted.shown.source, tmp_path / "again.heap")
    twice = fit([fitted.shown.source, Path(copy)], tmp_path / "out")
    assert twice.answer.known.load.runs == 1
    assert twice.warnings[0] == "again repeats the requests of four: they count once"


def test_a_bad_recording_among_several_leaves_nothing(tmp_path):
    good, bad = table2(tmp_path / "good.heap", events=400), tmp_path / "bad.heap"
    bad.write_text("f 7\n")
    with pytest.raises(HeapfitError, match=r"bad\.heap: line 1: "):
        fit([good, bad], tmp_path / "out")
    assert sorted(path for path in everything(tmp_path) if path.is_file()) == [bad, good]


def test_a_failed_fit_leaves_nothing_half_written(tmp_path):
    source = tmp_path / "cut.heap"
    source.write_text("a 0 64\na 1 64\nr 5 3\n")
    assert heapfit("fit", source, "-o", "out", folder=tmp_path).returncode == 1
    assert [path for path in everything(tmp_path) if path.is_file()] == [source]


@pytest.fixture
def quick(tmp_path, request):
    """A source that is fitted in a second; code sizes are test_generate's business."""
    request.getfixturevalue("unmeasured")
    return table2(tmp_path / "small.heap", events=60)


def contents(folder):
    return {path: path.read_bytes() for path in everything(folder) if path.is_file()}


def test_an_interrupt_while_it_writes_leaves_nothing(quick):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit([quick], quick.parent / "out", write_page=interrupt)
    assert everything(quick.parent) == [quick]


def test_what_is_there_is_replaced_whole_or_not_at_all(quick, monkeypatch):
    folder = quick.parent / "out"
    fit([quick], folder, write_page=write_report)
    (folder / "mine.txt").write_text("kept")
    before = contents(folder)
    moves = []

    def stop_at(last):
        def rename(path, target, move=Path.rename):
            moves.append(target)
            if len(moves) == last:
                raise KeyboardInterrupt
            return move(path, target)

        moves.clear()
        return rename

    entries = [path for path in folder.iterdir() if path.name != "mine.txt"]
    for last in range(1, 2 * len(entries) + 1):
        new = quick.parent / "new"
        shutil.copytree(folder, new)
        (new / "mine.txt").unlink()
        (old := quick.parent / "old").mkdir()
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Path, "rename", stop_at(last))
            exchange(new, folder, old)
        assert contents(folder) == before
        assert everything(old) == []
        shutil.rmtree(new)
        old.rmdir()
    fit([quick], folder, write_page=write_report)
    assert contents(folder) == before


def test_an_edited_plan_or_code_is_refused_before_anything_is_done(quick):
    folder = quick.parent / "out"
    paths = fit([quick], folder).paths
    for path in (paths.plan, paths.code / "app_heap.h"):
        written = path.read_text()
        path.write_text(written + "# mine\n")
        before = contents(folder)
        with pytest.raises(HeapfitError, match=rf"{path.name}: was edited"):
            fit([quick], folder)
        assert contents(folder) == before
        path.write_text(written)


def test_a_plan_edited_and_made_into_code_is_refused_all_the_same(quick):
    """The code's own copy of the plan then agrees with the edited one."""
    paths = fit([quick], quick.parent / "out").paths
    edited = paths.plan.read_text().replace("margin = ", "margin = 1")
    paths.plan.write_text(edited)
    generate(load_plan(paths.plan), paths.code)
    with pytest.raises(HeapfitError, match=r"plan.toml: was edited"):
        fit([quick], quick.parent / "out")
    assert paths.plan.read_text() == edited


def test_a_source_is_not_replaced_by_its_own_trace(quick):
    (folder := quick.parent / "out").mkdir()
    source = quick.rename(folder / "small.parquet")
    before = source.read_bytes()
    with pytest.raises(HeapfitError, match=r"small.parquet: is the file to import"):
        fit([source], folder)
    assert contents(folder) == {source: before}


# ---- one plan with every effort

ROOT = Path(__file__).parents[2]
# Of the first 600 events quick names another plan than standard of the second, long of the third.
SHORT = (
    "second-runs/traces/device-1",
    "recordings/traces/gateway-loop32-1",
    "recordings/traces/routes32-1",
)
SHORT_EVENTS = 600

sys.path.insert(0, str(ROOT / "bench"))


def short(source, folder):
    whole = Trace.open(ROOT / f"examples/{source}.parquet")
    return cut(whole, SHORT_EVENTS, folder / "short.parquet")


def choose_by_memory(trace, effort):
    options = FitOptions(effort=effort, prefer=Preference.RAM)
    return choose([load_trace(trace)], ["a"], options=options)


def test_what_is_searched_further_is_never_named():
    trace = Trace.open(ROOT / "examples/recordings/traces/m4-1.parquet")
    options = FitOptions(allocators=("tlsf", "first_fit", "segregated_fit"))
    choice = choose([load_trace(trace)], ["a"], options=options)
    assert any(row.is_searched_further for row in choice.comparison.rows)
    assert not choice.winner.is_searched_further
    assert not select_row(choice.comparison).is_searched_further


@pytest.mark.parametrize("source", SHORT)
def test_three_efforts_have_one_best_each(source, tmp_path):
    # Each on a recording of its own, since one keeps what was learned of it.
    for effort in Effort:
        (tmp_path / effort).mkdir()
    found = [choose_by_memory(short(source, tmp_path / effort), effort) for effort in Effort]
    quick, standard, long = (one.comparison for one in found)
    assert quick.work.plans == quick.work.every_size == 0
    assert quick.work.events < min(standard.work.events, long.work.events)
    assert not any(row.is_searched_further for row in long.rows)
    assert {row.name for row in quick.rows} <= {row.name for row in standard.rows}
    sizes = [one.winner.heap_size.region for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_plans_print_it(tmp_path):
    trace = str(short(SHORT[2], tmp_path).path)
    for effort in (Effort.QUICK,):
        least = ("--effort", effort, "--prefer", "ram")
        asked = (*least, "-o", f"fit-{effort}", "--plans", "plans")
        fitted = fit_json(trace, *asked, folder=tmp_path)
        plans = fitted["plans"]
        assert plans["effort"] == effort
        assert plans["least"]["region"] == fitted["answer"]["region"]
        alone = f"alone-{effort}"
        done = heapfit("fit", trace, *least, "-o", alone, folder=tmp_path)
        assert f"et the heap to {plans['least']['region']:,} B" in done.stdout
        lines = [line.strip() for line in done.stdout.splitlines()]
        assert [line for line in MEANING.values() if line in lines] == [MEANING[effort]]
        assert max(map(len, done.stdout.splitlines())) <= 80


# ---- a heap that is kept


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("kept")
    bimodal(made / "run.heap", events=600)
    for name in ("heap_4", "lwip-mem"):
        fit([made / "run.heap"], made / name, FitOptions(now=name))
    return made


@pytest.mark.parametrize("name", ["heap_4", "lwip-mem"])
def test_the_plan_of_a_kept_heap_holds_its_recording(folder, name):
    plan = load_plan(folder / name / "plan.toml")
    assert plan.heap == plan.name == name
    assert plan.margin is not None
    assert plan.region > plan.r_safe
    assert not (folder / name / "code").exists()
    trace = Trace.open(folder / name / "run.parquet")
    assert check_recordings([trace], plan).holds
    assert not check_recordings([trace], replace(plan, region=plan.r_safe * 2 // 3)).holds


def test_the_command_line_holds_and_compares_it(folder):
    assert heapfit("check", "run.heap", "--plan", "heap_4/plan.toml", folder=folder).returncode == 0
    done = heapfit("compare", "run.heap", "--plan", "heap_4/plan.toml", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "heap_4^" in done.stdout


def test_the_answer_says_what_a_kept_heap_takes_beside_its_setting(folder):
    done = heapfit("fit", "run.heap", "--now", "lwip-mem", "-o", "shown", folder=folder)
    region, screen = load_plan(folder / "shown/plan.toml").region, " ".join(done.stdout.split())
    assert f"set MEM_SIZE to {region:,} B" in screen
    assert "; the heap takes 16 B beside it." in screen
    assert f"lwIP mem_malloc {region + 16:,} " in screen


def test_generate_says_that_there_is_nothing_to_write(folder, tmp_path):
    plan = load_plan(folder / "heap_4" / "plan.toml")
    done = heapfit("generate", "heap_4/plan.toml", folder=folder)
    line = (
        f"heap_4 is the system's own heap: set configTOTAL_HEAP_SIZE to {plan.region:,}; "
        "there is no code to write"
    )
    assert (done.returncode, done.stdout) == (0, f"heap_4/plan.toml: {line}.\n")
    assert not (folder / "heap_4" / "code").exists()
    with pytest.raises(HeapfitError, match="there is no code to write"):
        generate(plan, tmp_path / "code")


def test_a_plan_that_places_otherwise_than_its_heap_is_rejected(folder, tmp_path):
    plan = load_plan(folder / "heap_4" / "plan.toml")
    scalars = {**plan.plan.scalars, "header_size": 12}
    save_plan(tmp_path / "edited.toml", replace(plan, plan=replace(plan.plan, scalars=scalars)))
    trace = Trace.open(folder / "heap_4" / "run.parquet")
    with pytest.raises(HeapfitError, match="does not place blocks as heap_4 does"):
        check_recordings([trace], load_plan(tmp_path / "edited.toml"))


def test_a_kept_allocator_of_ours_is_a_plan_to_generate(folder):
    fitted = fit([folder / "run.heap"], folder / "ours", FitOptions(now="tlsf"))
    assert fitted.answer.is_kept
    plan = load_plan(folder / "ours" / "plan.toml")
    assert (plan.heap, plan.plan.allocator) == ("", "tlsf")
    assert check_recordings([Trace.open(fitted.trace.path)], plan).holds
    assert generate(plan, folder / "tlsf-code")


@pytest.mark.parametrize("name", ["heap_4", "lwip-mem"])
def test_a_boards_blocks_are_compared_with_those_of_the_kept_heap(folder, name):
    plan = load_plan(folder / name / "plan.toml")
    trace = Trace.open(folder / name / "run.parquet")
    placed = place_in_region(trace, plan, 8)
    addresses = placed.place() + np.uint32(0x20000000)
    assert find_first_difference(trace, plan, addresses) is None
    addresses[7] += 8
    assert find_first_difference(trace, plan, addresses) == placed.asked.asked_at[7]


def test_the_runs_and_the_page_of_a_kept_heap_are_about_that_heap(tmp_path):
    sources = [bimodal(tmp_path / f"run-{i}.heap", events=200 + 200 * i, seed=i) for i in (1, 2)]
    fitted = fit(sources, tmp_path / "out", FitOptions(now="heap_4"))
    assert fitted.answer.is_kept and fitted.today is not None
    needs = [pair.now for pair in fitted.today.pairs]
    assert [run.r_safe for run in fitted.runs] == needs
    assert fitted.largest.r_safe == max(needs) == fitted.answer.size.r_safe
    shown = load_trace(fitted.searched, 8)
    case = case_from_fit(fitted, shown)
    assert case.winner.heap == fitted.answer.heap
    assert case.winner.r_safe == fitted.shown.r_safe
    assert case.comparison.rows[0] is case.winner
    assert [one.name for one in subjects_of(case)] == [fitted.winner.name, "FreeRTOS heap_4"]
    page = unescape(render_fit(fitted, shown))
    assert "<p>heap_4 is the system's own heap: no code is written for it." in page


def test_only_the_heap_that_a_program_has_is_kept_for_time_at_a_quarter_more_memory(tmp_path):
    run = tiny(tmp_path / "run.heap")
    quick = fit([run], tmp_path / "quick", FitOptions(prefer=Preference.TIME))
    own = fit([run], tmp_path / "own", FitOptions(prefer=Preference.TIME, now="heap_4"))
    least = min(row.heap_size.region for row in quick.comparison.rows if row.heap_size)
    assert own.answer.is_kept
    assert own.answer.size.region > MOST_MEMORY * least
    assert not quick.answer.is_kept
    assert quick.answer.size.region <= MOST_MEMORY * least


# ---- `settings` says what `fit --now` says
CORPUS = os.environ.get("HEAPFIT_CORPUS")
HEAPS = {"freertos": "heap_4", "lwip": "lwip-mem", "zephyr": "sys_heap"}
OWN = [f"{ROOT}/examples/second-runs/traces/device-{i}.parquet" for i in (1, 2)]
FIRMWARE = [
    ("lwip", [f"{CORPUS}/firmware/lwip-httpd-{i}.parquet" for i in (1, 2, 3, 4)]),
    ("zephyr", [f"{CORPUS}/firmware/zephyr-kmalloc-{i}.parquet" for i in (1, 2)]),
    ("zephyr", [f"{CORPUS}/firmware/zephyr-listener-{i}.parquet" for i in (1, 2)]),
    ("freertos", [f"{CORPUS}/rtos/gateway-{i}.heap.gz" for i in (1, 2, 3, 4)]),
]
GROUPS = [(system, OWN) for system in HEAPS] + (FIRMWARE if CORPUS else [])
RUNS = [
    (system, [one]) for system, files in GROUPS for one in (files if ALL else files[:1])
] + GROUPS
QUICK = {"effort": Effort.QUICK}  # which decide what the fitted heap is, not this one


def name(value):
    return value if isinstance(value, str) else f"{len(value)}-{Path(value[0]).name}"


@pytest.mark.parametrize(("system", "files"), RUNS, ids=name)
def test_settings_print_the_number_of_fit(system, files, tmp_path):
    paths = [*map(Path, files)]
    fitted = fit(paths, tmp_path, FitOptions(now=HEAPS[system], **QUICK))
    if fitted.leak:
        with pytest.raises(HeapfitError, match=r"no size lasts\. Leak: "):
            settings_for(system, paths, SettingsOptions())
        return
    today = fitted.today
    size = today.costs[0].size
    found = settings_for(system, paths, SettingsOptions())
    assert found.settings[-1].value == today.heap.set_to(size.region)
    assert found.memory == size.region
    reserve = size.region - size.region_with(0)
    assert f" {reserve:,} reserve (other runs and changes)" in found.settings[-1].why
