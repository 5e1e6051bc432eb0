# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS: configTOTAL_HEAP_SIZE for heap_4 (portable/MemMang/heap_4.c)."""

from __future__ import annotations

from heapfit.comparison.incumbents.families.freertos import HEAP_4_LINK, heap_4
from heapfit.sizing.settings import Assumption, Form
from heapfit.sizing.systems.system import HeapSetting, System

FREERTOS = System(
    "FreeRTOS heap_4",
    Form.DEFINE,
    packets=None,
    heap=HeapSetting(
        "configTOTAL_HEAP_SIZE",
        "none: every project sets it",
        "Add stacks and queues of tasks that the recordings do not hold.",
        (
            Assumption("alignment", 8, "portBYTE_ALIGNMENT in bytes", "most 32-bit ports"),
            Assumption(
                "block_link",
                HEAP_4_LINK,
                "sizeof(BlockLink_t), aligned, in bytes",
                "heap_4.c with 32-bit pointers",
            ),
        ),
        lambda known: heap_4(known["alignment"], known["block_link"]),
    ),
)
