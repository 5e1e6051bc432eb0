/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records ESP-IDF's heaps by its hooks (CONFIG_HEAP_USE_HOOKS), which tell what was asked for. The
 * hook of a free comes once the block is free: on two cores another may be given it first, which
 * the import takes as a free that is missing. Heaps of all capabilities are told as one.
 */
#include "adapters/one_heap.h"

#include <esp_heap_caps.h>

void esp_heap_trace_alloc_hook(void *block, size_t size, uint32_t capabilities) {
    (void)capabilities;
    hfit_record_alloc(&hfit_one_heap, block, size);
}

void esp_heap_trace_free_hook(void *block) {
    hfit_record_free(&hfit_one_heap, block);
}
