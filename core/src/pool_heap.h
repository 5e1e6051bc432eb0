/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap of pools in front of a shared heap, for any rule that tells which pools may serve a
 * request.
 *
 *   alloc -> quick_pool: index -> pool -> first block of its free list
 *         -> next_pool: the whole rule, then the shared heap           (where that does not serve)
 *   free  -> behind the pools? -> pool around the address -> its free list
 *
 * At safety level 1 a block's used bit refuses a double, foreign or misplaced free by one load, and
 * a link is followed only to a free block of the pool.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines the functions
 * of src/pool_rule.h; what it gets are all functions of the contract.
 */
#ifndef HFIT_POOL_HEAP_H
#define HFIT_POOL_HEAP_H

#include "src/operations.h"
#include "src/pool_growth.h"
#include "src/pool_inspection.h"
#include "src/pool_rule.h"

/* What taking a block from a pool came to. */
enum taking { TAKEN, NONE_LEFT, DAMAGED };

/* Takes the first block of a pool whose used bit is clear; the word of its list counts these. */
static enum taking take_by_bits(hfit_heap *heap, const hfit_pools_plan *plan, const hfit_pool *pool,
                                uint32_t *offset) {
    const uint32_t left = load_word(heap, pool->list);
    uint32_t next = 0;
    block_run run;
    while (left > 0 && next_run(heap, plan, pool, &next, &run)) {
        const uint32_t number = first_unused(heap, run);
        if (number < run.count) {
            flip_bit(heap, used_bit_of(run, number));
            store_word(heap, pool->list, left - 1);
            *offset = run.base + number * pool_block_size(pool, plan->common.alignment);
            return TAKEN;
        }
    }
    return left == 0 ? NONE_LEFT : DAMAGED;
}

/* As take_own, also for a list that leads to a chunk. */
static enum taking take_listed(hfit_heap *heap, const hfit_pools_plan *plan, const hfit_pool *pool,
                               uint32_t *offset) {
    block_place place;
    if (take_own(heap, pool, pool->list, offset)) {
        return TAKEN;
    }
    if (*offset == NO_OFFSET) {
        return NONE_LEFT;
    }
    if (!may_grow(plan) || look_up_chunk(heap, plan, *offset, &place) != CHUNK_BLOCK ||
        place.pool != pool || is_bit_set(heap, place.bit)) {
        return DAMAGED;
    }
    flip_bit(heap, place.bit);
    unlink_first(heap, pool->list, *offset);
    return TAKEN;
}

/* Takes a block of a pool, which grows if it has none and may. */
static enum taking take_block(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                              uint32_t *offset) {
    const hfit_pool *pool = &plan->pools.items[number];
    if (may_grow(plan) && load_word(heap, pool->list) == 0 && !grow_pool(heap, plan, number)) {
        return NONE_LEFT;
    }
    return finds_by_bits(plan) ? take_by_bits(heap, plan, pool, offset)
                               : take_listed(heap, plan, pool, offset);
}

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, const void *block) {
    HFIT_ON_MISUSE(heap, kind, block);
    return false;
}

/* Gives a block back. False, and nothing changed, if it is not live, which has been told. */
static inline bool give_block(hfit_heap *heap, const hfit_pools_plan *plan,
                              const block_place *place) {
    const uint32_t list = place->pool->list;
    if (keeps_bits(plan)) {
        const uint32_t bits = load_word(heap, place->bit.word);
        if (HFIT_SAFETY >= 1 && (bits & place->bit.mask) == 0) {
            return refuse(heap, HFIT_MISUSE_NOT_LIVE, block_at(heap, place->offset));
        }
        store_word(heap, place->bit.word, bits & ~place->bit.mask);
    }
    if (finds_by_bits(plan)) {
        store_word(heap, list, load_word(heap, list) + 1);
    } else {
        push_block(heap, list, place->offset);
    }
    return true;
}

/* The pool whose blocks reach over `offset`, which lies before the end of the pools: the last one
 * that does not begin behind it. At most log2 of the pools, rounded up, steps. */
static inline const hfit_pool *pool_around(const hfit_pools_plan *plan, uint32_t offset) {
    const hfit_pool *low = plan->pools.items;
    uint32_t count = plan->pools.count;
    for (uint32_t half = count / 2; half != 0; half = count / 2) {
        const hfit_pool *middle = low + half;
        count -= half;
        if (middle->base <= offset) {
            low = middle;
        }
    }
    return low;
}

