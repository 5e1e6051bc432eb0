# SPDX-License-Identifier: Apache-2.0
"""A choice as lines to copy: ESP-IDF's settings, a linker script's sections, Zephyr's regions.

ESP-IDF 5.5 takes both settings from its heap: malloc tries internal RAM first up to the limit
(components/heap/heap_caps_base.c), and the reserve is a heap of its own in internal RAM, which only
requests for MALLOC_CAP_DMA or MALLOC_CAP_INTERNAL reach, and first
(components/esp_psram/system_layer/esp_psram.c, esp_psram_extram_reserve_dma_pool). From 6.1 on
malloc reaches it, too.

Zephyr 4.1.99 makes a section of each node of the devicetree with zephyr,memory-region
(include/zephyr/linker/devicetree_regions.h), and its shared multi heap has regions of one attribute
each (include/zephyr/multi_heap/shared_multi_heap.h).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from heapfit.comparison.incumbents.heap_names import list_algorithms
from heapfit.memories.search import InsideRule
from heapfit.plan.memories import Memory

STANDARD = InsideRule(16384, reserve=32768)  # ESP-IDF's own values
WITHOUT_RESERVE = replace(STANDARD, reserve=0)
_OF_ESP_IDF = {"psram", "spiram"}  # what people call the memory that its settings are about
_ESP_HEAP = "esp-tlsf"


def is_of_esp_idf(memories: Sequence[Memory], heaps: Collection[str] = ()) -> bool:
    """True if ESP-IDF's settings are about such memories.

    By the system whose heaps were recorded, where that is known; else by the memories' names.
    """
    return _ESP_HEAP in heaps if heaps else any(one.name in _OF_ESP_IDF for one in memories)


def list_system_lines(
    memories: Sequence[Memory],
    rule: InsideRule | None,
    alignment: int,
    heaps: Collection[str] = (),
) -> dict[str, tuple[str, ...]]:
    """The lines of each system that such memories are of, the likely one first.

    `rule`: the best one by size, which ESP-IDF's settings are; None: there is none. `alignment`: of
    each region's start, in bytes. Names alone do not make ESP-IDF likely, its allocator does.
    """
    others = {
        "linker": list_sections(memories, alignment),
        "zephyr": list_zephyr(memories, alignment),
    }
    if rule is None or not is_of_esp_idf(memories, heaps):
        return others
    own = {"esp_idf": list_esp_idf(rule)}
    asked = [list_algorithms().get(one.plan.allocator) for one in memories]
    return own | others if heaps or _ESP_HEAP in asked else others | own


def list_esp_idf(rule: InsideRule) -> tuple[str, ...]:
    """The lines of sdkconfig for a rule by size.

    >>> list_esp_idf(InsideRule(128))[1:]
    ('CONFIG_SPIRAM_MALLOC_ALWAYSINTERNAL=128', 'CONFIG_SPIRAM_MALLOC_RESERVE_INTERNAL=0')
    """
    return (
        f"# These choose by size alone: the row of up to {rule.up_to:,} B, in its bytes.",
        f"CONFIG_SPIRAM_MALLOC_ALWAYSINTERNAL={rule.up_to}",
        f"CONFIG_SPIRAM_MALLOC_RESERVE_INTERNAL={rule.reserve}",
    )


def list_sections(memories: Sequence[Memory], alignment: int) -> tuple[str, ...]:
    """The output sections of a linker script that hold the heaps' regions, as for an STM32.

    The script's memories are taken to have the plan's names in capitals. The generated C takes a
    section from the plan, or by -DAPP_NAME_SECTION='".name_heap"'.
    """
    return (
        "/* Write your script's names after >: of others GNU ld only warns. */",
        *(
            f".{one.name}_heap (NOLOAD) : {{ . = ALIGN({alignment}); *(.{one.name}_heap) }} > "
            + one.name.upper()
            for one in memories
        ),
    )


def list_zephyr(memories: Sequence[Memory], alignment: int) -> tuple[str, ...]:
    """Zephyr's settings, devicetree and C that give these regions to the shared multi heap.

    Each memory is taken to be a node of the devicetree with the label of its name.
    """
    return (
        "# prj.conf",
        "CONFIG_SHARED_MULTI_HEAP=y",
        "/* app.overlay */",
        *(
            f'&{one.name} {{ compatible = "zephyr,memory-region", "mmio-sram"; '
            f'zephyr,memory-region = "{one.name.upper()}"; }};'
            for one in memories
        ),
        "/* main.c */",
        "#include <zephyr/multi_heap/shared_multi_heap.h>",
        *(line for one in memories for line in _region_lines(one, alignment)),
        "shared_multi_heap_pool_init(); /* these calls before the first request */",
        *(f"shared_multi_heap_add(&{one.name}_region, NULL);" for one in memories),
    )


def _region_lines(memory: Memory, alignment: int) -> tuple[str, ...]:
    heap = f"{memory.name}_heap"
    return (
        f"Z_GENERIC_SECTION({memory.name.upper()}) static uint8_t __aligned({alignment}) "
        f"{heap}[{memory.size}];",
        f"static struct shared_multi_heap_region {memory.name}_region = {{",
        f"    .attr = {_attribute_of(memory)},",
        f"    .addr = (uintptr_t){heap},",
        f"    .size = sizeof({heap}),",
        "};",
    )


def _attribute_of(memory: Memory) -> str:
    if "external" in memory.offers:
        return "SMH_REG_ATTR_EXTERNAL"
    return "SMH_REG_ATTR_NON_CACHEABLE" if "uncached" in memory.offers else "SMH_REG_ATTR_CACHEABLE"
