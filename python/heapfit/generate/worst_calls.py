# SPDX-License-Identifier: Apache-2.0
"""The worst case of a generated heap's calls, from its own code linked for a Cortex-M4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.images import Images
from heapfit.generate.linked_folder import (
    CORTEX_M4,
    FAILURES,
    FREESTANDING,
    SECTIONS,
    functions_of,
)
from heapfit.generate.names import Text, core_word
from heapfit.generate.worst_case.bound import WorstCases
from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import LinkedCode, require_equal_code

# Not called while a program works.
_UNBOUNDED_CALLS = ("_heap_init", "_heap_check", "_heap_footprint", "_heap_walk", "_heap_find_free")


@dataclass(frozen=True, slots=True)
class CallBound:
    """The worst case of one function, callees included, the build's own locks not."""

    function: Text
    instructions: int
    a_byte: int  # more for each byte that is moved or cleared
    stack: int  # bytes


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The worst cases of the generated header's functions that have a bound, in its order."""

    compiler: Text
    target: Text  # options that choose the processor
    options: Text
    sections: Text
    calls: tuple[CallBound, ...]

    @property
    def width(self) -> int:
        """The length of the longest function name."""
        return max(len(call.function) for call in self.calls)


def call_bounds(folder: Path, header: Path, images: Images) -> CallBounds | None:
    """The worst case of each call; None without a cross compiler, a linked folder or any bound."""
    if images.plain is None or images.marked is None:
        return None
    try:
        require_equal_code(images.marked, images.plain)
        cases = WorstCases(LinkedCode(images.marked, CORTEX_M4.tools))
        calls = tuple(_find_bounds(cases, functions_of(header)))
        compiler = CORTEX_M4.about(folder)
    except (*FAILURES, HeapfitError):
        return None
    target, options, sections = (
        Text(" ".join(words)) for words in (CORTEX_M4.target, FREESTANDING, SECTIONS)
    )
    return CallBounds(compiler, target, options, sections, calls) if calls else None


def _find_bounds(cases: WorstCases, functions: list[str]) -> Iterator[CallBound]:
    for function in functions:
        if function.endswith(_UNBOUNDED_CALLS):
            continue
        try:
            worst = cases.find(function)
        except UnboundedError:
            continue
        yield CallBound(core_word(function), worst.instructions, worst.a_byte, worst.stack)
