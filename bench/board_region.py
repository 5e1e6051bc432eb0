# SPDX-License-Identifier: Apache-2.0
"""The region that a replay says beside the one that the board needs, for the same run.

    python bench/board_region.py [--seeds 3] [--first 101] [--seconds 2]

Each system of examples/firmware is recorded over its own heap, which has heap_4's rule, in more
than it needs. The smallest region that serves the run is then bisected on the board to 8 bytes,
with the recorder in the image. The two differ by what heap_4's rule keeps at the region's end
(pxEnd, 8 bytes), which the example's heap does without.

Needs arm-none-eabi-gcc and qemu-system-arm. Nothing fails.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from firmware import COUNTED, FIRMWARE
from page_tables import add_option, write_result

from heapfit.comparison.incumbents.heap import find_heap
from heapfit.fitting.incumbent import measure_incumbent
from heapfit.importers.target_log import Emulation, record_emulated, run_emulated
from heapfit.progress import ignore_progress
from heapfit.trace.loaded import load_trace

STEP = 8  # bytes
PLENTY = 64 * 1024
SYSTEMS = ("loop", "tasks", "shadows")


def make(folder: Path, system: str, region: int) -> Path:
    """The image with a recorder and a heap of so many bytes."""
    words = [f"SYSTEM={system}", "RECORD=1", f"BYTES={region}", f"BUILD={folder}"]
    subprocess.run(["make", "-s", "-C", str(FIRMWARE), *words], check=True)
    return folder / "firmware.elf"


def needed_on_board(folder: Path, system: str, seed: str, seconds: str, guess: int) -> int:
    """The smallest region that serves the run, by bisection around a guess."""

    def serves(steps: int) -> bool:
        image = make(folder, system, steps * STEP)
        emulation = Emulation(image, (seed, seconds), machine=COUNTED, is_heard=False)
        return run_emulated(emulation)[1] == 0

    high, reach = guess // STEP, 1
    while not serves(high):
        high, reach = high + reach, 2 * reach
    low, reach = high - 1, 1
    while serves(low):
        high, low, reach = low, low - reach, 2 * reach
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return high * STEP


def needed_by_replay(folder: Path, system: str, seed: str, seconds: str) -> int:
    """What the replay of a run needs that was recorded in plenty."""
    image = make(folder, system, PLENTY)
    emulation = Emulation(image, (seed, seconds), machine=COUNTED, is_heard=False)
    loaded = load_trace(record_emulated(emulation, folder / "run.parquet").trace)
    need = measure_incumbent(find_heap("heap_4", 8), [loaded], ignore_progress).most
    assert need is not None, "it held on the board"
    return need


def compare_regions(folder: Path, system: str, seed: int, seconds: str) -> tuple[str, ...]:
    """A row: what the replay of a run needs, and what the board does."""
    run = (folder, system, str(seed), seconds)
    replayed = needed_by_replay(*run)
    return system, str(seed), str(replayed), str(needed_on_board(*run, replayed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=101, help="the first seed")
    parser.add_argument("--seconds", default="2", help="of the firmware's own time")
    add_option(parser)
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        for system in SYSTEMS:
            for seed in range(options.first, options.first + options.seeds):
                found.append(compare_regions(Path(name), system, seed, options.seconds))
                print(*found[-1], flush=True)
    if options.write:
        columns = ("system", "seed", "by replay, B", "needed on the board, B")
        write_result("board-region", columns, found, keys=2)


if __name__ == "__main__":
    main()
