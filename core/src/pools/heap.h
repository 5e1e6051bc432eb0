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
 * of src/pools/rule.h; what it gets are all functions of the contract.
 */
#ifndef HFIT_POOL_HEAP_H
#define HFIT_POOL_HEAP_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"
#include "src/pools/blocks.h"
#include "src/pools/rule.h"
#include "src/pools/shared_heap.h"
#include "src/pools/taking.h"
#include "src/pools/inspection.h"

/* Offset of an address in the pools; their end or more for any other, NULL too, since no region
 * wraps. */
static inline uintptr_t distance_of(const hfit_heap *heap, const void *block) {
    return (uintptr_t)block - (uintptr_t)heap;
}

/* Gives a block back to a pool whose list counts the free ones; one that is not live is told of,
 * and nothing changed. */
static FORCE_INLINE void give_bit(hfit_heap *heap, uint32_t list, const block_place *place) {
    const uint32_t bits = load_word(heap, place->bit.word);
    if (HFIT_SAFETY >= 1 && (bits & place->bit.mask) == 0) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block_at(heap, place->offset));
        return;
    }
    store_word(heap, place->bit.word, bits & ~place->bit.mask);
    store_word(heap, list, load_word(heap, list) + 1);
}

/* Gives a block back; one that is not live is told of, and nothing changed. */
static FORCE_INLINE void give_block(hfit_heap *heap, const hfit_pools_plan *plan,
                                    const block_place *place) {
    const uint32_t list = list_of(plan, place->pool);
    if (finds_by_bits(plan)) {
        give_bit(heap, list, place);
    } else if (HFIT_SAFETY < 1) {
        store_word(heap, place->offset, load_word(heap, list));
        store_word(heap, list, place->link);
    } else if (!put_linked(heap, list, &place->bit, place->offset, place->link)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block_at(heap, place->offset));
    }
}

/* The pool whose blocks reach over `offset`: the last one that does not begin behind it, or the
 * first. At most log2 of the pools, rounded up, steps. */
static FORCE_INLINE const hfit_pool *pool_around(const hfit_pools_plan *plan, uint32_t offset) {
    HFIT_ASSERT(plan->pools.count != 0);
    const hfit_pool *low = plan->pools.items;
    uint32_t step = 1u << 31 >> hfit_leading_zeros(plan->pools.count);
    /* The last `step` pools or the first ones: either holds the pool looked for. */
    if (plan->pools.count > step && low[plan->pools.count - step].base <= offset) {
        low += plan->pools.count - step;
    }
    STEP_BY_STEP
    for (step /= 2; step != 0; step /= 2) {
        HFIT_LOOP_HALVES(plan->pools.count / 2);
        if (low[step].base <= offset) {
            low += step;
        }
    }
    return low;
}

/* Stores the place of the block, live or free, that a pool set aside at this distance from the
 * heap's start. False if there is none; at safety level 0 not, if it is before the pools' end. */
static FORCE_INLINE bool find_own_block(const hfit_pools_plan *plan, uintptr_t distance,
                                        block_place *place) {
    if (HFIT_SAFETY < 1 ? distance >= plan->pools.end : plan->pools.count == 0) {
        return false;
    }
    const hfit_pool *pool = pool_around(plan, (uint32_t)distance);
    const block_run run = own_run(pool);
    return (find_in_run(pool, &run, (uint32_t)distance, place) && (uint32_t)distance == distance) ||
           HFIT_SAFETY < 1;
}

/* True if `block`, not NULL and no block of a pool, may be one of the shared heap; else that has
 * been told. */
static FORCE_INLINE bool may_be_shared(const hfit_heap *heap, const hfit_pools_plan *plan,
                                       const void *block) {
    if ((HFIT_SAFETY >= 1 && distance_of(heap, block) < plan->pools.end) ||
        shared_heap(heap, plan) == NULL) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    return true;
}

/* What an address is: a live block of a pool; one of the shared heap, which there is, to judge; or
 * neither, which has been told. */
enum part { IN_POOL, IN_SHARED, IN_NOTHING };

/* The part that `block`, not NULL, is a live block of; stores the place for IN_POOL. */
static enum part find_live(const hfit_heap *heap, const hfit_pools_plan *plan, const void *block,
                           block_place *place) {
    if (!find_own_block(plan, distance_of(heap, block), place)) {
        return may_be_shared(heap, plan, block) ? IN_SHARED : IN_NOTHING;
    }
    if (HFIT_SAFETY >= 1 && !is_bit_set(heap, &place->bit)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return IN_NOTHING;
    }
    return IN_POOL;
}

