# SPDX-License-Identifier: Apache-2.0
"""Bytes of ROM that a generated folder's code takes, by the cross compiler on this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.costs.code_table import COMPILER
from heapfit.comparison.costs.heap_costs import find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.generate.linked_folder import OPTIONS, TOOLS, describe_compiler, least_image
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
    """The code size by the compiler that linked the folder (link_images); none without."""
    if "plain" not in images:
        return []
    image = images["plain"]
    try:
        about, sizes = describe_compiler(folder), (weigh(least_image(image)), weigh(image))
    except HeapfitError:
        return []
    return [CodeSize(Text("for Cortex-M4"), about, OPTIONS, *sizes)]


def read_code_size(plan: Plan) -> list[CodeSize]:
    """The size that `fit` prints: heapfit's own measurement, with counts, for plans of a kind."""
    code = find_code(Heap(plan.allocator, plan))
    if code is None or code.size is None:
        return []
    about = Text(f"{COMPILER}, measured for plans of this kind")
    sizes = code.size, code.adds["all"] + code.size
    return [CodeSize(Text("as `fit` prints it"), about, OPTIONS, *sizes)]


def weigh(image: Path) -> int:
    """The bytes of code of a linked image; HeapfitError without the compiler's tools."""
    sections = run([f"{TOOLS}size", "-A", image], image.parent)
    return sum(int(size) for size in _CODE_SECTION.findall(sections))
