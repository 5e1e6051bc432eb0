/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of `sized` know: its control words, what the plan says, granules, and the words of
 * a free chunk.
 *
 *   bits        0 to 20    21 to 31    0 to 20    21 to 30    31
 *   word 0 | 1  lower    | size, low | higher   | size, high | is small
 *   word 2 | 3  smaller  | next, low | larger   | next, high | is listed
 *
 * A link is the number of a granule, and that of the first, which holds control words, is none. The
 * low 21 bits of a word, or of a control word that is a root, are a slot.
 */
#ifndef HFIT_SIZED_HEAP_H
#define HFIT_SIZED_HEAP_H

#include "hfit/compiler.h"
#include "hfit/sized.h"

#include "src/size.h"
#include "src/region.h"

enum {
    END = 0,              /* granule */
    TOP = 4,              /* granule at which the top begins */
    TOP_END = 8,          /* with two ends; else the top ends at the end */
    FOOTPRINT = 8,        /* bytes; with two ends the whole region is in use */
    FREE = 12,            /* granules that are not in use */
    ADDRESSES = 16,       /* root of the tree by address */
    LEAST_ADDRESSES = 20, /* of that of the smallest chunks, where a granule has 4 B */
    /* Behind it the root of the tree by size, with two ends one for each side of the top. */

    LINK_BITS = 21, /* of 64: two links, a size of as many, a flag */
    LINK_MASK = (1 << LINK_BITS) - 1,
    FLAG_SHIFT = 31,
    FULL_NODE = 16, /* bytes of a chunk that has room for the words of both trees */
    LEAST_NODE = 8,
    NOWHERE = 0, /* no granule of a chunk */
    NO_SLOT = 0, /* neither a root nor in a chunk */
};

_Static_assert(FLAG_SHIFT == 2 * LINK_BITS - (32 - LINK_BITS) && FLAG_SHIFT < 32,
               "a number of two parts lies below the flag");

/* Granules of a heap at most, and the bits of their numbers: fewer in a build for one region. */
#ifdef HFIT_REGION_OF_BUILD
#define MOST_GRANULES                                                                              \
    (HFIT_REGION_OF_BUILD / 4 < LINK_MASK ? HFIT_REGION_OF_BUILD / 4 : (uint32_t)LINK_MASK)
#define NUMBER_BITS (32 - hfit_leading_zeros(MOST_GRANULES))
#else
#define MOST_GRANULES ((uint32_t)LINK_MASK)
#define NUMBER_BITS ((uint32_t)LINK_BITS)
#endif

#define IS_SMALL (1u << FLAG_SHIFT)
#define IS_LISTED (1u << FLAG_SHIFT)

/* Turns end where this alone is left of them, set behind the last one. */
#define LAST_TURN (1u << 31)

/* Where the words of a chunk lie. */
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

/* True if the smallest chunks, of two small sizes, have a tree of their own. */
static FORCE_INLINE bool has_least_tree(const hfit_plan *plan) {
    return full_chunk(plan) - least_chunk(plan) > 1;
}

/* The root of the tree by size of one side of the top. */
static FORCE_INLINE uint32_t sizes_root(const hfit_plan *plan, bool above) {
    const uint32_t addresses = has_least_tree(plan) ? LEAST_ADDRESSES : ADDRESSES;
    return addresses + (has_two_ends(plan) && above ? 8 : 4);
}

static FORCE_INLINE uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t control = sizes_root(plan, has_two_ends(plan)) + 4;
    return (control + plan->alignment - 1) >> granule_shift(plan);
}

static FORCE_INLINE uint32_t offset_at(const hfit_plan *plan, uint32_t granule) {
    return granule << granule_shift(plan);
}

/* Granule behind the top. */
static FORCE_INLINE uint32_t top_end(const hfit_heap *heap, const hfit_plan *plan) {
    return load_word(heap, has_two_ends(plan) ? TOP_END : END);
}

/* What is above the top and of the high end. */
static FORCE_INLINE bool is_above_top(const hfit_heap *heap, const hfit_plan *plan,
                                      uint32_t granule) {
    return has_two_ends(plan) && granule >= load_word(heap, TOP_END);
}

/* The bits of a granule number by which the tree branches, moved to the top. */
static FORCE_INLINE uint32_t turns_of(const hfit_heap *heap, uint32_t granule) {
    return granule << hfit_leading_zeros(load_word(heap, END)) | LAST_TURN >> NUMBER_BITS;
}

/* False if a walk took all turns. A sound tree ends before; so this is asked from level 1 on. */
static FORCE_INLINE bool has_turns(uint32_t turns) {
    return HFIT_SAFETY < 1 || turns != LAST_TURN;
}

/* The same of a walk that takes other turns and counts its steps, at most so many. */
static FORCE_INLINE bool has_steps(uint32_t steps, uint32_t most) {
    return HFIT_SAFETY < 1 || steps < most;
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

/* True if a link leads to a chunk: not nowhere, nor to where none can begin, as among the control
 * words. */
static FORCE_INLINE bool is_link(uint32_t link, const link_range *range) {
    return HFIT_SAFETY < 1 ? link != NOWHERE : link - range->first < range->count;
}

/* The link in a word, whatever it is. */
static FORCE_INLINE uint32_t raw_link(const hfit_heap *heap, uint32_t slot) {
    return load_word(heap, slot) & LINK_MASK;
}

/* The link in a word; NOWHERE if it is none. */
static FORCE_INLINE uint32_t link_in(const hfit_heap *heap, uint32_t slot,
                                     const link_range *range) {
    const uint32_t link = raw_link(heap, slot);
    return is_link(link, range) ? link : (uint32_t)NOWHERE;
}

static FORCE_INLINE void set_link(hfit_heap *heap, uint32_t slot, uint32_t granule) {
    store_word(heap, slot, (load_word(heap, slot) & ~(uint32_t)LINK_MASK) | granule);
}

/* A number of 21 bits whose low 11 lie above the link of one word and whose high 10 above that of
 * the next. */
static FORCE_INLINE uint32_t joined(uint32_t low, uint32_t high) {
    return low >> LINK_BITS | (high << 1 >> (LINK_BITS + 1)) << (32 - LINK_BITS);
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
