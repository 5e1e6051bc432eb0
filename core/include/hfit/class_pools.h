/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of special and general sizes (Mamagkakis, Soudris and Catthoor, section 4).
 *
 * A request takes, in this order: the special pool of just its size (exact fit); the first general
 * pool, in ascending order of size, whose blocks are large enough and of which one is free (first
 * fit); the smallest special pool that is large enough. What no pool serves goes to the shared
 * heap, if the plan has one: the pools supplement it. Blocks are neither split nor coalesced. Time:
 * linear in the number of pools, whatever the number of blocks. The plan is an hfit_pools_plan
 * (hfit/pools.h).
 */
#ifndef HFIT_CLASS_POOLS_H
#define HFIT_CLASS_POOLS_H

#include "hfit/contract.h"
#include "hfit/pools.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(class_pools);
HFIT_DECLARE_POOL_INDEX(class_pools);

#ifdef __cplusplus
}
#endif

#endif
