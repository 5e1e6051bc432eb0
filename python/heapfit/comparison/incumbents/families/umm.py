# SPDX-License-Identifier: Apache-2.0
"""The heap of rhempel/umm_malloc, as ESP8266 and others have it."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import Family, SystemHeap
from heapfit.plan.plan import Plan

_BLOCK: Final = 8  # UMM_BLOCK_BODY_SIZE


def _umm_malloc(_alignment: int) -> SystemHeap:
    """Best fit over blocks of 8 bytes, 32,768 at most; at multiples of 4."""
    return SystemHeap(
        name="umm_malloc",
        title="umm_malloc",
        version="ed68d0b",
        setting="UMM_MALLOC_CFG_HEAP_SIZE",
        plan=Plan("block_runs", {"alignment": 4, "block_size": _BLOCK}),
        own=_BLOCK,  # block 0
        aligns=False,
        has_sentinel=False,
        tolerance=0.0,
    )


HEAPS: Final[Family] = {"umm_malloc": _umm_malloc}
