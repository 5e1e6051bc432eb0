/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a block from a pool, and from the pools that the rule names one after the other. */
#ifndef HFIT_POOL_TAKING_H
#define HFIT_POOL_TAKING_H

#include "src/size.h"
#include "src/region.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"
#include "src/pools/blocks.h"
#include "src/pools/rule.h"
#include "src/pools/shared_heap.h"

/* Takes the first block of a pool whose used bit is clear; the word of its list counts these. */
static enum taking take_by_bits(hfit_heap *heap, const hfit_pools_plan *plan, const hfit_pool *pool,
                                uint32_t *offset) {
    const uint32_t left = load_word(heap, list_of(plan, pool));
    const block_run run = own_run(pool);
    if (left == 0) {
        return NONE_LEFT;
    }
    const uint32_t number = first_unused(heap, &run);
    if (number >= run.count) {
        return DAMAGED;
    }
    const used_bit bit = used_bit_of(&run, number);
    flip_bit(heap, &bit);
    store_word(heap, list_of(plan, pool), left - 1);
    *offset = run.base + number * pool->block_size;
    return TAKEN;
}

/* Takes a block of a pool. */
static inline enum taking take_block(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                                     uint32_t *offset) {
    const hfit_pool *pool = &plan->pools.items[number];
    return finds_by_bits(plan) ? take_by_bits(heap, plan, pool, offset)
                               : take_own(heap, pool, free_list_at(number), offset);
}

/* True if every block of a pool lies at a multiple of `alignment`, a power of two. */
static bool is_pool_aligned(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                            size_t alignment) {
    const hfit_pool *pool = &plan->pools.items[number];
    const uintptr_t first = (uintptr_t)heap + pool->base;
    return alignment <= plan->common.alignment ||
           ((first | pool->block_size) & (alignment - 1)) == 0;
}

/* A request that pool `after`, if it is one, has no block for. */
typedef struct wish {
    uint32_t after;
    size_t size;
    size_t alignment;
} wish;

/* Takes a block from the next pool that may serve the request and has one. */
static enum taking take_by_rule(hfit_heap *heap, const hfit_pools_plan *plan, const wish *w,
                                uint32_t *offset) {
    const size_t asked = w->size == 0 ? 1 : w->size;
    enum taking taking = NONE_LEFT;
    uint32_t pool = w->after;
    while (taking == NONE_LEFT && (pool = next_pool(plan, asked, pool)) != HFIT_NO_POOL) {
        HFIT_LOOP_AT_MOST(1 + may_overflow(plan) * plan->pools.count);
        if (is_pool_aligned(heap, plan, pool, w->alignment)) {
            taking = take_block(heap, plan, pool, offset);
        }
    }
    return taking;
}

#endif
