# SPDX-License-Identifier: Apache-2.0
"""Code of single allocators on a Cortex-M4: init, alloc and free, linked without the rest.

Core's and the baselines' alike; a plan's tables are not weighed. Needs arm-none-eabi-gcc and a
checkout.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit.errors import HeapfitError

if TYPE_CHECKING:
    from harness.board import Board
    from harness.workbench import Build, Workbench

BOARD = "cortex-m4"
HOW = "Cortex-M4, arm-none-eabi-gcc -Os, safety level 0: init, alloc and free"
_SECTION = re.compile(r"^\.(code|constants) +(\d+)", re.MULTILINE)
_KEPT = ("init", "alloc", "free")


def why_not() -> str | None:
    """What is missing to weigh code here; None: nothing."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return "arm-none-eabi-gcc is not installed here"
    from harness import sources

    try:
        sources.root()
    except HeapfitError as error:
        return str(error)
    return None


def code_sizes(allocators: Sequence[str]) -> dict[str, int]:
    """Bytes of code and constants of each."""
    from harness.board import BOARDS
    from harness.workbench import Build, Workbench

    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        workbench = Workbench(Path(folder))
        build = Build("Os", safety=0)
        return {name: _weighed(workbench, BOARDS[BOARD], build, name) for name in allocators}


def _weighed(workbench: Workbench, board: Board, build: Build, name: str) -> int:
    from harness import sources
    from heapfit.importers.external_tool import run

    here = sources.root()
    source = sources.allocator_source(name)
    options = (f"-I{here / 'baselines/include'}", f"-I{here / 'baselines'}")
    objects = [
        workbench.shared_object(board, build, source, options),
        workbench.shared_object(board, build, "target/board/memory.c"),
    ]
    kept = [f"-Wl,-u,hfit_{name}_{operation}" for operation in _KEPT]
    linked = workbench.image_folder() / "size.elf"
    script = f"-T{here / 'target/size/size.ld'}"
    workbench.link(board, linked, objects, ("-Wl,--entry=0", *kept, script))
    listing = run([f"{board.tools}size", "-A", linked.name], linked.parent)
    return sum(int(size) for _, size in _SECTION.findall(listing))