/* The shared heap, if it serves what the pools could not; else NULL. */
static FORCE_INLINE hfit_heap *heap_for(const hfit_heap *heap, const hfit_pools_plan *plan,
                                        size_t size) {
    return refuses(plan, size) ? NULL : shared_heap(heap, plan);
}

/* What a taking from the pools came to: the block, or one of the shared heap. What is damaged is
 * told. */
static FORCE_INLINE void *taken_or_shared(hfit_heap *heap, const hfit_pools_plan *plan,
                                          const wish *w, enum taking taking, uint32_t offset) {
    const hfit_shared *behind = &plan->shared;
    hfit_heap *shared = NULL;
    switch (taking) {
    case TAKEN:
        return block_at(heap, offset);
    case DAMAGED:
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        return NULL;
    default:
        shared = heap_for(heap, plan, w->size);
    }
    if (shared == NULL) {
        return NULL;
    }
    return w->alignment <= plan->common.alignment
               ? behind->operations->alloc(shared, behind->plan, w->size)
               : behind->operations->alloc_aligned(shared, behind->plan, w->alignment, w->size);
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
        if (pool->base != offset || pool->block_size != rounded_up(pool->size, alignment) ||
            pool->used_bit != bit || pool->turn > 31 ||
            pool->inverse * (pool->block_size >> pool->turn) != 1 ||
            !lay_out_pool(pool, alignment, &offset)) {
            return false;
        }
        bit += pool->count;
    }
    return plan->pools.count == 0 || plan->pools.end == offset;
}

static bool is_plan_sound(const hfit_pools_plan *plan) {
    const hfit_shared *shared = &plan->shared;
    return is_pool_count_sound(plan) && (plan->pools.count != 0 || plan->pools.end == 0) &&
           (shared->operations == NULL) == (shared->plan == NULL) &&
           (shared->plan == NULL || shared->plan->alignment == plan->common.alignment) &&
           are_pools_laid_out(plan) && is_rule_sound(plan) && plan->seal == seal_of(plan);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_plan_sound(pools_plan(plan)) ? pools_end(pools_plan(plan)) : 0;
}

/* next_pool as the descriptor tells it. */
static uint32_t told_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    return next_pool(plan, size, after);
}

bool HFIT_THIS(complete)(hfit_pools_plan *plan, uint8_t *table, uint32_t room) {
    if (!is_alignment_allowed(plan->common.alignment) || !is_pool_count_sound(plan)) {
        return false;
    }
    make_index(plan, table, room);
    plan->seal = seal_of(plan);
    const bool is_sound = is_plan_sound(plan);
    plan->seal = is_sound ? plan->seal : ~plan->seal;
    return is_sound;
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
    for (uint32_t i = 0; i < count; i++) {
        const hfit_pool *pool = &plan->pools.items[i];
        if (finds_by_bits(plan)) {
            store_word(heap, free_list_at(i), pool->count);
        } else {
            const block_run run = own_run(pool);
            thread_blocks(heap, free_list_at(i), &run, pool->block_size);
        }
    }
}

/* True at safety level 0, and of the plan of a build, which nothing came by to change. */
static inline bool is_sealed(const hfit_pools_plan *plan) {
    return HFIT_SAFETY < 1 || HFIT_HAS_PLAN_OF_BUILD ||
           (is_pool_count_sound(plan) && is_index_size_sound(plan) && plan->seal == seal_of(plan));
}

/* What is left behind the pools becomes the shared heap, if the plan has one and it is enough for
 * it. */
static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    if (!is_region_usable(region, region_size, plan) || !is_sealed(pools) ||
        region_size < pools_end(pools)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const hfit_shared *behind = &pools->shared;
    const uint32_t at = pools_end(pools);
    init_pools(heap, pools);
    if (behind->operations != NULL &&
        behind->operations->init(block_at(heap, at), region_size - at, behind->plan) != NULL) {
        store_word(heap, shared_word_at(pools->pools.count), shared_mark(pools));
    }
    return heap;
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const wish w = {HFIT_NO_POOL, size, alignment};
    uint32_t offset = NO_OFFSET;
    if (!is_power_of_two(alignment)) {
        return NULL;
    }
    const enum taking taking = take_by_rule(heap, pools, &w, &offset);
    return taken_or_shared(heap, pools, &w, taking, offset);
}

