/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Powers of two cut from whole pages: test2 of the DJGPP malloc contest (D. J. Delorie), one of the
 * allocators that Lee and Yi 2008 compare with, section V.
 *
 * As BSD's: a request and a header of 4 bytes are rounded up to a power of two 2^b, b at least 3.
 * Each power has a stack of free blocks; when it is empty, a multiple of 4096 bytes is asked of the
 * low-level allocator and cut into blocks at once. Fast and wasteful: nothing is split or joined.
 *
 * Inferred: the number in the contest, which the page tells of test1 only; that a resize within the
 * power stays and any other moves. It differs from `kingsley` in the header, which is not padded to
 * the alignment: chunks begin one word before it.
 */
#ifndef PAPERS_DJGPP_TEST2_H
#define PAPERS_DJGPP_TEST2_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_djgpp_test2_plan {
    hfit_plan common;
    uint32_t step; /* log2 of the bytes cut into blocks at once; 0: block by block */
} hfit_djgpp_test2_plan;

HFIT_DECLARE_ALLOCATOR(djgpp_test2);

#ifdef __cplusplus
}
#endif

#endif
