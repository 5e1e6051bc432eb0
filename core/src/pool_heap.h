/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap of pools in front of a shared heap, for any rule that tells which pools may serve a
 * request.
 *
 *   alloc -> quick_pool: index -> pool -> first block of its free list
 *         -> next_pool: the whole rule, then the shared heap           (where that does not serve)
 *   free  -> pools_end? -> pool around the address -> its free list
 *
 * At safety level 1 a block's used bit refuses a double, foreign or misplaced free by one load, and
 * a link is followed only to a free block of the pool.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines the static
 * functions declared first; what it gets are all functions of the contract.
 */
#ifndef HFIT_POOL_HEAP_H
#define HFIT_POOL_HEAP_H

#include "src/operations.h"
#include "src/pool_blocks.h"

/* The pool to try for a request of `size` bytes after pool `after` was empty; HFIT_NO_POOL for
 * `after` begins, and as an answer ends, the search. */
static uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after);

/* The pool with which next_pool begins, if the plan's index tells it; else HFIT_NO_POOL. */
static inline uint32_t quick_pool(const hfit_pools_plan *plan, size_t size);

/* True if the plan's pools, laid out and ascending, and its index are such as this rule wants. */
static bool is_rule_sound(const hfit_pools_plan *plan);

static const hfit_pools_plan *pools_plan(const hfit_plan *plan) {
    return (const hfit_pools_plan *)plan;
}

/* Where the last pool ends and the shared heap begins. */
static uint32_t pools_end(const hfit_pools_plan *plan) {
    return plan->pools.count == 0 ? pools_control_size(0, 0, plan->common.alignment)
                                  : plan->pools.end;
}

static uint32_t block_size_of(const hfit_pools_plan *plan, uint32_t pool) {
    return pool_block_size(&plan->pools.items[pool], plan->common.alignment);
}

/* What the word at shared_word_at holds if there is a shared heap; 0 if not. At least three bits
 * lie between the two. */
static uint32_t shared_mark(const hfit_pools_plan *plan) {
    return ~pools_end(plan);
}

/* The heap behind the pools, or NULL. */
static hfit_heap *shared_heap(const hfit_heap *heap, const hfit_pools_plan *plan) {
    return load_word(heap, shared_word_at(plan->pools.count)) == shared_mark(plan)
               ? block_at(heap, pools_end(plan))
               : NULL;
}

/* True if a block is allocated. Where no bits are kept the free list is searched. */
static bool is_block_used(const hfit_heap *heap, const hfit_pool *pool, uint32_t offset) {
    if (HFIT_SAFETY >= 1) {
        return is_bit_set(heap, used_bit_of(pool, block_number(pool, offset)));
    }
    uint32_t free = load_word(heap, pool->list);
    while (free != NO_OFFSET && free != offset) {
        free = load_word(heap, free);
    }
    return free == NO_OFFSET;
}

/* Takes the first block of a pool's free list. NO_OFFSET if there is none, and DAMAGED_LINK if the
 * list does not lead to a free block of the pool; nothing is changed then. */
static inline uint32_t take_block(hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool) {
    const hfit_pool *from = &plan->pools.items[pool];
    const uint32_t offset = load_word(heap, free_list_at(pool));
    if (HFIT_SAFETY < 1 && offset == NO_OFFSET) {
        return NO_OFFSET;
    }
    if (HFIT_SAFETY >= 1) {
        const uint32_t number = block_number(from, offset);
        if (number >= from->count) {
            return offset == NO_OFFSET ? NO_OFFSET : DAMAGED_LINK;
        }
        const used_bit bit = used_bit_of(from, number);
        const uint32_t bits = load_word(heap, bit.word);
        if ((bits & bit.mask) != 0) {
            return DAMAGED_LINK;
        }
        store_word(heap, bit.word, bits | bit.mask);
    }
    unlink_first(heap, free_list_at(pool), offset);
    return offset;
}

/* A live block of a pool. */
typedef struct block_place {
    const hfit_pool *pool;
    uint32_t offset;
    used_bit bit;
} block_place;

