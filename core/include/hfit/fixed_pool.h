/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal buffers: every request up to `block_size` bytes takes a whole one, and a larger one is
 * refused (Elsayed and Galal, "Building better memory management for high performance
 * wired/wireless networks": the fixed-size pool that theirs is compared with).
 *
 *   0         8
 *   +---------+---------------+---------+----------+---------+----------+-----
 *   | control | 1 bit a block | block 0 | overhead | block 1 | overhead | ...
 *   +---------+---------------+---------+----------+---------+----------+-----
 *
 * Free blocks are linked, the one freed last first, and all are from the start, in ascending order.
 * `alloc` and `free` take the same few steps always; `init` takes one a block. A block takes its
 * size and `overhead`, rounded up to the alignment, and a bit. `overhead` stands for the
 * bookkeeping of the pool that is modelled; nothing lies there.
 *
 * A program that offers a pool of n buffers a load of a is refused as Erlang's loss formula says,
 * B(n, a), whatever the distribution of holding times.
 */
#ifndef HFIT_FIXED_POOL_H
#define HFIT_FIXED_POOL_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_fixed_pool_plan {
    hfit_plan common;
    uint32_t block_size; /* bytes a request may have */
    uint32_t blocks;     /* how many; 0: as many as the region holds */
    uint32_t overhead;   /* bytes of bookkeeping a block, beside those there are */
} hfit_fixed_pool_plan;

HFIT_DECLARE_ALLOCATOR(fixed_pool);

#ifdef __cplusplus
}
#endif

#endif
