/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans made of pools: equal blocks set aside together, in front of a shared heap that serves the
 * rest.
 *
 *   0            control             pools[0].base     pools[1].base          end of pools region
 * end
 *   +------------+-------------------+-----------------+----------------------+------------------+
 *   | free lists | one used bit per  | count blocks of | count blocks of      | shared heap      |
 *   |            | block             | pools[0].size   | pools[1].size        | (if any is left) |
 *   +------------+-------------------+-----------------+----------------------+------------------+
 *
 * Nothing lies between the blocks of a pool. Bases never change, so they are computed once, on the
 * host or at start, by hfit_pools_lay_out, and lie in the const plan.
 */
#ifndef HFIT_POOLS_H
#define HFIT_POOLS_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_pool {
    uint32_t size;     /* bytes a request may have to be served here */
    uint32_t count;    /* blocks set aside */
    uint32_t is_exact; /* 1: special, for requests of just this size; 0: for any that fits */
    uint32_t base;     /* offset of the first block (hfit_pools_lay_out) */
    uint32_t first;    /* number of the first block, over all pools (hfit_pools_lay_out) */
} hfit_pool;

/* Pools in ascending order of size, no two equal. */
typedef struct hfit_pool_list {
    const hfit_pool *items;
    uint32_t count;
} hfit_pool_list;

/* No pool's number. */
#define HFIT_NO_POOL UINT32_MAX

/* The allocator that serves what the pools do not, its hfit_<name>_unlocked since the pools hold
 * the lock, and its plan, of the same alignment. Both NULL: none. */
typedef struct hfit_shared {
    const hfit_operations *operations;
    const hfit_plan *plan;
} hfit_shared;

typedef struct hfit_pools_plan {
    hfit_plan common;
    hfit_pool_list pools;
    hfit_shared shared;
} hfit_pools_plan;

/* Fills in `base` and `first` of `count` pools and returns where the last one ends, in bytes from
 * the region's start. 0 if a size is 0, sizes do not ascend, or the end would reach 4 GiB. */
uint32_t hfit_pools_lay_out(hfit_pool *pools, uint32_t count, uint32_t alignment);

#ifdef __cplusplus
}
#endif

#endif
