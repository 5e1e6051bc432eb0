/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is searched for: a run of free partitions, at any place or at one of every 2^k places.
 *
 *   alignment 4 x partition size:   | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | ...
 *                                         ^               ^           mask 3, residue 1
 */
#ifndef HFIT_PARTITION_RUN_H
#define HFIT_PARTITION_RUN_H

#include "src/region.h"
#include "src/partitions/partitions.h"

typedef struct run_request {
    uint32_t count;   /* partitions together */
    uint32_t mask;    /* the first one's number, modulo mask + 1, is the residue */
    uint32_t residue; /* 0 to mask */
    bool smallest;    /* of all free runs that hold it the smallest, the lowest of these; false:
                         the lowest */
} run_request;

/* The first partition from `start` on that may be the first of the run. */
static inline uint32_t place_from(const run_request *request, uint32_t start) {
    return start + ((request->residue - start) & request->mask);
}

/* The number that multiplied by `n`, which is odd, gives 1 modulo 2^32. Each step doubles the bits
 * that are right, from 3. */
static inline uint32_t inverse_of_odd(uint32_t n) {
    HFIT_ASSERT(n % 2 == 1);
    uint32_t inverse = n;
    for (int bits = 3; bits < 32; bits *= 2) {
        inverse *= 2 - n * inverse;
    }
    return inverse;
}

/* Restricts a request to partitions at multiples of `alignment`, a power of two. False if there
 * are none. */
static inline bool align_request(const hfit_heap *heap, const partition_layout *layout,
                                 uint32_t alignment, run_request *request) {
    const uint32_t step = layout->size & (0u - layout->size);
    const uint32_t gap = alignment_gap(heap, layout->base, alignment);
    if (alignment <= step) {
        return gap == 0;
    }
    request->mask = alignment / step - 1;
    request->residue = (gap / step * inverse_of_odd(layout->size / step)) & request->mask;
    return gap % step == 0;
}

#endif
