/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of special and general sizes (Mamagkakis, Soudris and Catthoor, section 4).
 *
 * A request takes, in this order: the special pool of just its size (exact fit); the first general
 * pool, in ascending order of size, whose blocks are large enough and of which one is free (first
 * fit); the smallest special pool that is large enough. What no pool serves goes to the shared
 * heap, if the plan has one: the pools supplement it. Blocks are neither split nor coalesced.
 *
 *   0            4 * pools                           pools.end
 *   +------------+---------------+-----------+-------+-------------+
 *   | free lists | shared mark   | used bits | pools | shared heap |
 *   +------------+---------------+-----------+-------+-------------+
 *
 * The plan is an hfit_pools_plan (hfit/pools.h); all 0 behind the pools is what the paper says.
 * With linked blocks and an index a request takes the same few steps whatever the number of pools
 * and blocks; the paper's traversal is linear in a pool's blocks, 32 a step. An address is found by
 * log2 of the pools compares; free_sized needs none. A pool takes 4 bytes of control and a bit a
 * block.
 */
#ifndef HFIT_CLASS_POOLS_H
#define HFIT_CLASS_POOLS_H

#include "hfit/contract.h"
#include "hfit/pools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a pool's free block is found (hfit_pools_plan.search). */
typedef enum hfit_pool_search {
    HFIT_SEARCH_FIRST_FIT, /* the paper's: the first in order of address whose used bit is clear */
    HFIT_SEARCH_STACK,     /* the one freed last: free blocks are linked */
} hfit_pool_search;

/* What happens to a request whose first pool has no free block (hfit_pools_plan.overflow). */
typedef enum hfit_pool_overflow {
    HFIT_OVERFLOW_LARGER, /* the next pool in order is tried, then the shared heap */
    HFIT_OVERFLOW_SHARED, /* the shared heap serves it */
    HFIT_OVERFLOW_REFUSE, /* it is refused; the shared heap serves just what no pool is for */
} hfit_pool_overflow;

HFIT_DECLARE_ALLOCATOR(class_pools);
HFIT_DECLARE_POOLS_PLAN(class_pools);

#ifdef __cplusplus
}
#endif

#endif
