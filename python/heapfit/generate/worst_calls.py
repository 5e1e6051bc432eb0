# SPDX-License-Identifier: Apache-2.0
"""The worst case of a generated heap's calls, from its own code linked for a Cortex-M4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.images import Images
from heapfit.generate.linked_folder import CORTEX_M4, FAILURES, FREESTANDING, SECTIONS, functions_of
from heapfit.generate.names import Text, core_word
from heapfit.generate.worst_case.bound import WorstCase, WorstCases
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


def call_bounds(folder: Path, header: Path, images: Images) -> Mapping[str, object] | None:
    """The worst case of each call of the header, callees included, the build's own locks not.

    In instructions, how many more for each byte that is moved or cleared, and bytes of stack, as
    the header's template takes them; with the functions whose code has a loop without a bound, and
    the compiler and its options. None without a cross compiler or a linked folder.
    """
    if images.plain is None or images.marked is None:
        return None
    try:
        require_equal_code(images.marked, images.plain)
        cases = WorstCases(LinkedCode(images.marked, CORTEX_M4.tools))
        names = [core_word(name) for name in functions_of(header) if _is_called(name)]
        found = {name: _find_bound(cases, name) for name in dict.fromkeys(names)}
        compiler = CORTEX_M4.about(folder)
    except (*FAILURES, HeapfitError):
        return None
    words = {"target": CORTEX_M4.target, "options": FREESTANDING, "sections": SECTIONS}
    return {
        "compiler": compiler,
        **{name: Text(" ".join(options)) for name, options in words.items()},
        "calls": [{"function": name} | asdict(worst) for name, worst in found.items() if worst],
        "unbounded": [name for name, worst in found.items() if worst is None],
        "width": max(map(len, found)),
    }


def _is_called(function: str) -> bool:
    """True for what is called while a program works."""
    return not function.endswith(_CALLS_OUTSIDE_WORK)


def _find_bound(cases: WorstCases, function: str) -> WorstCase | None:
    try:
        return cases.find(function)
    except UnboundedError:
        return None
