/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records newlib's heap, and newlib-nano's. Link with
 *   -Wl,--wrap=_malloc_r,--wrap=_calloc_r,--wrap=_realloc_r,--wrap=_memalign_r,--wrap=_free_r
 * so that what the library asks for itself (buffers of stdio) is seen, too. newlib's functions call
 * each other; only the outermost call is a request. Its recursive lock is held from the call to the
 * record, so that a block which realloc gave up is not told as another's before.
 */
#include "adapters/one_heap.h"

#include <malloc.h>

void *__real__malloc_r(struct _reent *thread, size_t size);
void *__real__calloc_r(struct _reent *thread, size_t count, size_t size);
void *__real__realloc_r(struct _reent *thread, void *old, size_t size);
void *__real__memalign_r(struct _reent *thread, size_t alignment, size_t size);
void __real__free_r(struct _reent *thread, void *block);
void *__wrap__malloc_r(struct _reent *thread, size_t size);
void *__wrap__calloc_r(struct _reent *thread, size_t count, size_t size);
void *__wrap__realloc_r(struct _reent *thread, void *old, size_t size);
void *__wrap__memalign_r(struct _reent *thread, size_t alignment, size_t size);
void __wrap__free_r(struct _reent *thread, void *block);

static unsigned depth; /* of calls in one another; under the lock */

static void enter(struct _reent *thread) {
    __malloc_lock(thread);
    depth++;
}

/* Whether the call that ends was a program's. */
static bool is_outermost(void) {
    depth--;
    return depth == 0;
}

void *__wrap__malloc_r(struct _reent *thread, size_t size) {
    enter(thread);
    void *block = __real__malloc_r(thread, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_alloc(&hfit_one_heap, block, size);
    }
    __malloc_unlock(thread);
    return block;
}

void *__wrap__calloc_r(struct _reent *thread, size_t count, size_t size) {
    enter(thread);
    void *block = __real__calloc_r(thread, count, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_zeroed(&hfit_one_heap, block, count * size);
    }
    __malloc_unlock(thread);
    return block;
}

void *__wrap__realloc_r(struct _reent *thread, void *old, size_t size) {
    enter(thread);
    void *block = __real__realloc_r(thread, old, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_resize(&hfit_one_heap, old, block, size);
    }
    __malloc_unlock(thread);
    return block;
}

void *__wrap__memalign_r(struct _reent *thread, size_t alignment, size_t size) {
    enter(thread);
    void *block = __real__memalign_r(thread, alignment, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_aligned(&hfit_one_heap, block, size, alignment);
    }
    __malloc_unlock(thread);
    return block;
}

void __wrap__free_r(struct _reent *thread, void *block) {
    enter(thread);
    if (depth == 1) {
        hfit_record_free(&hfit_one_heap, block);
    }
    __real__free_r(thread, block);
    depth--;
    __malloc_unlock(thread);
}
