# SPDX-License-Identifier: Apache-2.0
"""The plan file of a heap that is kept: written, read and held, but never generated."""

from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from small_traces import bimodal, heapfit, tiny

from heapfit.checks.check import check_recordings
from heapfit.checks.system_run import place_requests
from heapfit.comparison.heap_map import subjects_of
from heapfit.design.front.offers import MOST_MEMORY
from heapfit.design.front.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.verify.placements import find_first_difference
from heapfit.generate import generate
from heapfit.plan.plan_file import load_plan, save_plan
from heapfit.results.heap.fit import case_from_fit, render_fit
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

pytestmark = pytest.mark.usefixtures("unmeasured")


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
    assert "bytes of heap_4 are enough." in done.stdout


def test_the_answer_says_what_a_kept_heap_takes_beside_its_setting(folder):
    done = heapfit("fit", "run.heap", "--now", "lwip-mem", "-o", "shown", folder=folder)
    region, screen = load_plan(folder / "shown/plan.toml").region, " ".join(done.stdout.split())
    assert f"set MEM_SIZE to {region:,} B" in screen
    assert "; the heap takes 16 B beside it." in screen
    assert f"lwIP mem_malloc # {region + 16:,} " in screen


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
    placed = place_requests(trace, plan, 8)
    addresses = placed.place() + np.uint32(0x20000000)
    assert find_first_difference(trace, plan, addresses) is None
    addresses[7] += 8
    assert find_first_difference(trace, plan, addresses) == placed.asked.asked_at[7]


def test_paths_of_a_kept_heap_have_a_plan_and_no_code(folder):
    found = fit([folder / "run.heap"], folder / "paths", FitOptions(now="heap_4"))
    assert found.paths.plan == Path(folder / "paths" / "plan.toml")
    assert found.paths.code is None
    assert found.plan_file == load_plan(found.paths.plan)


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


@pytest.mark.parametrize("is_written", [False, True])
def test_pools_are_warned_of_only_where_they_are_written(tmp_path, is_written):
    source = bimodal(tmp_path / "run.heap", events=600)
    options = FitOptions(now="heap_4", allocators=("budgeted",), pools=True, code=is_written)
    fitted = fit([source], tmp_path / "out", options)
    assert fitted.answer.is_kept
    assert fitted.winner.is_cut_to_trace
    warned = [one for one in fitted.warnings if one.startswith("blocks are counted on this one")]
    assert len(warned) == is_written


def test_only_the_heap_that_a_program_has_is_kept_for_time_at_a_quarter_more_memory(tmp_path):
    run = tiny(tmp_path / "run.heap")
    quick = fit([run], tmp_path / "quick", FitOptions(prefer=Preference.TIME))
    own = fit([run], tmp_path / "own", FitOptions(prefer=Preference.TIME, now="heap_4"))
    least = min(row.heap_size.region for row in quick.comparison.rows if row.heap_size)
    assert own.answer.is_kept
    assert own.answer.size.region > MOST_MEMORY * least
    assert not quick.answer.is_kept
    assert quick.answer.size.region <= MOST_MEMORY * least
