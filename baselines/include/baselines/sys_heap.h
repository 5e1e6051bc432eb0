/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets of powers of two, three tries in the lowest: the rule of Zephyr's sys_heap (2.5.0, with
 * CONFIG_SYS_HEAP_ALLOC_LOOPS at its default).
 *
 * Chunks are of whole units of 8 bytes. Up to 0x7fff units a header has 4 bytes, and blocks lie at
 * odd multiples of 4; beyond, and at an alignment of 8, it has 8. Free chunks lie in rings, a ring
 * for each power of two of units. A request looks at three chunks of the lowest ring that may hold
 * one, from the ring's hand on, and moves the hand past those that are too small, also where it is
 * refused at last; else the next ring that has any serves with what its hand is at. The chunk's
 * start goes to the caller, the rest into its ring, last in line. A freed chunk joins both
 * neighbours, and whatever leaves a ring moves the hand to what follows it. A resize shrinks, or
 * grows into a free chunk behind, in place.
 *
 * Written from Zephyr's documentation and the published rule. Other than there, an alignment of 16
 * takes units and headers of 16 bytes, and a request of 0 bytes is one of 1.
 */
#ifndef BASELINES_SYS_HEAP_H
#define BASELINES_SYS_HEAP_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(sys_heap);

#ifdef __cplusplus
}
#endif

#endif
