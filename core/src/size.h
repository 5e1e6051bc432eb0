/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one checked rounding helper. No other code in core adds to a caller's size.
 */
#ifndef HFIT_SIZE_H
#define HFIT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hfit/compiler.h"
#include "hfit/config.h"

/* The largest block size in bytes: sums of two stay below 2^32. */
#define HFIT_LARGEST_BLOCK ((size_t)0x7fffffff)
_Static_assert(HFIT_LARGEST_BLOCK <= UINT32_MAX / 2, "sums of two blocks stay below 2^32");

/* True where a call checks the words that it is about to change, too. */
#define CHECKS_WORDS (HFIT_SAFETY >= 2 || (HFIT_SAFETY == 1 && HFIT_CHECKS_WORDS))

/* Where a compiler that weighs a call against one body would leave a call on the way of alloc or
 * free, and measured instructions or bytes say that it must not. */
#define FORCE_INLINE inline HFIT_ALWAYS_INLINE

static FORCE_INLINE bool is_power_of_two(size_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

/* Stores `size` + `extra`, rounded up to a multiple of `alignment` (a power of two). False if the
 * result would exceed HFIT_LARGEST_BLOCK. `extra` + `alignment` is not the caller's choice and at
 * most 2^31, so the sum of the three stays below 2^32. */
static FORCE_INLINE bool round_sum(size_t size, uint32_t extra, uint32_t alignment,
                                   uint32_t *rounded) {
    HFIT_ASSERT(is_power_of_two(alignment) && extra <= (1u << 31) - alignment);
    if (size > HFIT_LARGEST_BLOCK) {
        return false;
    }
    *rounded = ((uint32_t)size + extra + alignment - 1) & ~(alignment - 1);
    return *rounded <= HFIT_LARGEST_BLOCK;
}

/* As round_sum, where the one limit is that `size` is below `limit`, which is at most
 * LARGEST_LIMIT.
 */
#define LARGEST_LIMIT (UINT32_MAX - 64)
static inline bool round_below(size_t size, uint32_t limit, uint32_t extra, uint32_t alignment,
                               uint32_t *rounded) {
    HFIT_ASSERT(is_power_of_two(alignment) && extra + alignment <= 64 && limit <= LARGEST_LIMIT);
    *rounded = ((uint32_t)size + extra + alignment - 1) & ~(alignment - 1);
    return size < limit;
}

/* Bytes of a region that are used where sums with its end must not wrap. */
static FORCE_INLINE uint32_t usable_region(size_t region_size) {
    return region_size < LARGEST_LIMIT ? (uint32_t)region_size : LARGEST_LIMIT;
}

/* As round_sum, where a size of 0 counts as 1. */
static inline bool round_size(size_t size, uint32_t extra, uint32_t alignment, uint32_t *rounded) {
    return round_sum(size == 0 ? 1 : size, extra, alignment, rounded);
}

#endif
