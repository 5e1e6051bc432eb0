/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Best fit over free chunks sorted by size, the last freed first among equals, or first fit over
 * chunks sorted by address: the rule of three systems' heaps.
 *
 * FreeRTOS's heap_2 (kernel 4269c69, portable/MemMang/heap_2.c) is `coalesce` 0, `header_size` 8
 * and `least_split` 17: one list, and free neighbours stay apart. NuttX's mm (4ebc8a72, mm/mm_heap)
 * is `lists` 1 and `least_split` 16: a list a power of two, free neighbours joined at once. A
 * request takes the smallest chunk that will do, from its start. lwIP's mem.c (2.2, 3d896ba) is
 * `lists` 0, `by_address` 1, `header_size` 8 and `least_split` 24: a request takes the lowest chunk
 * that will do.
 *
 * A resize is NuttX's: a larger block grows into the free chunks on both sides, first into the
 * smaller of the two, and moves down if it takes from the one before. What a smaller block leaves
 * joins a free chunk behind it, or is split off if it can be a chunk, in lwIP's mem_trim, too
 * (which makes no block larger). An aligned request is NuttX's, too: a block larger by twice the
 * alignment, whose ends go back. Without `coalesce` a resize that does not fit is a request, a copy
 * and a free.
 */
#ifndef BASELINES_SORTED_FIT_H
#define BASELINES_SORTED_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_sorted_fit_plan {
    hfit_plan common;
    uint32_t coalesce;    /* 1: join free neighbours at once; 0: never */
    uint32_t lists;       /* 1: a list a power of two; 0: one for all sizes */
    uint32_t header_size; /* bytes before each block: 4 to 64, a multiple of 4 */
    uint32_t least_split; /* the least bytes left over that are split off, up to 4096; 0: as few as
                             can be a chunk */
    uint32_t by_address;  /* 1: lists sorted by address; 0: by size */
} hfit_sorted_fit_plan;

HFIT_DECLARE_ALLOCATOR(sorted_fit);

#ifdef __cplusplus
}
#endif

#endif
