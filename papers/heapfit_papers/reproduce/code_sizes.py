# SPDX-License-Identifier: Apache-2.0
"""Code of single allocators on a Cortex-M4, weighed by the harness of the emulated boards.

That is no part of the wheel: it needs a checkout, and arm-none-eabi-gcc.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

BOARD = "cortex-m4"
HOW = "Cortex-M4, arm-none-eabi-gcc -Os, safety level 0: init, alloc and free"


@dataclass(frozen=True, slots=True)
class Weighed:
    """Bytes of code and constants by name, or what is missing to weigh it here."""

    sizes: Mapping[str, int]
    missing: str = ""


def weigh(allocators: Sequence[str], board: str = BOARD) -> Weighed:
    """Single allocators, each linked with no library: init, alloc and free."""
    missing = _missing(board)
    if missing:
        return Weighed({}, missing)
    from harness.board import BOARDS  # only a checkout has the harness
    from harness.code_size import allocator_code_sizes  # likewise

    return Weighed(allocator_code_sizes(allocators, BOARDS[board]))


def _missing(board: str) -> str:
    if find_spec("harness") is None:
        return "the harness of the emulated boards is not here (run from a checkout of heapfit)"
    from harness.board import BOARDS  # likewise

    compiler = f"{BOARDS[board].tools}gcc"
    return "" if shutil.which(compiler) else f"{compiler} is not installed here"
