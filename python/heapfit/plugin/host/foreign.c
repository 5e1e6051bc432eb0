/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plug-in may call of a C library and must not: memory from elsewhere, and the ways to end.
 * Its own names for them are made these by the linker (heapfit/plugin/building.py).
 */
#include "answer.h"

#include <stddef.h>

void *host_malloc(size_t size);
void *host_calloc(size_t count, size_t size);
void *host_realloc(void *block, size_t size);
void *host_aligned(size_t alignment, size_t size);
void *host_sbrk(ptrdiff_t increment);
_Noreturn void host_abort(void);

void *host_malloc(size_t size) {
    stop_at(FAULT_OTHER_MEMORY, (uint32_t)size, 0);
}

void *host_calloc(size_t count, size_t size) {
    stop_at(FAULT_OTHER_MEMORY, (uint32_t)(count * size), 0);
}

void *host_realloc(void *block, size_t size) {
    (void)block;
    stop_at(FAULT_OTHER_MEMORY, (uint32_t)size, 0);
}

void *host_aligned(size_t alignment, size_t size) {
    (void)alignment;
    stop_at(FAULT_OTHER_MEMORY, (uint32_t)size, 0);
}

void *host_sbrk(ptrdiff_t increment) {
    stop_at(FAULT_OTHER_MEMORY, (uint32_t)increment, 0);
}

void host_abort(void) {
    stop_at(FAULT_ABORT, 0, 0);
}
