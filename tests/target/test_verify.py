# SPDX-License-Identifier: Apache-2.0
"""The closed loop, on the example's firmware: a second of it, which is 3,600 events."""

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heapfit.comparison.comparison import compare
from heapfit.comparison.failure_share import bound_failures, share_risk
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.trial import replay_trace
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.fitting.verify import loop
from heapfit.fitting.verify.firmware import Firmware
from heapfit.fitting.verify.placements import find_first_difference, read_addresses
from heapfit.importers.target_log import Emulation, record_emulated
from heapfit.plan.plan_file import load_plan, save_plan
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import FREE
from heapfit.trace.stored import Trace
from program import run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

EXAMPLE = Path(__file__).parents[2] / "examples/firmware"
RECORDER = EXAMPLE.parents[1] / "recorder/target"
PLAN = """region = {region}
base_alignment = 8
pointer_bits = 32
[plan]
allocator = "tlsf"
alignment = 8
"""


def verify(folder, region, *options, build="", status=0):
    if isinstance(region, str):  # a system's heap and its size
        plan = replace(parse_heap_size(region), pointer_bits=32)
        save_plan(folder / "plan.toml", plan)
    else:
        (folder / "plan.toml").write_text(PLAN.format(region=region))
    made = f"make -s -C {EXAMPLE} HEAP={{code}} RECORD={{record}} SYSTEM=loop BUILD={folder}/build"
    done = run_heapfit(
        *("verify", "plan.toml", "--for", "freertos", "--json", "--qemu", "build/firmware.elf"),
        *("--build", build or made, "--machine", "-icount shift=6,sleep=off", "-o", "verified"),
        *(*options, "--", "{run}", "1"),
        folder=folder,
        environment=os.environ,
    )
    assert done.returncode == status, done.stderr
    return done.stderr if status in (1, 2) else json.loads(done.stdout)


def tasks_build(folder, processor="cortex-m3", recorder=RECORDER):
    options = f"CPU={processor} BUILD={folder}/build recorder={recorder}"
    return f"make -s -C {EXAMPLE} HEAP={{code}} RECORD={{record}} {options}"


def records_outside_the_lock_are_found(folder):
    """In the same firmware, whose adapter does not suspend the scheduler."""
    adapter = shutil.copytree(RECORDER, folder / "recorder") / "adapters/freertos.c"
    lines = adapter.read_text().splitlines(keepends=True)
    adapter.write_text("".join(line for line in lines if "All();" not in line))
    build = tasks_build(folder, recorder=folder / "recorder")
    firmware = Firmware(build, emulate_example(folder))
    firmware.make(folder / "verified/code", True, 40_000)
    recorded = firmware.record(1, folder / "run.parquet")
    plan = load_plan(folder / "plan.toml")
    assert find_first_difference(recorded.trace, plan, read_addresses(recorded.log)) is not None


def emulate_example(folder, image="build/firmware.elf"):
    return Emulation(folder / image, ("{run}", "1"), machine="-icount shift=6,sleep=off")


def test_a_heap_that_holds_is_confirmed_by_runs_that_nobody_has_seen(tmp_path):
    result = verify(tmp_path, 40_000, "--times", "2", build=tasks_build(tmp_path))
    assert (result["settled"], result["refused"], result["times"]) == (True, [], 2)
    assert [(run["round"], run["run"], run["passed"]) for run in result["runs"]] == [
        (1, 1, True),
        (1, 2, True),
    ]
    assert (result["looks"], result["distinct"]) == (1, 2)
    bound = bound_failures(0, 2, share_risk(1, loop.MOST_LOOKS))
    assert result["most_refused"] == pytest.approx(bound)
    assert (tmp_path / "verified/run-2.parquet").is_file()
    assert [run["elsewhere"] for run in result["runs"]] == [None, None]
    changed_addresses_are_found(tmp_path)
    records_outside_the_lock_are_found(tmp_path)


def changed_addresses_are_found(folder):
    """In a run of that firmware: one block's address, and the same requests to another heap."""
    trace, plan = Trace.open(folder / "verified/run-1.parquet"), load_plan(folder / "plan.toml")
    addresses = read_addresses(folder / "verified/run-1.frames")
    assert find_first_difference(trace, plan, addresses + np.uint32(1 << 20)) is None
    events = np.concatenate([batch["op"] != FREE for batch in trace.batches(("op",))])
    assert len(addresses) == events.sum() > 1000
    moved = addresses.copy()
    moved[1000] += 8
    assert find_first_difference(trace, plan, moved) == np.flatnonzero(events)[1000]
    other = replace(plan, plan=replace(plan.plan, allocator="best_fit"))
    assert find_first_difference(trace, other, addresses) is not None


