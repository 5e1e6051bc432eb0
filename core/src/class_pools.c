/* SPDX-License-Identifier: Apache-2.0 */
/* Class pools: which pools may serve a request, in the paper's order. See hfit/class_pools.h. */
#include "hfit/class_pools.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_class_pools_##operation
#include "src/pool_heap.h"

/* The order of the search: pools of an earlier stage are tried before those of a later one. */
enum { STAGE_EXACT, STAGE_GENERAL, STAGE_LARGER_SPECIAL, STAGE_NEVER };

static uint32_t stage_of(const hfit_pool *pool, size_t size) {
    if (pool->size < size) {
        return STAGE_NEVER;
    }
    if (!pool->is_exact) {
        return STAGE_GENERAL;
    }
    return pool->size == size ? STAGE_EXACT : STAGE_LARGER_SPECIAL;
}

static uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    const hfit_pool_list *pools = &plan->pools;
    uint32_t stage = after == HFIT_NO_POOL ? STAGE_EXACT : stage_of(&pools->items[after], size);
    uint32_t pool = after + 1; /* HFIT_NO_POOL + 1 is 0 */
    for (; stage < STAGE_NEVER; stage++) {
        for (; pool < pools->count; pool++) {
            if (stage_of(&pools->items[pool], size) == stage) {
                return pool;
            }
        }
        pool = 0;
    }
    return HFIT_NO_POOL;
}

static bool is_pool_list_sound(const hfit_pools_plan *plan) {
    (void)plan;
    return true;
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
