# SPDX-License-Identifier: Apache-2.0
"""lwIP's own heap (core/mem.c)."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import Family, Resizes, SystemHeap
from heapfit.plan.plan import Plan

SHORT_HEADER, LONG_HEADER = 8, 12  # struct mem with 16-bit sizes; with 32-bit ones
LARGEST_SHORT: Final = 64_000  # of MEM_SIZE, with 16-bit sizes
LEAST: Final = 12  # MIN_SIZE of mem_malloc


def lwip_mem(alignment: int, header: int = SHORT_HEADER, least: int = LEAST) -> SystemHeap:
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


HEAPS: Final[Family] = {"lwip-mem": lwip_mem}