/* Offset of an address in the pools; their end or more for any other, NULL too, since no region
 * wraps. */
static inline uintptr_t distance_of(const hfit_heap *heap, const void *block) {
    return (uintptr_t)block - (uintptr_t)heap;
}

/* The pool whose blocks reach over `offset`, which lies before the end of the pools: the last one
 * that does not begin behind it. At most log2 of the pools, rounded up, steps. */
static inline const hfit_pool *pool_around(const hfit_pools_plan *plan, uint32_t offset) {
    const hfit_pool *low = plan->pools.items;
    uint32_t count = plan->pools.count;
    do {
        const hfit_pool *middle = low + count / 2;
        count -= count / 2;
        if (middle->base <= offset) {
            low = middle;
        }
    } while (count > 1);
    return low;
}

static inline uint32_t number_of(const hfit_pools_plan *plan, const hfit_pool *pool) {
    return (uint32_t)(pool - plan->pools.items);
}

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, uint32_t offset) {
    HFIT_ON_MISUSE(heap, kind, block_at(heap, offset));
    return false;
}

/* Stores the place of the live block at `offset`, before the end of the pools. False, which has
 * been told, if there is none; at safety level 0 there is always one. */
static inline bool find_block(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t offset,
                              block_place *place) {
    const hfit_pool *pool = pool_around(plan, offset);
    const uint32_t number = block_number(pool, offset);
    place->pool = pool;
    place->offset = offset;
    place->bit = used_bit_of(pool, number);
    if (HFIT_SAFETY >= 1 && number >= pool->count) {
        return refuse(heap, HFIT_MISUSE_FOREIGN, offset);
    }
    if (HFIT_SAFETY >= 1 && !is_bit_set(heap, place->bit)) {
        return refuse(heap, HFIT_MISUSE_NOT_LIVE, offset);
    }
    return true;
}

static inline void give_block(hfit_heap *heap, const block_place *place) {
    if (HFIT_SAFETY >= 1) {
        flip_bit(heap, place->bit);
    }
    push_block(heap, place->pool->list, place->offset);
}

/* The shared heap, to which an address behind the pools belongs; NULL, which has been told, if
 * there is none. */
static hfit_heap *heap_behind(const hfit_heap *heap, const hfit_pools_plan *plan,
                              const void *block) {
    hfit_heap *shared = shared_heap(heap, plan);
    if (shared == NULL) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
    }
    return shared;
}

/* True if every block of a pool lies at a multiple of `alignment`, a power of two. */
static bool is_pool_aligned(const hfit_heap *heap, const hfit_pools_plan *plan, uint32_t pool,
                            size_t alignment) {
    const uintptr_t first = (uintptr_t)heap + plan->pools.items[pool].base;
    return ((first | block_size_of(plan, pool)) & (alignment - 1)) == 0;
}

/* A block from the first pool that may serve the request and has one; NO_OFFSET if none has;
 * DAMAGED_LINK, which has been told. */
static uint32_t take_by_rule(hfit_heap *heap, const hfit_pools_plan *plan, size_t size,
                             size_t alignment) {
    const size_t asked = size == 0 ? 1 : size;
    uint32_t offset = NO_OFFSET;
    uint32_t pool = next_pool(plan, asked, HFIT_NO_POOL);
    for (; pool != HFIT_NO_POOL && offset == NO_OFFSET; pool = next_pool(plan, asked, pool)) {
        if (is_pool_aligned(heap, plan, pool, alignment)) {
            offset = take_block(heap, plan, pool);
        }
    }
    if (offset == DAMAGED_LINK) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    }
    return offset;
}

/* A block by the whole rule: from the pools, else from the shared heap. */
static void *alloc_by_rule(hfit_heap *heap, const hfit_pools_plan *plan, size_t size,
                           size_t alignment) {
    const uint32_t offset = take_by_rule(heap, plan, size, alignment);
    if (offset != NO_OFFSET) {
        return offset == DAMAGED_LINK ? NULL : block_at(heap, offset);
    }
    const hfit_shared *behind = &plan->shared;
    hfit_heap *shared = shared_heap(heap, plan);
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
            pool->turn > 31 || pool->inverse * (block_size_of(plan, i) >> pool->turn) != 1 ||
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
           are_pools_laid_out(plan) && is_rule_sound(plan);
}

