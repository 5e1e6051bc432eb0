# SPDX-License-Identifier: Apache-2.0
"""Builds images: core as the checkout has it, a plan as `heapfit generate` prints it, a program."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.generate.names import Text
from heapfit.generate.tables import Design, design_of
from heapfit.generate.texts import allocators_of, heap_texts
from heapfit.plan import PlanFile, TrainedOn
from heapfit.target import sources
from heapfit.target.command import run

if TYPE_CHECKING:
    from heapfit.plan import Plan
    from heapfit.target.board import Board

# As core/CMakeLists.txt compiles it, and linked with nothing but the compiler's own arithmetic.
C_FLAGS = (
    *("-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-fno-pie"),
    *("-fno-tree-loop-distribute-patterns", "-fno-asynchronous-unwind-tables"),
    *("-ffunction-sections", "-fdata-sections"),
)
LINK_FLAGS = ("-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments")
_PREFIX = Text("replay")


@dataclass(frozen=True, slots=True)
class Build:
    """How an image is compiled, and what it does to free."""

    optimisation: str = "O2"
    safety: int = 1  # HFIT_SAFETY
    frees_by_size: bool = False  # by free_sized

    @property
    def compares_accesses(self) -> bool:
        """Whether the host counts the same code: it has safety level 1 and calls free."""
        return self.safety == 1 and not self.frees_by_size


@dataclass(frozen=True)
class Image:
    """A linked image."""

    path: Path
    board: Board

    @cached_property
    def symbols(self) -> dict[str, tuple[int, int]]:
        """Address and size of each symbol; the size is 0 where none is known."""
        listing = run([f"{self.board.tools}nm", "--format=posix", self.path.name], self.path.parent)
        rows = (line.split() for line in listing.splitlines())
        return {
            row[0]: (int(row[2], 16), int(row[3], 16) if len(row) > 3 else 0)
            for row in rows
            if len(row) > 2
        }


def replay_image(
    board: Board, plan: Plan, region: int, folder: Path, build: Build, base_alignment: int = 16
) -> Image:
    """An image that replays packed traces on a heap of this plan and region."""
    design = replay_design(plan, region, base_alignment)
    write_plan(design, folder)
    core = (f"core/src/{allocator}.c" for allocator in allocators_of(design))
    options = (
        '-DHFIT_CONFIG_FILE="replay/image_config.h"',
        f"-DHEAP_OPERATION(operation)=hfit_{design.plan.allocator}_##operation",
    )
    programs = ("target/replay/replay.c", "target/replay/payload.c")
    return compile_image(board, folder, [*programs, *core], build, options)


def replay_design(plan: Plan, region: int, base_alignment: int) -> Design:
    """What the generator is given: a plan as from a file, but of no trace."""
    base = max(base_alignment, plan.alignment)
    about = TrainedOn("no trace", "sha256:" + 64 * "0", 0)
    return design_of(
        PlanFile("image", plan, region, region, base, 0, 32, about, _engine.version), _PREFIX
    )


def write_plan(design: Design, folder: Path) -> None:
    """Writes replay_heap.[ch], which hold the plan's tables and the region."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in heap_texts(design).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def compile_image(
    board: Board, folder: Path, programs: Sequence[str], build: Build, options: Sequence[str]
) -> Image:
    """Compiles these sources of the checkout together with the board's own and links them."""
    here = sources.root()
    image = Image(folder / "image.elf", board)
    own = (f"target/board/{file}" for file in (board.start, "start.c", "semihost.c"))
    includes = (here / "target", here / "core/include", here / "core")
    run(
        [
            *(f"{board.tools}gcc", *board.flags, f"-{build.optimisation}", *C_FLAGS),
            *(f"-DHFIT_SAFETY={build.safety}", *options, "-I."),
            *(f"-I{folder}" for folder in includes),
            *(here / program for program in (*programs, *own)),
            *(*LINK_FLAGS, f"-L{here / 'target/board'}", f"-T{board.memories}"),
            *("-lgcc", "-o", image.path.name),
        ],
        folder,
    )
    return image
