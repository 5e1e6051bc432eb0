/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgeted exact-size stacks over a shared heap (Lee and Yi 2008, section III).
 *
 * Each budget sets N_i blocks of S_i bytes aside. A request of that size takes one; a miss, or a
 * budget used up, goes to the shared heap, never to a larger budget. Sizes that round up to the
 * same multiple of the alignment are one size, since they need the same block. Time: log2 of the
 * number of budgets, plus the shared heap's on a miss. The plan is an hfit_pools_plan
 * (hfit/pools.h) in which every pool is exact.
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
