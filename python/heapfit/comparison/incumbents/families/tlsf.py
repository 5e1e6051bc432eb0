# SPDX-License-Identifier: Apache-2.0
"""TLSF as others write it."""

from __future__ import annotations

from typing import Final

from heapfit.comparison.incumbents.system_heap import WORD, Family, SystemHeap
from heapfit.plan.plan import Plan

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


HEAPS: Final[Family] = {"mattconte-tlsf": _mattconte, "esp-tlsf": _espressif}
