/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asks ESP-IDF's heaps by, declared by ourselves after its documentation. */
#ifndef TEST_ESP_IDF_HEAP_H
#define TEST_ESP_IDF_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "esp_heap_caps.h"

void *heap_caps_malloc(size_t size, uint32_t caps);
void *heap_caps_malloc_prefer(size_t size, size_t count, ...);
void *heap_caps_calloc(size_t count, size_t size, uint32_t caps);
void *heap_caps_realloc(void *old, size_t size, uint32_t caps);
void *heap_caps_aligned_alloc(size_t alignment, size_t size, uint32_t caps);
void heap_caps_free(void *block);

/* Of a source of their own, below those above. */
void *heap_caps_malloc_base(size_t size, uint32_t caps);
void *heap_caps_calloc_base(size_t count, size_t size, uint32_t caps);
void *heap_caps_realloc_base(void *old, size_t size, uint32_t caps);
void *heap_caps_aligned_alloc_base(size_t alignment, size_t size, uint32_t caps);

#endif
