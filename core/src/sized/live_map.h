/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At safety level 2, where live blocks of `sized` begin: a bit for each granule, behind the last
 * one. Below that level there is none, and all of this comes to nothing.
 *
 *   | control | chunks ... up to end | map |
 */
#ifndef HFIT_SIZED_LIVE_MAP_H
#define HFIT_SIZED_LIVE_MAP_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"
#include "src/sized/by_address.h"

enum { HAS_LIVE_MAP = HFIT_SAFETY >= 2 };

/* Bytes of the map of so many granules. */
static FORCE_INLINE uint32_t live_map_size(uint32_t granules) {
    return HAS_LIVE_MAP ? (granules + 31) / 32 * 4 : 0;
}

static FORCE_INLINE uint32_t live_word(const hfit_heap *heap, const hfit_plan *plan,
                                       uint32_t granule) {
    return offset_at(plan, load_word(heap, END)) + granule / 32 * 4;
}

static inline void note_live(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                             bool is_live) {
    if (HAS_LIVE_MAP) {
        const uint32_t word = live_word(heap, plan, granule);
        const uint32_t bit = 1u << granule % 32;
        store_word(heap, word, (load_word(heap, word) & ~bit) | (is_live ? bit : 0));
    }
}

static inline bool is_live_at(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule) {
    return (load_word(heap, live_word(heap, plan, granule)) >> granule % 32 & 1) != 0;
}

/* The first granule from `from` on at which a live block begins; `limit` if there is none before.
 */
static inline uint32_t next_live(const hfit_heap *heap, const hfit_plan *plan, uint32_t from,
                                 uint32_t limit) {
    while (from < limit) {
        const uint32_t bits = load_word(heap, live_word(heap, plan, from)) >> from % 32;
        if (bits != 0) {
            const uint32_t found = from + hfit_trailing_zeros(bits);
            return found < limit ? found : limit;
        }
        from = (from | 31u) + 1;
    }
    return limit;
}

/* Where the live block ends that begins at `start`: at the next one, at a free chunk, or at the
 * top. */
static inline uint32_t live_end(const hfit_heap *heap, const hfit_plan *plan, uint32_t start) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t chunk = first_from(heap, plan, start);
    const uint32_t limit = chunk != NOWHERE ? chunk : load_word(heap, END);
    return next_live(heap, plan, start + 1, top > start && top < limit ? top : limit);
}

static inline bool is_live_block(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                 uint32_t end) {
    return is_live_at(heap, plan, start) && live_end(heap, plan, start) == end;
}

/* True if no block is said to begin among these granules. */
static inline bool is_nothing_live(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                   uint32_t end) {
    return !HAS_LIVE_MAP || next_live(heap, plan, start, end) == end;
}

/* True if the used granules from `start` to `end` can be blocks. */
static inline bool is_used_well(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                uint32_t end) {
    return !HAS_LIVE_MAP || (is_live_at(heap, plan, start) && end - start >= least_chunk(plan));
}

#endif
