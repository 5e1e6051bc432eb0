# SPDX-License-Identifier: Apache-2.0
"""The worst case of a generated heap's calls, from its own code linked for a Cortex-M4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.images import Images
from heapfit.generate.linked_folder import CORTEX_M4, FAILURES, FREESTANDING, SECTIONS, functions_of
from heapfit.generate.names import Text, core_word
from heapfit.generate.worst_case.bound import WorstCases
from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import LinkedCode, require_equal_code

# Not called while a program works.
_CALLS_OUTSIDE_WORK = (
    "_heap_init",
    "_heap_check",
    "_heap_footprint",
    "_heap_walk",
    "_heap_find_free",
    "_heap_get_windows",
)


@dataclass(frozen=True, slots=True)
class CallBound:
    """The worst case of one function, callees included, the build's own locks not."""

    function: Text
    instructions: int
    a_byte: int  # more for each byte that is moved or cleared
    stack: int  # bytes


@dataclass(frozen=True, slots=True)
class CallBounds:
    """The worst cases of the generated header's functions, in its order."""

    compiler: Text
    target: Text  # options that choose the processor
    options: Text
    sections: Text
    calls: tuple[CallBound, ...]
    unbounded: tuple[Text, ...]  # functions whose code has a loop without a bound

    @property
    def width(self) -> int:
        """The length of the longest function name."""
        return max(map(len, [*(call.function for call in self.calls), *self.unbounded]))


def call_bounds(folder: Path, header: Path, images: Images) -> CallBounds | None:
    """The worst case of each call; None without a cross compiler or a linked folder."""
    if images.plain is None or images.marked is None:
        return None
    try:
        require_equal_code(images.marked, images.plain)
        cases = WorstCases(LinkedCode(images.marked, CORTEX_M4.tools))
        found = dict(_find_bounds(cases, functions_of(header)))
        compiler = CORTEX_M4.about(folder)
    except (*FAILURES, HeapfitError):
        return None
    target, options, sections = (
        Text(" ".join(words)) for words in (CORTEX_M4.target, FREESTANDING, SECTIONS)
    )
    calls = tuple(bound for bound in found.values() if bound is not None)
    unbounded = tuple(function for function, bound in found.items() if bound is None)
    return CallBounds(compiler, target, options, sections, calls, unbounded)


def _find_bounds(
    cases: WorstCases, functions: list[str]
) -> Iterator[tuple[Text, CallBound | None]]:
    """Each function and its worst case, None where its code has no bound."""
    for function in functions:
        if function.endswith(_CALLS_OUTSIDE_WORK):
            continue
        name = core_word(function)
        try:
            worst = cases.find(function)
        except UnboundedError:
            yield name, None
        else:
            yield name, CallBound(name, worst.instructions, worst.a_byte, worst.stack)
