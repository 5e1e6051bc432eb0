/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit by address that cuts from the start of a free chunk and grows a heap from its bottom:
 * the rule of picolibc's malloc up to 1.8.11 (libc/stdlib/malloc.c).
 *
 * A request of r bytes gets a chunk of r, rounded up to the alignment, and the alignment: a word
 * for its size, then blocks stay aligned. Free chunks are linked by address; the lowest that fits
 * serves, and what it has beyond stays free. If none fits, the highest free chunk grows to the
 * request where it ends the heap, else the heap grows by the chunk. A freed chunk joins free
 * neighbours and never goes back.
 *
 * A resize cuts the chunk, or grows it where it ends the heap; otherwise the block moves, also from
 * before a free chunk that would do: picolibc compares a block's address with a header's.
 */
#ifndef BASELINES_PICOLIBC_MALLOC_H
#define BASELINES_PICOLIBC_MALLOC_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(picolibc_malloc);

#ifdef __cplusplus
}
#endif

#endif
