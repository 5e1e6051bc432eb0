/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doug Lea's allocator, as he describes it: A Memory Allocator (1996, revised 2000), and the
 * comments of malloc.c 2.8 on bins, trees, the designated victim and the top. Written afresh from
 * these; it is what programs under Linux had, and what Lee and Yi 2008 and Mamagkakis et al.
 * compare with.
 *
 * Chunks have boundary tags: a word before the block, and the size again at a free chunk's end.
 * Small free chunks lie in 32 bins of one size each, last in first out; larger ones in 32 trees,
 * two a power of two, in which the best fit is found by the bits of its size. Freed chunks join
 * free neighbours at once. A small request takes, in this order:
 *
 *   1. a chunk of its bin, or of the next, which is no larger than a chunk must be
 *   2. the designated victim, the rest of the chunk that was split last for a small request, if it
 *      is large enough
 *   3. the smallest chunk of the bins and trees that is large enough; its rest is the new victim
 *   4. the top, the chunk at the end of what was ever used
 *
 * A large request takes the best fit of the trees, unless the victim fits better; then the top. Of
 * equal large chunks the oldest is taken. Resizing grows into a free neighbour, the victim or the
 * top; more alignment is had by splitting.
 *
 * Of the original it leaves out: memory from mmap and its trimming, which a region has no use for,
 * and its checks. Its own: bins follow the alignment, 32 multiples of it, so at alignment 8 they
 * end below 256 bytes, as in the original; the top may be used up.
 */
#ifndef BASELINES_LEA_H
#define BASELINES_LEA_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(lea);

#ifdef __cplusplus
}
#endif

#endif
