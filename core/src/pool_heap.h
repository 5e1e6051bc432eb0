/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap of pools in front of a shared heap, for any rule that tells which pools may serve a
 * request.
 *
 * A block's used bit lies outside the blocks, so a double, foreign or misplaced free is refused by
 * one load. A free block holds the link to the next one; blocks never handed out are not touched,
 * so `init` costs a word a pool and the bits.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines next_pool and
 * is_pool_list_sound; what it gets are all functions of the contract.
 */
#ifndef HFIT_POOL_HEAP_H
#define HFIT_POOL_HEAP_H

#include "src/operations.h"
#include "src/pool_layout.h"

/* The pool to try for a request of `size` bytes after pool `after` was empty; HFIT_NO_POOL for
 * `after` begins, and as an answer ends, the search. */
static uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after);

/* True if the plan's pools, laid out and ascending, are such as this rule wants. */
static bool is_pool_list_sound(const hfit_pools_plan *plan);

static const hfit_pools_plan *pools_plan(const hfit_plan *plan) {
    return (const hfit_pools_plan *)plan;
}

static uint32_t pool_state(uint32_t pool, uint32_t word) {
    return POOL_STATES + POOL_STATE_SIZE * pool + word;
}

static uint32_t block_size_of(const hfit_pools_plan *plan, uint32_t pool) {
    return pool_block_size(&plan->pools.items[pool], plan->common.alignment);
}

/* Where the last pool ends and the shared heap begins. */
static uint32_t pools_end(const hfit_pools_plan *plan) {
    if (plan->pools.count == 0) {
        return pools_control_size(0, 0, plan->common.alignment);
    }
    const uint32_t last = plan->pools.count - 1;
    return plan->pools.items[last].base + plan->pools.items[last].count * block_size_of(plan, last);
}

/* The heap behind the pools, or NULL. */
static hfit_heap *shared_heap(const hfit_heap *heap, const hfit_pools_plan *plan) {
    return load_word(heap, SHARED_SIZE) == 0 ? NULL : block_at(heap, pools_end(plan));
}

/* Offset of the word that holds the used bit of block `index` of a pool, and the bit. */
static uint32_t used_word(const hfit_pools_plan *plan, uint32_t pool, uint32_t index,
                          uint32_t *bit) {
    const uint32_t number = plan->pools.items[pool].first + index;
    *bit = 1u << (number % 32);
    return used_bits_at(plan->pools.count) + 4 * (number / 32);
}

static bool is_block_used(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool,
                          uint32_t index) {
    uint32_t bit;
    const uint32_t word = used_word(plan, pool, index, &bit);
    return (load_word(heap, word) & bit) != 0;
}

static void flip_used(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool, uint32_t index) {
    uint32_t bit;
    const uint32_t word = used_word(plan, pool, index, &bit);
    store_word(heap, word, load_word(heap, word) ^ bit);
}

/* Number of the block of `pool` at `offset`, counted from the pool's start. */
static uint32_t block_index(const hfit_pools_plan *plan, uint32_t pool, uint32_t offset) {
    return (offset - plan->pools.items[pool].base) / block_size_of(plan, pool);
}

/* Offset of a block taken from a pool: the one freed last, else the next one never used. NO_OFFSET
 * if none is left. */
static uint32_t take_block(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool) {
    uint32_t offset = load_word(heap, pool_state(pool, FREE_LIST));
    if (offset != NO_OFFSET) {
        store_word(heap, pool_state(pool, FREE_LIST), load_word(heap, offset));
    } else {
        const uint32_t carved = load_word(heap, pool_state(pool, CARVED));
        if (carved == plan->pools.items[pool].count) {
            return NO_OFFSET;
        }
        store_word(heap, pool_state(pool, CARVED), carved + 1);
        offset = plan->pools.items[pool].base + carved * block_size_of(plan, pool);
    }
    flip_used(heap, plan, pool, block_index(plan, pool, offset));
    return offset;
}

static void give_block(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool,
                       uint32_t offset) {
    flip_used(heap, plan, pool, block_index(plan, pool, offset));
    store_word(heap, offset, load_word(heap, pool_state(pool, FREE_LIST)));
    store_word(heap, pool_state(pool, FREE_LIST), offset);
}

/* The pool whose blocks reach over `offset`, which lies between the first base and the end of the
 * pools: the last one that does not begin behind it. At most log2 of the pools + 1 steps. */
