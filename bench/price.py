#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The price of a heap on an emulated Cortex-M4: instructions of a call and text, beside heap_4's.

    python bench/price.py                        the plans of PLANS at -Os and -O2
    python bench/price.py tlsf good_fit --checks none --opts Os
    python bench/price.py --shipped RECORDING... as a folder ships, beside what `fit` says it costs
    python bench/price.py --drop-ins             as a folder ships, over heap_4 on a FreeRTOS board

Each plan replays the gateway's recording of HEAPFIT_CORPUS, or the one given, in its own R_safe at
alignment 4; placements must be the host's. Without HEAPFIT_CORPUS it is examples/lwip-echo, which
the first line says, and no table is kept (--write). `text` is of init, alloc and free, `whole` of
all operations. heap_4 stands there as it is, and by our own body with its headers. All are counts.

What `fit` says comes from heapfit.comparison.costs, the one home of prices, which
scripts/measure_calls.py fills. `--shipped` is how far that is off for recordings that no model was
fitted to, at alignment 8. Heaps of systems are counted beside their own sources, which are not
here: docs/evidence/costs.md has their table.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory import corpus
from page_tables import add_option, write_result

from harness.board import BOARDS
from harness.calls import Calls
from harness.cases import cases_of
from harness.code_size import code_size
from harness.codes import SHIPPED_BUILD
from harness.image import link_shipped_image, replay_design, replay_image
from harness.packed_trace import PackedTrace, pack
from harness.replay import count_replay, count_shipped
from harness.verify import Case, verify
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace

M4 = BOARDS["cortex-m4"]
ALIGNMENT = 4
GATEWAY = "rtos/gateway-5.heap.gz"  # in the corpus; all kept tables are of it
OWN = Path(__file__).resolve().parents[1] / "examples/lwip-echo/lwip-echo.parquet"
PLANS = (
    "address_first_fit",
    "good_fit",
    "tlsf",
    "best_fit",
    "sized",
    "tailored:layout=1",
    "tailored",
)
# Safety level, and whether the words that a call changes are checked, too.
CHECKS = {"none": (0, False), "frees": (1, False), "frees, words": (1, True)}
TRUSTING = ("address_first_fit", "good_fit", "tailored")  # what can leave words unchecked
WHOLE = ("init", "alloc", "free", "resize", "alloc_aligned", "usable_size")
WHOLE_SIZED = ("init", "alloc", "free_sized", "resize_sized", "alloc_aligned")

# FreeRTOS heap_4 itself (kernel 4269c69, configASSERT and traces empty, no heap protector, no
# scheduler) on that recording, gcc 12.2, as it is on a board: alignment 8. R; alloc, worst; free,
# worst; bytes of both and what they call.
HEAP_4 = {
    "Os": (27_504, 81.9, 283, 55.9, 153, 384),
    "O2": (27_504, 79.5, 256, 54.3, 151, 416),
}
COLUMNS = (
    *("plan", "opt", "checked", "R", "alloc", "alloc worst", "free", "free worst"),
    *("pair", "over heap_4", "text", "whole", "replay"),
)
SHIPPED = ("tailored", "good_fit", "address_first_fit", "best_fit", "tlsf")
SHIPPED_COLUMNS = (
    *("recording", "plan", "counted", "of it glue", "modelled"),
    *("longest", "longest, modelled", "flash"),
)
DROP_INS = ("address_first_fit", "good_fit", "tailored")
DROP_IN_COLUMNS = ("heap", "checked", "a call", "over heap_4")
BOARD_HEAP_4 = 99.9  # a call there, with configASSERT (docs/evidence/costs.md)
COPY = 4  # instructions a byte that a resize copies: they are the program's, not the heap's
BASE = 16


