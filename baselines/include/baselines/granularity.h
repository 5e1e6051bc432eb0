/* SPDX-License-Identifier: Apache-2.0 */
/*
 * R_max as papers measure it: in whole steps of the low-level allocator, sbrk say, that allocators
 * ask for memory (Lee and Yi 2008, section V). The footprint is the same without steps.
 */
#ifndef BASELINES_GRANULARITY_H
#define BASELINES_GRANULARITY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `bytes` rounded up to a multiple of 2^step; `step` is at most 31. 0: as they are. */
static inline uint64_t hfit_granular(uint64_t bytes, uint32_t step) {
    const uint64_t mask = (UINT64_C(1) << step) - 1;
    return (bytes + mask) & ~mask;
}

#ifdef __cplusplus
}
#endif

#endif
