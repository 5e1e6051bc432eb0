# SPDX-License-Identifier: Apache-2.0
"""The code an allocator takes, linked for a board: what init, alloc and free need, and no more.

Code and constants of core, with what the compiler itself calls, are weighed; the plan's tables
are not. A plan with a shared allocator refers to it by a table of all operations, which keeps all
of them; `few_operations` weighs it with a table of the few that init, alloc and free call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapfit.generate.texts import allocators_of
from heapfit.target import sources
from heapfit.target.command import run
from heapfit.target.image import replay_design, write_plan

if TYPE_CHECKING:
    from heapfit.generate.names import Text
    from heapfit.plan import Plan
    from heapfit.target.board import Board
    from heapfit.target.workbench import Build, Workbench

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


def code_size(
    workbench: Workbench, board: Board, build: Build, plan: Plan, few_operations: bool = False
) -> CodeSize:
    """Links init, alloc and free of the plan's allocator and weighs them."""
    design = replay_design(plan, plan.engine().smallest_region, plan.alignment)
    folder = workbench.image_folder()
    write_plan(design, folder)
    outer, *inner = allocators_of(design)
    operation = f"-DHEAP_OPERATION(operation)=hfit_{outer}_##operation"
    few = _few_options(inner) if few_operations else ()
    weighed = folder / "weighed.o"
    workbench.compile(board, build, "target/size/weighed.c", weighed, (operation, *few))
    linked_too = (*(f"core/src/{name}.c" for name in (outer, *inner)), "target/board/memory.c")
    core = [workbench.shared_object(board, build, source) for source in linked_too]
    kept = [f"-Wl,-u,{name}" for name in ("weighed_plan", *(f"hfit_{outer}_{op}" for op in _KEPT))]
    script = f"-T{sources.root() / 'target/size/size.ld'}"
    linked = folder / "size.elf"
    workbench.link(board, linked, [weighed, *core], ("-Wl,--entry=0", *kept, script))
    listing = run([f"{board.tools}size", "-A", linked.name], folder)
    found = {name: int(size) for name, size in _SECTION.findall(listing)}
    return CodeSize(found["code"], found.get("constants", 0), found.get("memory", 0))


def _few_options(shared: list[Text]) -> tuple[str, ...]:
    """Puts a table of few operations where the plan names the shared allocator's own."""
    if not shared:
        return ()
    [name] = shared
    return (f"-Dhfit_{name}_unlocked=few_operations", f"-DFEW(operation)=hfit_{name}_##operation")
