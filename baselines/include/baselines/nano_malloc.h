/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit by address that cuts from the end of a free chunk and grows a heap from its bottom: the
 * rule of newlib's small malloc (nano-mallocr, newlib 3.3.0; --specs=nano.specs).
 *
 * A request of r bytes gets a chunk of r, rounded up to 4, a word for its size and as many words as
 * the alignment may take; three words more than the alignment allows at least. Free chunks are
 * linked by address; the lowest that fits serves. What it has beyond is kept, if it is a chunk, and
 * its end goes to the caller; else all of it. If none fits, the heap grows by just the chunk. A
 * freed chunk joins free neighbours and never goes back. A resize stays where it fits and otherwise
 * is a request, a copy and a free: also of the highest chunk, which newlib 4.1 and later extend. An
 * aligned request is one for the alignment less 8 more; what is before it is freed if that is a
 * chunk, and what is behind it if that is more than the smallest.
 *
 * Written from newlib's documentation and from what its blocks were seen to do on a Cortex-M3; its
 * two static words lie in the region here, and a block's gap before it is told as newlib does, by a
 * word below 0.
 */
#ifndef BASELINES_NANO_MALLOC_H
#define BASELINES_NANO_MALLOC_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(nano_malloc);

#ifdef __cplusplus
}
#endif

#endif
