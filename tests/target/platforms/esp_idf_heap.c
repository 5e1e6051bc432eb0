/* SPDX-License-Identifier: Apache-2.0 */
/* ESP-IDF's functions of the heap in their layers, and the C library's over them. */
#include "esp_idf_heap.h"

#include <malloc.h>
#include <stdlib.h>

void *heap_caps_malloc(size_t size, uint32_t caps) {
    void *const block = size == 0 ? NULL : heap_caps_malloc_base(size, caps);
    return block;
}

void *heap_caps_malloc_prefer(size_t size, size_t count, ...) {
    (void)count;
    return heap_caps_malloc_base(size, MALLOC_CAP_DMA);
}

void *heap_caps_calloc(size_t count, size_t size, uint32_t caps) {
    return heap_caps_calloc_base(count, size, caps);
}

void *heap_caps_realloc(void *old, size_t size, uint32_t caps) {
    return heap_caps_realloc_base(old, size, caps);
}

void *heap_caps_aligned_alloc(size_t alignment, size_t size, uint32_t caps) {
    return heap_caps_aligned_alloc_base(alignment, size, caps);
}

void *malloc(size_t size) {
    return heap_caps_malloc_base(size, MALLOC_CAP_DEFAULT);
}

void *calloc(size_t count, size_t size) {
    return heap_caps_calloc_base(count, size, MALLOC_CAP_DEFAULT);
}

void *realloc(void *old, size_t size) {
    return heap_caps_realloc_base(old, size, MALLOC_CAP_DEFAULT);
}

void *memalign(size_t alignment, size_t size) {
    return heap_caps_aligned_alloc_base(alignment, size, MALLOC_CAP_DEFAULT);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return heap_caps_aligned_alloc_base(alignment, size, MALLOC_CAP_DEFAULT);
}

void free(void *block) {
    heap_caps_free(block);
}
