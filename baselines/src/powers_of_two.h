/* SPDX-License-Identifier: Apache-2.0 */
/* Size classes 8, 16, 32 ... 2^31, the bins of allocators that round to powers of two. */
#ifndef BASELINES_POWERS_OF_TWO_H
#define BASELINES_POWERS_OF_TWO_H

#include "src/size.h"
#include "src/logarithm.h"

enum { POWERS = 29, LOG2_LEAST = 3 };

/* Stores the class of the smallest power of two that holds `size` + `extra` bytes and is not below
 * `least`. False if that is beyond any region. */
static inline bool power_for(size_t size, uint32_t extra, uint32_t least, uint32_t *bin) {
    uint32_t needed;
    if (!round_size(size, extra, 1, &needed)) {
        return false;
    }
    *bin = log2_up(needed < least ? least : needed) - LOG2_LEAST;
    return true;
}

static inline uint32_t power_of(uint32_t bin) {
    return UINT32_C(1) << (bin + LOG2_LEAST);
}

#endif