@dataclass(frozen=True, slots=True)
class Bench:
    """What all rows share."""

    workbench: Workbench
    trace: PackedTrace
    is_gateway: bool

    def row(self, case: Case, opt: str, checks: str) -> tuple[object, ...]:
        """One plan in one build."""
        (info,) = find_allocators([case.plan.allocator])
        build = Build(opt, *CHECKS[checks], frees_by_size=info.needs_size)
        done = verify(self.workbench, case, self.trace, M4, build)
        alloc = done.calls.spread("alloc")
        free = done.calls.spread("free_sized" if info.needs_size else "free")
        assert alloc is not None and free is not None, "the recording frees nothing"
        pair = alloc.mean + free.mean
        text, whole = (
            code_size(self.workbench, M4, build, case.plan, operations).total
            for operations in ((), WHOLE_SIZED if info.needs_size else WHOLE)
        )
        return (
            *(case.name, opt, checks, case.region),
            *(f"{alloc.mean:.1f}", alloc.worst, f"{free.mean:.1f}", free.worst),
            *(f"{pair:.1f}", self.over_heap_4(pair, opt), text, whole),
            "; ".join(done.differences) or "as the host",
        )

    def over_heap_4(self, pair: float, opt: str) -> str:
        if not self.is_gateway or opt not in HEAP_4:
            return "-"
        _, alloc, _, free, *_ = HEAP_4[opt]
        return f"{pair / (alloc + free):.3f}"


def reference_rows(opts: Sequence[str]) -> Iterator[tuple[object, ...]]:
    for opt in opts:
        if opt in HEAP_4:
            region, alloc, worst, free, worst_free, text = HEAP_4[opt]
            pair = alloc + free
            figures = (alloc, worst, free, worst_free, f"{pair:.1f}", "1.000", text)
            yield ("(FreeRTOS heap_4)", opt, "none", region, *figures, "-", "-")


def cases(recording: Path, names: Sequence[str], folder: Path) -> tuple[PackedTrace, list[Case]]:
    """The recording, and the plans by name, then heap_4's rule with heap_4's headers."""
    loaded = load_trace(open_any(recording, ImportOptions(), folder), ALIGNMENT)
    theirs = find_heap("heap_4", ALIGNMENT).plan
    values = ",".join(f"{name}={value}" for name, value in theirs.scalars.items())
    return pack(loaded.trace), cases_of(loaded, [*names, f"{theirs.allocator}:{values}"])


def count_as_shipped(workbench: Workbench, plan: Plan, loaded: LoadedTrace) -> Iterator[object]:
    """The cells of SHIPPED_COLUMNS behind the names: a mean call, its glue and counts, and more."""
    region = _engine.Trial(plan.engine(), loaded.events, BASE).scan().r_safe
    assert region is not None, "no region serves the recording"
    design, packed = replay_design(plan, region, BASE, counts=True), pack(loaded.trace)
    image = link_shipped_image(workbench, M4, SHIPPED_BUILD, design)
    shipped = count_shipped(image, packed, workbench.plugin)
    core = replay_image(workbench, M4, SHIPPED_BUILD, design)
    alone = count_replay(core, plan.allocator, packed, workbench.plugin)[1]
    calls = shipped.of("alloc", "free", "resize", "alloc_aligned")
    counted = calls["instructions"].astype(int) - COPY * calls["payload"].astype(int)
    costs = estimate_costs(Heap(plan.allocator, plan), loaded, region)
    assert costs.mean is not None and costs.longest is not None, "the code was not measured"
    yield f"{counted.mean():.1f}"
    yield f"{average_pair(shipped) - average_pair(alone):.1f}"
    yield f"{costs.mean:.1f}"
    yield from (counted.max(), round(costs.longest), costs.flash)


def average_pair(calls: Calls) -> float:
    """Instructions of malloc and free alone, in the mean."""
    return float(calls.of("alloc", "free")["instructions"].mean())


def shipped_rows(recordings: Sequence[Path], scratch: Path) -> Iterator[list[object]]:
    """A line for each recording and plan."""
    for recording in recordings:
        loaded = load_trace(open_any(recording, ImportOptions(), scratch))
        for name in SHIPPED:
            figures = count_as_shipped(
                Workbench(scratch / recording.stem / name), Plan(name), loaded
            )
            yield [recording.name.split(".")[0], name, *figures]


