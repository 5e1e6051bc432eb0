/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records lwIP's heap, its own mem.c or what MEM_LIBC_MALLOC puts behind it. Link with
 *   -Wl,--wrap=mem_malloc,--wrap=mem_calloc,--wrap=mem_trim,--wrap=mem_free
 * and build one_heap.c with -DHFIT_RECORD_SYSTEM=HFIT_RECORD_LWIP where lwIP's heap is recorded.
 * With MEMP_MEM_MALLOC 1 the pools' elements are seen, too. What mem_calloc asks within mem.c is
 * told once, as zeroed.
 */
#include "adapters/one_heap.h"

#include <lwip/mem.h>

void *__real_mem_malloc(mem_size_t size);
void *__real_mem_calloc(mem_size_t count, mem_size_t size);
void *__real_mem_trim(void *block, mem_size_t size);
void __real_mem_free(void *block);
void *__wrap_mem_malloc(mem_size_t size);
void *__wrap_mem_calloc(mem_size_t count, mem_size_t size);
void *__wrap_mem_trim(void *block, mem_size_t size);
void __wrap_mem_free(void *block);

void *__wrap_mem_malloc(mem_size_t size) {
    void *block = __real_mem_malloc(size);
    hfit_record_alloc(&hfit_one_heap, block, size);
    return block;
}

void *__wrap_mem_calloc(mem_size_t count, mem_size_t size) {
    void *block = __real_mem_calloc(count, size);
    hfit_record_zeroed(&hfit_one_heap, block, (size_t)count * size);
    return block;
}

/* Never moves the block; where it cannot be made smaller it stays as it was. */
void *__wrap_mem_trim(void *block, mem_size_t size) {
    void *trimmed = __real_mem_trim(block, size);
    if (trimmed != NULL) {
        hfit_record_resize(&hfit_one_heap, block, trimmed, size);
    }
    return trimmed;
}

void __wrap_mem_free(void *block) {
    hfit_record_free(&hfit_one_heap, block);
    __real_mem_free(block);
}