/* Stores the place of the block, live or free, at `offset`, before the end of the pools. False,
 * which has been told, if none begins there; at safety level 0 one always does. */
static inline bool find_own_block(const hfit_heap *heap, const hfit_pools_plan *plan,
                                  uint32_t offset, block_place *place) {
    const hfit_pool *pool = pool_around(plan, offset);
    return find_in_run(pool, own_run(pool), offset, place) || HFIT_SAFETY < 1 ||
           refuse(heap, HFIT_MISUSE_FOREIGN, block_at(heap, offset));
}

/* Where an address lies: at a block of a pool, live or free; in the shared heap, which there is; or
 * neither, which has been told. */
enum part { IN_POOL, IN_SHARED, IN_NOTHING };

/* The part behind the pools that `block`, not NULL, lies in; stores the place for IN_POOL. */
static enum part find_behind(const hfit_heap *heap, const hfit_pools_plan *plan, const void *block,
                             block_place *place) {
    if (shared_heap(heap, plan) == NULL) {
        refuse(heap, HFIT_MISUSE_FOREIGN, block);
        return IN_NOTHING;
    }
    const uintptr_t distance = distance_of(heap, block);
    if (!may_grow(plan) || distance > UINT32_MAX) {
        return IN_SHARED;
    }
    switch (look_up_chunk(heap, plan, (uint32_t)distance, place)) {
    case NO_CHUNK:
        return IN_SHARED;
    case CHUNK_BLOCK:
        return IN_POOL;
    case CHUNK_DAMAGED:
        refuse(heap, HFIT_MISUSE_DAMAGED, block);
        return IN_NOTHING;
    default:
        refuse(heap, HFIT_MISUSE_FOREIGN, block);
        return IN_NOTHING;
    }
}

/* As find_behind, for any address but NULL and for live blocks only. */
static enum part find_live(const hfit_heap *heap, const hfit_pools_plan *plan, const void *block,
                           block_place *place) {
    const uintptr_t distance = distance_of(heap, block);
    enum part part = IN_POOL;
    if (distance >= plan->pools.end) {
        part = find_behind(heap, plan, block, place);
    } else if (!find_own_block(heap, plan, (uint32_t)distance, place)) {
        return IN_NOTHING;
    }
    if (part == IN_POOL && HFIT_SAFETY >= 1 && !is_bit_set(heap, place->bit)) {
        refuse(heap, HFIT_MISUSE_NOT_LIVE, block);
        return IN_NOTHING;
    }
    return part;
}

/* True if every block of a pool lies at a multiple of `alignment`, a power of two. Nothing is said
 * of chunks, so a heap that may grow serves no more than its own alignment from pools. */
static bool is_pool_aligned(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                            size_t alignment) {
    const hfit_pool *pool = &plan->pools.items[number];
    const uintptr_t first = (uintptr_t)heap + pool->base;
    return alignment <= plan->common.alignment ||
           (!may_grow(plan) &&
            ((first | pool_block_size(pool, plan->common.alignment)) & (alignment - 1)) == 0);
}

/* Takes a block from the first pool that may serve the request and has one. What is damaged has
 * been told. */
static enum taking take_by_rule(hfit_heap *heap, const hfit_pools_plan *plan, size_t size,
                                size_t alignment, uint32_t *offset) {
    const size_t asked = size == 0 ? 1 : size;
    enum taking taking = NONE_LEFT;
    uint32_t pool = next_pool(plan, asked, HFIT_NO_POOL);
    for (; pool != HFIT_NO_POOL && taking == NONE_LEFT; pool = next_pool(plan, asked, pool)) {
        if (is_pool_aligned(heap, plan, pool, alignment)) {
            taking = take_block(heap, plan, pool, offset);
        }
    }
    if (taking == DAMAGED) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    }
    return taking;
}

/* The shared heap, if it serves what the pools could not; else NULL. */
static hfit_heap *heap_for(const hfit_heap *heap, const hfit_pools_plan *plan, size_t size) {
    return refuses(plan, size) ? NULL : shared_heap(heap, plan);
}

/* A block by the whole rule: from the pools, else from the shared heap. */
static APART void *alloc_by_rule(hfit_heap *heap, const hfit_pools_plan *plan, size_t size,
                                 size_t alignment) {
    uint32_t offset;
    const enum taking taking = take_by_rule(heap, plan, size, alignment, &offset);
    if (taking != NONE_LEFT) {
        return taking == TAKEN ? block_at(heap, offset) : NULL;
    }
    const hfit_shared *behind = &plan->shared;
    hfit_heap *shared = heap_for(heap, plan, size);
    if (shared == NULL) {
        return NULL;
    }
    return alignment <= plan->common.alignment
               ? behind->operations->alloc(shared, behind->plan, size)
               : behind->operations->alloc_aligned(shared, behind->plan, alignment, size);
}

