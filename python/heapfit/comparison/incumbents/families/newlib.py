# SPDX-License-Identifier: Apache-2.0
"""The heaps of the C libraries for boards: newlib and picolibc."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import WORD, Family, SystemHeap
from heapfit.plan.plan import Plan


def _nano(alignment: int) -> SystemHeap:
    del alignment  # MALLOC_ALIGN is 8 on 32 bits
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


def _picolibc(alignment: int) -> SystemHeap:
    del alignment  # that of max_align_t, 8 on 32-bit boards
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


def _full(alignment: int) -> SystemHeap:
    del alignment  # MALLOC_ALIGNMENT is 8 on 32 bits
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


HEAPS: Final[Family] = {"newlib": _full, "newlib-nano": _nano, "picolibc": _picolibc}
