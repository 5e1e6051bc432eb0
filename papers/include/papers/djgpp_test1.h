/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers of two with the header outside: test1 of the DJGPP malloc contest (D. J. Delorie), one of
 * the allocators that Lee and Yi 2008 compare with, section V.
 *
 * A request is rounded up to a power of two 2^b, found by five steps of a binary search. Each power
 * has a stack of free blocks; when it is empty, 2^b + 4 bytes are asked of the low-level allocator.
 * Blocks are not cut beforehand, not split and not joined.
 *
 * Inferred: that the smallest power is 8; that a resize within the power stays and any other moves.
 * At alignments above 4 the chunk is rounded up to the alignment.
 */
#ifndef PAPERS_DJGPP_TEST1_H
#define PAPERS_DJGPP_TEST1_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(djgpp_test1);

#ifdef __cplusplus
}
#endif

#endif