/* True if the pools are laid out as hfit_pools_lay_out does it. */
static bool are_pools_laid_out(const hfit_pools_plan *plan) {
    const uint32_t alignment = plan->common.alignment;
    uint32_t offset;
    uint32_t bit = 8 * used_bits_at(plan->pools.count);
    if (!begin_layout(plan->pools.items, plan->pools.count, alignment, &offset)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        const hfit_pool *pool = &plan->pools.items[i];
        if (pool->base != offset || pool->list != free_list_at(i) || pool->used_bit != bit ||
            pool->turn > 31 ||
            pool->inverse * (pool_block_size(pool, alignment) >> pool->turn) != 1 ||
            !lay_out_pool(pool, alignment, &offset)) {
            return false;
        }
        bit += pool->count;
    }
    return plan->pools.count == 0 || plan->pools.end == offset;
}

static bool is_plan_sound(const hfit_pools_plan *plan) {
    const hfit_shared *shared = &plan->shared;
    return (plan->pools.count == 0 ? plan->pools.end == 0 : plan->pools.items != NULL) &&
           (shared->operations == NULL) == (shared->plan == NULL) &&
           (shared->plan == NULL || shared->plan->alignment == plan->common.alignment) &&
           are_pools_laid_out(plan) && is_rule_sound(plan) && is_built_for(plan) &&
           plan->seal == seal_of(plan);
}

size_t HFIT_THIS(smallest_region)(const hfit_plan *plan) {
    return is_plan_sound(pools_plan(plan)) ? shared_at(pools_plan(plan)) : 0;
}

bool HFIT_THIS(complete)(hfit_pools_plan *plan, uint8_t *table, uint32_t room) {
    make_index(plan, table, room);
    plan->seal = seal_of(plan);
    return is_plan_sound(plan);
}

static void clear_words(hfit_heap *heap, uint32_t from, uint32_t to) {
    for (uint32_t offset = from; offset < to; offset += 4) {
        store_word(heap, offset, 0);
    }
}

static void init_pools(hfit_heap *heap, const hfit_pools_plan *plan) {
    const uint32_t count = plan->pools.count;
    clear_words(heap, shared_word_at(count),
                count == 0 ? pools_end(plan) : plan->pools.items[0].base);
    clear_words(heap, pools_end(plan), shared_at(plan));
    for (uint32_t i = 0; i < count; i++) {
        const hfit_pool *pool = &plan->pools.items[i];
        if (finds_by_bits(plan)) {
            store_word(heap, pool->list, pool->count);
        } else {
            thread_blocks(heap, pool->list, own_run(pool),
                          pool_block_size(pool, plan->common.alignment));
        }
    }
}

/* What is left behind the pools becomes the shared heap, if the plan has one and it is enough for
 * it. */
hfit_heap *HFIT_THIS(init)(void *region, size_t region_size, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    if (!is_region_usable(region, region_size, plan) || !is_built_for(pools) ||
        (HFIT_SAFETY >= 1 && pools->seal != seal_of(pools)) || region_size < shared_at(pools)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const hfit_shared *behind = &pools->shared;
    const uint32_t at = shared_at(pools);
    init_pools(heap, pools);
    if (behind->operations != NULL &&
        behind->operations->init(block_at(heap, at), region_size - at, behind->plan) != NULL) {
        store_word(heap, shared_word_at(pools->pools.count), shared_mark(pools));
    }
    return heap;
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    return is_power_of_two(alignment) ? alloc_by_rule(heap, pools_plan(plan), size, alignment)
                                      : NULL;
}

static inline void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const uint32_t pool = quick_pool(pools, size);
    uint32_t offset;
    if (LIKELY(pool != HFIT_NO_POOL &&
               take_own(heap, &pools->pools.items[pool], free_list_at(pool), &offset))) {
        return block_at(heap, offset);
    }
    return alloc_by_rule(heap, pools, size, plan->alignment);
}

/* Frees an address that is not the pools'. */
static APART void free_behind(hfit_heap *heap, const hfit_pools_plan *plan, void *block) {
    block_place place;
    if (block == NULL) {
        return;
    }
    switch (find_behind(heap, plan, block, &place)) {
    case IN_POOL:
        give_block(heap, plan, &place);
        break;
    case IN_SHARED:
        plan->shared.operations->free(shared_heap(heap, plan), plan->shared.plan, block);
        break;
    default:
        break;
    }
}

