# SPDX-License-Identifier: Apache-2.0
"""NuttX's heap (mm/mm_heap)."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import Family, SystemHeap
from heapfit.plan.plan import Plan

_CONTROL: Final = 352  # struct mm_heap_s with the defaults of Kconfig, to a multiple of 8
_NODE: Final = 8  # a node without links: one before the first chunk, one behind the last


def _mm(_alignment: int) -> SystemHeap:
    """Best fit over lists sorted by size, header 4, at least 16 a chunk, at multiples of 8."""
    return SystemHeap(
        name="nuttx",
        title="NuttX's mm",
        version="4ebc8a7",
        setting="memory of mm_initialize",
        plan=Plan("sorted_fit", {"alignment": 8, "least_split": 16}),
        own=_CONTROL + 2 * _NODE,
        refuses_zero=False,
        tolerance=0.0,
    )


HEAPS: Final[Family] = {"nuttx": _mm}
