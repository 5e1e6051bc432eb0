# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS: configTOTAL_HEAP_SIZE for heap_4 (and each region of heap_5).

portable/MemMang/heap_4.c of the kernel: free chunks in address order, the first that fits is taken
and split, neighbours coalesce; BlockLink_t stands before every block, and once at the end.
"""

from __future__ import annotations

from heapfit.comparison.incumbents.families.freertos import heap_4
from heapfit.progress import Progress
from heapfit.sizing.heap_region import size_heap
from heapfit.sizing.settings import (
    Assumption,
    Form,
    Setting,
    Settings,
    SettingsOptions,
    override_assumptions,
)
from heapfit.sizing.systems.named import size_named_settings
from heapfit.trace.stored import Trace

ASSUMPTIONS = (
    Assumption("alignment", 8, "portBYTE_ALIGNMENT in bytes", "most 32-bit ports"),
    Assumption(
        "block_link", 8, "sizeof(BlockLink_t), aligned, in bytes", "heap_4.c with 32-bit pointers"
    ),
)


def settings_for(trace: Trace, options: SettingsOptions, progress: Progress) -> Settings:
    """The size of one heap for every request of the trace."""
    known = override_assumptions(ASSUMPTIONS, options.assume, "freertos")
    alignment, link = known["alignment"].value, known["block_link"].value
    own = size_named_settings(trace, options, progress)
    heap = size_heap(trace, heap_4(alignment, link), options.admission, options.named, progress)
    total = Setting(
        "configTOTAL_HEAP_SIZE",
        heap.run_out.count + alignment,
        "none: every project sets it",
        heap.run_out,
        f"Simulated from heap_4's algorithm, plus {alignment} bytes for an unaligned array. Add "
        "stacks and queues of tasks that the trace does not hold.",
    )
    return Settings(
        system="FreeRTOS heap_4",
        form=Form.DEFINE,
        admission=options.admission,
        settings=(*(setting for setting, _ in own), total),
        memory=total.value + sum(size * setting.value for setting, size in own),
        choices=(),
        assumptions=tuple(known.values()),
        remarks=(f"smallest that serves the trace: {heap.r_safe + alignment:,} bytes",),
    )