/* A request that pool `first`, NULL if quick_pool tells none, has no block for. */
static APART void *alloc_otherwise(hfit_heap *heap, const hfit_pools_plan *plan,
                                   const hfit_pool *first, size_t size) {
    const uint32_t after = first == NULL ? HFIT_NO_POOL : (uint32_t)(first - plan->pools.items);
    const wish w = {after, size, plan->common.alignment};
    uint32_t offset = NO_OFFSET;
    enum taking taking = NONE_LEFT;
    if (first == NULL ? !knows_first(plan) : may_overflow(plan)) {
        taking = take_by_rule(heap, plan, &w, &offset);
    }
    return taken_or_shared(heap, plan, &w, taking, offset);
}

static FORCE_INLINE void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const hfit_pools_plan *pools = pools_plan(plan);
    uint32_t number;
    uint32_t offset = NO_OFFSET;
    if (!quick_pool(pools, size, &number) && (size != 0 || !quick_pool(pools, 1, &number))) {
        return alloc_otherwise(heap, pools, NULL, size);
    }
    const hfit_pool *pool = &pools->pools.items[number];
    const enum taking taking = take_own(heap, pool, free_list_at(number), &offset);
    if (HFIT_LIKELY(taking == TAKEN)) {
        return block_at(heap, offset);
    }
    if (taking == DAMAGED) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        return NULL;
    }
    return alloc_otherwise(heap, pools, pool, size);
}

/* Frees an address that is no block which a pool set aside. */
static APART void free_behind(hfit_heap *heap, const hfit_pools_plan *plan, void *block) {
    if (block != NULL && may_be_shared(heap, plan, block)) {
        plan->shared.operations->free(shared_heap(heap, plan), plan->shared.plan, block);
    }
}

static FORCE_INLINE void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    block_place place;
    if (HFIT_LIKELY(find_own_block(pools_plan(plan), distance_of(heap, block), &place))) {
        give_block(heap, pools_plan(plan), &place);
    } else {
        free_behind(heap, pools_plan(plan), block);
    }
}

/* Stores the place of the block of the pool that a size leads to without a search, if it is one:
 * the address decides. */
static inline bool find_by_size(const hfit_pools_plan *plan, uintptr_t distance, size_t size,
                                block_place *place) {
    uint32_t number;
    if (!likely_pool(plan, size, &number) || (uint32_t)distance != distance) {
        return false;
    }
    const hfit_pool *pool = &plan->pools.items[number];
    const block_run run = own_run(pool);
    return find_in_run(pool, &run, (uint32_t)distance, place);
}

static inline void free_by_size(hfit_heap *heap, const hfit_pools_plan *plan, void *block,
                                size_t size) {
    block_place place;
    if (find_by_size(plan, distance_of(heap, block), size, &place)) {
        give_block(heap, plan, &place);
    } else {
        heap_free(heap, &plan->common, block);
    }
}

static inline void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block,
                                   size_t size) {
    uint32_t own = 0;
    if (HFIT_SAFETY >= 1 || block == NULL || !own_pool(pools_plan(plan), size, &own)) {
        free_by_size(heap, pools_plan(plan), block, size);
        return;
    }
    store_word(heap, (uint32_t)distance_of(heap, block), load_word(heap, free_list_at(own)));
    store_word(heap, free_list_at(own), (uint32_t)distance_of(heap, block));
}

/* A pool block stays where it is if its pool is the first choice for the new size; else it moves,
 * and stays after all where nothing else is free, it fits and the rule does not refuse. */
static void *resize_pool_block(hfit_heap *heap, const hfit_pools_plan *plan,
                               const block_place *place, size_t size) {
    const uint32_t usable = place->pool->block_size;
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
    const wish w = {HFIT_NO_POOL, size, plan->common.alignment};
    uint32_t offset;
    const enum taking taking = take_by_rule(heap, plan, &w, &offset);
    if (taking == DAMAGED) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    }
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
        return place.pool->block_size;
    case IN_SHARED:
        return behind->operations->usable_size(shared_heap(heap, pools_plan(plan)), behind->plan,
                                               block);
    default:
        return 0;
    }
}

#endif
