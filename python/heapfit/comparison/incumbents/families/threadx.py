# SPDX-License-Identifier: Apache-2.0
"""ThreadX's byte pool (common/src/tx_byte_*.c)."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import Family, Resizes, SystemHeap
from heapfit.plan.plan import Plan


def _byte_pool(_alignment: int) -> SystemHeap:
    """Next fit over a ring of all chunks, joined while searched; at multiples of 4."""
    return SystemHeap(
        name="threadx",
        title="ThreadX byte pool",
        version="7ad78c4",
        setting="pool_size of tx_byte_pool_create",
        plan=Plan("byte_pool", {"alignment": 4}),
        own=8,  # the chunk that ends the pool
        aligns=False,
        resizes=Resizes.MOVE,
        has_sentinel=False,
        tolerance=0.0,
    )


HEAPS: Final[Family] = {"threadx": _byte_pool}
