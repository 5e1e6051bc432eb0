# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS's heaps (portable/MemMang/heap_N.c)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from heapfit.comparison.incumbents.system_heap import Family, Resizes, SystemHeap
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import parse_sizes

_PORT: Final = 8  # portBYTE_ALIGNMENT of most ports
HEAP_4_LINK: Final = 8  # sizeof(BlockLink_t) with 32-bit pointers


def _heap_1(_alignment: int) -> SystemHeap:
    """heap_1.c: block behind block, without headers; nothing is ever freed."""
    return SystemHeap(
        name="heap_1",
        title="FreeRTOS heap_1",
        version="kernel 4269c69",
        setting="configTOTAL_HEAP_SIZE",
        plan=Plan("sized", {"alignment": _PORT}),
        own=2 * _PORT,  # cut off to align; and the last byte is never given
        aligns=False,
        resizes=Resizes.MOVE,
        frees=False,
        tolerance=0.0,
    )


def _heap_2(_alignment: int) -> SystemHeap:
    """heap_2.c: best fit in one list by size; free neighbours are never joined."""
    scalars = {"coalesce": 0, "lists": 0, "header_size": 8, "least_split": 17}
    return SystemHeap(
        name="heap_2",
        title="FreeRTOS heap_2",
        version="kernel 4269c69",
        setting="configTOTAL_HEAP_SIZE",
        plan=Plan("sorted_fit", {"alignment": _PORT, **scalars}),
        own=_PORT,  # cut off to align
        aligns=False,
        resizes=Resizes.MOVE,
        tolerance=0.0,
    )


def heap_4(alignment: int = 8, link: int = HEAP_4_LINK) -> SystemHeap:
    """heap_4.c: free chunks by address, the first that fits, a rest above two links split off."""
    scalars = {"list": 1, "header_size": max(4, link), "least_split": 2 * link + 1}
    return SystemHeap(
        name="heap_4",
        title="FreeRTOS heap_4",
        version="kernel 4269c69",
        setting="configTOTAL_HEAP_SIZE",
        plan=Plan("first_fit", {"alignment": alignment, **scalars}),
        own=link,  # pxEnd
        aligns=False,
        resizes=Resizes.MOVE,
        tolerance=0.0,
    )


_LEAST_REGION: Final = 64  # bytes; below, our marks would not fit


def heap_5(text: str, values: str) -> SystemHeap:
    """heap_5.c: heap_4's rule over regions by address, whose sizes are `values`."""
    try:
        sizes = parse_sizes(values)
    except HeapfitError:
        sizes = ()
    if len(sizes) < 2 or min(sizes) < _LEAST_REGION or sum(sizes) >= 2**32:
        raise HeapfitError(
            f"{text}: heap_5 takes the sizes of its regions by address, two at least of "
            f"{_LEAST_REGION} bytes or more each (heap_5:16K,8K)"
        )
    whole = [size // 8 * 8 for size in sizes]  # what is beyond a multiple of 8 it cannot use
    return replace(
        heap_4(),
        name="heap_5",
        title="FreeRTOS heap_5",
        setting="sizes of vPortDefineHeapRegions",
        regions=tuple(whole[:-1]),
        typed=tuple(whole),
    )


# A port aligns blocks to 8 whatever the plan asks, which `settings freertos` alone changes.
HEAPS: Final[Family] = {
    "heap_1": _heap_1,
    "heap_2": _heap_2,
    "heap_4": lambda _: heap_4(),
    "heap_5": lambda _: heap_4(),
}
