/* SPDX-License-Identifier: Apache-2.0 */
/* Static pools: a pool for every size and no other way. See baselines/static_pools.h. */
#include "baselines/static_pools.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_static_pools_##operation
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

static FORCE_INLINE uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    const size_t block_size = block_for(plan, size);
    const uint32_t pool = after == HFIT_NO_POOL ? rank_of(plan, block_size) : plan->pools.count;
    return pool < plan->pools.count && serves(plan, pool, block_size) ? pool : HFIT_NO_POOL;
}

static FORCE_INLINE bool quick_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    *pool = next_pool(plan, size, HFIT_NO_POOL);
    return *pool != HFIT_NO_POOL;
}

static inline bool knows_first(const hfit_pools_plan *plan) {
    (void)plan;
    return false;
}

static inline bool may_overflow(const hfit_pools_plan *plan) {
    (void)plan;
    return false;
}

static inline bool likely_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    return quick_pool(plan, size, pool);
}

static inline bool own_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool) {
    return quick_pool(plan, size, pool);
}

static inline bool finds_by_bits(const hfit_pools_plan *plan) {
    (void)plan;
    return false;
}

static inline bool refuses(const hfit_pools_plan *plan, size_t size) {
    (void)plan;
    (void)size;
    return true;
}

static void make_index(hfit_pools_plan *plan, uint8_t *table, uint32_t room) {
    (void)table;
    (void)room;
    set_index(&plan->index, NULL, 0);
}

static bool is_index_size_sound(const hfit_pools_plan *plan) {
    return plan->index.entries == 0;
}

static bool is_rule_sound(const hfit_pools_plan *plan) {
    return has_a_pool_a_class(plan) && plan->shared.operations == NULL && is_index_size_sound(plan);
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"pools", "Blocks set aside: size in bytes and count; all exact.", HFIT_POOLS,
     offsetof(hfit_pools_plan, pools), 0, 0, 0, HFIT_CHOICE},
};

const hfit_allocator hfit_static_pools_allocator = {
    .name = "static_pools",
    .title = "a pool for every size, of its worst case",
    .origin = "Lee and Yi 2008, section II; that a region is sum S_i P_i,max is inferred",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_pools_plan),
    .ignores_region_end = false,
    .next_pool = told_pool,
    .complete = hfit_static_pools_complete,
    .account =
        {
            .worst_case = "alloc and free: log2 of the pools, then constant",
            .block_bytes = "to the alignment; 1 bit a block",
            .fragmentation = "sum S_i P_i,max for any requests that keep to P_i,max (Lee and Yi "
                             "2008, inferred)",
            .layout = "| free list of each pool | 0 | used bits | blocks |\n"
                      "a free block: | link | ... |",
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
    .limit = HFIT_LIMIT_SIZES,
    .operations = &hfit_static_pools_operations,
    .unlocked = &hfit_static_pools_unlocked,
};
