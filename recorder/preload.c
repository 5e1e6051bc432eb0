/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of Linux programs: loaded by LD_PRELOAD, it stands before the C library's malloc
 * family, passes every call on unchanged and records it into the folder HEAPFIT_RECORD names.
 * Linked with planned_heap.c instead of recording.c, it asks a planned heap first, and passes on
 * what that serves: so both see the same calls.
 *
 * Order under threads: a free is recorded before the heap gets the block back, an allocation after
 * the heap gave it, so no address is ever seen given twice. A resize does both and is two records.
 *
 * Calls made within a call (by an allocator that uses itself, or by a signal handler that
 * interrupted one) are passed on and not recorded. C++ operator new comes through malloc.
 *
 * prctl is passed on, too: it tells when a program confines itself, after which a system call of
 * the recorder could kill it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "next_heap.h"
#include "recording.h"
#include "site.h"

#define INTERPOSED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum { SECCOMP_STRICT = 1 }; /* SECCOMP_MODE_STRICT of the kernel's header, which musl has not */

static _Thread_local volatile bool is_inside;

/* False: this is a call within a call. Otherwise leave() must follow. */
static bool enter(void) {
    if (is_inside) {
        return false;
    }
    is_inside = true;
    return true;
}

static void leave(void) {
    is_inside = false;
}

/* False: out of memory. The caller then returns at once. */
static bool admits(enum hfit_wire_op op, const void *block, size_t size, unsigned log2,
                   struct site site) {
    if (recording_admits(op, block, size, log2, site)) {
        return true;
    }
    leave();
    errno = ENOMEM;
    return false;
}

/* The file exists, and holds what came before, even if the program never asks for memory. */
__attribute__((constructor)) static void start(void) {
    if (enter()) {
        recording_start();
        leave();
    }
}

/* Alignments are powers of two; the C library rounds others up. 0: the heap's own. */
static unsigned alignment_log2(size_t alignment) {
    return alignment <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(alignment - 1);
}

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static bool admits_aligned(size_t alignment, size_t size, struct site site) {
    return admits(HFIT_WIRE_ALIGNED, NULL, size, alignment_log2(alignment), site);
}

static void *note_aligned(void *block, size_t alignment, size_t size, struct site site) {
    recording_append(HFIT_WIRE_ALIGNED, block, size, alignment_log2(alignment), site);
    leave();
    return block;
}

INTERPOSED void *malloc(size_t size) {
    if (!enter()) {
        return next_malloc(size);
    }
    const struct site site = site_of(CALLER);
    const bool is_runtime = hfit_is_emergency_size(size) && is_of_libstdcxx(CALLER);
    if (!is_runtime && !admits(HFIT_WIRE_ALLOC, NULL, size, 0, site)) {
        return NULL;
    }
    void *block = next_malloc(size);
    const uint64_t order = recording_append(HFIT_WIRE_ALLOC, block, size, 0, site);
    if (is_runtime) {
        recording_mark_runtime(order);
    }
    leave();
    return block;
}

INTERPOSED void *calloc(size_t count, size_t size) {
    if (!enter()) {
        return next_calloc(count, size);
    }
    const struct site site = site_of(CALLER);
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        total = SIZE_MAX;
    }
    if (!admits(HFIT_WIRE_ZEROED, NULL, total, 0, site)) {
        return NULL;
    }
    void *block = next_calloc(count, size);
    recording_append(HFIT_WIRE_ZEROED, block, total, 0, site);
    leave();
    return block;
}

INTERPOSED void free(void *block) {
    if (block == NULL || is_early_block(block) || !enter()) {
        next_free(block);
        return;
    }
    recording_append(HFIT_WIRE_FREE, block, 0, 0, (struct site){.name = caller_of(CALLER)});
    next_free(block);
    leave();
}

