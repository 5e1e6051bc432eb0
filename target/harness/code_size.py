# SPDX-License-Identifier: Apache-2.0
"""The code an allocator takes, linked for a board: what init, alloc and free need, and no more.

Core is built for the plan, as in a folder that `heapfit generate` writes. Its code and constants,
with what the compiler itself calls, are weighed; the plan's tables are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness import sources
from harness.board import Board
from harness.image import core_objects, replay_design, write_plan
from harness.workbench import Build, Workbench
from heapfit.importers.external_tool import run
from heapfit.plan.plan import Plan

_SECTION = re.compile(r"^\.(code|constants|memory) +(\d+)", re.MULTILINE)
_KEPT = ("init", "alloc", "free")


@dataclass(frozen=True, slots=True)
class CodeSize:
    """Bytes of ROM; `memory` would be of RAM outside the region, and is 0."""

    code: int
    constants: int
    memory: int

    @property
    def total(self) -> int:
        """What a linker's map shows for core."""
        return self.code + self.constants


def code_size(workbench: Workbench, board: Board, build: Build, plan: Plan) -> CodeSize:
    """Links init, alloc and free of the plan's allocator and weighs them."""
    design = replay_design(plan, plan.engine().smallest_region, plan.alignment)
    folder = workbench.image_folder()
    write_plan(design, folder)
    core = core_objects(workbench, board, build, design, folder)
    memory = workbench.shared_object(board, build, "target/board/memory.c")
    kept = [f"-Wl,-u,hfit_{plan.allocator}_{operation}" for operation in _KEPT]
    script = f"-T{sources.root() / 'target/size/size.ld'}"
    linked = folder / "size.elf"
    workbench.link(board, linked, [*core, memory], ("-Wl,--entry=0", *kept, script))
    listing = run([f"{board.tools}size", "-A", linked.name], folder)
    found = {name: int(size) for name, size in _SECTION.findall(listing)}
    return CodeSize(found["code"], found.get("constants", 0), found.get("memory", 0))