size_t HFIT_THIS(smallest_region)(const hfit_plan *plan) {
    return is_plan_sound(pools_plan(plan)) ? pools_end(pools_plan(plan)) : 0;
}

/* What is left behind the pools becomes the shared heap, if the plan has one and it is enough for
 * it. */
static void init_shared(hfit_heap *heap, const hfit_pools_plan *plan, size_t region_size) {
    const uint32_t end = pools_end(plan);
    const hfit_shared *behind = &plan->shared;
    if (behind->operations != NULL &&
        behind->operations->init(block_at(heap, end), region_size - end, behind->plan) != NULL) {
        store_word(heap, shared_word_at(plan->pools.count), shared_mark(plan));
    }
}

static void init_pools(hfit_heap *heap, const hfit_pools_plan *plan) {
    const uint32_t count = plan->pools.count;
    const uint32_t control = count == 0 ? pools_end(plan) : plan->pools.items[0].base;
    for (uint32_t offset = shared_word_at(count); offset < control; offset += 4) {
        store_word(heap, offset, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        const hfit_pool *pool = &plan->pools.items[i];
        thread_blocks(heap, pool->list, pool->base, block_size_of(plan, i), pool->count);
    }
}

hfit_heap *HFIT_THIS(init)(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(pools_plan(plan)) ||
        region_size < pools_end(pools_plan(plan))) {
        return NULL;
    }
    hfit_heap *heap = region;
    init_pools(heap, pools_plan(plan));
    init_shared(heap, pools_plan(plan), region_size);
    return heap;
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    return is_power_of_two(alignment) ? alloc_by_rule(heap, pools_plan(plan), size, alignment)
                                      : NULL;
}

static inline void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const uint32_t pool = quick_pool(pools_plan(plan), size);
    if (pool != HFIT_NO_POOL) {
        const uint32_t offset = take_block(heap, pools_plan(plan), pool);
        if (is_offset(offset)) {
            return block_at(heap, offset);
        }
    }
    return alloc_by_rule(heap, pools_plan(plan), size, plan->alignment);
}

/* Frees an address that is not the pools'. Apart, so that the way to the pools stays short. */
static __attribute__((noinline)) void free_behind(hfit_heap *heap, const hfit_pools_plan *plan,
                                                  void *block) {
    hfit_heap *shared = block == NULL ? NULL : heap_behind(heap, plan, block);
    if (shared != NULL) {
        plan->shared.operations->free(shared, plan->shared.plan, block);
    }
}

static inline void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const uintptr_t distance = distance_of(heap, block);
    if (distance >= pools_plan(plan)->pools.end) {
        free_behind(heap, pools_plan(plan), block);
        return;
    }
    block_place place;
    if (find_block(heap, pools_plan(plan), (uint32_t)distance, &place)) {
        give_block(heap, &place);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* a block may have overflowed into another pool, so the address decides */
    heap_free(heap, plan, block);
}

/* A pool block stays where it is if its pool is the first choice for the new size; else it moves,
 * and stays after all where nothing else is free and it fits. */
static void *resize_pool_block(hfit_heap *heap, const hfit_pools_plan *plan,
                               const block_place *place, size_t size) {
    const uint32_t pool = number_of(plan, place->pool);
    const uint32_t usable = block_size_of(plan, pool);
    void *block = block_at(heap, place->offset);
    if (next_pool(plan, size == 0 ? 1 : size, HFIT_NO_POOL) == pool) {
        return block;
    }
    void *moved = heap_alloc(heap, &plan->common, size);
    if (moved == NULL) {
        return size <= usable ? block : NULL;
    }
    copy_payload(moved, block, size < usable ? size : usable);
    give_block(heap, place);
    return moved;
}

/* A shared block moves into a pool that takes its new size and has a block; else the shared heap
 * resizes it. */
