/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records lwIP's heap, its own mem.c or what MEM_LIBC_MALLOC puts behind it. Link with
 *   -Wl,--wrap=mem_malloc,--wrap=mem_calloc,--wrap=mem_trim,--wrap=mem_free
 * and build one_heap.c with -DHFIT_RECORD_SYSTEM=HFIT_RECORD_LWIP where lwIP's heap is recorded.
 * With MEMP_MEM_MALLOC 1 the pools' elements are seen, too. What mem_calloc asks within mem.c is
 * recorded once, as zeroed. The port's lock is held from the call to its record; it nests, as lwIP
 * asks of every port.
 */
#include "adapters/one_heap.h"

#include <lwip/mem.h>
#include <lwip/sys.h>

#if !NO_SYS && !SYS_LIGHTWEIGHT_PROT
#error "set SYS_LIGHTWEIGHT_PROT to 1: without it records come in another order than calls"
#endif

void *__real_mem_malloc(mem_size_t size);
void *__real_mem_calloc(mem_size_t count, mem_size_t size);
void *__real_mem_trim(void *block, mem_size_t size);
void __real_mem_free(void *block);
void *__wrap_mem_malloc(mem_size_t size);
void *__wrap_mem_calloc(mem_size_t count, mem_size_t size);
void *__wrap_mem_trim(void *block, mem_size_t size);
void __wrap_mem_free(void *block);

void *__wrap_mem_malloc(mem_size_t size) {
    SYS_ARCH_DECL_PROTECT(before);
    SYS_ARCH_PROTECT(before);
    void *block = __real_mem_malloc(size);
    HFIT_RECORD_CALLER();
    hfit_record_alloc(&hfit_one_heap, block, size);
    SYS_ARCH_UNPROTECT(before);
    return block;
}

void *__wrap_mem_calloc(mem_size_t count, mem_size_t size) {
    SYS_ARCH_DECL_PROTECT(before);
    SYS_ARCH_PROTECT(before);
    void *block = __real_mem_calloc(count, size);
    HFIT_RECORD_CALLER();
    hfit_record_zeroed(&hfit_one_heap, block, (size_t)count * size);
    SYS_ARCH_UNPROTECT(before);
    return block;
}

/* Never moves the block; where it cannot be made smaller it stays as it was. */
void *__wrap_mem_trim(void *block, mem_size_t size) {
    SYS_ARCH_DECL_PROTECT(before);
    SYS_ARCH_PROTECT(before);
    void *trimmed = __real_mem_trim(block, size);
    if (trimmed != NULL) {
        HFIT_RECORD_CALLER();
        hfit_record_resize(&hfit_one_heap, block, trimmed, size);
    }
    SYS_ARCH_UNPROTECT(before);
    return trimmed;
}

void __wrap_mem_free(void *block) {
    SYS_ARCH_DECL_PROTECT(before);
    SYS_ARCH_PROTECT(before);
    hfit_record_free(&hfit_one_heap, block);
    __real_mem_free(block);
    SYS_ARCH_UNPROTECT(before);
}
