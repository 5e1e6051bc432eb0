# SPDX-License-Identifier: Apache-2.0
"""Bytes of ROM that a generated folder's code takes, by the compilers on this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.costs.code_table import COMPILER
from heapfit.comparison.costs.heap_costs import find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.generate.linked_folder import (
    CORTEX_M4,
    FAILURES,
    OWN,
    Compiler,
    least_image,
    run_in_folder,
)
from heapfit.generate.names import Text
from heapfit.plan.plan import Plan

_CODE_SECTION = re.compile(r"^\.text\S* +(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CodeSize:
    """The code size of functions of the generated header, by one compiler: without tables."""

    place: Text  # whose code it is: "for Cortex-M4"
    compiler: Text
    options: Text
    code: int  # bytes of what makes the heap, allocates and frees
    whole: int  # bytes of all functions


def measure_code_sizes(folder: Path, images: Mapping[str, Path]) -> list[CodeSize]:
    """The code size by each compiler that is here and could link the folder (link_images)."""
    compilers = {"plain": CORTEX_M4, "own": OWN}
    found = (
        measure_image(compiler, folder, images[name])
        for name, compiler in compilers.items()
        if name in images
    )
    return [size for size in found if size is not None]


def read_code_size(plan: Plan) -> list[CodeSize]:
    """The size that `fit` prints: heapfit's own measurement, with counts, for plans of a kind."""
    code = find_code(Heap(plan.allocator, plan))
    if code is None or code.size is None:
        return []
    about = Text(f"{COMPILER}, measured for plans of this kind")
    sizes = code.size, code.adds["all"] + code.size
    return [CodeSize(Text("as `fit` prints it"), about, CORTEX_M4.options, *sizes)]


def measure_image(compiler: Compiler, folder: Path, image: Path) -> CodeSize | None:
    """The code sizes of a folder's linked image; None if the compiler's tools fail."""
    try:
        about = compiler.about(folder)
        sizes = weigh(compiler, least_image(image)), weigh(compiler, image)
    except FAILURES:
        return None
    place = Text("for Cortex-M4" if compiler is CORTEX_M4 else "on this machine")
    return CodeSize(place, about, compiler.options, *sizes)


def weigh(compiler: Compiler, image: Path) -> int:
    """The bytes of code of a linked image; one of FAILURES without the compiler's tools."""
    sections = run_in_folder(image.parent, f"{compiler.tools}size", "-A", str(image))
    return sum(int(size) for size in _CODE_SECTION.findall(sections))
