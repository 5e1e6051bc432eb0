# SPDX-License-Identifier: Apache-2.0
"""Memory without headers: R_safe over U_max of recorded programs, untrained, beside rivals.

Needs HEAPFIT_CORPUS. Each program takes the layout that serves it best: chunk bounds in a map at
4 or 8 B, or a 4 B header (best_fit at 4 B). Nothing else is learned from the recording. Control
structures, map, headers and rounding all count. `--only WORD` keeps the programs in whose names the
word occurs. Nothing fails: what is not reached says so.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from memory import measured, opened, recordings

from heapfit.cli.console import out_table
from heapfit.design.workload import Workload, load_workload

LAYOUTS = (("tailored", 4), ("tailored", 8), ("best_fit", 4))

# Ours, of the kind of espressif's TLSF, dlmalloc and FreeRTOS heap_4, aligned as these are.
RIVALS = (("tlsf", 4), ("best_fit", 8), ("first_fit", 8))

MEDIAN = 1.055
BELOW_RIVALS = 27  # of 29
SMALL = {"cjson32-telemetry": 1.10, "lwip32-ram-b": 1.12, "lwip32-pool": 1.05}


@dataclass(frozen=True)
class Program:
    name: str
    layouts: tuple[float, ...]
    rivals: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.layouts)

    @property
    def beats_rivals(self) -> bool:
        return self.best < min(self.rivals)


def ratio(load: Workload, allocator: str) -> float:
    """R_safe over U_max; infinite where there is none."""
    over = measured(load, allocator).over_u_max
    return float("inf") if over is None else over


def program(name: str) -> Program:
    print(name, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        stored = opened(name, Path(folder))
        loads = {alignment: load_workload(stored, alignment) for alignment in (4, 8)}
        told = [ratio(loads[alignment], one) for one, alignment in LAYOUTS + RIVALS]
    return Program(
        name.removesuffix(".heap.gz"),
        tuple(told[: len(LAYOUTS)]),
        tuple(told[len(LAYOUTS) :]),
    )


def verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "not reached"


def print_programs(programs: list[Program]) -> None:
    columns = [f"{name} {alignment}" for name, alignment in LAYOUTS + RIVALS]
    rows = [
        (
            one.name,
            *(f"{value:.4f}" for value in one.layouts + one.rivals),
            f"{one.best:.4f}",
            "below" if one.beats_rivals else "not below",
        )
        for one in programs
    ]
    out_table(("program", *columns, "best layout", "the best rival"), rows)


def print_aims(programs: list[Program]) -> None:
    median = statistics.median(one.best for one in programs)
    below = sum(one.beats_rivals for one in programs)
    rows = [
        ("median", f"{median:.4f}", f"{MEDIAN:.3f}", verdict(median <= MEDIAN)),
        ("below the best rival", str(below), str(BELOW_RIVALS), verdict(below >= BELOW_RIVALS)),
    ]
    rows += [
        (
            one.name,
            f"{one.best:.4f}",
            f"{SMALL[one.name]:.3f}",
            verdict(one.best <= SMALL[one.name]),
        )
        for one in programs
        if one.name in SMALL
    ]
    out_table(("aim", "found", "at most, or at least", ""), rows)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="programs in whose names this word occurs")
    word = arguments.parse_args().only
    programs = [program(name) for name in recordings() if word in name]
    if not programs:
        sys.exit("no recorded program (set HEAPFIT_CORPUS)")
    print_programs(programs)
    print_aims(programs)


if __name__ == "__main__":
    main()
