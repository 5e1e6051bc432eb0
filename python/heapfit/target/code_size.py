# SPDX-License-Identifier: Apache-2.0
"""The code an allocator takes, linked for a board: what init, alloc and free need, and no more.

Code and constants of core, with what the compiler's library adds, are weighed; the plan's tables
are not. A plan with a shared allocator refers to it by a table of all operations, which keeps all
of them; `few_operations` weighs it with a table of the few that init, alloc and free call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit.generate.texts import allocators_of
from heapfit.target import sources
from heapfit.target.command import run
from heapfit.target.image import C_FLAGS, LINK_FLAGS, replay_design, write_plan

if TYPE_CHECKING:
    from heapfit.generate.names import Text
    from heapfit.plan import Plan
    from heapfit.target.board import Board
    from heapfit.target.image import Build

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
    board: Board, plan: Plan, region: int, folder: Path, build: Build, few_operations: bool = False
) -> CodeSize:
    """Links init, alloc and free of the plan's allocator in `folder` and weighs them."""
    design = replay_design(plan, region, plan.alignment)
    write_plan(design, folder)
    allocators = allocators_of(design)
    few = _few_options(allocators[1:]) if few_operations else ()
    here = sources.root()
    files: dict[str, Path] = {name: here / f"core/src/{name}.c" for name in allocators}
    files["weighed"] = here / "target/size/weighed.c"
    for name, source in files.items():
        options = (*few, f"-DHEAP_OPERATION(operation)=hfit_{allocators[0]}_##operation")
        includes = (folder, here / "core/include", here / "core")
        run(
            [
                *(f"{board.tools}gcc", *board.flags, f"-{build.optimisation}", *C_FLAGS),
                *(f"-DHFIT_SAFETY={build.safety}", *(options if name == "weighed" else ())),
                *(f"-I{path}" for path in includes),
                *("-c", source, "-o", f"{name}.o"),
            ],
            folder,
        )
    kept = [f"-Wl,-u,hfit_{allocators[0]}_{operation}" for operation in _KEPT]
    script = here / "target/size/size.ld"
    run(
        [
            *(f"{board.tools}gcc", *board.flags, *LINK_FLAGS, "-Wl,--entry=0", *kept),
            *("-Wl,-u,weighed_plan", f"-T{script}", *(f"{name}.o" for name in files)),
            *("-lgcc", "-o", "size.elf"),
        ],
        folder,
    )
    listing = run([f"{board.tools}size", "-A", "size.elf"], folder)
    found = {name: int(size) for name, size in _SECTION.findall(listing)}
    return CodeSize(found["code"], found.get("constants", 0), found.get("memory", 0))


def _few_options(shared: list[Text]) -> tuple[str, ...]:
    """Puts a table of few operations where the plan names the shared allocator's own."""
    if not shared:
        return ()
    [name] = shared
    return (f"-Dhfit_{name}_unlocked=few_operations", f"-DFEW(operation)=hfit_{name}_##operation")
