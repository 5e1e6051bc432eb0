# SPDX-License-Identifier: Apache-2.0
"""`heapfit run`: a program on a plan's heap is out of memory where `check` says it is."""

import os
import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from heapfit.checks import host_run
from heapfit.checks.drill import drill_program
from heapfit.checks.host_run import prepare_program, run_program
from heapfit.checks.run import run_recording
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.errors import HeapfitError
from heapfit.importers.record import record
from heapfit.plan.plan_file import load_plan
from heapfit.trace.stored import Trace
from program import call_heapfit

PROGRAMS = Path(__file__).with_name("programs")
CLASSES = ["-m64", "-m32"] if platform.machine() == "x86_64" else ["-O1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The drilled program of each pointer size, in a folder of its own."""
    folder = tmp_path_factory.mktemp("drilled")
    for option in CLASSES:
        source = PROGRAMS / "drilled.c"
        flags = ["-O0", "-g", "-fno-builtin", "-w", option]
        subprocess.run(["cc", *flags, source, "-o", folder / f"drilled{option}"], check=True)
    return folder


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory):
    """Compiles each heap once."""
    kept, compile_heap = tmp_path_factory.mktemp("heaps"), host_run._compile_heap

    def compile_or_copy(plan, folder, bits):
        library = kept / f"{plan.plan.allocator}{plan.name}{bits}.so"
        if not library.exists():
            shutil.copy(compile_heap(plan, folder, bits), library)
        return library

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_run, "_compile_heap", compile_or_copy)
        yield


def plan_of(folder, allocator="good_fit", more="", region=262_144):
    path = folder / "plan.toml"
    path.write_text(
        f'name = "planned"\nregion = {region}\npointer_bits = 32\n[plan]\n'
        f'allocator = "{allocator}"\nalignment = 8\n{more}'
    )
    return load_plan(path)


def refused_by_check(trace: Trace, plan, region):
    return run_recording(trace, replace(plan, region=region), "run").refusal


@pytest.mark.parametrize("option", CLASSES)
def test_the_first_refusal_is_the_event_of_check(folder, tmp_path, option):
    command = [str(folder / f"drilled{option}"), "careful"]
    trace = record(command, tmp_path / "run.parquet").trace
    plan = plan_of(tmp_path)
    with prepare_program(plan, command) as program:
        runs = [program.run(region) for region in range(12_000, 40_000, 4_000)]
        served = program.run()
    expected = [refused_by_check(trace, plan, one.region) for one in runs]
    assert [one.first for one in runs] == expected
    assert sum(one is not None for one in expected) > 3
    assert (served.events, served.refused, served.status) == (trace.info.events, 0, 0)
    assert served.pointer_bits == trace.info.pointer_bits


def test_callers_that_pass_sizes_are_refused_where_check_does(folder, tmp_path):
    command = [str(folder / f"drilled{CLASSES[0]}")]
    plan = plan_of(tmp_path, "sized")
    trace = record(command, tmp_path / "run.parquet").trace
    done = run_program(plan, command, 24_000)
    assert done.first == refused_by_check(trace, plan, 24_000) is not None


KEPT = ("heap_4:32K", "rt-thread:32K", "newlib:32K")  # moves; cuts and a least; a baseline


@pytest.mark.parametrize("heap", KEPT)
def test_a_heap_that_is_kept_is_out_of_memory_where_check_is(folder, tmp_path, heap):
    command = [str(folder / f"drilled{CLASSES[0]}"), "careful"]
    trace = record(command, tmp_path / "run.parquet").trace
    plan, sizes = parse_heap_size(heap), (12_000, 20_000, 28_000)
    with prepare_program(plan, command) as program:
        found = [program.run(size).first for size in sizes]
    assert found == [refused_by_check(trace, plan, size) for size in sizes]
    assert None not in found[:2]


def test_a_drill_of_a_kept_heap_sets_it_as_its_system_does(folder):
    program = str(folder / f"drilled{CLASSES[0]}")
    drill = drill_program(parse_heap_size("newlib:64K"), [program, "crash"])
    assert drill.need % 4096 == 0
    assert {(one.status, one.last.size) for one in drill.failed} == {(-11, 2000)}
    by_region = {one.region: one.event for one in drill.refusable}
    assert all(by_region[one.region] == one.first.event for one in drill.runs)


def test_tags_of_call_sites_place_blocks_as_in_the_replay(folder, tmp_path):
    command = [str(folder / f"drilled{CLASSES[0]}")]
    trace = record(command, tmp_path / "run.parquet").trace
    sites = {site for batch in trace.batches(["site"]) for site in batch["site"].tolist()} - {0}
    tags = "".join(f"{site:08x} = {tag}\n" for tag, site in enumerate(sorted(sites)[:6], 1))
    plan = plan_of(
        tmp_path, "tailored", f"layout = 1\nends = 2\nhigh_0 = 1024\n[plan.sites]\n{tags}"
    )
    assert run_program(plan, command, 24_000).first == refused_by_check(trace, plan, 24_000)


def test_the_command_says_what_ran_out_and_of_other_pointers(folder, tmp_path):
    plan_of(tmp_path)
    program = str(folder / f"drilled{CLASSES[0]}")
    words = ["run", f"{tmp_path}/plan.toml", "--region", "24000", "--", program]
    done = call_heapfit(*words)
    assert done.returncode == 3
    said = " ".join((done.stdout + done.stderr).split())
    assert "ran out of memory first at event" in said
    assert "drilled.c:" in said
    assert "build it with -m32" in said


def test_a_drill_lists_what_crashes_and_hangs(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("heapfit.checks.drill._LEAST_SECONDS", 0.5)
    plan = plan_of(tmp_path)
    endings = {}
    for mode in ("careful", "crash", "hang"):
        done = drill_program(plan, [str(folder / f"drilled{CLASSES[0]}"), mode])
        endings[mode] = {(one.status, one.last.size) for one in done.failed}
        assert len(done.runs) <= 16
        assert all(one.first is not None for one in done.runs)
    assert endings == {"careful": set(), "crash": {(-11, 2000)}, "hang": {(None, 2000)}}
    assert any("use_last" in name for name in done.sites.values())


def test_what_cannot_run_is_said_in_one_line(folder, tmp_path, monkeypatch):
    program = [str(folder / f"drilled{CLASSES[0]}")]
    plan = plan_of(tmp_path)
    with pytest.raises(HeapfitError, match="cannot be made in 8 B"):
        run_program(plan, program, 8)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(HeapfitError, match="cc: not found"):
        run_program(plan_of(tmp_path, "tlsf"), program)


def test_a_program_that_any_signal_ends_by_itself_is_not_drilled(tmp_path):
    with pytest.raises(HeapfitError, match="is ended by signal 15 "):
        drill_program(plan_of(tmp_path), ["sh", "-c", "kill -TERM $$"])