static uint32_t pool_around(const hfit_pools_plan *plan, uint32_t offset) {
    uint32_t low = 0;
    uint32_t high = plan->pools.count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (plan->pools.items[middle].base <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where a block handed in by the caller lies. */
typedef struct block_place {
    enum { PLACE_NOWHERE, PLACE_POOL, PLACE_SHARED } in;
    uint32_t pool;
    uint32_t offset;
} block_place;

/* Finds a live pool block or an address that is the shared heap's business; anything else is told
 * as misuse. */
static block_place place_of(const hfit_heap *heap, const hfit_pools_plan *plan, const void *block) {
    const block_place nowhere = {PLACE_NOWHERE, HFIT_NO_POOL, NO_OFFSET};
    const uint32_t end = pools_end(plan);
    const uint32_t offset = offset_of(heap, block, end);
    if (offset == NO_OFFSET && load_word(heap, SHARED_SIZE) != 0) {
        return (block_place){PLACE_SHARED, HFIT_NO_POOL, NO_OFFSET};
    }
    if (plan->pools.count == 0 || offset < plan->pools.items[0].base) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return nowhere;
    }
    const uint32_t pool = pool_around(plan, offset);
    const uint32_t index = block_index(plan, pool, offset);
    if (offset != plan->pools.items[pool].base + index * block_size_of(plan, pool)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return nowhere;
    }
    if (!is_block_used(heap, plan, pool, index)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return nowhere;
    }
    return (block_place){PLACE_POOL, pool, offset};
}

/* True if every block of a pool lies at a multiple of `alignment`, a power of two. */
static bool is_pool_aligned(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool,
                            size_t alignment) {
    const uintptr_t first = (uintptr_t)heap + plan->pools.items[pool].base;
    return ((first | block_size_of(plan, pool)) & (alignment - 1)) == 0;
}

/* A block from the first pool that may serve the request and has one, or NULL. */
static void *alloc_from_pools(hfit_heap *heap, const hfit_pools_plan *plan, size_t alignment,
                              size_t size) {
    const size_t asked = size == 0 ? 1 : size;
    uint32_t pool = next_pool(plan, asked, HFIT_NO_POOL);
    for (; pool != HFIT_NO_POOL; pool = next_pool(plan, asked, pool)) {
        if (!is_pool_aligned(heap, plan, pool, alignment)) {
            continue;
        }
        const uint32_t offset = take_block(heap, plan, pool);
        if (offset != NO_OFFSET) {
            return block_at(heap, offset);
        }
    }
    return NULL;
}

/* True if the pools are laid out as hfit_pools_lay_out does it. */
static bool are_pools_laid_out(const hfit_pools_plan *plan) {
    const uint32_t alignment = plan->common.alignment;
    uint32_t offset;
    uint32_t first = 0;
    if (!begin_layout(plan->pools.items, plan->pools.count, alignment, &offset)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        const hfit_pool *pool = &plan->pools.items[i];
        if (pool->base != offset || pool->first != first ||
            !lay_out_pool(pool, alignment, &offset)) {
            return false;
        }
        first += pool->count;
    }
    return true;
}

static bool is_plan_sound(const hfit_pools_plan *plan) {
    const hfit_shared *shared = &plan->shared;
    return (plan->pools.count == 0 || plan->pools.items != NULL) &&
           (shared->operations == NULL) == (shared->plan == NULL) &&
           (shared->plan == NULL || shared->plan->alignment == plan->common.alignment) &&
           are_pools_laid_out(plan) && is_pool_list_sound(plan);
}

size_t HFIT_THIS(smallest_region)(const hfit_plan *plan) {
    return is_plan_sound(pools_plan(plan)) ? pools_end(pools_plan(plan)) : 0;
}

/* What is left behind the pools becomes the shared heap, if the plan has one and it is enough for
 * it. */
static void init_shared(hfit_heap *heap, const hfit_pools_plan *plan, size_t region_size) {
    const uint32_t end = pools_end(plan);
    const size_t left = region_size - end;
    store_word(heap, SHARED_SIZE, 0);
    if (plan->shared.operations != NULL &&
        plan->shared.operations->init(block_at(heap, end), left, plan->shared.plan) != NULL) {
        store_word(heap, SHARED_SIZE, (uint32_t)left);
    }
}

hfit_heap *HFIT_THIS(init)(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(pools_plan(plan)) ||
        region_size < pools_end(pools_plan(plan))) {
        return NULL;
    }
    hfit_heap *heap = region;
    const hfit_pool_list *pools = &pools_plan(plan)->pools;
    const uint32_t control = pools->count == 0 ? pools_end(pools_plan(plan)) : pools->items[0].base;
    for (uint32_t offset = POOL_STATES; offset < control; offset += 4) {
        store_word(heap, offset, 0);
    }
    init_shared(heap, pools_plan(plan), region_size);
    return heap;
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    if (!is_power_of_two(alignment)) {
        return NULL;
    }
    void *block = alloc_from_pools(heap, pools_plan(plan), alignment, size);
    hfit_heap *shared = block == NULL ? shared_heap(heap, pools_plan(plan)) : NULL;
    if (shared == NULL) {
        return block;
    }
    const hfit_shared *behind = &pools_plan(plan)->shared;
    return behind->operations->alloc_aligned(shared, behind->plan, alignment, size);
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    return heap_alloc_aligned(heap, plan, plan->alignment, size);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (block == NULL) {
        return;
    }
    const block_place place = place_of(heap, pools_plan(plan), block);
    if (place.in == PLACE_POOL) {
        give_block(heap, pools_plan(plan), place.pool, place.offset);
    } else if (place.in == PLACE_SHARED) {
        const hfit_shared *behind = &pools_plan(plan)->shared;
        behind->operations->free(shared_heap(heap, pools_plan(plan)), behind->plan, block);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* a block may have overflowed into another pool, so the address decides */
    heap_free(heap, plan, block);
}

/* A pool block stays where it is if its pool is the first choice for the new size; else it moves,
 * and stays after all where nothing else is free and it fits. */
static void *resize_pool_block(hfit_heap *heap, const hfit_plan *plan, block_place place,
                               size_t size) {
    const uint32_t usable = block_size_of(pools_plan(plan), place.pool);
    void *block = block_at(heap, place.offset);
    if (next_pool(pools_plan(plan), size == 0 ? 1 : size, HFIT_NO_POOL) == place.pool) {
        return block;
    }
    void *moved = heap_alloc(heap, plan, size);
    if (moved == NULL) {
        return size <= usable ? block : NULL;
    }
    copy_payload(moved, block, size < usable ? size : usable);
    give_block(heap, pools_plan(plan), place.pool, place.offset);
    return moved;
}

/* A shared block moves into a pool that takes its new size and has a block; else the shared heap
 * resizes it. */
static void *resize_shared_block(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const hfit_shared *behind = &pools_plan(plan)->shared;
    hfit_heap *shared = shared_heap(heap, pools_plan(plan));
    const size_t usable = behind->operations->usable_size(shared, behind->plan, block);
    if (usable == 0) {
        return NULL;
    }
    void *moved = alloc_from_pools(heap, pools_plan(plan), plan->alignment, size);
    if (moved == NULL) {
        return behind->operations->resize(shared, behind->plan, block, size);
    }
    copy_payload(moved, block, size < usable ? size : usable);
    behind->operations->free(shared, behind->plan, block);
    return moved;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const block_place place = place_of(heap, pools_plan(plan), block);
    if (place.in == PLACE_POOL) {
        return resize_pool_block(heap, plan, place, size);
    }
    return place.in == PLACE_SHARED ? resize_shared_block(heap, plan, block, size) : NULL;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    if (block == NULL) {
        return 0;
    }
    const block_place place = place_of(heap, pools_plan(plan), block);
    if (place.in == PLACE_SHARED) {
        const hfit_shared *behind = &pools_plan(plan)->shared;
        return behind->operations->usable_size(shared_heap(heap, pools_plan(plan)), behind->plan,
                                               block);
    }
    return place.in == PLACE_POOL ? block_size_of(pools_plan(plan), place.pool) : 0;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const hfit_pools_plan *pools = pools_plan(plan);
    for (uint32_t pool = 0; pool < pools->pools.count; pool++) {
        const uint32_t size = block_size_of(pools, pool);
        for (uint32_t i = 0; i < pools->pools.items[pool].count; i++) {
            visitor(context, block_at(heap, pools->pools.items[pool].base + i * size), size,
                    is_block_used(heap, pools, pool, i));
        }
    }
    const hfit_heap *shared = shared_heap(heap, pools);
    if (shared != NULL) {
        pools->shared.operations->walk(shared, pools->shared.plan, visitor, context);
    }
}

/* True if a pool's free list holds just its carved blocks that are not used. */
static bool is_pool_sound(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool) {
    const hfit_pool *own = &plan->pools.items[pool];
    const uint32_t size = block_size_of(plan, pool);
    const uint32_t carved = load_word(heap, pool_state(pool, CARVED));
    uint32_t unused = 0;
    if (carved > own->count) {
        return false;
    }
    for (uint32_t i = 0; i < own->count; i++) {
        const bool is_used = is_block_used(heap, plan, pool, i);
        if (is_used && i >= carved) {
            return false;
        }
        unused += !is_used && i < carved;
    }
    uint32_t offset = load_word(heap, pool_state(pool, FREE_LIST));
    for (; offset != NO_OFFSET && unused > 0; unused--) {
        if (offset < own->base || offset - own->base >= carved * size ||
            (offset - own->base) % size != 0 ||
            is_block_used(heap, plan, pool, block_index(plan, pool, offset))) {
            return false;
        }
        offset = load_word(heap, offset);
    }
    return offset == NO_OFFSET && unused == 0;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    for (uint32_t pool = 0; pool < pools->pools.count; pool++) {
        if (!is_pool_sound(heap, pools, pool)) {
            return false;
        }
    }
    const hfit_heap *shared = shared_heap(heap, pools);
    return shared == NULL || pools->shared.operations->check(shared, pools->shared.plan);
}

/* Pools are set aside whole, so they count from the start. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    return pools_end(pools) +
           (shared == NULL ? 0 : pools->shared.operations->footprint(shared, pools->shared.plan));
}

#endif
