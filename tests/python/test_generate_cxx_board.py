# SPDX-License-Identifier: Apache-2.0
"""A generated heap on a Cortex-M4, called from C++: every block where the engine's replay puts it.

Without exceptions, type information and guards of statics, as firmware is built.
"""

from pathlib import Path

import pytest
from generated_code import HERE, NO_MEMSET, plan_file
from test_generate_replay import Recording, plan_for, random_rows, recording

from harness.board import BOARDS
from harness.emulator import emulate
from harness.image import link_image
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.generate import generate
from heapfit.importers.external_tool import run

pytestmark = pytest.mark.usefixtures("unmeasured")

M4 = BOARDS["cortex-m4"]
BASE = 64  # bytes
FLAGS = (*M4.flags, "-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-I.")
COMPILE_C = (f"{M4.tools}gcc", *FLAGS, "-std=c11", NO_MEMSET)
COMPILE_CXX = (
    *(f"{M4.tools}g++", *FLAGS, "-std=c++17", "-fno-exceptions", "-fno-rtti"),
    *("-fno-threadsafe-statics", "-faligned-new=8", "-Wall", "-Wextra", "-Werror"),
    *("-DAPP_IS_SIZED=0", f"-I{HERE}"),
)


@pytest.fixture(scope="module")
def trace() -> Recording:
    return recording(random_rows(1, 5_000))


def compiled(folder: Path) -> list[Path]:
    """The objects of a generated folder and of a replay, which can see the region."""
    c = [*folder.glob("*.c"), *folder.glob("src/*/*.c")]
    cxx = [folder / "app_new.cpp", HERE / "generated_replay.cpp", HERE / "generated_board.cpp"]
    objects = []
    for source in (*c, *cxx):
        objects.append(folder.parent / f"{source.stem}.o")
        command = COMPILE_C if source in c else COMPILE_CXX
        run([*command, "-c", source, "-o", objects[-1]], folder)
    made_visible = "--globalize-symbol=app_heap_region"
    run([f"{M4.tools}objcopy", made_visible, folder.parent / "app_heap.o"], folder)
    return objects


def test_cxx_on_a_cortex_m4_places_every_block_as_the_engine_does(
    trace: Recording, tmp_path: Path
) -> None:
    plan = plan_for("tailored", trace)
    region = plan.engine().smallest_region + 2 * trace.live_peak // 8 * 8 + 4096
    replay = _engine.Replay(plan.engine(), region, base_alignment=BASE, keep_going=True)
    assert replay.feed(trace.events())
    expected = replay.result()
    generate(plan_file(plan, region, base_alignment=BASE), tmp_path / "code", language="c++")
    bench = Workbench(tmp_path)
    image = link_image(bench, M4, Build("Os"), tmp_path, compiled(tmp_path / "code"))
    trace.rows.tofile(tmp_path / "events")
    for way in ("new", "quiet", "resource", "allocator"):
        told = dict(line.split() for line in emulate(image, ("events", way)).splitlines())
        assert int(told["placement_hash"], 16) == expected.placement_hash, way
        assert int(told["refusals"]) == expected.refusals == 0
        assert int(told["footprint"]) == expected.footprint
