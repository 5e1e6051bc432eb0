# SPDX-License-Identifier: Apache-2.0
"""The heaps of real-time systems: Zephyr, ThreadX, NuttX and RT-Thread."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import WORD, Family, Resizes, SystemHeap
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


_NUTTX_CONTROL: Final = 352  # struct mm_heap_s with the defaults of Kconfig, to a multiple of 8
_NUTTX_NODE: Final = 8  # a node without links: one before the first chunk, one behind the last


def _mm(_alignment: int) -> SystemHeap:
    """Best fit over lists sorted by size, header 4, at least 16 a chunk, at multiples of 8."""
    return SystemHeap(
        name="nuttx",
        title="NuttX's mm",
        version="4ebc8a7",
        setting="memory of mm_initialize",
        plan=Plan("sorted_fit", {"alignment": 8, "least_split": 16}),
        own=_NUTTX_CONTROL + 2 * _NUTTX_NODE,
        refuses_zero=False,
        tolerance=0.0,
    )


_RT_ITEM: Final = 12  # struct rt_small_mem_item, and MIN_SIZE
_RT_CONTROL: Final = 56  # struct rt_small_mem, where RT_NAME_MAX is 8


def _rt_thread(alignment: int) -> SystemHeap:
    """lwIP's rule with longer headers; rt_realloc moves a block that loses less than a chunk."""
    header = -(-_RT_ITEM // alignment) * alignment
    scalars = {"list": 1, "header_size": header, "least_split": 2 * header}
    return SystemHeap(
        name="rt-thread",
        title="RT-Thread's small memory",
        version="4.1.1, 44d75c7 of rtthread-nano",
        setting="memory of rt_system_heap_init",
        plan=Plan("first_fit", {"alignment": alignment, **scalars}),
        own=_RT_CONTROL + header,  # and a header at its end
        resizes=Resizes.CUT,
        aligns=False,
        least=header,
        least_cut=-(-(header + _RT_ITEM + 1) // alignment) * alignment,
        tolerance=0.1,
    )


HEAPS: Final[Family] = {
    "sys_heap": sys_heap,
    "threadx": _byte_pool,
    "nuttx": _mm,
    "rt-thread": _rt_thread,
}
