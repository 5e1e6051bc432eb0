/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size classes of pools that serve just one block size: all sizes that round up to the same
 * multiple of the alignment, since they need the same block.
 */
#ifndef HFIT_SIZE_CLASS_H
#define HFIT_SIZE_CLASS_H

#include "hfit/config.h"
#include "hfit/pools.h"

#include "src/pools/layout.h"

/* What a size rounds up to; 0, which no pool has, for 0 and where that wraps. */
static inline size_t block_for(const hfit_pools_plan *plan, size_t size) {
    return (size + plan->common.alignment - 1) & (0 - (size_t)plan->common.alignment);
}

/* True if a pool is for the sizes that round up to `block_size`. */
static inline bool serves(const hfit_pools_plan *plan, uint32_t pool, size_t block_size) {
    return plan->pools.items[pool].block_size == block_size;
}

/* The smallest pool whose blocks have at least `block_size`, or the number of pools, by at most
 * log2 of the pools, rounded up, + 1 compares. */
static inline uint32_t rank_of(const hfit_pools_plan *plan, size_t block_size) {
    uint32_t low = 0;
    uint32_t high = plan->pools.count;
    while (low < high) {
        HFIT_LOOP_HALVES(POOLS_OF_BUILD(plan->pools.count));
        const uint32_t middle = low + (high - low) / 2;
        if (plan->pools.items[middle].block_size < block_size) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* True if all pools are exact and no two of one class: the second would never be asked. */
static inline bool has_a_pool_a_class(const hfit_pools_plan *plan) {
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        if (!plan->pools.items[i].is_exact ||
            (i > 0 && serves(plan, i - 1, plan->pools.items[i].block_size))) {
            return false;
        }
    }
    return true;
}

#endif
