/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lea's malloc of 1996 as newlib has it: the rule of newlib's full malloc (mallocr.c, newlib
 * 3.3.0), without nano.specs.
 *
 * A request of r bytes gets a chunk of r and a word, rounded up to 8; at least 16. Free chunks lie
 * in 128 bins: of one size up to 504 bytes, then of ever wider ranges, each sorted by size, the
 * longest free first among equals. What was split off last serves before other bins, which serve
 * best. The top serves last; it grows by whole pages of the request and 16 bytes, whatever it has,
 * and gives pages back above 128 KiB. So the heap's bytes are those that sbrk gave, in pages; its
 * first byte is assumed to begin one.
 *
 * A resize cuts, or grows into the free chunk behind, before, or both; else the block moves.
 */
#ifndef BASELINES_NEWLIB_MALLOC_H
#define BASELINES_NEWLIB_MALLOC_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(newlib_malloc);

#ifdef __cplusplus
}
#endif

#endif