static void *resize(void *block, size_t size, void *caller) {
    if (!enter()) {
        return next_realloc(block, size);
    }
    const struct site site = site_of(caller);
    const bool is_known = block != NULL && !is_early_block(block);
    const enum hfit_wire_op asked = is_known ? HFIT_WIRE_RESIZE_BEGIN : HFIT_WIRE_ALLOC;
    if (!admits(asked, block, size, 0, site)) {
        return NULL;
    }
    const bool is_told =
        !is_known || recording_append(HFIT_WIRE_RESIZE_BEGIN, block, size, 0, site);
    void *moved = next_realloc(block, size);
    if (is_told) { /* else it was asleep at the begin, or has ended */
        recording_append(is_known ? HFIT_WIRE_RESIZE_END : HFIT_WIRE_ALLOC, moved, size, 0, site);
    }
    leave();
    return moved;
}

INTERPOSED void *realloc(void *block, size_t size) {
    return resize(block, size, CALLER);
}

INTERPOSED void *reallocarray(void *block, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(block, total, CALLER);
}

INTERPOSED void *memalign(size_t alignment, size_t size) {
    if (!enter()) {
        return next_memalign(alignment, size);
    }
    const struct site site = site_of(CALLER);
    if (!admits_aligned(alignment, size, site)) {
        return NULL;
    }
    return note_aligned(next_memalign(alignment, size), alignment, size, site);
}

INTERPOSED void *aligned_alloc(size_t alignment, size_t size) {
    if (!enter()) {
        return next_aligned_alloc(alignment, size);
    }
    const struct site site = site_of(CALLER);
    if (!admits_aligned(alignment, size, site)) {
        return NULL;
    }
    return note_aligned(next_aligned_alloc(alignment, size), alignment, size, site);
}

INTERPOSED int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!enter()) {
        return next_posix_memalign(block, alignment, size);
    }
    const struct site site = site_of(CALLER);
    if (!admits_aligned(alignment, size, site)) {
        return ENOMEM;
    }
    const int error = next_posix_memalign(block, alignment, size);
    note_aligned(error == 0 ? *block : NULL, alignment, size, site);
    return error;
}

INTERPOSED void *valloc(size_t size) {
    if (!enter()) {
        return next_valloc(size);
    }
    const struct site site = site_of(CALLER);
    if (!admits_aligned(page_size(), size, site)) {
        return NULL;
    }
    return note_aligned(next_valloc(size), page_size(), size, site);
}

/* The caller gets whole pages. */
INTERPOSED void *pvalloc(size_t size) {
    if (!enter()) {
        return next_pvalloc(size);
    }
    const size_t page = page_size();
    const size_t rounded = size > SIZE_MAX - page ? size : (size + page - 1) / page * page;
    const struct site site = site_of(CALLER);
    if (!admits_aligned(page, rounded, site)) {
        return NULL;
    }
    return note_aligned(next_pvalloc(size), page, rounded, site);
}

/* Not recorded: it asks for nothing. Interposed because blocks may be the next heap's or early. */
INTERPOSED size_t malloc_usable_size(void *block) {
    return next_malloc_usable_size(block);
}

/*
 * Whether the call leads to a filter of system calls. Only programs with the rights of root may set
 * one without giving up new rights before, so those who call SYS_seccomp themselves are known.
 */
static bool does_confine(int option, unsigned long value) {
    return option == PR_SET_SECCOMP || (option == PR_SET_NO_NEW_PRIVS && value == 1);
}

static int next_prctl(int option, const unsigned long value[4]) {
    static int (*_Atomic found)(int, ...);
    int (*next)(int, ...) = atomic_load(&found);
    if (next == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "prctl");
        memcpy(&next, &symbol, sizeof(next));
        atomic_store(&found, next);
    }
    return next(option, value[0], value[1], value[2], value[3]);
}

INTERPOSED int prctl(int option, ...) {
    unsigned long value[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++) { /* as the C library does, however many there are */
        value[i] = va_arg(list, unsigned long);
    }
    va_end(list);
    const bool confines = does_confine(option, value[0]);
    if (confines) {
        recording_prepare();
    }
    const int result = next_prctl(option, value);
    if (confines && result == 0) {
        recording_confine(option == PR_SET_SECCOMP && value[0] == SECCOMP_STRICT);
    }
    return result;
}
