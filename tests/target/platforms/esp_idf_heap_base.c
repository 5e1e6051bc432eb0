/* SPDX-License-Identifier: Apache-2.0 */
/* Below ESP-IDF's functions of the heap: an array that is never used again, in internal RAM. */
#include "esp_idf_heap.h"

#include <stdbool.h>
#include <string.h>

#include "esp_memory_utils.h"
#include "esp_timer.h"

enum { MEMORY = 1 << 20, ALIGNMENT = 64 };

static _Alignas(64) char memory[MEMORY];
static size_t used;

void *heap_caps_malloc_base(size_t size, uint32_t caps) {
    char *const block = memory + used;
    (void)caps;
    used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return block;
}

void *heap_caps_calloc_base(size_t count, size_t size, uint32_t caps) {
    return heap_caps_malloc_base(count * size, caps);
}

void *heap_caps_aligned_alloc_base(size_t alignment, size_t size, uint32_t caps) {
    (void)alignment;
    return heap_caps_malloc_base(size, caps);
}

void *heap_caps_realloc_base(void *old, size_t size, uint32_t caps) {
    void *const block = heap_caps_malloc_base(size, caps);
    return old == NULL ? block : memcpy(block, old, size / 2);
}

void heap_caps_free(void *block) {
    (void)block;
}

bool esp_ptr_internal(const void *p) {
    return p != NULL;
}

bool esp_ptr_dma_capable(const void *p) {
    return p != NULL;
}

bool esp_ptr_executable(const void *p) {
    return p == NULL;
}

bool esp_ptr_byte_accessible(const void *p) {
    return p != NULL;
}

int64_t esp_timer_get_time(void) {
    return 0;
}
