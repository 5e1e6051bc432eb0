/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers of two, never split or joined: Chris Kingsley's allocator of 4.2BSD, 1982, as Wilson,
 * Johnstone, Neely and Boles describe it (Dynamic Storage Allocation: A Survey and Critical Review,
 * 1995, section 3.6, simple segregated storage).
 *
 * A request and its header are rounded up to a power of two. Each power has a stack of free blocks;
 * when it is empty, a page is asked of the low-level allocator and cut into blocks, or just the
 * block if it is larger. Memory of one power never serves another. A resize within the power stays,
 * any other moves.
 *
 * The header is one word padded to the alignment, so that blocks are aligned as chunks are: at
 * alignment 8 a request of 8 bytes takes 16, one of 9 bytes takes 32. Inferred: that all sizes are
 * cut alike; 4.3BSD adds a page to blocks of a page and more, which is not done here.
 */
#ifndef BASELINES_KINGSLEY_H
#define BASELINES_KINGSLEY_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_kingsley_plan {
    hfit_plan common;
    uint32_t step; /* log2 of the bytes cut into blocks at once; 0: block by block */
} hfit_kingsley_plan;

HFIT_DECLARE_ALLOCATOR(kingsley);

#ifdef __cplusplus
}
#endif

#endif