def test_a_build_that_fails_is_told_by_its_first_error(tmp_path):
    script = "printf '%s\\n' 'main.c:1: error: no heap' 'make: *** [image] Error 1' >&2; exit 7"
    told = verify(tmp_path, 40_000, build=f"sh -c {shlex.quote(script)}", status=1)
    assert told == "heapfit: sh: ended with 7: main.c:1: error: no heap\n"


def test_an_image_that_was_not_made_is_told(tmp_path):
    told = verify(tmp_path, 40_000, build="true", status=1)
    assert told == "heapfit: build/firmware.elf: the build did not make it\n"


DEAD = """
#include "board/semihost.h"
#include "board/start.h"
void on_fault(void) {
    for (;;) {
    }
}
int main(void) {
    semihost_print("work item 7\\n");
    return *(volatile int *)0xfdfdfdfd;
}
"""


@pytest.mark.parametrize("asked", ["record", "verify"])
def test_an_image_that_spins_in_a_faults_handler_is_ended_and_told(tmp_path, asked):
    """In seconds, whatever the limit; with what it printed last."""
    (tmp_path / "dead.c").write_text(DEAD)
    board, root = EXAMPLE.parents[1] / "target/board", EXAMPLE.parents[1] / "target"
    sources = [tmp_path / "dead.c", *(board / f"{one}.c" for one in ("start", "start_arm"))]
    build = [
        *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-ffreestanding", "-nostdlib", "-Os"),
        *(f"-I{root}", *map(str, sources), str(board / "semihost.c"), str(board / "memory.c")),
        *(f"-L{board}", "-Tmps2.ld", "-Wl,--no-warn-rwx-segments", "-o", "build/firmware.elf"),
    ]
    (tmp_path / "build").mkdir()
    if asked == "verify":
        told = verify(tmp_path, 40_000, build=shlex.join(build), status=1)
        assert "stays in the handler of a fault, after 'work item 7' and wrote no frames" in told
        return
    subprocess.run(build, cwd=tmp_path, check=True)
    words = ("record", "--qemu", "build/firmware.elf", "-o", "run.parquet")
    done = run_heapfit(*words, folder=tmp_path, environment=os.environ)
    assert done.returncode == 1
    assert "stays in the handler of a fault and wrote no frames" in done.stderr


LATE = """end_hook();
    void *late = pvPortMalloc(40);
    vPortFree(late);
    *(volatile char *)late = 1;
    vPortFree(pvPortMalloc(8));
    semihost_exit(3);
"""


def test_an_image_that_dies_is_run_again_over_a_heap_that_names_the_misuse(tmp_path):
    """A write after free that the plan's heap does not show: no other plan is tried."""
    here = shutil.copytree(EXAMPLE, tmp_path / "firmware")
    main = here / "application/main.c"
    text = main.read_text().replace("end_hook();\n", LATE, 1)
    main.write_text(text.replace('#include "hooks.h"', '#include "hooks.h"\n#include <FreeRTOS.h>'))
    build = f"make -s -C {here} root={EXAMPLE.parents[1]} HEAP={{code}} RECORD={{record}}"
    build += f" SYSTEM=loop BUILD={tmp_path}/build"
    result = verify(tmp_path, 40_000, "--times", "1", build=build, status=3)
    assert (result["settled"], len(result["runs"])) == (False, 1)
    assert result["deaths"][0].startswith("Run 1 ended with status 3")
    told = result["misuse"]
    assert "of 40 B, asked by end, main.c:" in told and "freed by end, main.c:" in told
    assert "written after its free: found" in told


def test_once_settled_the_heap_of_today_runs_the_same_and_both_are_compared(tmp_path):
    """Each over the requests that it got itself: no change for two runs."""
    today = f"make -s -C {EXAMPLE} RECORD={{record}} SYSTEM=loop BUILD={tmp_path}/build"
    today += " BYTES={region}"
    result = verify(tmp_path, 40_000, "--times", "2", "--now", "heap_4", "--build-now", today)
    now = result["now"]
    had, has = now["flash"]
    assert 500 < has - had < 1_800  # TLSF in place of the example's own heap
    assert now["is_kept"] and now["sentence"].startswith("Keep heap_4: ")  # nothing needs 2 % less
    first, second = now["pairs"]
    assert [first["name"], second["name"]] == ["run 1", "run 2"]
    # requests of one loop follow from the seed, whatever heap there is
    assert first["u_max"] == first["fitted_u_max"] != second["u_max"]
    now_1 = load_trace(Trace.open(tmp_path / "verified/now-1.parquet"))
    in_today = measure(find_heap("heap_4", 8), [now_1])
    assert first["now"] == in_today.most
    plan = load_plan(tmp_path / "plan.toml")
    run_1 = Trace.open(tmp_path / "verified/run-1.parquet")
    assert replay_trace(run_1, plan.plan, first["fitted"]).refusals == 0
    assert replay_trace(run_1, plan.plan, first["u_max"]).refusals


