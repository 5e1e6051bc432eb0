# SPDX-License-Identifier: Apache-2.0
"""Zephyr's heap (lib/heap/heap.c)."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import WORD, Family, SystemHeap
from heapfit.plan.plan import Plan


def sys_heap(_alignment: int = 4) -> SystemHeap:
    """Zephyr's sys_heap: blocks at multiples of 4, of 8 above 256 KiB, for any alignment."""
    return SystemHeap(
        name="sys_heap",
        title="Zephyr's sys_heap",
        version="4.1.99, 9a57e98",
        setting="K_HEAP_DEFINE",
        plan=Plan("sys_heap", {"alignment": 4}),
        own=3 * WORD,  # struct sys_heap
        unset=3 * WORD,
        is_region=True,
        tolerance=0.0,
    )


HEAPS: Final[Family] = {"sys_heap": sys_heap}
