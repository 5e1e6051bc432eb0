# SPDX-License-Identifier: Apache-2.0
"""The heaps that each system or library brings, by family."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from heapfit.comparison.incumbents.system_heap import WORD, Family, Resizes, SystemHeap
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import parse_sizes

# ---- FreeRTOS (portable/MemMang/heap_N.c)

_PORT: Final = 8  # portBYTE_ALIGNMENT of most ports
HEAP_4_LINK: Final = 8  # sizeof(BlockLink_t) with 32-bit pointers


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


def _heap_1(_alignment: int) -> SystemHeap:
    """heap_1.c: block behind block, without headers; nothing is ever freed."""
    return replace(
        heap_4(),
        name="heap_1",
        title="FreeRTOS heap_1",
        plan=Plan("sized", {"alignment": _PORT}),
        own=2 * _PORT,  # cut off to align; and the last byte is never given
        frees=False,
    )


def _heap_2(_alignment: int) -> SystemHeap:
    """heap_2.c: best fit in one list by size; free neighbours are never joined."""
    scalars = {"coalesce": 0, "lists": 0, "header_size": 8, "least_split": 17}
    return replace(
        heap_4(),
        name="heap_2",
        title="FreeRTOS heap_2",
        plan=Plan("sorted_fit", {"alignment": _PORT, **scalars}),
        own=_PORT,  # cut off to align
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
FREERTOS_HEAPS: Final[Family] = {
    "heap_1": _heap_1,
    "heap_2": _heap_2,
    "heap_4": lambda _: heap_4(),
    "heap_5": lambda _: heap_4(),
}


# ---- lwIP (core/mem.c)

LWIP_SHORT_HEADER, LWIP_LONG_HEADER = 8, 12  # struct mem with 16-bit sizes; with 32-bit ones
LWIP_LARGEST_SHORT: Final = 64_000  # of MEM_SIZE, with 16-bit sizes
LWIP_LEAST: Final = 12  # MIN_SIZE of mem_malloc


def lwip_mem(
    alignment: int, header: int = LWIP_SHORT_HEADER, least: int = LWIP_LEAST
) -> SystemHeap:
    """core/mem.c: all blocks in a row, the lowest free one that fits; realloc only shrinks."""
    header, least = (-(-size // alignment) * alignment for size in (header, least))
    scalars = {"list": 1, "header_size": header, "least_split": header + least}
    return SystemHeap(
        name="lwip-mem",
        title="lwIP mem_malloc",
        version="2.2, 3d896ba",
        setting="MEM_SIZE",
        plan=Plan("first_fit", {"alignment": alignment, **scalars}),
        own=2 * header,  # of the array: a header at its end, and one for what is cut to align
        unset=2 * header,
        aligns=False,
        resizes=Resizes.SHRINK,
        least=least,
        walks=True,
        tolerance=0.1,
    )


LWIP_HEAPS: Final[Family] = {"lwip-mem": lwip_mem}


# ---- C libraries for boards: newlib and picolibc


def _nano(_alignment: int) -> SystemHeap:  # MALLOC_ALIGN is 8 on 32 bits
    return SystemHeap(
        name="newlib-nano",
        title="newlib's small malloc (nano.specs)",
        version="3.3.0",
        setting="bytes that _sbrk gives",
        plan=Plan("nano_malloc", {"alignment": 8}),
        own=2 * WORD,  # its list's head and where it began
        unset=2 * WORD,
        has_sentinel=False,
        refuses_zero=False,
        tolerance=0.0,
    )


def _picolibc(_alignment: int) -> SystemHeap:  # that of max_align_t, 8 on 32-bit boards
    return SystemHeap(
        name="picolibc",
        title="picolibc's malloc",
        version="1.8.11",
        setting="bytes that sbrk gives",
        plan=Plan("picolibc_malloc", {"alignment": 8}),
        own=4 * WORD,  # its list's head, where it began and ends; a word to align the first block
        unset=3 * WORD,
        has_sentinel=False,
        refuses_zero=False,
        tolerance=0.0,
    )


# malloc_av_, five longs and struct mallinfo.
_STATICS: Final = (2 * 128 + 2 + 5 + 10) * WORD


def _full(_alignment: int) -> SystemHeap:  # MALLOC_ALIGNMENT is 8 on 32 bits
    return SystemHeap(
        name="newlib",
        title="newlib's full malloc (without nano.specs)",
        version="3.3.0",
        setting="bytes that _sbrk gives",
        plan=Plan("newlib_malloc", {"alignment": 8}),
        own=_STATICS,
        unset=_STATICS,
        page=4096,  # malloc_getpagesize
        has_sentinel=False,
        tolerance=0.0,
    )


LIBRARY_HEAPS: Final[Family] = {"newlib": _full, "newlib-nano": _nano, "picolibc": _picolibc}


# ---- real-time systems: Zephyr, ThreadX, NuttX and RT-Thread


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


REAL_TIME_HEAPS: Final[Family] = {
    "sys_heap": sys_heap,
    "threadx": _byte_pool,
    "nuttx": _mm,
    "rt-thread": _rt_thread,
}


# ---- allocators that programs include: umm_malloc, and TLSF as others write it

_UMM_BLOCK: Final = 8  # UMM_BLOCK_BODY_SIZE


def _umm_malloc(_alignment: int) -> SystemHeap:
    """Best fit over blocks of 8 bytes, 32,768 at most; at multiples of 4."""
    return SystemHeap(
        name="umm_malloc",
        title="umm_malloc",
        version="ed68d0b",
        setting="UMM_MALLOC_CFG_HEAP_SIZE",
        plan=Plan("block_runs", {"alignment": 4, "block_size": _UMM_BLOCK}),
        own=_UMM_BLOCK,  # block 0
        aligns=False,
        has_sentinel=False,
        tolerance=0.0,
    )


# control_t on 32 bits: the null block, a map of 24 first levels and of each, 32 lists a level.
_CONTROL: Final = 16 + 4 + 24 * 4 + 24 * 32 * 4


def _mattconte(_alignment: int) -> SystemHeap:  # tlsf.c has 4 on 32 bits
    return SystemHeap(
        name="mattconte-tlsf",
        title="TLSF of mattconte/tlsf",
        version="deff9ab, 32 bits",
        setting="memory of tlsf_create_with_pool",
        plan=Plan("tlsf", {"alignment": 4, "second_level": 5, "probes": 0}),
        own=_CONTROL + WORD,  # of tlsf_pool_overhead the sentinel; the rest is the first header
        tolerance=0.0,
    )


def _espressif(_alignment: int) -> SystemHeap:  # tlsf.c has 4 on 32 bits
    return SystemHeap(
        name="esp-tlsf",
        title="TLSF of ESP-IDF (multi_heap)",
        version="espressif/tlsf ba64d19",
        setting="memory of heap_caps_add_region",
        plan=Plan("esp_tlsf", {"alignment": 4}),
        own=5 * WORD,  # multi_heap's heap_t
        is_region=True,
        tolerance=0.0,
    )


ALLOCATOR_HEAPS: Final[Family] = {
    "umm_malloc": _umm_malloc,
    "mattconte-tlsf": _mattconte,
    "esp-tlsf": _espressif,
}

FAMILIES: Final = (FREERTOS_HEAPS, LWIP_HEAPS, LIBRARY_HEAPS, REAL_TIME_HEAPS, ALLOCATOR_HEAPS)
