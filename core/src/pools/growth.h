/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a region of pools, and blocks that a pool gets from the shared heap once its own are
 * used up.
 *
 *   pools.end                                            a chunk: a block of the shared heap
 *   +-------+---------+---------+-----+-------------     +------------+-----------+--------------+
 *   | count | chunk 0 | chunk 1 | ... | shared heap      | pool, code | used bits | growth blocks|
 *   +-------+---------+---------+-----+-------------     +------------+-----------+--------------+
 *
 * The list of chunks is as long as the plan allows steps and ascends, so an address is found in it,
 * or refused, by log2 of the steps compares. Chunks stay with their pool. Where the rule never
 * grows, there is no list and none of this is compiled.
 */
#ifndef HFIT_POOL_GROWTH_H
#define HFIT_POOL_GROWTH_H

#include "src/size.h"
#include "src/region.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"
#include "src/pools/blocks.h"
#include "src/pools/rule.h"

static FORCE_INLINE const hfit_pools_plan *pools_plan(const hfit_plan *plan) {
    return (const hfit_pools_plan *)plan;
}

/* Offset of an address in the pools; their end or more for any other, NULL too, since no region
 * wraps. */
static inline uintptr_t distance_of(const hfit_heap *heap, const void *block) {
    return (uintptr_t)block - (uintptr_t)heap;
}

/* Where the last pool ends. */
static FORCE_INLINE uint32_t pools_end(const hfit_pools_plan *plan) {
    return plan->pools.count == 0 ? pools_control_size(0, 0, plan->common.alignment)
                                  : plan->pools.end;
}

/* Where the shared heap begins. */
static FORCE_INLINE uint32_t shared_at(const hfit_pools_plan *plan) {
    return pools_end(plan) +
           (may_grow(plan) ? rounded_up(4 + 4 * plan->growth_steps, plan->common.alignment) : 0);
}

/* What the word at shared_word_at holds if there is a shared heap; 0 if not. At least three bits
 * lie between the two. */
static FORCE_INLINE uint32_t shared_mark(const hfit_pools_plan *plan) {
    return ~shared_at(plan);
}

/* The heap behind the pools, or NULL. */
static FORCE_INLINE hfit_heap *shared_heap(const hfit_heap *heap, const hfit_pools_plan *plan) {
    return plan->shared.operations != NULL &&
                   load_word(heap, shared_word_at(plan->pools.count)) == shared_mark(plan)
               ? block_at(heap, shared_at(plan))
               : NULL;
}

/* Offset of the word that begins a pool's free list, or counts what is free. */
static inline uint32_t list_of(const hfit_pools_plan *plan, const hfit_pool *pool) {
    return free_list_at((uint32_t)(pool - plan->pools.items));
}

static uint32_t chunk_header(const hfit_pools_plan *plan) {
    return rounded_up(4 + 4 * ((plan->growth + 31) / 32), plan->common.alignment);
}

static uint32_t chunk_size_for(const hfit_pools_plan *plan, const hfit_pool *pool) {
    return chunk_header(plan) + plan->growth * pool->block_size;
}

static block_run chunk_run(const hfit_pools_plan *plan, uint32_t chunk) {
    return (block_run){chunk + chunk_header(plan), plan->growth, chunk + 4, 0};
}

/* A pool's number beside its complement, so that no flipped bit makes it another. */
static uint32_t pool_code(uint32_t pool) {
    return ~pool << 16 | pool;
}

/* The pool that a chunk belongs to, or NULL if what it says of that was overwritten. */
static const hfit_pool *pool_of_chunk(const hfit_heap *heap, const hfit_pools_plan *plan,
                                      uint32_t chunk) {
    const uint32_t code = load_word(heap, chunk);
    const uint32_t pool = code & 0xffff;
    return pool < plan->pools.count && code == pool_code(pool) ? &plan->pools.items[pool] : NULL;
}

static uint32_t chunk_entry(const hfit_pools_plan *plan, uint32_t number) {
    return pools_end(plan) + 4 + 4 * number;
}

/* How many chunks there are; never more than the list holds. */
static uint32_t chunk_count(const hfit_heap *heap, const hfit_pools_plan *plan) {
    const uint32_t count = may_grow(plan) ? load_word(heap, pools_end(plan)) : 0;
    return count < plan->growth_steps ? count : plan->growth_steps;
}

static uint32_t chunk_at(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number) {
    return load_word(heap, chunk_entry(plan, number));
}

