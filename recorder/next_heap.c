/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym(RTLD_NEXT) for each function, once, and the static area that serves requests made by dlsym
 * itself.
 *
 *   early area:  | size 16 B | block, 16-aligned | size | block | ...   bump allocated, zero at
 * first
 */
#include "next_heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { EARLY_SIZE = 64 * 1024, EARLY_ALIGNMENT = 16 };

static alignas(EARLY_ALIGNMENT) unsigned char early_area[EARLY_SIZE];
static atomic_size_t early_used;

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
} next;

static atomic_bool is_found;
static _Thread_local bool is_finding;

/* ISO C has no cast from void * to a function; dlsym's manual prescribes the copy. */
static void find(void *function, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof(symbol));
}

static void find_all(void) {
    find(&next.malloc, "malloc");
    find(&next.calloc, "calloc");
    find(&next.realloc, "realloc");
    find(&next.free, "free");
    find(&next.memalign, "memalign");
    find(&next.aligned_alloc, "aligned_alloc");
    find(&next.posix_memalign, "posix_memalign");
    find(&next.valloc, "valloc");
    find(&next.pvalloc, "pvalloc");
    find(&next.malloc_usable_size, "malloc_usable_size");
}

/* False while this thread is inside dlsym. Two threads may both search: they find the same. */
static bool is_ready(void) {
    if (atomic_load_explicit(&is_found, memory_order_acquire)) {
        return true;
    }
    if (is_finding) {
        return false;
    }
    const int kept_errno = errno;
    is_finding = true;
    find_all();
    is_finding = false;
    errno = kept_errno;
    atomic_store_explicit(&is_found, true, memory_order_release);
    return true;
}

bool is_early_block(const void *block) {
    const uintptr_t address = (uintptr_t)block;
    const uintptr_t area = (uintptr_t)early_area;
    return address >= area && address < area + EARLY_SIZE;
}

static size_t early_block_size(const void *block) {
    size_t size;
    memcpy(&size, (const unsigned char *)block - EARLY_ALIGNMENT, sizeof(size));
    return size;
}

static void *early_alloc(size_t size) {
    if (size > EARLY_SIZE) {
        return NULL;
    }
    const size_t rounded = (size + EARLY_ALIGNMENT - 1) / EARLY_ALIGNMENT * EARLY_ALIGNMENT;
    const size_t taken = EARLY_ALIGNMENT + rounded;
    const size_t offset = atomic_fetch_add(&early_used, taken);
    if (offset > EARLY_SIZE - EARLY_ALIGNMENT || rounded > EARLY_SIZE - EARLY_ALIGNMENT - offset) {
        atomic_fetch_sub(&early_used, taken);
        return NULL;
    }
    memcpy(early_area + offset, &size, sizeof(size));
    return early_area + offset + EARLY_ALIGNMENT;
}

/* Moves a block out of the early area, or within it while dlsym runs. */
static void *early_realloc(void *block, size_t size) {
    void *moved = is_ready() ? next.malloc(size) : early_alloc(size);
    if (moved != NULL && block != NULL) {
        const size_t old_size = early_block_size(block);
        memcpy(moved, block, old_size < size ? old_size : size);
    }
    return moved;
}

void *next_malloc(size_t size) {
    return is_ready() ? next.malloc(size) : early_alloc(size);
}

void *next_calloc(size_t count, size_t size) {
    if (is_ready()) {
        return next.calloc(count, size);
    }
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? NULL : early_alloc(total);
}

void *next_realloc(void *block, size_t size) {
    return is_early_block(block) || !is_ready() ? early_realloc(block, size)
                                                : next.realloc(block, size);
}

void next_free(void *block) {
    if (!is_early_block(block) && is_ready()) {
        next.free(block);
    }
}

/* dlsym asks for no alignment above the early area's: the functions below wait for nothing. */
void *next_memalign(size_t alignment, size_t size) {
    return is_ready() ? next.memalign(alignment, size) : NULL;
}

void *next_aligned_alloc(size_t alignment, size_t size) {
    return is_ready() ? next.aligned_alloc(alignment, size) : NULL;
}

int next_posix_memalign(void **block, size_t alignment, size_t size) {
    return is_ready() ? next.posix_memalign(block, alignment, size) : ENOMEM;
}

void *next_valloc(size_t size) {
    return is_ready() ? next.valloc(size) : NULL;
}

void *next_pvalloc(size_t size) {
    return is_ready() ? next.pvalloc(size) : NULL;
}

size_t next_malloc_usable_size(void *block) {
    if (is_early_block(block)) {
        return early_block_size(block);
    }
    return is_ready() ? next.malloc_usable_size(block) : 0;
}
