# SPDX-License-Identifier: Apache-2.0
"""The smallest region in which 29 of 30 runs of examples/firmware live, on a board, heap by heap.

    python bench/firmware.py PLAN ... [--system tasks|loop|shadows] [--seeds 30] [--first 101]

Each heap is built into the image, without the recorder, and run over the traffic of so many seeds;
the region is bisected to STEP bytes. The first row is the heap that the firmware comes with, which
has heap_4's rule; the ratios are to it. A plan that was made from one of the seeds proves nothing:
choose `--first` above those. Where requests follow timing, more bytes may serve fewer seeds; so the
region above the one found by a step is tried, too, and told if it fails.

Needs arm-none-eabi-gcc and qemu-system-arm. Nothing fails.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from page_tables import add_option, write_result

from heapfit.cli.printing import console
from heapfit.generate import GenerateOptions, generate
from heapfit.importers.target_log import Emulation, run_emulated
from heapfit.plan.plan_file import PlanFile, load_plan

FIRMWARE = Path(__file__).parents[1] / "examples/firmware"
STEP = 64  # bytes
LOWEST, HIGHEST = 8 * 1024, 48 * 1024  # bytes
SECONDS = "20"  # of the firmware's own time
COUNTED = "-icount shift=6,sleep=off"
MOST_REFUSED = 1  # seeds that a region may refuse


@dataclass(slots=True)
class Heap:
    """A heap in the firmware, in regions of any size."""

    name: str
    code_of: Callable[[int], list[str]]  # of a region: what make is told
    system: str
    folder: Path
    seeds: list[int]  # those that failed last come first
    tried: dict[int, list[int]] = field(default_factory=dict)  # seeds refused, by region

    def serves(self, region: int) -> bool:
        """Whether all seeds but MOST_REFUSED live in a region."""
        if region not in self.tried:
            self.tried[region] = self._refused(region)
        return len(self.tried[region]) <= MOST_REFUSED

    def _refused(self, region: int) -> list[int]:
        """The seeds that do not live; not all of them once they are too many."""
        words = [f"SYSTEM={self.system}", f"BUILD={self.folder}", *self.code_of(region)]
        done = subprocess.run(
            ["make", "-s", "-C", str(FIRMWARE), *words], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(f"{self.name}: the image of {region} B is not built: {done.stderr.strip()}")
        refused: list[int] = []
        for seed in list(self.seeds):
            image = Emulation(
                self.folder / "firmware.elf", (str(seed), SECONDS), machine=COUNTED, is_heard=False
            )
            _, status = run_emulated(image)
            if status != 0:
                refused.append(seed)
                self.seeds.remove(seed)
                self.seeds.insert(0, seed)
            if len(refused) > MOST_REFUSED:
                break
        return refused

    def smallest(self) -> int:
        """The smallest region that serves, by bisection; HIGHEST if none does."""
        low, high = LOWEST // STEP, HIGHEST // STEP
        while low < high:
            middle = (low + high) // 2
            if self.serves(middle * STEP):
                high = middle
            else:
                low = middle + 1
        return low * STEP


def own_heap(region: int) -> list[str]:
    return [f"BYTES={region}"]


def fitted_heap(plan: PlanFile, folder: Path) -> Callable[[int], list[str]]:
    """What makes the plan's heap, of any region, and tells make where it is."""

    def code_of(region: int) -> list[str]:
        options = GenerateOptions(platforms=("freertos",), region=region)
        generate(plan, folder, options=options)
        return [f"HEAP={folder}"]

    return code_of


def rows(heaps: Sequence[Heap]) -> list[tuple[str, str, str, str]]:
    made = []
    first = 0
    for heap in heaps:
        region = heap.smallest()
        first = first or region
        above = "" if heap.serves(region + STEP) else f"{region + STEP} B fails"
        made.append((heap.name, f"{region:,}", f"{region / first:.3f}", above))
        print(f"{heap.name}: {region} B; refused there: {heap.tried[region]}", file=sys.stderr)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plans", nargs="*", type=Path, help="plans to compare with its own heap")
    parser.add_argument("--system", choices=("tasks", "loop", "shadows"), default="tasks")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=101, help="the first seed")
    add_option(parser)
    options = parser.parse_args()
    if shutil.which("qemu-system-arm") is None or shutil.which("arm-none-eabi-gcc") is None:
        print("qemu-system-arm and arm-none-eabi-gcc are needed: nothing measured")
        return
    seeds = range(options.first, options.first + options.seeds)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as name:
        scratch = Path(name)
        heaps = [Heap("its own", own_heap, options.system, scratch / "own", list(seeds))]
        for number, path in enumerate(options.plans):
            plan = load_plan(path)
            code_of = fitted_heap(plan, scratch / f"code{number}")
            build = scratch / f"build{number}"
            heaps.append(Heap(plan.name, code_of, options.system, build, list(seeds)))
        title = f"{options.seeds} seeds from {options.first}, {options.system}"
        print(f"smallest region in which all but {MOST_REFUSED} live, B: {title}")
        found = rows(heaps)
        console.print_table(
            ("heap", "region", "ratio", "one step above"), found, width=console.WIDE
        )
        if options.write:
            table = [
                (options.system, name, region.replace(",", ""), ratio)
                for name, region, ratio, _ in found
            ]
            columns = ("system", "heap", "region, B", "over its own")
            write_result("firmware", columns, table, keys=2)


if __name__ == "__main__":
    main()
