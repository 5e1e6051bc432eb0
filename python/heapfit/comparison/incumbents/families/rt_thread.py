# SPDX-License-Identifier: Apache-2.0
"""RT-Thread's small memory algorithm (src/mem.c)."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import Family, Resizes, SystemHeap
from heapfit.plan.plan import Plan

_ITEM: Final = 12  # struct rt_small_mem_item, and MIN_SIZE
_CONTROL: Final = 56  # struct rt_small_mem, where RT_NAME_MAX is 8


def _rt_thread(alignment: int) -> SystemHeap:
    """lwIP's rule with longer headers; rt_realloc moves a block that loses less than a chunk."""
    header = -(-_ITEM // alignment) * alignment
    scalars = {"list": 1, "header_size": header, "least_split": 2 * header}
    return SystemHeap(
        name="rt-thread",
        title="RT-Thread's small memory",
        version="4.1.1, 44d75c7 of rtthread-nano",
        setting="memory of rt_system_heap_init",
        plan=Plan("first_fit", {"alignment": alignment, **scalars}),
        own=_CONTROL + header,  # and a header at its end
        resizes=Resizes.CUT,
        aligns=False,
        least=header,
        least_cut=-(-(header + _ITEM + 1) // alignment) * alignment,
        tolerance=0.1,
    )


HEAPS: Final[Family] = {"rt-thread": _rt_thread}
