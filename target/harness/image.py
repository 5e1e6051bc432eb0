# SPDX-License-Identifier: Apache-2.0
"""Images: core as the checkout has it, a plan as `heapfit generate` prints it, a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from harness.board import Board
from harness.sources import allocator_source
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.external_tool import run
from heapfit.generate.names import Text
from heapfit.generate.options import GenerateOptions
from heapfit.generate.tables import HeapDesign, design_from_plan_file
from heapfit.generate.texts import heap_texts
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord

_PREFIX = Text("replay")
_CONFIG = ('-DHFIT_CONFIG_FILE="replay/image_config.h"',)


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


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """The C of a plan's heap: replay_heap.[ch], which hold its tables and its region."""

    design: HeapDesign
    folder: Path


def replay_image(workbench: Workbench, board: Board, build: Build, design: HeapDesign) -> Image:
    """An image that replays packed traces on a heap of this design."""
    folder = workbench.image_folder()
    written = write_plan(design, folder)
    main = folder / "replay.o"
    operation = f"-DHEAP_OPERATION(operation)=hfit_{design.plan.allocator}_##operation"
    workbench.compile(board, build, "target/replay/replay.c", main, (*_CONFIG, operation))
    core = core_objects(workbench, board, build, written, _CONFIG)
    payload = workbench.build_shared_object(board, build, "target/replay/payload.c", _CONFIG)
    return link_image(workbench, board, build, folder, [main, payload, *core])


def link_shipped_image(
    workbench: Workbench, board: Board, build: Build, design: HeapDesign
) -> Image:
    """An image that replays packed traces by the calls of the generated header."""
    folder = workbench.image_folder()
    written = write_plan(design, folder)
    objects = core_objects(workbench, board, build, written, _CONFIG)
    for source in ("target/replay/shipped.c", folder / "replay_heap.c"):
        objects.append(folder / f"{Path(source).stem}.o")
        workbench.compile(board, build, str(source), objects[-1], _CONFIG)
    payload = replace(build, optimisation="O2")
    objects.append(
        workbench.build_shared_object(board, payload, "target/replay/payload.c", _CONFIG)
    )
    return link_image(workbench, board, build, folder, objects)


def plan_file_of(plan: Plan, region: int, base_alignment: int = 16) -> PlanFile:
    """A plan as from a file, but of no trace."""
    base = max(base_alignment, plan.alignment)
    about = TrainingRecord("no trace", "sha256:" + 64 * "0", 0)
    return PlanFile("image", plan, region, region, base, 0, 32, about, _engine.version)


def replay_design(
    plan: Plan, region: int, base_alignment: int = 16, counts: bool = False
) -> HeapDesign:
    """What the generator is given."""
    return design_from_plan_file(
        plan_file_of(plan, region, base_alignment), _PREFIX, GenerateOptions(counts=counts)
    )


def write_plan(design: HeapDesign, folder: Path) -> WrittenPlan:
    """Writes the C of a heap."""
    for name, text in heap_texts(design).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return WrittenPlan(design, folder)


def core_objects(
    workbench: Workbench,
    board: Board,
    build: Build,
    plan: WrittenPlan,
    options: Sequence[str] = (),
) -> list[Path]:
    """The plan's allocators, built for it alone."""
    made = [plan.folder / f"{allocator}.o" for allocator in plan.design.allocators]
    for path in made:
        workbench.compile(board, build, allocator_source(path.stem), path, options)
    return made


def link_image(
    workbench: Workbench, board: Board, build: Build, folder: Path, objects: Sequence[Path]
) -> Image:
    """Links a program, in `folder`, with the board's start and semihosting.

    Archives come last, so that they give only what is missing.
    """
    image = Image(folder / "image.elf", board)
    own = [*objects, *_board_objects(workbench, board, build)]
    parts = sorted(own, key=lambda part: part.suffix == ".a")
    workbench.link(board, image.path, parts, (f"-T{board.memories}", *build.linked_with))
    return image


def _board_objects(workbench: Workbench, board: Board, build: Build) -> Iterable[Path]:
    for file in (board.start, "start.c", "semihost.c", "memory.c"):
        yield workbench.build_shared_object(board, build, f"target/board/{file}")
