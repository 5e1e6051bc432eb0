/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable-size requests over equal partitions: a request takes a group of partitions that lie
 * together (Elsayed and Galal, "Building better memory management for high performance
 * wired/wireless networks").
 *
 *   control, table         0      1      2      3      4      5
 *   +----------+---------+------+------+------+------+------+------+--
 *   | 20 bytes | a partition's |  group of 3         | free | group| ...
 *   |          | bookkeeping   |                     |      | of 1 |
 *   +----------+---------+------+------+------+------+------+------+--
 *
 * `metadata` 0 keeps free groups in a linked list in address order, with a word of record a
 * partition, as the article describes it; 1 keeps two bits a partition and no list. Both lie apart
 * from the partitions, but for the list's links, which lie in the free groups, so that a bad free
 * is refused exactly. `fit` 0 takes the lowest run that holds the request (first fit), 1 the
 * smallest, the lowest of these (best fit): whatever the metadata, the placements are the same.
 * `overhead` sets aside more bookkeeping than the metadata need, as other pools have: the article's
 * figures let 32 to 36 bytes be inferred.
 *
 * A block of n bytes takes n rounded up to whole partitions, and the table's bytes for each: 4 with
 * a list, 1/4 with bits. Time: `alloc` and a `resize` that moves take one step a free group, with
 * bits one more for each 32 partitions; `free` and `resize` in place take with a list one step a
 * free group before the block, with bits one for each 32 partitions of the block. A request of n
 * partitions may be refused, though as many are free, until it finds them together.
 *
 * A heap has up to 2^24 partitions; what a region has behind them stays unused.
 */
#ifndef HFIT_PARTITION_POOL_H
#define HFIT_PARTITION_POOL_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_partition_pool_plan {
    hfit_plan common;
    uint32_t partition_size; /* bytes, rounded up to the alignment */
    uint32_t partitions;     /* how many; 0: as many as the region holds */
    uint32_t overhead;       /* bytes of bookkeeping set aside a partition, if the metadata need
                                less */
    uint32_t fit;            /* 0: first fit; 1: best fit */
    uint32_t metadata;       /* 0: list of free groups; 1: two bits a partition */
} hfit_partition_pool_plan;

HFIT_DECLARE_ALLOCATOR(partition_pool);

#ifdef __cplusplus
}
#endif

#endif