def test_the_heap_that_the_firmware_has_is_verified_like_a_plan(tmp_path):
    """12 KiB are too small, so its size is set anew; no code is written, every block is equal."""
    result = verify(tmp_path, "heap_4:12K", "--times", "2")
    assert result["settled"] is True
    assert [run["passed"] for run in result["runs"]] == [False, False, True, True]
    assert [run["elsewhere"] for run in result["runs"]] == [None] * 4
    plan = load_plan(tmp_path / result["plan"])
    assert (plan.heap, plan.setting) == ("heap_4", "configTOTAL_HEAP_SIZE")
    assert 12 << 10 < plan.region < 24 << 10
    assert not (tmp_path / "verified" / "code").exists()


def test_on_riscv_a_heap_that_records_itself_places_every_block_as_the_replay_does(tmp_path):
    """The build has no {record}: the heap's C records, in tasks, and no longer in the last runs."""
    build = tasks_build(tmp_path, "rv32imac").replace(" RECORD={record}", "")
    result = verify(tmp_path, 40_000, "--times", "2", build=build)
    assert not (tmp_path / "verified/code/record.c").exists()
    assert (result["settled"], result["refused"], result["times"]) == (True, [], 2)
    assert [run["elsewhere"] for run in result["runs"]] == [None, None]


def test_trees_of_small_blocks_need_a_heap_without_headers(tmp_path):
    """The gateway that keeps shadows: three seconds, one run; heap_4 has 8 B before each block."""
    make = f"make -s -C {EXAMPLE} SYSTEM=shadows RECORD=1 BUILD={tmp_path}"
    subprocess.run(make.split(), check=True)
    image = Emulation(tmp_path / "firmware.elf", ("1", "3"), machine="-icount shift=6,sleep=off")
    trace = record_emulated(image, tmp_path / "run.parquet").trace
    loaded = load_trace(trace, 8)
    assert loaded.profile.live_blocks_max > 200 and loaded.profile.u_max > 4_000
    (compared,) = compare(loaded, build_portfolio(loaded, ["tailored"], [])).rows
    assert compared.r_safe < 0.9 * measure(find_heap("heap_4", 8), [loaded]).most


def test_a_heap_of_today_that_there_is_not_is_refused_before_any_build(tmp_path):
    given = ("--now", "heap_9", "--build-now", "true {region}")
    assert "heap_9" in verify(tmp_path, 40_000, *given, build="false", status=1)
    assert not (tmp_path / "verified").exists()


def test_the_heap_of_today_is_not_compared_without_its_build(tmp_path):
    verify(tmp_path, 40_000, "--now", "heap_4", status=2)
    given = ("--now", "heap_4", "--build-now", "make")
    assert "--build-now needs {region}" in verify(tmp_path, 40_000, *given, status=2)


@pytest.mark.parametrize(
    ("is_there", "end"), [(True, HeapfitError("no emulator")), (False, KeyboardInterrupt)]
)
def test_a_folder_is_as_it_was_after_an_interrupt_or_an_error(tmp_path, is_there, end):
    class Ended:
        """A firmware that is ended in its first run."""

        has_recorder = True

        def make(self, code, *_):
            assert (code / "README.md").is_file()

        def record(self, _, output):
            output.write_text("half")
            raise end

    (tmp_path / "plan.toml").write_text(PLAN.format(region=40_000))
    if is_there:
        (tmp_path / "a/out").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises((KeyboardInterrupt, HeapfitError)):
        loop.verify(tmp_path / "plan.toml", Ended(), tmp_path / "a/out")
    assert sorted(tmp_path.rglob("*")) == before


def test_each_run_has_an_image_of_its_own_where_the_build_names_the_run(tmp_path, monkeypatch):
    """As a seed that is compiled in: as a word, or in the environment of the build."""
    image = tmp_path / "image"
    image.write_text("")
    monkeypatch.setattr("heapfit.fitting.verify.firmware.run_emulated", lambda _: ("ended", 0))
    script = f"printf '%s\\n' \"$SEED $0\" >>{tmp_path}/built"
    firmware = Firmware(f"SEED={{run}} sh -c {shlex.quote(script)} {{region}}", Emulation(image))
    firmware.make(None, False, 4096)
    assert firmware.run(7) == firmware.run(8) == ("ended", 0)
    assert (tmp_path / "built").read_text() == "7 4096\n8 4096\n"
