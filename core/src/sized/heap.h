/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of `sized` know: its control words, what the plan says, granules, and the words of
 * a free chunk.
 *
 *   bits        0 to 19    20 to 31    0 to 19    20 to 27    28 to 31
 *   word 0 | 1  lower    | size, low | higher   | size, high | small
 *   word 2 | 3  smaller  | next, low | larger   | next, high | is listed
 *
 * A link is the number of a granule, and that of the first, which holds control words, is none. The
 * low 20 bits of a word, or of a control word that is a root, are a slot.
 */
#ifndef HFIT_SIZED_HEAP_H
#define HFIT_SIZED_HEAP_H

#include "hfit/compiler.h"
#include "hfit/sized.h"

#include "src/size.h"
#include "src/region.h"

enum {
    END = 0, /* granule */
    TOP = 4, /* granule at which the top begins */
    TOP_END = 8,
    FOOTPRINT = 12, /* bytes */
    FREE = 16,      /* granules that are not in use */
    ADDRESSES = 20, /* root of the tree by address */
    SIZES = 24,     /* root of the tree by size */
    SIZES_HIGH = 28,
    CONTROL_SIZE = 28,
    CONTROL_SIZE_TWO_ENDS = 32,

    LINK_BITS = 20,
    LINK_MASK = (1 << LINK_BITS) - 1,
    MOST_GRANULES = LINK_MASK,
    SMALL_SHIFT = 28,
    FULL_NODE = 16, /* bytes of a chunk that has room for the words of both trees */
    LEAST_NODE = 8,
    NOWHERE = 0, /* no granule of a chunk */
};

/* Turns that are all used up, where this was set behind the last one. */
#define LAST_TURN (1u << 31)

/* Where words 2 and 3 of a chunk lie. */
enum { LOWER = 0, HIGHER = 4, SMALLER = 8, LARGER = 12 };

static FORCE_INLINE const hfit_sized_plan *own_plan(const hfit_plan *plan) {
    return (const hfit_sized_plan *)plan;
}

static FORCE_INLINE bool has_two_ends(const hfit_plan *plan) {
    return own_plan(plan)->ends == 2;
}

/* log2 of the bytes of a granule. */
static FORCE_INLINE uint32_t granule_shift(const hfit_plan *plan) {
    return hfit_trailing_zeros(plan->alignment);
}

/* Granules of so many bytes, one at least. */
static FORCE_INLINE uint32_t granules_of(const hfit_plan *plan, uint32_t bytes) {
    const uint32_t granules = bytes >> granule_shift(plan);
    return granules != 0 ? granules : 1;
}

/* Granules of the smallest chunk. */
static FORCE_INLINE uint32_t least_chunk(const hfit_plan *plan) {
    return granules_of(plan, LEAST_NODE);
}

/* Granules of the smallest chunk that is in the tree by size. */
static FORCE_INLINE uint32_t full_chunk(const hfit_plan *plan) {
    return granules_of(plan, FULL_NODE);
}

/* True if what is left of so many granules can be a chunk, or is none: nothing would remember what
 * is shorter. */
static FORCE_INLINE bool can_be_left(const hfit_plan *plan, uint32_t granules) {
    return granules == 0 || granules >= least_chunk(plan);
}

static FORCE_INLINE uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t control =
        has_two_ends(plan) ? (uint32_t)CONTROL_SIZE_TWO_ENDS : (uint32_t)CONTROL_SIZE;
    return (control + plan->alignment - 1) >> granule_shift(plan);
}

static FORCE_INLINE uint32_t offset_at(const hfit_plan *plan, uint32_t granule) {
    return granule << granule_shift(plan);
}

/* What is above the top and of the high end. */
static FORCE_INLINE bool is_above_top(const hfit_heap *heap, const hfit_plan *plan,
                                      uint32_t granule) {
    return has_two_ends(plan) && granule >= load_word(heap, TOP_END);
}

/* The bits of a granule number or a size in granules by which trees branch, moved to the top. */
static FORCE_INLINE uint32_t turns_of(const hfit_heap *heap, uint32_t number) {
    return number << hfit_leading_zeros(load_word(heap, END));
}

/* Where links may lead: `count` granules from `first` on; below safety level 1 anywhere. Handed on
 * by address: a build that does not optimise copies it by memcpy, which firmware need not have. */
typedef struct link_range {
    uint32_t first;
    uint32_t count;
} link_range;

/* Where a chunk of so many granules can begin. */
static FORCE_INLINE link_range range_for(const hfit_heap *heap, const hfit_plan *plan,
                                         uint32_t least) {
    if (HFIT_SAFETY < 1) {
        return (link_range){0, MOST_GRANULES + 1};
    }
    const uint32_t before = first_chunk(plan) + least - 1;
    const uint32_t end = load_word(heap, END);
    return (link_range){first_chunk(plan), end > before ? end - before : 0};
}

/* Of chunks in the tree by address, and of those in trees by size. */
static FORCE_INLINE link_range chunk_range(const hfit_heap *heap, const hfit_plan *plan) {
    return range_for(heap, plan, least_chunk(plan));
}

static FORCE_INLINE link_range full_range(const hfit_heap *heap, const hfit_plan *plan) {
    return range_for(heap, plan, full_chunk(plan));
}

/* A link; NOWHERE if it leads to where no chunk can begin, as among the control words. */
static FORCE_INLINE uint32_t sound_link(uint32_t link, const link_range *range) {
    return link - range->first < range->count ? link : (uint32_t)NOWHERE;
}

/* The link in a word. */
static FORCE_INLINE uint32_t link_of(uint32_t word, const link_range *range) {
    return sound_link(word & LINK_MASK, range);
}

/* Likewise, of a slot. */
static FORCE_INLINE uint32_t link_in(const hfit_heap *heap, uint32_t slot,
                                     const link_range *range) {
    return link_of(load_word(heap, slot), range);
}

static FORCE_INLINE void set_link(hfit_heap *heap, uint32_t slot, uint32_t granule) {
    store_word(heap, slot, (load_word(heap, slot) & ~(uint32_t)LINK_MASK) | granule);
}

/* A number of 20 bits whose low 12 lie above the link of one word and whose high 8 above that of
 * the next. */
static FORCE_INLINE uint32_t joined(uint32_t low, uint32_t high) {
    return low >> LINK_BITS | (high >> LINK_BITS & 0xff) << (32 - LINK_BITS);
}

static FORCE_INLINE uint32_t low_part(uint32_t number) {
    return number << LINK_BITS;
}

static FORCE_INLINE uint32_t high_part(uint32_t number) {
    return number >> (32 - LINK_BITS) << LINK_BITS;
}

/* Granules of the free chunk at an offset. */
static FORCE_INLINE uint32_t size_at(const hfit_heap *heap, uint32_t offset) {
    return joined(load_field(heap, offset, LOWER), load_field(heap, offset, HIGHER));
}

#endif
