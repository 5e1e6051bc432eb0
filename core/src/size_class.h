/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size classes of pools that serve just one block size: all sizes that round up to the same
 * multiple of the alignment, since they need the same block.
 */
#ifndef HFIT_SIZE_CLASS_H
#define HFIT_SIZE_CLASS_H

#include "hfit/pools.h"

/* The multiple of the alignment next below a size: equal for sizes that round up to one block size.
 * A size of 0 gives one that no pool has. */
static inline size_t class_of(const hfit_pools_plan *plan, size_t size) {
    return (size - 1) & (0 - (size_t)plan->common.alignment);
}

/* True if a pool is for a size class. */
static inline bool serves(const hfit_pools_plan *plan, uint32_t pool, size_t size_class) {
    return class_of(plan, plan->pools.items[pool].size) == size_class;
}

/* The smallest pool whose class is not below `size_class`, or the number of pools, by at most log2
 * of the pools, rounded up, + 1 compares. */
static inline uint32_t rank_of(const hfit_pools_plan *plan, size_t size_class) {
    uint32_t low = 0;
    uint32_t high = plan->pools.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (class_of(plan, plan->pools.items[middle].size) < size_class) {
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
            (i > 0 && serves(plan, i - 1, class_of(plan, plan->pools.items[i].size)))) {
            return false;
        }
    }
    return true;
}

#endif
