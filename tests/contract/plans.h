/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans to try an allocator with, made from its descriptor alone, so that a new allocator is
 * covered by its line in allocators.def, baselines.def or papers.def.
 */
#ifndef CONTRACT_PLANS_H
#define CONTRACT_PLANS_H

#include "hfit/config.h"
#include "hfit/descriptor.h"
#include "hfit/pools.h"

#include "suite_limits.h"

/* Whether there are plans of baselines: level 3 would guard them, not true to their originals. */
#ifndef WITH_BASELINES
#define WITH_BASELINES (HFIT_SAFETY < 3)
#endif

enum { TEST_POOLS = 6 };

typedef struct test_plan {
    const hfit_allocator *allocator;
    uint64_t bytes[PLAN_BYTES / 8]; /* the plan itself, aligned for its pointers */
    hfit_pool pools[TEST_POOLS];
    uint8_t index[TEST_INDEX];
    char name[PLAN_NAME];
} test_plan;

static inline const hfit_plan *plan_of(const test_plan *plan) {
    return (const hfit_plan *)(const void *)plan->bytes;
}

/* The allocator's first tunable of a kind, or NULL. */
static inline const hfit_tunable *tunable_of_kind(const hfit_allocator *allocator,
                                                  hfit_tunable_kind kind) {
    for (uint32_t i = 0; i < allocator->tunable_count; i++) {
        if (allocator->tunables[i].kind == kind) {
            return &allocator->tunables[i];
        }
    }
    return NULL;
}

/* True if the allocator can stand behind pools. */
static inline bool can_be_shared(const hfit_allocator *allocator) {
    return tunable_of_kind(allocator, HFIT_SHARED) == NULL && allocator->next_piece == NULL &&
           !allocator->needs_size && allocator->unlocked != NULL;
}

/* True if the heap knows how long a block is from its address. Where callers hand sizes over, below
 * safety level 2, none does: what is no block is told only where it is free, and `walk` tells of
 * neighbouring blocks as of one (tests/core/test_sized.c). */
static inline bool knows_sizes(const hfit_allocator *allocator) {
    return !allocator->needs_size || HFIT_SAFETY >= 2;
}

/* Free and resize as the allocator wants them: with the size last asked for, if callers hand sizes
 * over. */
static inline void free_block(const test_plan *plan, hfit_heap *heap, void *block, size_t size) {
    const hfit_operations *operations = plan->allocator->operations;
    if (plan->allocator->needs_size) {
        operations->free_sized(heap, plan_of(plan), block, size);
    } else {
        operations->free(heap, plan_of(plan), block);
    }
}

static inline void *resize_block(const test_plan *plan, hfit_heap *heap, void *block,
                                 size_t old_size, size_t size) {
    const hfit_operations *operations = plan->allocator->operations;
    return plan->allocator->needs_size
               ? operations->resize_sized(heap, plan_of(plan), block, old_size, size)
               : operations->resize(heap, plan_of(plan), block, size);
}

/* The piece of a block after `piece`, NULL first and last, and its bytes; where blocks do not lie
 * in pieces, the block, which has `whole` bytes, is its own. */
static inline unsigned char *piece_after(const test_plan *plan, const hfit_heap *heap, void *block,
                                         const void *piece, size_t whole, size_t *bytes) {
    if (plan->allocator->next_piece != NULL) {
        return plan->allocator->next_piece(heap, plan_of(plan), block, piece, bytes);
    }
    *bytes = whole;
    return piece == NULL ? block : NULL;
}

/* How many plans from this one on are of the same allocator. */
static inline size_t count_alike(const test_plan *first, const test_plan *end) {
    size_t count = 1;
    while (first + count < end && first[count].allocator == first->allocator) {
        count++;
    }
    return count;
}

/* True for core's allocators, which refuse bad frees; false for baselines, which are true to their
 * originals. */
bool is_core(const hfit_allocator *allocator);

/* Fills `plans` (room for MOST_PLANS) with plans for every allocator, below level 3 baselines, too:
 * each alignment, each scalar at its lowest, standard and highest value, scalars of two values in
 * each combination, pools of several kinds, each of core's allocators without pools as shared heap
 * and none; but none that the limits do not want. Returns how many. */
size_t make_test_plans(test_plan *plans);

#endif