def drop_in_rows(recording: Path, scratch: Path) -> Iterator[list[object]]:
    """A line for each heap and what it checks: malloc and free with the scheduler's calls."""
    loaded, workbench = (
        load_trace(open_any(recording, ImportOptions(), scratch)),
        Workbench(scratch),
    )
    for name, checks in itertools.product(DROP_INS, CHECKS):
        plan = Plan(name)
        region = _engine.Trial(plan.engine(), loaded.events, BASE).scan().r_safe
        assert region is not None, "no region serves the recording"
        design = replay_design(plan, region, BASE, counts=True)
        image = link_shipped_image(workbench, M4, Build("Os", *CHECKS[checks]), design)
        shipped = count_shipped(image, pack(loaded.trace), workbench.plugin)
        call = average_pair(shipped)
        yield [name, checks, f"{call:.1f}", f"{call / BOARD_HEAP_4:.2f}"]


def gateway() -> Path | None:
    given = corpus()
    return given / GATEWAY if given else None


def say_recording(recording: Path, is_given: bool) -> None:
    """Whose figures follow: another recording's are not to be compared with the gateway's."""
    why = "" if is_given or gateway() else f"; HEAPFIT_CORPUS is not set, so it is not {GATEWAY}"
    print(f"recording: {recording.name}{why}")


def print_shipped(recordings: Sequence[Path], scratch: Path, is_kept: bool) -> None:
    found = list(shipped_rows(recordings, scratch))
    console.print_table(SHIPPED_COLUMNS, found, width=console.WIDE)
    if is_kept:
        write_result("costs", SHIPPED_COLUMNS, found, keys=2)


def print_drop_ins(recording: Path, scratch: Path, is_kept: bool) -> None:
    found = list(drop_in_rows(recording, scratch))
    console.print_table(DROP_IN_COLUMNS, found, width=console.WIDE)
    if is_kept:
        write_result("drop-ins", DROP_IN_COLUMNS, found, keys=2)


def print_alone(wish: argparse.Namespace, scratch: Path) -> None:
    trace, found = cases(wish.recording, wish.names, scratch)
    bench = Bench(Workbench(scratch), trace, wish.recording == gateway())
    rows = [
        bench.row(case, opt, checks)
        for case in found
        for opt in wish.opts
        for checks in wish.checks
        if checks != "frees" or case.plan.allocator in TRUSTING
    ]
    rows += reference_rows(wish.opts) if bench.is_gateway else []
    print(f"{wish.recording.name}, alignment {ALIGNMENT}, instructions a call on a Cortex-M4")
    console.print_table(COLUMNS, rows, width=console.WIDE)
    if wish.write:
        write_result("price", COLUMNS, rows, keys=3)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", default=PLANS, metavar="NAME[:TUNABLE=VALUE,...]")
    arguments.add_argument("--recording", type=Path, help=f"in place of {GATEWAY}")
    arguments.add_argument("--checks", nargs="+", choices=CHECKS, default=tuple(CHECKS))
    arguments.add_argument("--opts", nargs="+", default=("Os", "O2"))
    arguments.add_argument("--drop-ins", action="store_true")
    arguments.add_argument("--shipped", type=Path, nargs="+", metavar="RECORDING")
    add_option(arguments)
    wish = arguments.parse_args()
    given, wish.recording = wish.recording, wish.recording or gateway() or OWN
    if not wish.shipped:
        say_recording(wish.recording, given is not None)
        if wish.write and wish.recording != gateway():
            sys.exit(f"--write: kept tables are of {GATEWAY} of HEAPFIT_CORPUS")
    with tempfile.TemporaryDirectory() as scratch:
        if wish.shipped:
            print_shipped(wish.shipped, Path(scratch), wish.write)
        elif wish.drop_ins:
            print_drop_ins(wish.recording, Path(scratch), wish.write)
        else:
            print_alone(wish, Path(scratch))


if __name__ == "__main__":
    main()
