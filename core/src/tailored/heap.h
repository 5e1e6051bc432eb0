/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of `tailored` know: its control words, what the plan says, and granules.
 *
 *   0     4       8           12      16    20        24                 class map
 *   +-----+-------+-----------+-------+-----+---------+------------------+---------+-----
 *   | end | first | footprint | tally | top | top end | where a map      | classes ...
 *   |     |       |           |       |     |         | lies, if any     |
 *   +-----+-------+-----------+-------+-----+---------+------------------+---------+-----
 *
 * A granule is the plan's alignment, and a chunk is known by the granule in which its block begins.
 * Its header, if it has one, is the word before that; so all that lies in a chunk lies at the same
 * offsets from that word, the chunk's entry, in either layout.
 *
 *   entry    chunk's granule
 *   +--------+------+----------+-- ... --+
 *   | header | next | previous |         |    free: words of the index from entry + 4 on
 *   +--------+------+----------+-- ... --+
 */
#ifndef HFIT_TAILORED_HEAP_H
#define HFIT_TAILORED_HEAP_H

#include "hfit/compiler.h"
#include "hfit/tailored.h"

#include "src/size.h"
#include "src/region.h"

enum {
    CHUNKS_END = 0,    /* offset of the end of all chunks */
    CHUNKS_FIRST = 4,  /* granule of the first chunk */
    FOOTPRINT = 8,     /* the heap's footprint so far, in bytes */
    TALLY = 12,        /* footprint plus used chunks, from level 1 on */
    TOP = 16,          /* granule at which the top begins */
    TOP_END = 20,      /* and ends; the same if there is no top */
    MAP_BASE = 24,     /* see map.h and pairs.h */
    LEAST_MAPPED = 2,  /* granules of a chunk whose bounds are in a map */
    LEAST_PAIRED = 8,  /* bytes of a granule of pairs: two links */
    LEAST_HEADED = 16, /* bytes of a chunk with a header: the word, two links, the word again */
    HEADER_SIZE = 4,
    FREE_SIZE = 12, /* offset from the entry of a free chunk's size, where it is noted */
};

static FORCE_INLINE const hfit_tailored_plan *own_plan(const hfit_plan *plan) {
    return (const hfit_tailored_plan *)plan;
}

static FORCE_INLINE bool has_two_ends(const hfit_plan *plan) {
    return own_plan(plan)->ends == 2;
}

static FORCE_INLINE bool has_headers(const hfit_plan *plan) {
    return own_plan(plan)->layout == HFIT_TAILORED_HEADERS;
}

static FORCE_INLINE bool has_pairs(const hfit_plan *plan) {
    return own_plan(plan)->layout == HFIT_TAILORED_PAIRS;
}

static FORCE_INLINE bool is_good_fit(const hfit_plan *plan) {
    return own_plan(plan)->index == HFIT_TAILORED_GOOD_FIT;
}

/* log2 of the bytes of a granule. */
static FORCE_INLINE uint32_t granule_shift(const hfit_plan *plan) {
    return hfit_trailing_zeros(plan->alignment);
}

/* Bytes of a chunk that the caller cannot have. */
static FORCE_INLINE uint32_t header_size(const hfit_plan *plan) {
    return has_headers(plan) ? (uint32_t)HEADER_SIZE : 0;
}

/* Granules of the smallest chunk. */
static FORCE_INLINE uint32_t least_chunk(const hfit_plan *plan) {
    if (has_headers(plan)) {
        return (uint32_t)LEAST_HEADED >> granule_shift(plan);
    }
    return has_pairs(plan) ? 1 : (uint32_t)LEAST_MAPPED;
}

static FORCE_INLINE uint32_t entry_of(const hfit_plan *plan, uint32_t granule) {
    HFIT_ASSERT(granule != 0);
    return (granule << granule_shift(plan)) - HEADER_SIZE;
}

static FORCE_INLINE uint32_t granule_of(const hfit_plan *plan, uint32_t entry) {
    return (entry + HEADER_SIZE) >> granule_shift(plan);
}

static FORCE_INLINE uint32_t chunks_end(const hfit_heap *heap) {
    return load_word(heap, CHUNKS_END);
}

/* Bytes that the caller may use in a chunk of so many granules. */
static FORCE_INLINE size_t usable_bytes(const hfit_plan *plan, uint32_t granules) {
    return ((size_t)granules << granule_shift(plan)) - header_size(plan);
}

static FORCE_INLINE bool is_top(const hfit_heap *heap, uint32_t start) {
    return start == load_word(heap, TOP);
}

/* True if a chunk lies above the top. */
static FORCE_INLINE bool is_above_top(const hfit_heap *heap, const hfit_plan *plan,
                                      uint32_t granule) {
    return has_two_ends(plan) && granule >= load_word(heap, TOP_END);
}

/* A chunk's number by its granules, by which it is high or low and, in a good-fit index, finds its
 * list: n for n up to 15, then four for each power of two. */
static FORCE_INLINE uint32_t size_number(uint32_t size) {
    if (size < 16) {
        return size;
    }
    const uint32_t log = 31u - hfit_leading_zeros(size);
    return 4 * log + (size >> (log - 2) & 3);
}

/* A chunk, and how far its free neighbours reach: from == start and to == end where they are used.
 */
typedef struct place {
    uint32_t start;
    uint32_t end;
    uint32_t from;
    uint32_t to;
} place;

static FORCE_INLINE bool is_place(const place *at) {
    return at->from <= at->start && at->start < at->end && at->end <= at->to;
}

#endif
