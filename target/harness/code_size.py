# SPDX-License-Identifier: Apache-2.0
"""The code that heaps take, linked for a board: a generated folder whole, or an allocator alone.

Of an allocator alone that is what init, alloc and free need, its constants and what the compiler
itself calls.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import sources
from harness.board import BOARDS, Board
from harness.image import core_objects, replay_design, write_plan
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.comparison.costs.code_table import FURTHER
from heapfit.external_tool import run
from heapfit.generate.code_size import weigh
from heapfit.generate.folder import write_texts
from heapfit.generate.linked_folder import (
    compile_folder,
    functions_of,
    least_of,
    link_functions,
)
from heapfit.generate.texts import header_name, source_texts
from heapfit.generate.worst_case.bound import WorstCases
from heapfit.generate.worst_case.linked_code import LinkedCode
from heapfit.plan.allocators import splits_blocks
from heapfit.plan.plan import Plan

_SECTION = re.compile(r"^\.(code|constants|memory) +(\d+)", re.MULTILINE)


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
    workbench: Workbench, board: Board, build: Build, plan: Plan, operations: Sequence[str] = ()
) -> CodeSize:
    """Links operations of the plan's allocator, built for it: init, alloc and free, if none are
    named.
    """
    design = replay_design(plan, plan.engine().smallest_region, plan.alignment)
    folder = workbench.image_folder()
    core = core_objects(workbench, board, build, write_plan(design, folder))
    memory = workbench.build_shared_object(board, build, "target/board/memory.c")
    named = [f"hfit_{plan.allocator}_{operation}" for operation in operations]
    return weigh_code(workbench, board, [*core, memory], named or _functions(plan.allocator))


def measure_shipped_sizes(plan: Plan) -> dict[str, int]:
    """Bytes of code of the plan's folder, with counts, for a Cortex-M4.

    By "bytes" what the README states, of init, malloc and free, by "stack" what malloc or free
    takes at most, and what each function of FURTHER adds alone. Empty if `generate` writes no
    folder for such a plan, since its blocks lie in pieces.
    """
    if splits_blocks(plan):
        return {}
    design = replay_design(plan, plan.engine().smallest_region, counts=True)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as scratch:
        folder, image = Path(scratch) / "heap", Path(scratch) / "image.elf"
        write_texts(folder, source_texts(design))
        compiled = compile_folder(folder, image)
        functions = functions_of(folder / header_name(design))

        def linked(ends: tuple[str, ...]) -> int:
            kept = [*least_of(functions), *(one for one in functions if one.endswith(ends))]
            link_functions(compiled, kept, image)
            return weigh(image)

        least, cases = linked(()), WorstCases(LinkedCode(image, BOARDS["cortex-m4"].tools))
        called = [one for one in least_of(functions) if not one.endswith("_heap_init")]
        known = {"bytes": least, "stack": max(map(cases.find_stack, called))}
        return known | {name: linked(ends) - least for name, ends in FURTHER.items()}


def weigh_code(
    workbench: Workbench, board: Board, objects: Sequence[Path], kept: Sequence[str]
) -> CodeSize:
    """Links objects of whose functions only these, and what they call, are kept."""
    linked = workbench.image_folder() / "size.elf"
    workbench.link(board, linked, objects, _keeping(kept))
    sections = _sections(board, linked)
    return CodeSize(sections["code"], sections.get("constants", 0), sections.get("memory", 0))


def allocator_code_sizes(allocators: Sequence[str], board: Board) -> dict[str, int]:
    """Bytes of code and constants of each, at -Os and level 0, built for any plan.

    Core's and all others alike: init, alloc and free, linked without the rest.
    """
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        workbench = Workbench(Path(folder))
        return {name: _allocator_code(workbench, board, name) for name in allocators}


def _allocator_code(workbench: Workbench, board: Board, name: str) -> int:
    build = Build("Os", safety=0)
    here = sources.root()
    layers = (here / "baselines", here / "papers")
    options = [f"-I{layer / part}" for layer in layers for part in ("include", "")]
    objects = [
        workbench.build_shared_object(board, build, sources.allocator_source(name), options),
        workbench.build_shared_object(board, build, "target/board/memory.c"),
    ]
    return weigh_code(workbench, board, objects, _functions(name)).total


def _functions(allocator: str) -> list[str]:
    """What is weighed of an allocator; of one that needs sizes its `free` would do nothing."""
    needs_size = {info.name for info in _engine.allocators() if info.needs_size}
    free = "free_sized" if allocator in needs_size else "free"
    return [f"hfit_{allocator}_{operation}" for operation in ("init", "alloc", free)]


def _keeping(functions: Sequence[str]) -> tuple[str, ...]:
    kept = (f"-Wl,-u,{function}" for function in functions)
    return ("-Wl,--entry=0", *kept, f"-T{sources.root() / 'target/size/size.ld'}")


def _sections(board: Board, linked: Path) -> dict[str, int]:
    listing = run([f"{board.tools}size", "-A", linked.name], linked.parent)
    return {name: int(size) for name, size in _SECTION.findall(listing)}
