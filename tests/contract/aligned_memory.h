/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligned memory of just so many bytes, so that the sanitizer sees a step beyond it. Windows has
 * it by another name, and frees it by one of its own.
 */
#ifndef ALIGNED_MEMORY_H
#define ALIGNED_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

#include "check.h"

#ifdef _WIN32
#include <malloc.h>

static inline void *take_aligned(size_t alignment, size_t size) {
    void *const memory = _aligned_malloc(size, alignment);
    CHECK(memory != NULL);
    return memory;
}

static inline void return_aligned(void *memory) {
    _aligned_free(memory);
}
#else
/* Ends the program if there is none. */
static inline void *take_aligned(size_t alignment, size_t size) {
    void *memory = NULL;
    CHECK(posix_memalign(&memory, alignment, size) == 0);
    return memory;
}

static inline void return_aligned(void *memory) {
    free(memory);
}
#endif

#endif
