/* SPDX-License-Identifier: Apache-2.0 */
/* Class pools: which pools may serve a request, in the paper's order. See hfit/class_pools.h. */
#include "hfit/class_pools.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_class_pools_##operation
#include "src/pool_heap.h"

/* Number of the smallest pool whose size is not below `size`; the number of pools if all are.
 * At most log2 of the pools, rounded up, + 1 compares. */
static uint32_t rank_of(const hfit_pool_list *pools, size_t size) {
    uint32_t low = 0;
    uint32_t high = pools->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (pools->items[middle].size < size) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first pool from `pool` on that is special or general, as asked; HFIT_NO_POOL if there is
 * none.
 */
static uint32_t first_of(const hfit_pool_list *pools, bool special, uint32_t pool) {
    while (pool < pools->count && (pools->items[pool].is_exact != 0) != special) {
        pool++;
    }
    return pool < pools->count ? pool : HFIT_NO_POOL;
}

/* The pool of just this size, then the general ones, then the special ones that are larger. */
static uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    const hfit_pool_list *pools = &plan->pools;
    const uint32_t rank = rank_of(pools, size);
    const bool has_own = rank < pools->count && pools->items[rank].size == size;
    const uint32_t larger = has_own ? rank + 1 : rank;
    if (after == HFIT_NO_POOL && has_own) {
        return rank;
    }
    const uint32_t from = after == HFIT_NO_POOL ? larger : after + 1;
    if (after != HFIT_NO_POOL && pools->items[after].is_exact && after >= larger) {
        return first_of(pools, true, from);
    }
    const uint32_t general = first_of(pools, false, from);
    return general != HFIT_NO_POOL ? general : first_of(pools, true, larger);
}

/* Entry m of the index is the first pool for m << shift bytes. Sizes that are no such multiple turn
 * into numbers beyond the index. */
static inline uint32_t quick_pool(const hfit_pools_plan *plan, size_t size) {
    const hfit_pool_index *index = &plan->index;
    const uint32_t shift = index->shift;
    const uint32_t entries = index->entries;
    const uint32_t entry = rotate_right((uint32_t)size, shift);
    return entry < entries && (uint32_t)size == size ? index->table[entry] : HFIT_NO_POOL;
}

static uint32_t index_entry(const hfit_pools_plan *plan, uint32_t entry) {
    return next_pool(plan, entry == 0 ? 1 : (size_t)entry << plan->index.shift, HFIT_NO_POOL);
}

static bool is_rule_sound(const hfit_pools_plan *plan) {
    const hfit_pool_index *index = &plan->index;
    if (index->shift > 31 || index->entries > HFIT_LARGEST_POOL_INDEX) {
        return false;
    }
    for (uint32_t entry = 0; entry < index->entries; entry++) {
        if (index->table[entry] != index_entry(plan, entry)) {
            return false;
        }
    }
    return true;
}

uint32_t hfit_class_pools_index(hfit_pools_plan *plan, uint16_t *table, uint32_t room) {
    const hfit_pool_list *pools = &plan->pools;
    uint32_t all = 0; /* bits that any size has */
    for (uint32_t i = 0; i < pools->count; i++) {
        all |= pools->items[i].size;
    }
    set_index(&plan->index, NULL, 0, 0);
    const uint32_t shift = all == 0 ? 0 : even_part_log2(all);
    const uint32_t entries = all == 0 ? 0 : (pools->items[pools->count - 1].size >> shift) + 1;
    if (entries == 0 || entries > room || entries > HFIT_LARGEST_POOL_INDEX) {
        return 0;
    }
    set_index(&plan->index, table, entries, shift);
    for (uint32_t entry = 0; entry < plan->index.entries; entry++) {
        table[entry] = (uint16_t)index_entry(plan, entry);
    }
    return plan->index.entries;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    HFIT_POOLS_TUNABLES,
};

const hfit_allocator hfit_class_pools_allocator = {
    .name = "class_pools",
    .title = "pools of special and general sizes",
    .origin = "Mamagkakis, Soudris and Catthoor, section 4",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_pools_plan),
    .ignores_region_end = false,
    .next_pool = next_pool,
    .make_index = hfit_class_pools_index,
    .account =
        {
            .worst_case = "alloc: one step a pool tried; free: log2 of the pools, then constant; "
                          "beyond the pools as the shared heap",
            .block_bytes = "from the request to its pool's block; 1 bit a block",
            .fragmentation = "none in the pools; beyond them that of the shared heap",
            .layout = "| shared size | free list, carved: a pool each | used bits | blocks | "
                      "shared heap |",
        },
    .operations = &hfit_class_pools_operations,
    .unlocked = &hfit_class_pools_unlocked,
};
