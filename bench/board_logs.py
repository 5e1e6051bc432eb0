# SPDX-License-Identifier: Apache-2.0
"""When a firmware's log says that a request fails, beside when one failed on the board.

    python bench/board_logs.py [--seeds 3] [--first 101] [--only WORD] [--write]

The gateway in a loop (examples/firmware) prints its heap's state until a request is refused. Four
firmwares: neither fault, a leak, fragmentation, both. Their logs are cut at a third, half and three
quarters of the life, and `heapfit forecast` dates the request that ended the life of the seed
before. Where the firmware dies, "no date" misses; where it does not, any date does.

Needs arm-none-eabi-gcc and qemu-system-arm. Nothing fails.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import median
from typing import TypeAlias

from firmware import FIRMWARE
from page_tables import add_option, write_result

from harness.board import CORTEX_M3
from harness.emulator import emulate
from harness.image import Image
from heapfit.cli.printing import console
from heapfit.forecast.log.outlook import Outlook
from heapfit.front_door import forecast_log

SECONDS = "80"  # of the board's time, where no request is refused
PARTS = (1 / 3, 1 / 2, 3 / 4)  # of a life
FIRMWARES = {  # bytes of the heap, bytes lost at each state, states between two small blocks
    "neither": (32768, 0, 0),
    "leak": (32768, 24, 0),
    "fragmentation": (65536, 0, 5),
    "both": (65536, 24, 5),
}
COLUMNS = ("firmware", "logs", "right", "interval over the life left, median")
Judged: TypeAlias = tuple[bool, float | None]
STATE = re.compile(r"\[(\d+\.\d+)\] free heap .*?(?:, failed (\d+))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Life:
    """A firmware's states, to the request that was refused."""

    states: list[str]  # lines
    seconds: list[float]  # of each
    refused: int | None  # bytes; None: none was


def build(name: str, folder: Path) -> Image:
    region, leak, pins = FIRMWARES[name]
    words = (f"BYTES={region}", f"LEAK={leak}", f"PINS={pins}", f"BUILD={folder / name}")
    subprocess.run(["make", "-s", "-C", str(FIRMWARE), "SYSTEM=loop", *words], check=True)
    return Image(folder / name / "firmware.elf", CORTEX_M3)


def live(image: Image, seed: int) -> Life:
    """A run of the image, until it dies or SECONDS are over."""
    found = [*STATE.finditer(emulate(image, (str(seed), SECONDS)))]
    failed = found[-1][2]
    return Life(
        [one[0] for one in found], [float(one[1]) for one in found], int(failed) if failed else None
    )


def look_ahead(
    life: Life, part: float, sizes: Sequence[int], folder: Path
) -> tuple[Outlook, float]:
    """What the first part of a life's log says, and the seconds that are left of the life."""
    end = part * life.seconds[-1]
    lines = [one for one, at in zip(life.states, life.seconds, strict=True) if at <= end]
    log = folder / "board.log"
    log.write_text("\n".join(lines) + "\n")
    return forecast_log(log, sizes=sizes), life.seconds[-1] - life.seconds[len(lines) - 1]


def judge(told: Outlook, left: float, life: Life) -> Judged:
    """Whether that is right, and the interval over the life left; None: there is none."""
    date = told.run_out
    if life.refused is None or date is None:
        return life.refused is None and date is None, None
    latest = inf if date.latest is None else date.latest
    return date.earliest <= left <= latest, (latest - date.earliest) / left


def judge_firmware(name: str, seeds: range, folder: Path) -> list[Judged]:
    """Each part of each seed's log."""
    image, judged = build(name, folder), list[Judged]()
    before = live(image, seeds.start - 1)
    for seed in seeds:
        life, sizes = live(image, seed), () if before.refused is None else (before.refused,)
        for part in PARTS:
            told, left = look_ahead(life, part, sizes, folder)
            judged.append(judge(told, left, life))
            describe(f"{name}, seed {seed}, {part:.0%}", told, left, life, judged[-1][0])
        before = life
    return judged


def describe(title: str, told: Outlook, left: float, life: Life, is_right: bool) -> None:
    date, came, said = told.run_out, f"{left:.1f} s" if life.refused else "none", "no date"
    if date is not None:
        latest = inf if date.latest is None else date.latest
        said = f"{date.after:.1f} s ({date.earliest:.1f} to {latest:.1f})"
    print(f"{title}: {told.finding}, {said}; came {came}{'' if is_right else ': WRONG'}")


def row_of(name: str, judged: Sequence[Judged]) -> tuple[object, ...]:
    widths = [width for _, width in judged if width is not None]
    right = sum(is_right for is_right, _ in judged)
    return name, len(judged), right, f"{median(widths):.2f}" if widths else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="of each firmware")
    parser.add_argument("--first", type=int, default=101, help="the first seed")
    parser.add_argument("--only", default="", help="firmwares in whose names it occurs")
    add_option(parser)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        found = {
            one: judge_firmware(one, seeds, Path(name)) for one in FIRMWARES if options.only in one
        }
    rows = [row_of(name, judged) for name, judged in found.items()]
    rows.append(row_of("all", [one for judged in found.values() for one in judged]))
    console.print_table(COLUMNS, [[*map(str, row)] for row in rows], width=console.WIDE)
    if options.write:
        write_result("board-logs", COLUMNS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
