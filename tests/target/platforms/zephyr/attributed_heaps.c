/* SPDX-License-Identifier: Apache-2.0 */
/* Zephyr's heaps by attribute, all in the host's. */
#include <stdlib.h>

#include <zephyr/mem_mgmt/mem_attr_heap.h>
#include <zephyr/multi_heap/shared_multi_heap.h>

void *shared_multi_heap_alloc(enum shared_multi_heap_attr attr, size_t bytes) {
    (void)attr;
    return malloc(bytes);
}

void *shared_multi_heap_aligned_alloc(enum shared_multi_heap_attr attr, size_t align,
                                      size_t bytes) {
    (void)attr;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

void *shared_multi_heap_realloc(enum shared_multi_heap_attr attr, void *ptr, size_t bytes) {
    (void)attr;
    return realloc(ptr, bytes);
}

void shared_multi_heap_free(void *block) {
    free(block);
}

void *mem_attr_heap_alloc(uint32_t attr, size_t bytes) {
    (void)attr;
    return malloc(bytes);
}

void *mem_attr_heap_aligned_alloc(uint32_t attr, size_t align, size_t bytes) {
    (void)attr;
    return aligned_alloc(align, (bytes + align - 1) / align * align);
}

void *mem_attr_heap_realloc(void *addr, size_t bytes) {
    return realloc(addr, bytes);
}

void mem_attr_heap_free(void *block) {
    free(block);
}
