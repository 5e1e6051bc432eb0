/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable-size requests over equal partitions, scattered: a request takes any free partitions, and
 * a side table chains them (the other reading of Elsayed and Galal, "Building better memory
 * management for high performance wired/wireless networks").
 *
 *   control, table               0      1      2      3      4      5
 *   +----------+---------------+------+------+------+------+------+------+--
 *   | 20 bytes | a word a      | A,   | B    | A,   | free | A,   | free | ...
 *   |          | partition     | 1st  |      | 2nd  |      | 3rd  |      |
 *   +----------+---------------+------+------+------+------+------+------+--
 *
 * A block is not contiguous: its caller reaches it by hfit_chained_pool_next_piece, and by nothing
 * else. In return a request is served as long as so many partitions are free, wherever they lie,
 * and `resize` never moves or copies: it appends partitions or drops the last ones. The chain lies
 * outside the partitions, so these are payload from first to last byte, no overflow reaches the
 * chain, and a bad free is refused exactly.
 *
 * A block of n bytes takes n rounded up to whole partitions, and 4 bytes of table for each, or
 * `overhead` if that is more. Time: every operation on a block takes one step a partition of the
 * block, whatever else the heap holds; a failing `alloc` takes one.
 *
 * A heap has up to 2^24 partitions; what a region has behind them stays unused.
 */
#ifndef HFIT_CHAINED_POOL_H
#define HFIT_CHAINED_POOL_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_chained_pool_plan {
    hfit_plan common;
    uint32_t partition_size; /* bytes, rounded up to the alignment */
    uint32_t partitions;     /* how many; 0: as many as the region holds */
    uint32_t overhead;       /* bytes of bookkeeping set aside a partition, if above 4 */
} hfit_chained_pool_plan;

HFIT_DECLARE_ALLOCATOR(chained_pool);

/* The piece of a live block after `piece`, and how many bytes of the block lie in it, or NULL:
 * `next_piece` of hfit_allocator (hfit/descriptor.h). Partitions that lie together and follow each
 * other in the block are one piece. Takes no lock, since it reads only what is the block's. */
void *hfit_chained_pool_next_piece(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                   const void *piece, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
