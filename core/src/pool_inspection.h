/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at a whole heap of pools: walk, check and footprint.
 *
 * Both halves of what a pool knows are compared: the used bits, and the free list or, where bits
 * find free blocks, their count. So no flipped bit of either goes unseen.
 */
#ifndef HFIT_POOL_INSPECTION_H
#define HFIT_POOL_INSPECTION_H

#include "src/pool_growth.h"

/* True if a block is allocated. Where no bits are kept the free list is searched. */
static bool is_block_used(const hfit_heap *heap, const hfit_pools_plan *plan,
                          const block_place *place) {
    if (keeps_bits(plan)) {
        return is_bit_set(heap, place->bit);
    }
    uint32_t offset = load_word(heap, place->pool->list);
    while (offset != NO_OFFSET && offset != place->offset) {
        offset = load_word(heap, offset);
    }
    return offset == NO_OFFSET;
}

typedef struct walk {
    const hfit_heap *heap;
    const hfit_pools_plan *plan;
    hfit_visitor visitor;
    void *context;
} walk;

static void visit_run(const walk *w, const hfit_pool *pool, block_run run) {
    const uint32_t size = pool_block_size(pool, w->plan->common.alignment);
    for (uint32_t number = 0; number < run.count; number++) {
        const block_place place = {pool, run.base + number * size, used_bit_of(run, number)};
        w->visitor(w->context, block_at(w->heap, place.offset), size,
                   is_block_used(w->heap, w->plan, &place));
    }
}

/* Tells of a block of the shared heap, or of those inside if it is a chunk. */
static void visit_shared(void *context, const void *block, size_t usable_size, bool is_used) {
    const walk *w = context;
    const uint32_t offset = (uint32_t)distance_of(w->heap, block);
    const uint32_t rank = chunks_up_to(w->heap, w->plan, offset);
    if (rank > 0 && chunk_at(w->heap, w->plan, rank - 1) == offset) {
        const hfit_pool *pool = pool_of_chunk(w->heap, w->plan, offset);
        if (pool != NULL) {
            visit_run(w, pool, chunk_run(w->plan, offset));
        }
        return;
    }
    w->visitor(w->context, block, usable_size, is_used);
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    walk w = {heap, pools, visitor, context};
    for (uint32_t i = 0; i < pools->pools.count; i++) {
        visit_run(&w, &pools->pools.items[i], own_run(&pools->pools.items[i]));
    }
    if (shared != NULL) {
        pools->shared.operations->walk(shared, pools->shared.plan, visit_shared, &w);
    }
}

/* Blocks of a pool that are not used; where no bits are kept, all. */
static uint32_t count_unused(const hfit_heap *heap, const hfit_pools_plan *plan,
                             const hfit_pool *pool) {
    uint32_t unused = 0;
    uint32_t next = 0;
    block_run run;
    while (next_run(heap, plan, pool, &next, &run)) {
        for (uint32_t number = 0; number < run.count; number++) {
            unused += !keeps_bits(plan) || !is_bit_set(heap, used_bit_of(run, number));
        }
    }
    return unused;
}

/* True if a block of `pool` begins at `offset` and is not used. */
static bool is_unused_block(const hfit_heap *heap, const hfit_pools_plan *plan,
                            const hfit_pool *pool, uint32_t offset) {
    block_place place;
    return (find_in_run(pool, own_run(pool), offset, &place) ||
            (look_up_chunk(heap, plan, offset, &place) == CHUNK_BLOCK && place.pool == pool)) &&
           (!keeps_bits(plan) || !is_bit_set(heap, place.bit));
}

/* True if a pool's free list holds just its blocks that are not used; without bits, if it ends and
 * holds nothing but blocks of the pool. A list that came back to a block would never end. */
static bool is_pool_sound(const hfit_heap *heap, const hfit_pools_plan *plan,
                          const hfit_pool *pool) {
    const uint32_t most = count_unused(heap, plan, pool);
    uint32_t offset = load_word(heap, pool->list);
    uint32_t found = 0;
    if (finds_by_bits(plan)) {
        return offset == most;
    }
    for (; offset != NO_OFFSET && found < most; found++) {
        if (!is_unused_block(heap, plan, pool, offset)) {
            return false;
        }
        offset = load_word(heap, offset);
    }
    return offset == NO_OFFSET && (found == most || !keeps_bits(plan));
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    if (shared == NULL ? load_word(heap, shared_word_at(pools->pools.count)) != 0
                       : !pools->shared.operations->check(shared, pools->shared.plan)) {
        return false;
    }
    if (!are_chunks_sound(heap, pools)) {
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
    return shared_at(pools) +
           (shared == NULL ? 0 : pools->shared.operations->footprint(shared, pools->shared.plan));
}

#endif
