/* SPDX-License-Identifier: Apache-2.0 */
/* See region.h. */
#include "region.h"

#include "answer.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, FILLER = 0xa5 };

static const size_t largest_alignment = (size_t)1 << 28;

region heap_region;

static size_t alignment_for(size_t size) {
    size_t alignment = PAGE;
    while (alignment < size && alignment < largest_alignment) {
        alignment *= 2;
    }
    return alignment;
}

void make_region(size_t size, bool has_uses) {
    const size_t alignment = alignment_for(size), turn = 2 * alignment;
    const size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    heap_region = (region){NULL, size, pages, NULL};
    if (size > SIZE_MAX / 2 - 2 * turn) {
        return;
    }
    unsigned char *mapping = mmap(NULL, pages + turn + 2 * PAGE, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if ((void *)mapping == MAP_FAILED) {
        return;
    }
    const uintptr_t low = (uintptr_t)mapping + PAGE;
    /* An odd multiple, so that larger alignments find the same start in every run. */
    unsigned char *start = mapping + PAGE + ((turn + alignment - low % turn) % turn);
    if (mprotect(start, pages, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    memset(start + size, FILLER, pages - size);
    if (has_uses) {
        void *uses = mmap(NULL, size + 1, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (uses == MAP_FAILED) {
            return;
        }
        heap_region.uses = uses;
    }
    heap_region.start = start;
}

bool is_inside(const void *address, size_t size) {
    const uintptr_t start = (uintptr_t)heap_region.start;
    const uintptr_t at = (uintptr_t)address;
    return at >= start && at - start <= heap_region.size && size <= heap_region.size - (at - start);
}

bool is_beside(const void *address) {
    const uintptr_t start = (uintptr_t)heap_region.start;
    return (uintptr_t)address - (start - PAGE) < heap_region.mapped + 2 * PAGE;
}

bool is_filler_kept(void) {
    for (size_t i = heap_region.size; i < heap_region.mapped; i++) {
        if (heap_region.start[i] != FILLER) {
            return false;
        }
    }
    return true;
}

/* A block that begins where another does, or ends before the other's end, lies on it; else one of
 * the two has less room than it was asked for. */
static _Noreturn void stop_at_shared(const unsigned char *uses, size_t size, size_t shared) {
    const bool begins_inside = shared == 0;
    if (begins_inside && (uses[0] == BYTE_FIRST || uses[size] == BYTE_REST)) {
        stop_at(FAULT_OVERLAP, (uint32_t)(uses - heap_region.uses), (uint32_t)size);
    }
    stop_at(FAULT_TOO_SMALL, (uint32_t)(uses - heap_region.uses), (uint32_t)size);
}

void claim(const void *block, size_t size) {
    if (heap_region.uses == NULL) {
        return;
    }
    unsigned char *uses = heap_region.uses + ((const unsigned char *)block - heap_region.start);
    for (size_t i = 0; i < size; i++) {
        if (uses[i] != BYTE_FREE) {
            stop_at_shared(uses, size, i);
        }
    }
    memset(uses, BYTE_REST, size);
    uses[0] = BYTE_FIRST;
}

void unclaim(const void *block, size_t size) {
    if (heap_region.uses != NULL) {
        memset(heap_region.uses + ((const unsigned char *)block - heap_region.start), BYTE_FREE,
               size);
    }
}
