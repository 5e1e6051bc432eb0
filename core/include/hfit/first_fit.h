/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit over one free list, last in first out (Cebeci 2019, section 2).
 *
 * A request takes the first free chunk that is large enough and splits it. With `coalesce` 1 a
 * freed chunk is joined with its free neighbours at once (section 3.1); with 0 it never is, as in
 * the report's first version, and the heap wears down. Time: linear in the length of the free list
 * for `alloc`, constant for `free`. A block of n bytes takes n + 4 bytes rounded up to the
 * alignment, and 16 bytes at least.
 */
#ifndef HFIT_FIRST_FIT_H
#define HFIT_FIRST_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_first_fit_plan {
    hfit_plan common;
    uint32_t coalesce; /* 1: join free neighbours at once; 0: never */
} hfit_first_fit_plan;

HFIT_DECLARE_ALLOCATOR(first_fit);

#ifdef __cplusplus
}
#endif

#endif
