/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans made of pools: equal blocks set aside together, in front of a shared heap that serves the
 * rest.
 *
 *   0            control             pools[0].base     pools[1].base     pools.end    region end
 *   +------------+-------------------+-----------------+-----------------+------------+
 *   | free lists | one used bit per  | count blocks of | count blocks of | shared     |
 *   |            | block             | pools[0].size   | pools[1].size   | heap       |
 *   +------------+-------------------+-----------------+-----------------+------------+
 *
 * Nothing lies between the blocks of a pool. What never changes is computed once, on the host or
 * at start, and lies in the const plan: hfit_pools_lay_out fills in the pools, and an allocator's
 * hfit_<name>_complete the table that finds a request's pool.
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

    /* From here on filled in by hfit_pools_lay_out. A block has the number
     * (offset - base) / block size in its pool; the product with the inverse of the block size's
     * odd part, modulo 2^32 and rotated right by log2 of its even part, is that number if a block
     * begins at `offset`, and `count` or more if not (Warren, Hacker's Delight, exact division). */
    uint32_t base;       /* offset of the first block */
    uint32_t block_size; /* from one block to the next: `size` rounded up to the alignment */
    uint32_t used_bit;   /* place of the first block's used bit, in bits from the region's start */
    uint32_t inverse;    /* of the block size's odd part, modulo 2^32 */
    uint32_t turn;       /* log2 of the block size's even part */
} hfit_pool;

/* Pools in ascending order of size, no two equal. */
typedef struct hfit_pool_list {
    const hfit_pool *items;
    uint32_t count;
    uint32_t end; /* offset behind the last pool, as hfit_pools_lay_out returned it */
} hfit_pool_list;

/* Bytes of control: for each pool what leads to the block freed last, and once a word that tells
 * whether there is a shared heap. The used bits follow. */
#define HFIT_FREE_LIST_SIZE 4u
#define HFIT_SHARED_WORD_SIZE 4u

/* No pool's number. */
#define HFIT_NO_POOL UINT32_MAX

/* No index has more entries, of a byte each, nor serves more than 256 pools. */
#define HFIT_LARGEST_POOL_INDEX 4096u

/* Finds a request's pool at once. All 0: there is none, and the pool is found by log2 of the pools
 * compares. */
typedef struct hfit_pool_index {
    const uint8_t *table; /* numbers of pools */
    uint32_t entries;     /* of `table` */
    uint32_t own;         /* class_pools: `entries`, if no pool but the one that the table names can
                             have served a request; else 0 */
    uint32_t multiplier;  /* budgeted: of a size's class; the entry is the product's highest bits */
    uint32_t shift;       /* budgeted: how far the product is shifted right */
} hfit_pool_index;

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
    hfit_pool_index index;
    uint32_t search;   /* class_pools: how a pool's free block is found, hfit_pool_search */
    uint32_t overflow; /* class_pools: what a pool without one does, hfit_pool_overflow */
    uint32_t seal;     /* of all above but pointers, written last by hfit_<name>_complete */
} hfit_pools_plan;

/* Fills in what a pool's lay-out decides for `count` pools, and returns where the last one ends, in
 * bytes from the region's start. 0 if a size is 0, sizes do not ascend, there are more than 4096
 * pools, or the end would reach 2 GiB. */
uint32_t hfit_pools_lay_out(hfit_pool *pools, uint32_t count, uint32_t alignment);

/* Declares the function that completes a plan of an allocator of pools once all else in it is set:
 * makes the index in `table`, which has `room` entries and is to live as long as the plan, and
 * seals the plan. Where the index would need more than `room` or HFIT_LARGEST_POOL_INDEX there is
 * none. False, and the plan is not sealed, if it is malformed. `init` takes a sealed plan only, so
 * that firmware does not carry what checks one; at safety level 0 it takes any. */
#define HFIT_DECLARE_POOLS_PLAN(name)                                                              \
    bool hfit_##name##_complete(hfit_pools_plan *plan, uint8_t *table, uint32_t room)

#ifdef __cplusplus
}
#endif

#endif
