/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what is asked of Zephyr's k_malloc and related functions. Link with
 *   -Wl,--wrap=k_malloc,--wrap=k_calloc,--wrap=k_realloc,--wrap=k_aligned_alloc,--wrap=k_free
 * Interrupts are locked from the call to its record, which is at most as long as the heap's own
 * lock; with SMP, irq_lock is a lock of all processors. A call between functions of the kernel's
 * one source is not seen by the linker, so nothing is recorded twice.
 */
#include "adapters/one_heap.h"

#include <zephyr/irq.h>

void *__real_k_malloc(size_t size);
void *__real_k_calloc(size_t count, size_t size);
void *__real_k_realloc(void *old, size_t size);
void *__real_k_aligned_alloc(size_t alignment, size_t size);
void __real_k_free(void *block);
void *__wrap_k_malloc(size_t size);
void *__wrap_k_calloc(size_t count, size_t size);
void *__wrap_k_realloc(void *old, size_t size);
void *__wrap_k_aligned_alloc(size_t alignment, size_t size);
void __wrap_k_free(void *block);

void *__wrap_k_malloc(size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_k_malloc(size);
    HFIT_RECORD_CALLER();
    hfit_record_alloc(&hfit_one_heap, block, size);
    irq_unlock(before);
    return block;
}

void *__wrap_k_calloc(size_t count, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_k_calloc(count, size);
    HFIT_RECORD_CALLER();
    hfit_record_zeroed(&hfit_one_heap, block, count * size);
    irq_unlock(before);
    return block;
}

/* Zephyr 4.1 and later have it; elsewhere nobody calls it, and the linker drops it. */
void *__wrap_k_realloc(void *old, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_k_realloc(old, size);
    HFIT_RECORD_CALLER();
    hfit_record_resize(&hfit_one_heap, old, block, size);
    irq_unlock(before);
    return block;
}

void *__wrap_k_aligned_alloc(size_t alignment, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_k_aligned_alloc(alignment, size);
    HFIT_RECORD_CALLER();
    hfit_record_aligned(&hfit_one_heap, block, size, alignment);
    irq_unlock(before);
    return block;
}

void __wrap_k_free(void *block) {
    const unsigned int before = irq_lock();
    hfit_record_free(&hfit_one_heap, block);
    __real_k_free(block);
    irq_unlock(before);
}
