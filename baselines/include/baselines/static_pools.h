/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static allocator of Lee and Yi 2008 (section II): a fixed region for each size, as large as
 * its worst case, and nothing else.
 *
 * The paper says no more than that it "allocate[s] a fixed-size memory region immediately after the
 * system initialization" for the worst case; that this is sum S_i P_i,max is inferred. A request
 * takes a block of just its size, rounded up to the alignment, or is refused. With P_i,max blocks
 * of each size no order of requests that keeps to them can fail: no other plan has as hard a bound,
 * and none needs as much where the sizes' worst cases do not coincide.
 *
 * The plan is an hfit_pools_plan (hfit/pools.h) in which every pool is exact, without shared heap
 * and index. Beside the blocks the region holds 4 bytes a pool, 4 more and a bit a block.
 */
#ifndef BASELINES_STATIC_POOLS_H
#define BASELINES_STATIC_POOLS_H

#include "hfit/contract.h"
#include "hfit/pools.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(static_pools);
HFIT_DECLARE_POOLS_PLAN(static_pools);

#ifdef __cplusplus
}
#endif

#endif