static inline void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const uintptr_t distance = distance_of(heap, block);
    if (distance >= pools_plan(plan)->pools.end) {
        free_behind(heap, pools_plan(plan), block);
        return;
    }
    block_place place;
    if (find_own_block(heap, pools_plan(plan), (uint32_t)distance, &place)) {
        give_block(heap, pools_plan(plan), &place);
    }
}

/* True if `block` is a block of a pool, whose place is then stored. */
static inline bool is_in_pool(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t number,
                              const void *block, block_place *place) {
    const hfit_pool *pool = &plan->pools.items[number];
    const uintptr_t distance = distance_of(heap, block);
    return distance < plan->pools.end &&
           find_in_run(pool, own_run(pool), (uint32_t)distance, place);
}

/* The size leads to the pool without a search; the address decides whether that is the one. */
static APART void free_by_size(hfit_heap *heap, const hfit_pools_plan *plan, void *block,
                               size_t size) {
    const uint32_t pool = likely_pool(plan, size);
    block_place place;
    if (pool != HFIT_NO_POOL && is_in_pool(heap, plan, pool, block, &place)) {
        give_block(heap, plan, &place);
    } else {
        heap_free(heap, &plan->common, block);
    }
}

static inline void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block,
                                   size_t size) {
    const uint32_t own = own_pool(pools_plan(plan), size);
    if (HFIT_SAFETY >= 1 || own == HFIT_NO_POOL || block == NULL) {
        free_by_size(heap, pools_plan(plan), block, size);
        return;
    }
    push_block(heap, free_list_at(own), (uint32_t)distance_of(heap, block));
}

/* A pool block stays where it is if its pool is the first choice for the new size; else it moves,
 * and stays after all where nothing else is free, it fits and the rule does not refuse. */
static void *resize_pool_block(hfit_heap *heap, const hfit_pools_plan *plan,
                               const block_place *place, size_t size) {
    const uint32_t usable = pool_block_size(place->pool, plan->common.alignment);
    void *block = block_at(heap, place->offset);
    const uint32_t first = next_pool(plan, size == 0 ? 1 : size, HFIT_NO_POOL);
    if (first != HFIT_NO_POOL && &plan->pools.items[first] == place->pool) {
        return block;
    }
    void *moved = heap_alloc(heap, &plan->common, size);
    if (moved == NULL) {
        return size <= usable && !refuses(plan, size) ? block : NULL;
    }
    copy_payload(moved, block, size < usable ? size : usable);
    give_block(heap, plan, place);
    return moved;
}

/* A shared block moves into a pool that takes its new size and has a block; else the shared heap
 * resizes it. */
static void *resize_shared_block(hfit_heap *heap, const hfit_pools_plan *plan, void *block,
                                 size_t size) {
    const hfit_shared *behind = &plan->shared;
    hfit_heap *shared = shared_heap(heap, plan);
    const size_t usable = behind->operations->usable_size(shared, behind->plan, block);
    if (usable == 0) {
        return NULL;
    }
    uint32_t offset;
    const enum taking taking = take_by_rule(heap, plan, size, plan->common.alignment, &offset);
    if (taking != TAKEN) {
        return taking == NONE_LEFT && !refuses(plan, size)
                   ? behind->operations->resize(shared, behind->plan, block, size)
                   : NULL;
    }
    void *moved = block_at(heap, offset);
    copy_payload(moved, block, size < usable ? size : usable);
    behind->operations->free(shared, behind->plan, block);
    return moved;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    block_place place;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    switch (find_live(heap, pools_plan(plan), block, &place)) {
    case IN_POOL:
        return resize_pool_block(heap, pools_plan(plan), &place, size);
    case IN_SHARED:
        return resize_shared_block(heap, pools_plan(plan), block, size);
    default:
        return NULL;
    }
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    const hfit_shared *behind = &pools_plan(plan)->shared;
    block_place place;
    switch (block == NULL ? IN_NOTHING : find_live(heap, pools_plan(plan), block, &place)) {
    case IN_POOL:
        return pool_block_size(place.pool, plan->alignment);
    case IN_SHARED:
        return behind->operations->usable_size(shared_heap(heap, pools_plan(plan)), behind->plan,
                                               block);
    default:
        return 0;
    }
}

#endif
