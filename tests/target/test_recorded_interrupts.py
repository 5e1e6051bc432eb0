# SPDX-License-Identifier: Apache-2.0
"""The recorder's lock keeps events whole that interrupts make in the middle of others."""

from dataclasses import replace
from pathlib import Path

from harness import sources
from harness.board import CORTEX_M3
from harness.emulator import emulate
from harness.image import Image
from heapfit.external_tool import run
from heapfit.importers import import_file
from heapfit.trace.stored import Trace

PROGRAM_EVENTS = 4000
COUNTING_TIME = ("-icount", "shift=6,align=off,sleep=off")  # a run is the same each time


def recorded(folder: Path, config: str) -> tuple[int, Trace]:
    """How many events the interrupts made, and what was recorded of all."""
    here = sources.root()
    recorder = ("record", "adapters/one_heap", "sinks/semihosting")
    board = ("recording/interrupted", *(f"board/{name}" for name in ("start_arm", "start")))
    includes = ("", "target", "recorder/target", "target/recording/freertos")
    made = folder / "interrupted.elf"
    run(
        [
            *("arm-none-eabi-gcc", *CORTEX_M3.flags, "-std=c11", "-Os", "-Wall", "-Wextra"),
            *("-Werror", "-ffreestanding", "-nostdlib", "-DIMAGE_TICK_RATE=1000"),
            f'-DHFIT_RECORD_CONFIG_FILE="{config}"',
            *(f"-I{here / one}" for one in includes),
            *(here / f"target/{name}.c" for name in (*board, "board/semihost", "board/memory")),
            *(here / f"recorder/target/{name}.c" for name in recorder),
            *(f"-L{here}/target/board", f"-T{CORTEX_M3.memories}", "-Wl,--no-warn-rwx-segments"),
            *("-lgcc", "-o", made),
        ],
        folder,
    )
    board_of_time = replace(CORTEX_M3, machine=(*CORTEX_M3.machine, *COUNTING_TIME))
    printed = emulate(Image(made, board_of_time))
    return int(printed.split()[1]), import_file(
        folder / "heapfit.frames", folder / "interrupted.parquet"
    )


def test_with_the_lock_no_event_is_lost_or_broken(tmp_path: Path) -> None:
    interrupts, trace = recorded(tmp_path, "adapters/freertos_config.h")
    assert interrupts > 100
    assert trace.info.events == PROGRAM_EVENTS + interrupts
    assert trace.info.notes == ()


def test_without_the_lock_some_are(tmp_path: Path) -> None:
    interrupts, trace = recorded(tmp_path, "recording/unlocked_config.h")
    assert interrupts > 100
    assert trace.info.events < PROGRAM_EVENTS + interrupts
    assert any("damaged" in note for note in trace.info.notes)
