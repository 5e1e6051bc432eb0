/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLSF: two-level segregated fit (Masmano et al. 2004), with a control block that scales with the
 * region.
 *
 * Free chunks hang in bins, one a size class. The first level halves sizes by powers of two, the
 * second cuts each power of two into 2^second_level equal classes; a bitmap a level finds the next
 * bin that is not empty. Sizes are counted in granules of the alignment, less the one that the
 * header shares, so that a request of 2^k bytes is the lower bound of a class and finds its own
 * freed chunk again. Any other request is rounded up to the lower bound of the class it is searched
 * in and split off at that size, for the same reason.
 *
 * Time: constant for every operation but `resize` when it must copy.
 * A block of n bytes takes n + 4 bytes rounded up to the alignment and to its class: less than
 * 1/2^second_level more.
 */
#ifndef HFIT_TLSF_H
#define HFIT_TLSF_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_tlsf_plan {
    hfit_plan common;
    uint32_t second_level; /* log2 of the classes in each power of two, 2 to 5; 0: chosen by the
                              region's size */
} hfit_tlsf_plan;

HFIT_DECLARE_ALLOCATOR(tlsf);

#ifdef __cplusplus
}
#endif

#endif
