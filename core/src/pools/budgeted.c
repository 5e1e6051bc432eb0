/* SPDX-License-Identifier: Apache-2.0 */
/* Budgeted: only the pool of just the request's size may serve it. See hfit/budgeted.h. */
#include "hfit/budgeted.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_budgeted_##operation
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
#include "src/pools/size_class.h"

/* The entry of the index for a block size: its product's highest bits (Knuth, volume 3, 6.4). */
static inline uint32_t entry_of(const hfit_pool_index *index, size_t block_size) {
    return ((uint32_t)block_size * index->multiplier) >> index->shift;
}

static FORCE_INLINE bool quick_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    const size_t block_size = block_for(plan, size);
    if (plan->index.table == NULL) {
        return false;
    }
    *pool = plan->index.table[entry_of(&plan->index, block_size)];
    return HFIT_LIKELY(serves(plan, *pool, block_size));
}

static inline bool knows_first(const hfit_pools_plan *plan) {
    return plan->index.table != NULL;
}

/* The pool of just the request's class. */
static FORCE_INLINE uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    if (after != HFIT_NO_POOL) {
        return HFIT_NO_POOL;
    }
    if (knows_first(plan)) {
        uint32_t own;
        return quick_pool(plan, size, &own) ? own : HFIT_NO_POOL;
    }
    const size_t block_size = block_for(plan, size);
    const uint32_t pool = rank_of(plan, block_size);
    return pool < plan->pools.count && serves(plan, pool, block_size) ? pool : HFIT_NO_POOL;
}

static inline bool may_overflow(const hfit_pools_plan *plan) {
    (void)plan;
    return false;
}

/* The hash of a size takes as long as the search of eight budgets for an address. */
static inline bool likely_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    (void)plan;
    (void)size;
    (void)pool;
    return false;
}

/* A shared heap may have served any size. */
static inline bool own_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    return likely_pool(plan, size, pool);
}

static inline bool finds_by_bits(const hfit_pools_plan *plan) {
    (void)plan;
    return false;
}

static inline bool refuses(const hfit_pools_plan *plan, size_t size) {
    (void)plan;
    (void)size;
    return false;
}

/* As many entries as the highest bits of a product can tell. */
static bool is_index_size_sound(const hfit_pools_plan *plan) {
    const hfit_pool_index *index = &plan->index;
    return index->table == NULL ? index->entries == 0
                                : index->shift <= 31 && index->entries <= HFIT_LARGEST_POOL_INDEX &&
                                      UINT32_MAX >> index->shift == index->entries - 1;
}

/* True if the index leads nowhere but to pools, and to each of them. */
static bool is_index_sound(const hfit_pools_plan *plan) {
    const hfit_pool_index *index = &plan->index;
    if (!is_index_size_sound(plan)) {
        return false;
    }
    for (uint32_t entry = 0; entry < index->entries; entry++) {
        if (index->table[entry] >= plan->pools.count) {
            return false;
        }
    }
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        uint32_t pool;
        if (!quick_pool(plan, plan->pools.items[i].size, &pool) || pool != i) {
            return false;
        }
    }
    return true;
}

static bool is_rule_sound(const hfit_pools_plan *plan) {
    return has_a_pool_a_class(plan) &&
           (plan->index.table == NULL ? is_index_size_sound(plan) : is_index_sound(plan));
}

enum {
    EMPTY_ENTRY = UINT8_MAX,
    MULTIPLIERS = 256, /* tried for each size of the table */
};
static const uint32_t GOLDEN = 0x9e3779b1u; /* no int holds it, so no enum of every compiler */

/* True if no two pools have one entry with the index's multiplier; then the table is filled. */
static bool fill_table(const hfit_pools_plan *plan, uint8_t *table) {
    const hfit_pool_index *index = &plan->index;
    for (uint32_t entry = 0; entry < index->entries; entry++) {
        table[entry] = EMPTY_ENTRY;
    }
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        uint8_t *entry = &table[entry_of(index, plan->pools.items[i].block_size)];
        if (*entry != EMPTY_ENTRY) {
            return false;
        }
        *entry = (uint8_t)i;
    }
    for (uint32_t entry = 0; entry < index->entries; entry++) {
        table[entry] = table[entry] == EMPTY_ENTRY ? 0 : table[entry];
    }
    return true;
}

/* Finds a multiplier for a table of `entries`, a power of two, and fills it. The first one tried
 * gives the class modulo what the table reaches over, so a table of as many entries as the largest
 * budget has granules always does. */
static bool try_table(hfit_pools_plan *plan, uint8_t *table, uint32_t entries) {
    hfit_pool_index *index = &plan->index;
    set_index(index, table, entries);
    index->shift = 32 - even_part_log2(entries);
    index->multiplier = 1u << (index->shift - even_part_log2(plan->common.alignment));
    for (uint32_t i = 0; i < MULTIPLIERS; i++) {
        if (fill_table(plan, table)) {
            return true;
        }
        index->multiplier = GOLDEN * (2 * i + 1);
    }
    return false;
}

static void make_index(hfit_pools_plan *plan, uint8_t *table, uint32_t room) {
    const uint32_t count = plan->pools.count;
    const uint32_t most = room < HFIT_LARGEST_POOL_INDEX ? room : HFIT_LARGEST_POOL_INDEX;
    for (uint32_t entries = 2; count > 0 && count < EMPTY_ENTRY && entries <= most; entries *= 2) {
        if (entries >= count && try_table(plan, table, entries)) {
            return;
        }
    }
    set_index(&plan->index, NULL, 0);
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    HFIT_POOLS_TUNABLES,
};

const hfit_allocator hfit_budgeted_allocator = {
    .name = "budgeted",
    .title = "budgeted exact-size stacks over a shared heap",
    .origin = "Lee and Yi 2008, section III",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_pools_plan),
    .ignores_region_end = false,
    .next_pool = told_pool,
    .complete = hfit_budgeted_complete,
    .account =
        {
            .worst_case = "alloc: constant, one hash and one list operation; without index log2 of "
                          "the budgets more. free: log2 of the budgets, then constant. Beyond the "
                          "budgets as the shared heap",
            .block_bytes = "to the alignment; 1 bit a block",
            .fragmentation =
                "none in the pools, which hold sum S_i N_i; beyond them that of the shared heap",
            .layout = "| free list of each budget | shared mark | used bits | blocks | "
                      "shared heap |",
        },
    .axes =
        {
            .block_sizes.text = "special",
            .splitting.text = "never",
            .coalescing.text = "never",
            .pools.text = "one for each block size",
            .pool_fit.text = "exact",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "all set aside",
        },
    .free_lists = HFIT_FREE_LISTS_NONE,
    .limit = HFIT_LIMIT_POOLS,
    .operations = &hfit_budgeted_operations,
    .unlocked = &hfit_budgeted_unlocked,
};
