/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records ESP-IDF's heaps, of all capabilities as one. Link with
 *   -Wl,--wrap=heap_caps_malloc_base,--wrap=heap_caps_calloc_base,--wrap=heap_caps_realloc_base
 *   -Wl,--wrap=heap_caps_aligned_alloc_base,--wrap=heap_caps_free
 * malloc, new and heap_caps_* come to these functions, as of ESP-IDF 0aad54e2 (heap_caps_base.c).
 * Calls within that source are not seen by the linker, so a request is recorded once. A spinlock of
 * both cores is held from the call to its record; the hooks of CONFIG_HEAP_USE_HOOKS come after the
 * heap's lock, when another core may have been given the block.
 */
#include "adapters/esp_idf_config.h"
#include "adapters/one_heap.h"

#include <esp_attr.h>
#include <esp_heap_caps.h>

#ifndef MALLOC_CAP_EXEC /* ESP-IDF has none where memory protection leaves no executable heap */
#define MALLOC_CAP_EXEC 0
#endif

void *__real_heap_caps_malloc_base(size_t size, uint32_t capabilities);
void *__real_heap_caps_calloc_base(size_t count, size_t size, uint32_t capabilities);
void *__real_heap_caps_realloc_base(void *old, size_t size, uint32_t capabilities);
void *__real_heap_caps_aligned_alloc_base(size_t alignment, size_t size, uint32_t capabilities);
void __real_heap_caps_free(void *block);
void *__wrap_heap_caps_malloc_base(size_t size, uint32_t capabilities);
void *__wrap_heap_caps_calloc_base(size_t count, size_t size, uint32_t capabilities);
void *__wrap_heap_caps_realloc_base(void *old, size_t size, uint32_t capabilities);
void *__wrap_heap_caps_aligned_alloc_base(size_t alignment, size_t size, uint32_t capabilities);
void __wrap_heap_caps_free(void *block);

portMUX_TYPE hfit_esp_idf_lock = portMUX_INITIALIZER_UNLOCKED;

/* What a request needs, in the bits of docs/evidence/schemas.md. malloc itself asks for
 * MALLOC_CAP_DEFAULT, with MALLOC_CAP_INTERNAL up to the limit that is set: it needs neither. */
static IRAM_ATTR void record_needs(uint32_t capabilities) {
    const uint32_t asked = (capabilities & MALLOC_CAP_DEFAULT) != 0 ? 0 : capabilities;
    const uint8_t needs =
        (uint8_t)((asked & MALLOC_CAP_INTERNAL ? 1 : 0) | (asked & MALLOC_CAP_DMA ? 2 : 0) |
                  (asked & MALLOC_CAP_EXEC ? 4 : 0) | (asked & MALLOC_CAP_SPIRAM ? 8 : 0) |
                  (asked & MALLOC_CAP_8BIT ? 128 : 0));
    hfit_record_needs(&hfit_one_heap, needs);
}

IRAM_ATTR void *__wrap_heap_caps_malloc_base(size_t size, uint32_t capabilities) {
    portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock);
    void *block = __real_heap_caps_malloc_base(size, capabilities);
    record_needs(capabilities);
    hfit_record_alloc(&hfit_one_heap, block, size);
    portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock);
    return block;
}

IRAM_ATTR void *__wrap_heap_caps_calloc_base(size_t count, size_t size, uint32_t capabilities) {
    portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock);
    void *block = __real_heap_caps_calloc_base(count, size, capabilities);
    record_needs(capabilities);
    hfit_record_zeroed(&hfit_one_heap, block, count * size);
    portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock);
    return block;
}

IRAM_ATTR void *__wrap_heap_caps_realloc_base(void *old, size_t size, uint32_t capabilities) {
    portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock);
    void *block = __real_heap_caps_realloc_base(old, size, capabilities);
    if (size > 0) {
        record_needs(capabilities);
    }
    hfit_record_resize(&hfit_one_heap, old, block, size);
    portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock);
    return block;
}

IRAM_ATTR void *__wrap_heap_caps_aligned_alloc_base(size_t alignment, size_t size,
                                                    uint32_t capabilities) {
    portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock);
    void *block = __real_heap_caps_aligned_alloc_base(alignment, size, capabilities);
    record_needs(capabilities);
    hfit_record_aligned(&hfit_one_heap, block, size, alignment);
    portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock);
    return block;
}

IRAM_ATTR void __wrap_heap_caps_free(void *block) {
    portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock);
    hfit_record_free(&hfit_one_heap, block);
    __real_heap_caps_free(block);
    portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock);
}
