/* SPDX-License-Identifier: Apache-2.0 */
/* See subject.h. */
#include "subject.h"

#include "check.h"

#include <string.h>
#include <sys/mman.h>

enum { GUARD_BYTES = 64 * 1024, AFTERWARDS = 64 };

subject subject_start(const test_plan *plan) {
    unsigned char *mapping =
        mmap(NULL, BATTERY_REGION + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((void *)mapping != MAP_FAILED);
    unsigned char *region = mapping + GUARD_BYTES;
    CHECK(mprotect(region, BATTERY_REGION, PROT_READ | PROT_WRITE) == 0);
    const hfit_operations *operations = plan->allocator->operations;
    hfit_heap *heap = operations->init(region, BATTERY_REGION, plan_of(plan));
    CHECK(heap != NULL);
    return (subject){plan, plan->allocator, operations, plan_of(plan), heap, region};
}

/* The piece of a block after `piece`, and how many of the `left` bytes asked for lie in it. */
static unsigned char *next_piece(const subject *s, const void *block, const void *piece,
                                 size_t left, size_t *bytes) {
    unsigned char *next =
        piece_after(s->from, s->heap, (void *)(uintptr_t)block, piece, left, bytes);
    *bytes = *bytes < left ? *bytes : left;
    return next;
}

void subject_fill(const subject *s, void *block, size_t size, unsigned char value) {
    unsigned char *piece = NULL;
    size_t bytes;
    while (size > 0 && (piece = next_piece(s, block, piece, size, &bytes)) != NULL) {
        memset(piece, value, bytes);
        size -= bytes;
    }
}

bool subject_keeps(const subject *s, const void *block, size_t size, unsigned char value) {
    const unsigned char *piece = NULL;
    size_t bytes;
    while (size > 0 && (piece = next_piece(s, block, piece, size, &bytes)) != NULL) {
        for (size_t i = 0; i < bytes; i++) {
            if (piece[i] != value) {
                return false;
            }
        }
        size -= bytes;
    }
    return true;
}

static bool is_inside(const subject *s, const unsigned char *start, size_t bytes) {
    return start >= s->region && bytes <= BATTERY_REGION &&
           start - s->region <= (ptrdiff_t)(BATTERY_REGION - bytes);
}

verdict subject_judge(const subject *s, const void *block, size_t alignment, size_t size) {
    const size_t wanted = alignment < s->plan->alignment ? s->plan->alignment : alignment;
    const unsigned char *piece = NULL;
    size_t left = size;
    size_t bytes = 0;
    if (((uintptr_t)block & (wanted - 1)) != 0) {
        return VERDICT_MISALIGNED;
    }
    while (left > 0 && (piece = next_piece(s, block, piece, left, &bytes)) != NULL) {
        if (!is_inside(s, piece, bytes)) {
            return VERDICT_OVERLAP;
        }
        left -= bytes;
    }
    return left > 0 || s->operations->usable_size(s->heap, s->plan, block) < size
               ? VERDICT_UNDERSIZED
               : VERDICT_OK;
}

static unsigned char remembered[BATTERY_REGION];

void subject_remember(const subject *s) {
    memcpy(remembered, s->region, BATTERY_REGION);
}

verdict subject_must_refuse(const subject *s, size_t alignment, size_t size) {
    const void *block = alignment == 0
                            ? s->operations->alloc(s->heap, s->plan, size)
                            : s->operations->alloc_aligned(s->heap, s->plan, alignment, size);
    return block == NULL ? VERDICT_OK : VERDICT_UNDERSIZED;
}

verdict subject_must_be_unchanged(const subject *s) {
    return memcmp(remembered, s->region, BATTERY_REGION) == 0 ? VERDICT_OK : VERDICT_CHANGED;
}

/* The bytes that live blocks have, one flag a byte of the region. False if two share one. */
static bool claim(const subject *s, unsigned char *claimed, const void *block, size_t size) {
    const unsigned char *piece = NULL;
    size_t bytes;
    while (size > 0 && (piece = next_piece(s, block, piece, size, &bytes)) != NULL) {
        unsigned char *flags = claimed + (piece - s->region);
        if (memchr(flags, 1, bytes) != NULL) {
            return false;
        }
        memset(flags, 1, bytes);
        size -= bytes;
    }
    return true;
}

verdict subject_still_serves(const subject *s) {
    static unsigned char claimed[BATTERY_REGION];
    void *blocks[AFTERWARDS];
    verdict found = VERDICT_OK;
    memset(claimed, 0, sizeof claimed);
    for (size_t i = 0; i < AFTERWARDS; i++) {
        const size_t size = 1 + i * 37 % 200;
        blocks[i] = s->operations->alloc(s->heap, s->plan, size);
        if (blocks[i] == NULL) {
            continue;
        }
        const verdict alone = subject_judge(s, blocks[i], 0, size);
        if (alone == VERDICT_OVERLAP || !claim(s, claimed, blocks[i], size)) {
            return VERDICT_OVERLAP;
        }
        found = worse_of(found, alone);
        subject_fill(s, blocks[i], size, (unsigned char)(i + 1));
    }
    for (size_t i = 0; i < AFTERWARDS; i++) {
        if (blocks[i] != NULL) {
            if (!subject_keeps(s, blocks[i], 1 + i * 37 % 200, (unsigned char)(i + 1))) {
                found = worse_of(found, VERDICT_CORRUPT);
            }
            s->operations->free(s->heap, s->plan, blocks[i]);
        }
    }
    return found;
}
