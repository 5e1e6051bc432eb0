/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records picolibc's heap. Link with
 *   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=memalign,--wrap=free
 * picolibc's functions call each other; only the outermost call is a request. Its recursive lock is
 * held from the call to the record, so that a block which realloc gave up is not told as another's
 * before. aligned_alloc and posix_memalign ask memalign.
 */
#include "adapters/one_heap.h"

#include <malloc.h>
#include <sys/lock.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_memalign(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_memalign(size_t alignment, size_t size);
void __wrap_free(void *block);

static unsigned depth; /* of calls in one another; under the lock */

static void enter(void) {
    __LIBC_LOCK();
    depth++;
}

/* Whether the call that ends was a program's. */
static bool is_outermost(void) {
    depth--;
    return depth == 0;
}

void *__wrap_malloc(size_t size) {
    enter();
    void *block = __real_malloc(size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_alloc(&hfit_one_heap, block, size);
    }
    __LIBC_UNLOCK();
    return block;
}

void *__wrap_calloc(size_t count, size_t size) {
    enter();
    void *block = __real_calloc(count, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_zeroed(&hfit_one_heap, block, count * size);
    }
    __LIBC_UNLOCK();
    return block;
}

void *__wrap_realloc(void *old, size_t size) {
    enter();
    void *block = __real_realloc(old, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_resize(&hfit_one_heap, old, block, size);
    }
    __LIBC_UNLOCK();
    return block;
}

void *__wrap_memalign(size_t alignment, size_t size) {
    enter();
    void *block = __real_memalign(alignment, size);
    if (is_outermost()) {
        HFIT_RECORD_CALLER();
        hfit_record_aligned(&hfit_one_heap, block, size, alignment);
    }
    __LIBC_UNLOCK();
    return block;
}

void __wrap_free(void *block) {
    enter();
    if (depth == 1) {
        hfit_record_free(&hfit_one_heap, block);
    }
    __real_free(block);
    depth--;
    __LIBC_UNLOCK();
}
