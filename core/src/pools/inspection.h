/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at a whole heap of pools: walk, check and footprint.
 *
 * Both halves of what a pool knows are compared: the used bits, and the free list or, where bits
 * find free blocks, their count. So no flipped bit of either goes unseen.
 */
#ifndef HFIT_POOL_INSPECTION_H
#define HFIT_POOL_INSPECTION_H

#include "src/region.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"
#include "src/pools/blocks.h"
#include "src/pools/rule.h"
#include "src/pools/shared_heap.h"

/* True if a block is allocated. Where no bits are kept the free list is searched. */
static bool is_block_used(const hfit_heap *heap, const hfit_pools_plan *plan,
                          const block_place *place) {
    if (keeps_bits(plan)) {
        return is_bit_set(heap, &place->bit);
    }
    uint32_t link = load_word(heap, list_of(plan, place->pool));
    while (link != NO_LINK && link != place->link) {
        link = load_word(heap, link);
    }
    return link == NO_LINK;
}

static void visit_pool(const hfit_heap *heap, const hfit_pools_plan *plan, const hfit_pool *pool,
                       hfit_visitor visitor, void *context) {
    const block_run run = own_run(pool);
    for (uint32_t number = 0; number < run.count; number++) {
        block_place place;
        place_in_run(pool, &run, number, &place);
        visitor(context, block_at(heap, place.offset), pool->block_size,
                is_block_used(heap, plan, &place));
    }
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    for (uint32_t i = 0; i < pools->pools.count; i++) {
        visit_pool(heap, pools, &pools->pools.items[i], visitor, context);
    }
    if (shared != NULL) {
        pools->shared.operations->walk(shared, pools->shared.plan, visitor, context);
    }
}

/* Blocks of a pool that are not used; where no bits are kept, all. */
static uint32_t count_unused(const hfit_heap *heap, const hfit_pools_plan *plan,
                             const hfit_pool *pool) {
    const block_run run = own_run(pool);
    uint32_t unused = 0;
    for (uint32_t number = 0; number < run.count; number++) {
        unused += !keeps_bits(plan) || !is_number_used(heap, &run, number);
    }
    return unused;
}

/* Stores the place of the block that a link of a pool's free list leads to. False if there is no
 * such block. */
static inline bool find_linked(const hfit_pool *pool, uint32_t link, block_place *place) {
    const block_run own = own_run(pool);
    if (HFIT_SAFETY < 1) {
        return find_in_run(pool, &own, link, place);
    }
    if (link >= pool->count) {
        return false;
    }
    place_in_run(pool, &own, link, place);
    return true;
}

/* True if a pool's free list holds just its blocks that are not used; without bits, if it ends and
 * holds nothing but blocks of the pool. A list that came back to a block would never end. */
static bool is_pool_sound(const hfit_heap *heap, const hfit_pools_plan *plan,
                          const hfit_pool *pool) {
    const uint32_t most = count_unused(heap, plan, pool);
    uint32_t link = load_word(heap, list_of(plan, pool));
    uint32_t found = 0;
    if (finds_by_bits(plan)) {
        return link == most;
    }
    for (; link != NO_LINK && found < most; found++) {
        block_place place;
        if (!find_linked(pool, link, &place) ||
            (keeps_bits(plan) && is_bit_set(heap, &place.bit))) {
            return false;
        }
        link = load_word(heap, place.offset);
    }
    return link == NO_LINK && (found == most || !keeps_bits(plan));
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    if (shared == NULL ? load_word(heap, shared_word_at(pools->pools.count)) != 0
                       : !pools->shared.operations->check(shared, pools->shared.plan)) {
        return false;
    }
    for (uint32_t i = 0; i < pools->pools.count; i++) {
        if (!is_pool_sound(heap, pools, &pools->pools.items[i])) {
            return false;
        }
    }
    return true;
}

/* Pools are set aside whole, so they count from the start. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    return pools_end(pools) +
           (shared == NULL ? 0 : pools->shared.operations->footprint(shared, pools->shared.plan));
}

#endif
