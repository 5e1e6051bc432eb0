/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells esp_idf.c who asks, with HFIT_RECORD_CALL_SITES: the functions that it records lie below
 * those that programs call. Link with
 *   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=memalign,--wrap=aligned_alloc
 *   -Wl,--wrap=heap_caps_malloc,--wrap=heap_caps_calloc,--wrap=heap_caps_realloc
 *   -Wl,--wrap=heap_caps_aligned_alloc
 * operator new is told as such, heap_caps_malloc_prefer and its kin as unknown. The callback of
 * heap_caps_register_failed_alloc_callback runs within the lock: it must not block.
 */
#include "adapters/esp_idf_config.h"
#include "adapters/one_heap.h"

#include <esp_attr.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_memalign(size_t alignment, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_heap_caps_malloc(size_t size, uint32_t capabilities);
void *__real_heap_caps_calloc(size_t count, size_t size, uint32_t capabilities);
void *__real_heap_caps_realloc(void *old, size_t size, uint32_t capabilities);
void *__real_heap_caps_aligned_alloc(size_t alignment, size_t size, uint32_t capabilities);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_heap_caps_malloc(size_t size, uint32_t capabilities);
void *__wrap_heap_caps_calloc(size_t count, size_t size, uint32_t capabilities);
void *__wrap_heap_caps_realloc(void *old, size_t size, uint32_t capabilities);
void *__wrap_heap_caps_aligned_alloc(size_t alignment, size_t size, uint32_t capabilities);

/* The lock is esp_idf.c's, which takes it again. */
static IRAM_ATTR void enter(const void *caller) {
    portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock);
    if (hfit_one_heap.site == 0) {
        hfit_record_site(&hfit_one_heap, caller);
    }
}

/* A call that asked the heap for nothing leaves no site to the next. */
static IRAM_ATTR void *leave(void *block) {
    hfit_record_site(&hfit_one_heap, NULL);
    portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock);
    return block;
}

IRAM_ATTR void *__wrap_malloc(size_t size) {
    enter(__builtin_return_address(0));
    return leave(__real_malloc(size));
}

IRAM_ATTR void *__wrap_calloc(size_t count, size_t size) {
    enter(__builtin_return_address(0));
    return leave(__real_calloc(count, size));
}

IRAM_ATTR void *__wrap_realloc(void *old, size_t size) {
    enter(__builtin_return_address(0));
    return leave(__real_realloc(old, size));
}

IRAM_ATTR void *__wrap_memalign(size_t alignment, size_t size) {
    enter(__builtin_return_address(0));
    return leave(__real_memalign(alignment, size));
}

IRAM_ATTR void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    enter(__builtin_return_address(0));
    return leave(__real_aligned_alloc(alignment, size));
}

IRAM_ATTR void *__wrap_heap_caps_malloc(size_t size, uint32_t capabilities) {
    enter(__builtin_return_address(0));
    return leave(__real_heap_caps_malloc(size, capabilities));
}

IRAM_ATTR void *__wrap_heap_caps_calloc(size_t count, size_t size, uint32_t capabilities) {
    enter(__builtin_return_address(0));
    return leave(__real_heap_caps_calloc(count, size, capabilities));
}

IRAM_ATTR void *__wrap_heap_caps_realloc(void *old, size_t size, uint32_t capabilities) {
    enter(__builtin_return_address(0));
    return leave(__real_heap_caps_realloc(old, size, capabilities));
}

IRAM_ATTR void *__wrap_heap_caps_aligned_alloc(size_t alignment, size_t size,
                                               uint32_t capabilities) {
    enter(__builtin_return_address(0));
    return leave(__real_heap_caps_aligned_alloc(alignment, size, capabilities));
}
