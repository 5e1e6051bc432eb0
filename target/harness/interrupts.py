# SPDX-License-Identifier: Apache-2.0
"""Interrupts at every instruction of an operation: target/interrupts/interrupts.c on a board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness import sources
from harness.board import BOARDS, Board
from harness.emulator import emulate
from harness.image import Image, core_objects, link_image, replay_design, write_plan
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, Pool

REGION = 4096  # bytes
_TLSF = Plan("tlsf")

# By the name that a table shows.
PLANS = {
    "fixed_pool": Plan("fixed_pool", {"block_size": 96}),
    "tlsf": _TLSF,
    "tailored, map": Plan("tailored"),
    "tailored, headers": Plan("tailored", {"layout": 1}),
    "good_fit": Plan("good_fit"),
    "best_fit": Plan("best_fit"),
    "first_fit": Plan("first_fit"),
    "address_first_fit": Plan("address_first_fit"),
    "segregated_fit": Plan("segregated_fit"),
    "partition_pool": Plan("partition_pool", {"partition_size": 32}),
    "chained_pool": Plan("chained_pool", {"partition_size": 32}),
    "class_pools": Plan("class_pools", pools=(Pool(24, 6, False), Pool(64, 6, False))),
    "budgeted over tlsf": Plan(
        "budgeted", pools=tuple(Pool(size, 1, True) for size in range(8, 97, 8)), shared=_TLSF
    ),
}


@dataclass(frozen=True, slots=True)
class Interrupts:
    """How often an operation was interrupted, and how often the heap was corrupt after both."""

    inside: int
    corrupt: int


def interrupts_image(workbench: Workbench, plan: Plan, locks: bool) -> Image:
    """The image for a generated heap of this plan, whose wrappers lock or do not."""
    board, build = _counting_time(BOARDS["cortex-m4"]), Build("O2")
    folder = workbench.image_folder()
    design = replay_design(plan, REGION)
    written = write_plan(design, folder)
    options = (
        f"-I{sources.root() / 'tests'}",
        f"-DHEAP_OPERATION(operation)=hfit_{plan.allocator}_##operation",
        f"-DHEAP_OWN={design.record}",
        *(['-DREPLAY_HEAP_LOCK_FILE="interrupts/lock.h"'] if locks else []),
    )
    main = folder / "interrupts.o"
    workbench.compile(board, build, "target/interrupts/interrupts.c", main, options)
    core = core_objects(workbench, board, build, written)
    return link_image(workbench, board, build, folder, [main, *core])


def _counting_time(board: Board) -> Board:
    """The same board, 64 ns an instruction."""
    return replace(board, machine=(*board.machine, "-icount", "shift=6,align=off,sleep=off"))


def interrupt(image: Image, wanted: int, first_scenario: int = 1) -> Interrupts:
    """Interrupts operations until `wanted` interrupts came inside one; the scenarios are those of
    the seeds from `first_scenario` on. A heap that hangs or faults ends a run, which the next one
    goes on with."""
    inside = corrupt = 0
    scenario, tick = first_scenario, 1
    while inside < wanted:
        told = _counts(emulate(image, (str(scenario), str(tick), str(wanted - inside))))
        inside += told["inside"]
        corrupt += told["corrupt"]
        scenario, tick = told["scenario"], told["tick"]
    return Interrupts(inside, corrupt)


def interrupt_heaps(
    workbench: Workbench, wanted: int
) -> Iterator[tuple[str, Interrupts, Interrupts]]:
    """Every heap with a lock around its calls, and without."""
    for name, plan in PLANS.items():
        locked, bare = (
            interrupt(interrupts_image(workbench, plan, locks), wanted) for locks in (True, False)
        )
        yield name, locked, bare


def _counts(printed: str) -> dict[str, int]:
    words: Sequence[str] = printed.split()
    counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    if "tick" not in counts:
        raise HeapfitError(f"the image printed {printed!r}")
    return counts
