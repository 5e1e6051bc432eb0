# SPDX-License-Identifier: Apache-2.0
"""Code of single allocators on a Cortex-M4, weighed by the harness of the emulated boards.

That is no part of the wheel: it needs a checkout, and arm-none-eabi-gcc.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib.util import find_spec

BOARD = "cortex-m4"
HOW = "Cortex-M4, arm-none-eabi-gcc -Os, safety level 0: init, alloc and free"


def why_not() -> str | None:
    """What is missing to weigh code here; None: nothing."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return "arm-none-eabi-gcc is not installed here"
    if find_spec("harness") is None:
        return "the harness of the emulated boards is not here (run from a checkout of heapfit)"
    return None


def code_sizes(allocators: Sequence[str]) -> dict[str, int]:
    """Bytes of code and constants of each."""
    from harness.board import BOARDS  # only a checkout has the harness
    from harness.code_size import allocator_code_sizes  # likewise

    return allocator_code_sizes(allocators, BOARDS[BOARD])