static void *resize_shared_block(hfit_heap *heap, const hfit_pools_plan *plan, void *block,
                                 size_t size) {
    const hfit_shared *behind = &plan->shared;
    hfit_heap *shared = heap_behind(heap, plan, block);
    const size_t usable =
        shared == NULL ? 0 : behind->operations->usable_size(shared, behind->plan, block);
    if (usable == 0) {
        return NULL;
    }
    const uint32_t offset = take_by_rule(heap, plan, size, plan->common.alignment);
    if (!is_offset(offset)) {
        return offset == NO_OFFSET ? behind->operations->resize(shared, behind->plan, block, size)
                                   : NULL;
    }
    void *moved = block_at(heap, offset);
    copy_payload(moved, block, size < usable ? size : usable);
    behind->operations->free(shared, behind->plan, block);
    return moved;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const uintptr_t distance = distance_of(heap, block);
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (distance >= pools_plan(plan)->pools.end) {
        return resize_shared_block(heap, pools_plan(plan), block, size);
    }
    block_place place;
    return find_block(heap, pools_plan(plan), (uint32_t)distance, &place)
               ? resize_pool_block(heap, pools_plan(plan), &place, size)
               : NULL;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const uintptr_t distance = distance_of(heap, block);
    if (distance < pools->pools.end) {
        block_place place;
        return find_block(heap, pools, (uint32_t)distance, &place)
                   ? pool_block_size(place.pool, plan->alignment)
                   : 0;
    }
    const hfit_heap *shared = block == NULL ? NULL : heap_behind(heap, pools, block);
    return shared == NULL
               ? 0
               : pools->shared.operations->usable_size(shared, pools->shared.plan, block);
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const hfit_pools_plan *pools = pools_plan(plan);
    for (uint32_t i = 0; i < pools->pools.count; i++) {
        const hfit_pool *pool = &pools->pools.items[i];
        const uint32_t size = block_size_of(pools, i);
        for (uint32_t number = 0; number < pool->count; number++) {
            const uint32_t offset = pool->base + number * size;
            visitor(context, block_at(heap, offset), size, is_block_used(heap, pool, offset));
        }
    }
    const hfit_heap *shared = shared_heap(heap, pools);
    if (shared != NULL) {
        pools->shared.operations->walk(shared, pools->shared.plan, visitor, context);
    }
}

/* Blocks of a pool whose used bit is not set. */
static uint32_t count_unused(const hfit_heap *heap, const hfit_pool *pool) {
    uint32_t unused = 0;
    for (uint32_t number = 0; number < pool->count; number++) {
        unused += !is_bit_set(heap, used_bit_of(pool, number));
    }
    return unused;
}

/* True if a pool's free list holds just its blocks that are not used; without bits, if it ends and
 * holds nothing but blocks of the pool. A list that came back to a block would never end. */
static bool is_pool_sound(const hfit_heap *heap, const hfit_pool *pool) {
    const uint32_t most = HFIT_SAFETY >= 1 ? count_unused(heap, pool) : pool->count;
    uint32_t offset = load_word(heap, pool->list);
    uint32_t found = 0;
    for (; offset != NO_OFFSET && found < most; found++) {
        const uint32_t number = block_number(pool, offset);
        if (number >= pool->count ||
            (HFIT_SAFETY >= 1 && is_bit_set(heap, used_bit_of(pool, number)))) {
            return false;
        }
        offset = load_word(heap, offset);
    }
    return offset == NO_OFFSET && (HFIT_SAFETY < 1 || found == most);
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    for (uint32_t i = 0; i < pools->pools.count; i++) {
        if (!is_pool_sound(heap, &pools->pools.items[i])) {
            return false;
        }
    }
    const hfit_heap *shared = shared_heap(heap, pools);
    return shared == NULL ? load_word(heap, shared_word_at(pools->pools.count)) == 0
                          : pools->shared.operations->check(shared, pools->shared.plan);
}

/* Pools are set aside whole, so they count from the start. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_pools_plan *pools = pools_plan(plan);
    const hfit_heap *shared = shared_heap(heap, pools);
    return pools_end(pools) +
           (shared == NULL ? 0 : pools->shared.operations->footprint(shared, pools->shared.plan));
}

#endif
