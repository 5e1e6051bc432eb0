/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four size classes in each power of two: test3 of the DJGPP malloc contest (D. J. Delorie), one of
 * the allocators that Lee and Yi 2008 compare with, section V.
 *
 * A request is rounded up to 1, 1.25, 1.5 or 1.75 times a power of two: 128 classes. Each has a
 * stack of free blocks; when it is empty, the block is taken at the break, which moves on, while
 * memory comes in multiples of 4096 bytes behind it. A block freed just below the break lowers it,
 * so the memory serves other classes; more than 4096 bytes are given back to the low-level
 * allocator.
 *
 * Inferred: the number in the contest, which the page tells of test1 only; that the header of 4
 * bytes lies outside the class, without which sizes of 2^k would not be served as well as Lee and
 * Yi report; that freeing below the break lowers it by that block alone; that a resize within the
 * class stays and any other moves. At alignments above 4 the chunk is rounded up to the alignment.
 */
#ifndef PAPERS_DJGPP_TEST3_H
#define PAPERS_DJGPP_TEST3_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(djgpp_test3);

#ifdef __cplusplus
}
#endif

#endif
