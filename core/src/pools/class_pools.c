/* SPDX-License-Identifier: Apache-2.0 */
/* Class pools: which pools may serve a request, in the paper's order. See hfit/class_pools.h. */
#include "hfit/class_pools.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_class_pools_##operation
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
#include "src/pools/heap.h"

/* Number of the smallest pool whose size is not below `size`; the number of pools if all are.
 * At most log2 of the pools, rounded up, + 1 compares. */
static uint32_t rank_of(const hfit_pool_list *pools, size_t size) {
    uint32_t low = 0;
    uint32_t high = pools->count;
    while (low < high) {
        HFIT_LOOP_HALVES(POOLS_OF_BUILD(pools->count));
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
        HFIT_LOOP_AT_MOST(POOLS_OF_BUILD(pools->count));
        pool++;
    }
    return pool < pools->count ? pool : HFIT_NO_POOL;
}

/* Entry n of the index is the first pool for n bytes. */
static FORCE_INLINE bool quick_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    if (size >= plan->index.entries) {
        return false;
    }
    *pool = plan->index.table[size];
    return true;
}

static inline bool knows_first(const hfit_pools_plan *plan) {
    return plan->index.entries != 0;
}

/* The pool of just this size, then the general ones, then the special ones that are larger. */
static FORCE_INLINE uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    const hfit_pool_list *pools = &plan->pools;
    if (after == HFIT_NO_POOL && knows_first(plan)) {
        uint32_t first;
        return quick_pool(plan, size, &first) ? first : HFIT_NO_POOL;
    }
    const uint32_t rank = rank_of(pools, size);
    const bool has_own = rank < pools->count && pools->items[rank].size == size;
    const uint32_t larger = has_own ? rank + 1 : rank;
    if (after == HFIT_NO_POOL && has_own) {
        return rank;
    }
    if (after != HFIT_NO_POOL && plan->overflow != HFIT_OVERFLOW_LARGER) {
        return HFIT_NO_POOL;
    }
    const uint32_t from = after == HFIT_NO_POOL ? larger : after + 1;
    if (after != HFIT_NO_POOL && pools->items[after].is_exact && after >= larger) {
        return first_of(pools, true, from);
    }
    const uint32_t general = first_of(pools, false, from);
    return general != HFIT_NO_POOL ? general : first_of(pools, true, larger);
}

static inline bool may_overflow(const hfit_pools_plan *plan) {
    return plan->overflow == HFIT_OVERFLOW_LARGER;
}

static inline bool likely_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    return quick_pool(plan, size, pool);
}

static inline bool own_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    return plan->index.own != 0 && quick_pool(plan, size, pool);
}

static inline bool finds_by_bits(const hfit_pools_plan *plan) {
    return plan->search == HFIT_SEARCH_FIRST_FIT;
}

static inline bool refuses(const hfit_pools_plan *plan, size_t size) {
    const uint32_t count = plan->pools.count;
    return plan->overflow == HFIT_OVERFLOW_REFUSE && count > 0 &&
           size <= plan->pools.items[count - 1].size;
}

/* An entry for each size up to the largest pool's. */
static bool is_index_size_sound(const hfit_pools_plan *plan) {
    const hfit_pool_list *pools = &plan->pools;
    const uint32_t entries = plan->index.entries;
    return entries == 0 ||
           (entries <= HFIT_LARGEST_POOL_INDEX && plan->index.table != NULL && pools->count != 0 &&
            entries == pools->items[pools->count - 1].size + 1);
}

/* True if no entry leads to a pool that there is not, or whose blocks are too small. */
static bool is_index_sound(const hfit_pools_plan *plan) {
    const hfit_pool_index *index = &plan->index;
    if (!is_index_size_sound(plan) || (index->entries != 0 && finds_by_bits(plan)) ||
        (index->own != 0 && plan->overflow != HFIT_OVERFLOW_REFUSE) ||
        index->own > index->entries) {
        return false;
    }
    for (uint32_t entry = 0; entry < index->entries; entry++) {
        const uint32_t pool = index->table[entry];
        if (pool >= plan->pools.count || plan->pools.items[pool].size < entry) {
            return false;
        }
    }
    return true;
}

static bool is_rule_sound(const hfit_pools_plan *plan) {
    return plan->search <= HFIT_SEARCH_STACK && plan->overflow <= HFIT_OVERFLOW_REFUSE &&
           is_index_sound(plan);
}

static void make_index(hfit_pools_plan *plan, uint8_t *table, uint32_t room) {
    const hfit_pool_list *pools = &plan->pools;
    const uint32_t entries = pools->count == 0 ? 0 : pools->items[pools->count - 1].size + 1;
    set_index(&plan->index, NULL, 0);
    if (finds_by_bits(plan) || pools->count > UINT8_MAX + 1 || entries == 0 || entries > room ||
        entries > HFIT_LARGEST_POOL_INDEX) {
        return;
    }
    for (uint32_t entry = 0; entry < entries; entry++) {
        table[entry] = (uint8_t)next_pool(plan, entry == 0 ? 1 : entry, HFIT_NO_POOL);
    }
    set_index(&plan->index, table, entries);
    plan->index.own = plan->overflow == HFIT_OVERFLOW_REFUSE ? entries : 0;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    HFIT_POOLS_TUNABLES,
    {"search",
     "A pool's free block: 0: the first in order of address, as in the paper; 1: the one freed "
     "last.",
     HFIT_SCALAR, offsetof(hfit_pools_plan, search), 0, 1, 0, HFIT_CHOICE},
    {"overflow",
     "A request whose pool has no free block goes to: 0: the next larger pool, then the shared "
     "allocator; 1: the shared allocator; 2: nobody.",
     HFIT_SCALAR, offsetof(hfit_pools_plan, overflow), 0, 2, 0, HFIT_CHOICE},
};

const hfit_allocator hfit_class_pools_allocator = {
    .name = "class_pools",
    .title = "pools of special and general sizes",
    .origin = "Mamagkakis, Soudris and Catthoor, section 4",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_pools_plan),
    .ignores_region_end = false,
    .next_pool = told_pool,
    .complete = hfit_class_pools_complete,
    .account =
        {
            .worst_case = "alloc: first fit: the pools tried, and 1 step for 32 blocks of each; "
                          "stack: constant, then 1 step a pool tried. free: log2 of the pools. "
                          "Beyond the pools as the shared heap",
            .block_bytes = "from the request to its pool's block; 1 bit a block",
            .fragmentation = "none in the pools; beyond them that of the shared heap",
            .layout = "| list or count of each pool | shared mark | used bits | blocks | "
                      "shared heap |\n"
                      "a free block, stack: | link | ... |",
        },
    .axes =
        {
            .block_sizes.text = "special and powers of two",
            .splitting.text = "never",
            .coalescing.text = "never",
            .pools.text = "one for each block size",
            .pool_fit.text = "exact, then first",
            .block_fit.text = "first",
            .order = {.tunable = "search", .texts = {"by address", "last freed first"}},
            .growth.text = "all set aside",
        },
    .grid = {{"search", {0, 1}, 2}},
    .free_lists = HFIT_FREE_LISTS_NONE,
    .limit = HFIT_LIMIT_POOLS,
    .operations = &hfit_class_pools_operations,
    .unlocked = &hfit_class_pools_unlocked,
};
