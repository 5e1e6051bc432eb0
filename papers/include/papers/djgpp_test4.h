/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists by powers of two over fixed pieces of storage: test4 of the DJGPP malloc contest
 * (D. J. Delorie), one of the allocators that Lee and Yi 2008 compare with, section V.
 *
 * Chunks have a tag at either end. A request takes the block that was split last (the slop) if it
 * is large enough; else the first large enough chunk of 30 lists by powers of two, from its own
 * list upwards, last in first out; else storage of a fixed size, 2^14 bytes in Lee and Yi's
 * experiment. What is left of a chunk, 16 bytes or more, is the new slop. Freed chunks join free
 * neighbours.
 *
 * Inferred: that this one of two like it is test4; that a request above the fixed size asks for a
 * multiple of it; that new storage joins free memory just before it; the rule for resize, which
 * stays in a chunk it fills by half and moves otherwise. The last piece of a region is what is left
 * of it.
 */
#ifndef PAPERS_DJGPP_TEST4_H
#define PAPERS_DJGPP_TEST4_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_djgpp_test4_plan {
    hfit_plan common;
    uint32_t step; /* log2 of the bytes asked of the low-level allocator at once; 0: one block's */
} hfit_djgpp_test4_plan;

HFIT_DECLARE_ALLOCATOR(djgpp_test4);

#ifdef __cplusplus
}
#endif

#endif
