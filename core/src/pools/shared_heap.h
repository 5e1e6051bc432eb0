/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared heap behind the pools of a plan: where it begins, and whether there is one.
 *
 *   0            4 * pools                            pools_end
 *   +------------+---------------+-----------+--------+-------------+
 *   | free lists | shared mark   | used bits | blocks | shared heap |
 *   +------------+---------------+-----------+--------+-------------+
 */
#ifndef HFIT_POOL_SHARED_HEAP_H
#define HFIT_POOL_SHARED_HEAP_H

#include "src/size.h"
#include "src/region.h"
#include "src/pools/layout.h"

static FORCE_INLINE const hfit_pools_plan *pools_plan(const hfit_plan *plan) {
    return (const hfit_pools_plan *)plan;
}

/* Offset of the word that begins a pool's free list, or counts what is free. */
static inline uint32_t list_of(const hfit_pools_plan *plan, const hfit_pool *pool) {
    return free_list_at((uint32_t)(pool - plan->pools.items));
}

/* Where the last pool ends, and the shared heap begins. */
static FORCE_INLINE uint32_t pools_end(const hfit_pools_plan *plan) {
    return plan->pools.count == 0 ? pools_control_size(0, 0, plan->common.alignment)
                                  : plan->pools.end;
}

/* What the word at shared_word_at holds if there is a shared heap; 0 if not. At least three bits
 * lie between the two. */
static FORCE_INLINE uint32_t shared_mark(const hfit_pools_plan *plan) {
    return ~pools_end(plan);
}

/* The heap behind the pools, or NULL. */
static FORCE_INLINE hfit_heap *shared_heap(const hfit_heap *heap, const hfit_pools_plan *plan) {
    return plan->shared.operations != NULL &&
                   load_word(heap, shared_word_at(plan->pools.count)) == shared_mark(plan)
               ? block_at(heap, pools_end(plan))
               : NULL;
}

#endif
