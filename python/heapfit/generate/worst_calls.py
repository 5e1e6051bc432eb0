# SPDX-License-Identifier: Apache-2.0
"""The worst case of a generated heap's calls, from its own code linked for a Cortex-M4."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.linked_folder import (
    FREESTANDING,
    SECTIONS,
    TARGET,
    TOOLS,
    describe_compiler,
    functions_of,
)
from heapfit.generate.names import Text, core_word
from heapfit.generate.worst_case.bound import WorstCases
from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import LinkedCode, require_equal_code
from heapfit.generate.worst_case.longest_path import PathCost

# Not called while a program works.
_CALLS_OUTSIDE_WORK = (
    "_heap_init",
    "_heap_check",
    "_heap_footprint",
    "_heap_walk",
    "_heap_find_free",
    "_heap_get_windows",
)


def call_bounds(
    folder: Path, header: Path, images: Mapping[str, Path]
) -> Mapping[str, object] | None:
    """The worst case of each call of the header, callees included, the build's own locks not.

    In instructions, how many more for each byte that is moved or cleared, and bytes of stack, as
    the header's template takes them; with the functions whose code has a loop without a bound, and
    the compiler and its options. None without a cross compiler or a linked folder.
    """
    if not {"plain", "marked"} <= images.keys():
        return None
    called = (name for name in functions_of(header) if not name.endswith(_CALLS_OUTSIDE_WORK))
    names = list(dict.fromkeys(map(core_word, called)))
    found: dict[Text, PathCost] = {}
    stacks: dict[Text, int] = {}
    try:
        require_equal_code(images["marked"], images["plain"])
        cases = WorstCases(LinkedCode(images["marked"], TOOLS))
        for name in names:
            with suppress(UnboundedError):
                stacks[name] = cases.find_stack(name)
                found[name] = cases.find(name)
        compiler = describe_compiler(folder)
    except HeapfitError:
        return None
    words = {"target": TARGET, "options": FREESTANDING, "sections": SECTIONS}
    return {
        "compiler": compiler,
        **{name: Text(" ".join(options)) for name, options in words.items()},
        "calls": [{"function": name} | asdict(worst) for name, worst in found.items()],
        "unbounded": [
            {"function": name, "stack": stacks.get(name, 0)} for name in names if name not in found
        ],
        "width": max(map(len, names)),
    }
