/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgeted exact-size stacks over a shared heap (Lee and Yi 2008, section III).
 *
 *   0            4 * budgets                              pools.end
 *   +------------+---------------+-----------+-----------+-------------+
 *   | free lists | shared mark   | used bits | N_i * S_i | shared heap |
 *   +------------+---------------+-----------+-----------+-------------+
 *
 * Each budget sets N_i blocks of S_i bytes aside. A request of that size takes one; a miss, or a
 * budget used up, goes to the shared heap, never to a larger budget. Sizes that round up to the
 * same multiple of the alignment are one size, since they need the same block.
 *
 * A size is found by one hash without collisions, in a table that the plan holds; without one, by
 * log2 of the budgets compares. An address is found by log2 of the budgets compares. Then `alloc`
 * and `free` are one list operation and, from safety level 1 on, one used bit; `init` takes a step
 * a block; a miss costs the shared heap's steps too. A block takes its size rounded up to the
 * alignment and a bit, a budget 4 bytes. The smallest region holds the budgets and nothing shared;
 * the shared heap begins once the rest is enough for it. No request within its budget is refused.
 *
 * The plan is an hfit_pools_plan (hfit/pools.h) in which every pool is exact.
 */
#ifndef HFIT_BUDGETED_H
#define HFIT_BUDGETED_H

#include "hfit/contract.h"
#include "hfit/pools.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(budgeted);
HFIT_DECLARE_POOLS_PLAN(budgeted);

#ifdef __cplusplus
}
#endif

#endif
