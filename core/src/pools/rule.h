/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an allocator of pools decides: which pools may serve a request, in which order, and what
 * happens where they cannot.
 *
 * A source defines HFIT_THIS(operation), includes src/pools/heap.h and defines these functions. One
 * that always answers alike makes the compiler leave out what it does not need.
 */
#ifndef HFIT_POOL_RULE_H
#define HFIT_POOL_RULE_H

#include "hfit/compiler.h"
#include "hfit/config.h"
#include "hfit/plan_of_build.h"
#include "hfit/pools.h"

/* The pool to try for a request of `size` bytes, 1 or more, after pool `after` was empty;
 * HFIT_NO_POOL for `after` begins, and as an answer ends, the search. */
static inline uint32_t next_pool(const hfit_pools_plan *plan, size_t size, uint32_t after);

/* Stores the pool with which next_pool begins. False if the plan's index does not tell it, or its
 * free blocks are not linked. */
static inline bool quick_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool);

/* True if next_pool begins with what quick_pool tells. */
static inline bool knows_first(const hfit_pools_plan *plan);

/* True if next_pool may tell of more than one pool for a request. */
static inline bool may_overflow(const hfit_pools_plan *plan);

/* Stores the pool that served a live block of this size unless it overflowed. False if that is not
 * known faster than by a search for the block's address. */
static inline bool likely_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool);

/* The same, where it cannot have overflowed. */
static inline bool own_pool(const hfit_pools_plan *plan, size_t size, uint32_t *pool);

/* True if a free block is found by its used bit; false if free blocks are linked. */
static inline bool finds_by_bits(const hfit_pools_plan *plan);

/* True if a request that the pools could not serve is not for the shared heap either. */
static inline bool refuses(const hfit_pools_plan *plan, size_t size);

/* Makes the plan's index, or none, as HFIT_DECLARE_POOLS_PLAN says. */
static void make_index(hfit_pools_plan *plan, uint8_t *table, uint32_t room);

/* True if the plan's index has as many entries as the words beside it ask for, or none. The table
 * is not read. */
static bool is_index_size_sound(const hfit_pools_plan *plan);

/* True if the plan's pools, laid out and ascending, its index and its scalars are such as this rule
 * wants. */
static bool is_rule_sound(const hfit_pools_plan *plan);

/* Keeps what is seldom needed out of the few steps that are taken each time, where it would cost
 * saved registers. */
#define APART HFIT_NOT_INLINE

/* Before the loop that searches the pools: where their number is known, its few steps are taken one
 * after the other, which is both faster and shorter. */
#if HFIT_HAS_PLAN_OF_BUILD
#define STEP_BY_STEP HFIT_STEP_BY_STEP(12)
#else
#define STEP_BY_STEP
#endif

/* Used bits are kept up from safety level 1 on, and where they find free blocks. */
static inline bool keeps_bits(const hfit_pools_plan *plan) {
    return HFIT_SAFETY >= 1 || finds_by_bits(plan);
}

#endif
