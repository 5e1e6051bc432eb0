/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds of chunks in the layout that the plan says: in a map (map.h), in a map of pairs
 * (pairs.h) or in headers (headers.h). Free chunks have used neighbours, before and after each
 * change:
 *
 *   bounds_use        [free             ]    ->  [used ][free    ], or all of it used
 *   bounds_use_last   [free             ]    ->  [free    ][used ]
 *   bounds_free       [free][used][free ]    ->  [free            ], each neighbour if it is free
 *   bounds_join       the same, where bounds_use follows at once
 *   bounds_cut        [used             ]    ->  [used    ][used ]
 *
 * `find_used` and `find_place` tell of a block where its chunk and the free neighbours lie.
 */
#ifndef HFIT_TAILORED_BOUNDS_H
#define HFIT_TAILORED_BOUNDS_H

#include "src/size.h"
#include "src/region.h"
#include "src/tailored/heap.h"
#include "src/tailored/map.h"
#include "src/tailored/headers.h"
#include "src/tailored/pairs.h"

static inline uint32_t chunk_end(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                 bool *is_free) {
    if (has_headers(plan)) {
        return header_end(heap, plan, chunk, is_free);
    }
    return has_pairs(plan) ? paired_end(heap, chunk, is_free) : map_end(heap, plan, chunk, is_free);
}

static FORCE_INLINE void bounds_use(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                    uint32_t behind, uint32_t end) {
    if (has_headers(plan)) {
        headers_use(heap, plan, start, behind, end);
    } else if (has_pairs(plan)) {
        pairs_use(heap, start, behind, end);
    } else {
        map_use(heap, plan, start, behind, end);
    }
}

static void bounds_use_last(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t at,
                            uint32_t end) {
    if (has_headers(plan)) {
        headers_use_last(heap, plan, start, at, end);
    } else if (has_pairs(plan)) {
        pairs_use_last(heap, start, at, end);
    } else {
        map_use_last(heap, plan, start, at, end);
    }
}

static FORCE_INLINE void bounds_free(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    if (has_headers(plan)) {
        headers_free(heap, plan, at);
    } else if (has_pairs(plan)) {
        pairs_free(heap, at);
    } else {
        map_free(heap, plan, at);
    }
}

static void bounds_join(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    if (has_headers(plan)) {
        headers_join(heap, plan, at);
    } else if (has_pairs(plan)) {
        pairs_join(heap, at);
    } else {
        map_join(heap, at);
    }
}

static void bounds_cut(hfit_heap *heap, const hfit_plan *plan, const place *at, uint32_t behind) {
    if (has_headers(plan)) {
        headers_cut(heap, plan, at, behind);
    } else if (has_pairs(plan)) {
        pairs_cut(heap, at, behind);
    } else {
        map_cut(heap, at, behind);
    }
}

/* True if a free chunk of `size` granules begins at `chunk`, any granule of the chunks. */
static FORCE_INLINE bool is_free_within(const hfit_heap *heap, const hfit_plan *plan,
                                        uint32_t chunk, uint32_t size) {
    if (has_headers(plan)) {
        const uint32_t end = chunks_end(heap) >> granule_shift(plan);
        const uint32_t word = load_header(heap, plan, chunk);
        return free_size(word) == size && is_free_headed(heap, plan, chunk, word, end - chunk);
    }
    return has_pairs(plan) ? is_free_paired(heap, chunk, size)
                           : is_free_mapped(heap, plan, chunk, size);
}

/* The same of any number. */
static inline bool is_free_chunk(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                 uint32_t size) {
    return chunk >= load_word(heap, CHUNKS_FIRST) &&
           chunk < chunks_end(heap) >> granule_shift(plan) &&
           is_free_within(heap, plan, chunk, size);
}

/* Stores where the used chunk at `at->start`, a granule of the chunks, ends. From safety level 1 on
 * false, and what is wrong, if there is none. */
static FORCE_INLINE bool bounds_find(const hfit_heap *heap, const hfit_plan *plan, place *at,
                                     hfit_misuse *misuse) {
    if (has_headers(plan)) {
        return headers_find(heap, plan, at, misuse);
    }
    return has_pairs(plan) ? pairs_find(heap, at, misuse) : map_find(heap, at, misuse);
}

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, const void *block) {
    HFIT_ON_MISUSE(heap, kind, block);
    return false;
}

/* Stores where the chunk that `block` is the payload of begins and ends. From safety level 1 on
 * false, told as misuse, if it is not a live block's. */
static FORCE_INLINE bool find_used(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                   place *at) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    hfit_misuse misuse;
    at->start = (uint32_t)distance >> granule_shift(plan);
    at->from = at->start; /* which only some layouts tell here */
    if (HFIT_SAFETY >= 1 &&
        (distance >= chunks_end(heap) || (distance & (plan->alignment - 1)) != 0 ||
         at->start < load_word(heap, CHUNKS_FIRST))) {
        return refuse(heap, HFIT_MISUSE_FOREIGN, block);
    }
    return bounds_find(heap, plan, at, &misuse) || refuse(heap, misuse, block);
}

/* Stores how far the free neighbours of a used chunk reach. From safety level 1 on false if words
 * that say so do not hold. */
static FORCE_INLINE bool look_around(const hfit_heap *heap, const hfit_plan *plan, place *at) {
    if (has_headers(plan)) {
        return headers_look_around(heap, plan, at);
    }
    if (has_pairs(plan)) {
        pairs_look_around(heap, at);
    } else {
        map_look_around(heap, plan, at);
    }
    return true;
}

#endif
