# SPDX-License-Identifier: Apache-2.0
"""`--now newlib-nano` beside newlib's small malloc itself, Debian's, on an emulated Cortex-M3."""

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.requests import Requests
from heapfit.trace.operations import ALLOC, FREE, RESIZE

HERE = Path(__file__).parent
EVENTS = 3000


def walk(seed: int) -> list[tuple[int, int, int]]:
    """Requests and resizes of 0 to 600 B, and frees, of some 100 blocks."""
    draw = random.Random(seed)
    rows: list[tuple[int, int, int]] = []
    live: list[int] = []
    born = 0
    while len(rows) < EVENTS:
        size = int(draw.expovariate(1 / 80)) % 600
        if live and draw.random() < len(live) / 200:
            rows.append((FREE, live.pop(draw.randrange(len(live))), 0))
        elif live and draw.random() < 0.2:
            rows.append((RESIZE, draw.choice(live), size + 1))
        else:
            rows.append((ALLOC, born, size))
            live.append(born)
            born += 1
    return rows


def on_the_board(rows: list[tuple[int, int, int]], folder: Path) -> int:
    """Bytes that newlib asked _sbrk for."""
    numbers = ",".join(str(number) for row in rows for number in row)
    (folder / "events.c").write_text(
        f"#include <stdint.h>\nconst uint32_t event_count = {len(rows)};\n"
        f"const uint32_t events[] = {{{numbers}}};\n"
    )
    build = ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os", "--specs=nano.specs",
             "--specs=nosys.specs", "-fno-builtin", "-nostartfiles", "-w", "-Wl,--no-warnings",
             "-T", HERE / "newlib_heap.ld", HERE / "newlib_heap.c", "events.c",
             "-o", "image.elf"]  # fmt: skip
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    run = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting", "-kernel"]
    done = subprocess.run(
        [*run, "image.elf"], cwd=folder, check=True, capture_output=True, text=True, timeout=300
    )
    return int(done.stdout + done.stderr)


@pytest.mark.parametrize("seed", [1, 2])
def test_newlibs_rule_grows_as_newlib_does(seed, tmp_path):
    rows = walk(seed)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    requests = Requests(
        columns[0].astype(np.uint8),
        columns[1].astype(np.uint32),
        columns[2].astype(np.uint64),
        np.zeros(len(rows), np.uint32),
    )
    heap = find_heap("newlib-nano", 8)
    needed = measure(heap, [requests]).most
    assert needed is not None
    grown = on_the_board(rows, tmp_path)
    assert grown <= heap.set_to(needed) < grown + 8  # regions are searched in steps of 8
