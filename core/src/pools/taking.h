/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a block from pools: from a pool's own blocks, from those of its chunks, and from the pools
 * that the rule names one after the other.
 */
#ifndef HFIT_POOL_TAKING_H
#define HFIT_POOL_TAKING_H

#include "src/size.h"
#include "src/region.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"
#include "src/pools/blocks.h"
#include "src/pools/rule.h"
#include "src/pools/growth.h"

/* Takes the first block of a pool whose used bit is clear; the word of its list counts these. */
static enum taking take_by_bits(hfit_heap *heap, const hfit_pools_plan *plan, const hfit_pool *pool,
                                uint32_t *offset) {
    const uint32_t left = load_word(heap, list_of(plan, pool));
    uint32_t next = 0;
    block_run run;
    while (left > 0 && next_run(heap, plan, pool, &next, &run)) {
        const uint32_t number = first_unused(heap, &run);
        if (number < run.count) {
            const used_bit bit = used_bit_of(&run, number);
            flip_bit(heap, &bit);
            store_word(heap, list_of(plan, pool), left - 1);
            *offset = run.base + number * pool->block_size;
            return TAKEN;
        }
    }
    return left == 0 ? NONE_LEFT : DAMAGED;
}

/* Takes the block of a chunk that a pool's free list leads to; it leads to nothing else. */
static enum taking take_of_chunk(hfit_heap *heap, const hfit_pools_plan *plan,
                                 const hfit_pool *pool, uint32_t *offset) {
    block_place place;
    if (!may_grow(plan)) {
        return DAMAGED;
    }
    *offset = load_word(heap, list_of(plan, pool));
    if (look_up_chunk(heap, plan, *offset, &place) != CHUNK_BLOCK || place.pool != pool ||
        is_bit_set(heap, &place.bit)) {
        return DAMAGED;
    }
    flip_bit(heap, &place.bit);
    unlink_first(heap, list_of(plan, pool), *offset);
    return TAKEN;
}

/* Takes a block of a pool where take_own could not. At safety level 0 that takes those of chunks
 * too. */
static FORCE_INLINE enum taking take_more(hfit_heap *heap, const hfit_pools_plan *plan,
                                          uint32_t number, uint32_t *offset) {
    const hfit_pool *pool = &plan->pools.items[number];
    if (load_word(heap, free_list_at(number)) == NO_LINK) {
        if (!may_grow(plan) || !grow_pool(heap, plan, number)) {
            return NONE_LEFT;
        }
        if (HFIT_SAFETY < 1) {
            return take_own(heap, pool, free_list_at(number), offset);
        }
    }
    return take_of_chunk(heap, plan, pool, offset);
}

/* Takes a block of a pool, which grows if it has none and may. */
static inline enum taking take_block(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                                     uint32_t *offset) {
    const hfit_pool *pool = &plan->pools.items[number];
    if (finds_by_bits(plan)) {
        const enum taking taking = take_by_bits(heap, plan, pool, offset);
        return taking == NONE_LEFT && may_grow(plan) && grow_pool(heap, plan, number)
                   ? take_by_bits(heap, plan, pool, offset)
                   : taking;
    }
    const enum taking taking = take_own(heap, pool, free_list_at(number), offset);
    return taking == NONE_LEFT ? take_more(heap, plan, number, offset) : taking;
}

/* True if every block of a pool lies at a multiple of `alignment`, a power of two. Nothing is said
 * of chunks, so a heap that may grow serves no more than its own alignment from pools. */
static bool is_pool_aligned(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                            size_t alignment) {
    const hfit_pool *pool = &plan->pools.items[number];
    const uintptr_t first = (uintptr_t)heap + pool->base;
    return alignment <= plan->common.alignment ||
           (!may_grow(plan) && ((first | pool->block_size) & (alignment - 1)) == 0);
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
