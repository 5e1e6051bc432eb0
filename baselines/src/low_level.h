/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The low-level allocator that others ask for memory, as sbrk is asked: a break that moves through
 * the region.
 *
 *   0       4     8           12                       first             break              end
 *   +-------+-----+-----------+------------------------+-----------------+------------------+
 *   | break | end | footprint | words of the allocator | handed out      | not asked for    |
 *   +-------+-----+-----------+------------------------+-----------------+------------------+
 *
 * Memory comes in steps of 2^step bytes, as papers have it; the last step of a region is what is
 * left of it. The footprint is the end of the highest block so far, so it is exact whatever the
 * step; hfit_granular (baselines/granularity.h) gives it in whole steps.
 */
#ifndef BASELINES_LOW_LEVEL_H
#define BASELINES_LOW_LEVEL_H

#include "baselines/granularity.h"

#include "src/region.h"

enum {
    LOW_BREAK = 0,
    LOW_END = 4,
    LOW_FOOTPRINT = 8,
    LOW_CONTROL = 12, /* where the allocator's own words begin */
    LOW_MOST_STEP = 20,
};

/* The tunable of an allocator that asks for more than it needs at once. */
#define LOW_LEVEL_STEP_TUNABLE(plan_type, standard_step)                                           \
    {                                                                                              \
        "step",                                                                                    \
            "log2 of the bytes asked of the low-level allocator at a time; 0: just what a block "  \
            "needs.",                                                                              \
            HFIT_SCALAR, offsetof(plan_type, step), 0, LOW_MOST_STEP, standard_step, HFIT_AMOUNT   \
    }

/* Nothing between `first` and `end` is handed out yet. */
static inline void low_level_start(hfit_heap *heap, uint32_t first, uint32_t end) {
    store_word(heap, LOW_BREAK, first);
    store_word(heap, LOW_END, end);
    store_word(heap, LOW_FOOTPRINT, first);
}

/* Hands out `wanted` bytes, or the rest of the region if that is less but at least `least`. Stores
 * how many they are; NO_OFFSET, and nothing stored, if too few are left. */
static inline uint32_t low_level_take(hfit_heap *heap, uint64_t wanted, uint32_t least,
                                      uint32_t *given) {
    const uint32_t start = load_word(heap, LOW_BREAK);
    const uint32_t left = load_word(heap, LOW_END) - start;
    if (left < least) {
        return NO_OFFSET;
    }
    *given = wanted < left ? (uint32_t)wanted : left;
    store_word(heap, LOW_BREAK, start + *given);
    return start;
}

/* Takes the last `bytes` handed out back. */
static inline void low_level_give_back(hfit_heap *heap, uint32_t bytes) {
    store_word(heap, LOW_BREAK, load_word(heap, LOW_BREAK) - bytes);
}

/* A block ends at `end`. */
static inline void low_level_note_end(hfit_heap *heap, uint32_t end) {
    if (end > load_word(heap, LOW_FOOTPRINT)) {
        store_word(heap, LOW_FOOTPRINT, end);
    }
}

/* True if the three words may belong to a heap whose chunks begin at `first`. */
static inline bool is_low_level_sound(const hfit_heap *heap, uint32_t first) {
    const uint32_t brk = load_word(heap, LOW_BREAK);
    const uint32_t footprint = load_word(heap, LOW_FOOTPRINT);
    return brk >= first && brk <= load_word(heap, LOW_END) && footprint >= first &&
           footprint <= load_word(heap, LOW_END);
}

#endif
