/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As test4, found faster: test5 of the DJGPP malloc contest (D. J. Delorie), one of the allocators
 * that Lee and Yi 2008 compare with, section V.
 *
 * Inferred, all of it: what test5 does is not known. Lee and Yi tell that it always needs the
 * memory that test4 needs, and another time. This one places every block as `djgpp_test4` does and
 * finds the next list that is not empty by a map of one bit a list, where test4 looks at one list
 * after the other.
 */
#ifndef PAPERS_DJGPP_TEST5_H
#define PAPERS_DJGPP_TEST5_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_djgpp_test5_plan {
    hfit_plan common;
    uint32_t step; /* log2 of the bytes asked of the low-level allocator at once; 0: one block's */
} hfit_djgpp_test5_plan;

HFIT_DECLARE_ALLOCATOR(djgpp_test5);

#ifdef __cplusplus
}
#endif

#endif
