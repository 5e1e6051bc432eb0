/* SPDX-License-Identifier: Apache-2.0 */
/* Budgeted: only the pool of just the request's size may serve it. See hfit/budgeted.h. */
#include "hfit/budgeted.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_budgeted_##operation
#include "src/pool_heap.h"

static uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after) {
    uint32_t block_size;
    uint32_t low = 0;
    uint32_t high = plan->pools.count;
    if (after != HFIT_NO_POOL || !round_size(size, 0, plan->common.alignment, &block_size)) {
        return HFIT_NO_POOL;
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (block_size_of(plan, middle) < block_size) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < plan->pools.count && block_size_of(plan, low) == block_size ? low : HFIT_NO_POOL;
}

/* Two budgets must not share a block size: the second would never be asked. */
static bool is_pool_list_sound(const hfit_pools_plan *plan) {
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        if (!plan->pools.items[i].is_exact ||
            (i > 0 && block_size_of(plan, i) == block_size_of(plan, i - 1))) {
            return false;
        }
    }
    return true;
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
    .next_pool = next_pool,
    .account =
        {
            .worst_case = "alloc and free: log2 of the budgets, then constant; beyond the budgets "
                          "as the shared heap",
            .block_bytes = "to the alignment; 1 bit a block",
            .fragmentation =
                "none in the pools, which hold sum S_i N_i; beyond them that of the shared heap",
            .layout = "| shared size | free list, carved: a pool each | used bits | blocks | "
                      "shared heap |",
        },
    .operations = &hfit_budgeted_operations,
    .unlocked = &hfit_budgeted_unlocked,
};
