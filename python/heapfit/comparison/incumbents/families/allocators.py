# SPDX-License-Identifier: Apache-2.0
"""Allocators that programs include: umm_malloc, and TLSF as others write it."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import WORD, Family, SystemHeap
from heapfit.plan.plan import Plan

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


def _mattconte(alignment: int) -> SystemHeap:
    del alignment  # tlsf.c has 4 on 32 bits
    return SystemHeap(
        name="mattconte-tlsf",
        title="TLSF of mattconte/tlsf",
        version="deff9ab, 32 bits",
        setting="memory of tlsf_create_with_pool",
        plan=Plan("tlsf", {"alignment": 4, "second_level": 5, "probes": 0}),
        own=_CONTROL + WORD,  # of tlsf_pool_overhead the sentinel; the rest is the first header
        tolerance=0.0,
    )


def _espressif(alignment: int) -> SystemHeap:
    del alignment  # tlsf.c has 4 on 32 bits
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


HEAPS: Final[Family] = {
    "umm_malloc": _umm_malloc,
    "mattconte-tlsf": _mattconte,
    "esp-tlsf": _espressif,
}