/* How many chunks do not begin behind `offset`. */
static uint32_t chunks_up_to(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t offset) {
    uint32_t low = 0;
    uint32_t high = chunk_count(heap, plan);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (chunk_at(heap, plan, middle) <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What lies at an address behind the pools. */
enum chunk_content { NO_CHUNK, CHUNK_BLOCK, CHUNK_OTHER, CHUNK_DAMAGED };

/* Looks `offset` up in the chunks; stores the place if a block begins there, live or free. */
static enum chunk_content look_up_chunk(const hfit_heap *heap, const hfit_pools_plan *plan,
                                        uint32_t offset, block_place *place) {
    const uint32_t rank = chunks_up_to(heap, plan, offset);
    if (rank == 0) {
        return NO_CHUNK;
    }
    const uint32_t chunk = chunk_at(heap, plan, rank - 1);
    const hfit_pool *pool = pool_of_chunk(heap, plan, chunk);
    if (pool == NULL) {
        return CHUNK_DAMAGED;
    }
    if (offset - chunk >= chunk_size_for(plan, pool)) {
        return NO_CHUNK;
    }
    const block_run run = chunk_run(plan, chunk);
    return find_in_run(pool, &run, offset, place) ? CHUNK_BLOCK : CHUNK_OTHER;
}

/* Puts a new chunk into the list, which has room. */
static void list_chunk(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t chunk) {
    const uint32_t count = chunk_count(heap, plan);
    HFIT_ASSERT(count < plan->growth_steps);
    uint32_t place = count;
    for (; place > 0 && chunk_at(heap, plan, place - 1) > chunk; place--) {
        store_word(heap, chunk_entry(plan, place), chunk_at(heap, plan, place - 1));
    }
    store_word(heap, chunk_entry(plan, place), chunk);
    store_word(heap, pools_end(plan), count + 1);
}

/* Gets a pool without a free block some from the shared heap. False, and nothing changed, if that
 * has no such chunk, there is none, or the plan's steps are used up. */
static bool grow_pool(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool) {
    const hfit_pool *own = &plan->pools.items[pool];
    hfit_heap *shared = shared_heap(heap, plan);
    if (shared == NULL || chunk_count(heap, plan) >= plan->growth_steps) {
        return false;
    }
    const void *block =
        plan->shared.operations->alloc(shared, plan->shared.plan, chunk_size_for(plan, own));
    if (block == NULL) {
        return false;
    }
    const uint32_t chunk = (uint32_t)distance_of(heap, block);
    const block_run run = chunk_run(plan, chunk);
    store_word(heap, chunk, pool_code(pool));
    for (uint32_t word = 0; word < (run.count + 31) / 32; word++) {
        store_word(heap, run.bits + 4 * word, 0);
    }
    if (finds_by_bits(plan)) {
        store_word(heap, free_list_at(pool), run.count);
    } else {
        thread_blocks(heap, free_list_at(pool), &run, own->block_size);
    }
    list_chunk(heap, plan, chunk);
    return true;
}

/* The run of blocks of a pool after `*next`, which begins at 0: its own, then its chunks in order
 * of address. False if there is no more. */
static bool next_run(const hfit_heap *heap, const hfit_pools_plan *plan, const hfit_pool *pool,
                     uint32_t *next, block_run *run) {
    if (*next == 0) {
        *next = 1;
        *run = own_run(pool);
        return true;
    }
    while (*next <= chunk_count(heap, plan)) {
        const uint32_t chunk = chunk_at(heap, plan, *next - 1);
        *next += 1;
        if (pool_of_chunk(heap, plan, chunk) == pool) {
            *run = chunk_run(plan, chunk);
            return true;
        }
    }
    return false;
}

/* Bytes that the shared heap gave a chunk; 0 if it is none of its live blocks. */
static size_t chunk_bytes(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t chunk) {
    const hfit_heap *shared = shared_heap(heap, plan);
    return shared == NULL || chunk % 4 != 0 ? 0
                                            : plan->shared.operations->usable_size(
                                                  shared, plan->shared.plan, block_at(heap, chunk));
}

/* True if `chunk` is a live block of the shared heap, knows its pool and is large enough for it. */
static bool is_chunk_sound(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t chunk) {
    const size_t bytes = chunk_bytes(heap, plan, chunk);
    const hfit_pool *pool = bytes == 0 ? NULL : pool_of_chunk(heap, plan, chunk);
    return pool != NULL && bytes >= chunk_size_for(plan, pool);
}

/* True if the list of chunks ascends, ends where its count says, and its chunks are sound. */
static bool are_chunks_sound(const hfit_heap *heap, const hfit_pools_plan *plan) {
    const uint32_t count = chunk_count(heap, plan);
    uint32_t previous = shared_at(plan);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t chunk = chunk_at(heap, plan, i);
        if (chunk <= previous || !is_chunk_sound(heap, plan, chunk)) {
            return false;
        }
        previous = chunk;
    }
    for (uint32_t i = count; may_grow(plan) && i < plan->growth_steps; i++) {
        if (chunk_at(heap, plan, i) != NO_OFFSET) {
            return false;
        }
    }
    return !may_grow(plan) || load_word(heap, pools_end(plan)) == count;
}

#endif
