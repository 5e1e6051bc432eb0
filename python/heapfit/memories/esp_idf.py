# SPDX-License-Identifier: Apache-2.0
"""A rule by size as ESP-IDF's settings.

ESP-IDF 5.5 takes both from its heap: malloc tries internal RAM first up to the limit
(components/heap/heap_caps_base.c), and the reserve is a heap of its own in internal RAM, which only
requests for MALLOC_CAP_DMA or MALLOC_CAP_INTERNAL reach, and first
(components/esp_psram/system_layer/esp_psram.c, esp_psram_extram_reserve_dma_pool). From 6.1 on
malloc reaches it, too.
"""

from __future__ import annotations

from dataclasses import replace

from heapfit.memories.search import InsideRule

STANDARD = InsideRule(16384, reserve=32768)  # ESP-IDF's own values
WITHOUT_RESERVE = replace(STANDARD, reserve=0)


def settings_text(rule: InsideRule) -> tuple[str, str]:
    """The lines of sdkconfig for a rule by size.

    >>> settings_text(InsideRule(128))
    ('CONFIG_SPIRAM_MALLOC_ALWAYSINTERNAL=128', 'CONFIG_SPIRAM_MALLOC_RESERVE_INTERNAL=0')
    """
    return (
        f"CONFIG_SPIRAM_MALLOC_ALWAYSINTERNAL={rule.up_to}",
        f"CONFIG_SPIRAM_MALLOC_RESERVE_INTERNAL={rule.reserve}",
    )
