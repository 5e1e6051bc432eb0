/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free chunks of `sized` by size: a bitwise tree over sizes in granules, as that over addresses
 * (src/sized/by_address.h), with a list for each size.
 *
 *   sizes -> entry -- next --> listed -- next --> listed
 *              |   <-- previous --'  <-- previous --'
 *              |- smaller -> entries whose next bit is 0
 *              '- larger --> entries whose next bit is 1
 *
 * A size's first bits are its logarithm, those below its first 1 follow: in order as the sizes are,
 * but sizes, which are small, have no long way of zeros in common.
 *
 * A listed chunk keeps the link to the one before it where an entry has the smaller ones. No chunk
 * keeps a link to its parent: an entry is found by its size.
 */
#ifndef HFIT_SIZED_BY_SIZE_H
#define HFIT_SIZED_BY_SIZE_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"

enum {
    PREVIOUS = SMALLER,
    LOG_BITS = 5,                        /* of a size's logarithm */
    SIZE_BITS = LOG_BITS + LINK_BITS - 1 /* by which the tree branches */
};
#define IS_LISTED (1u << SMALL_SHIFT)

static FORCE_INLINE uint32_t sizes_root(bool above) {
    return above ? SIZES_HIGH : SIZES;
}

/* The bits of a size by which the tree branches, moved to the top. */
static FORCE_INLINE uint32_t size_turns(uint32_t size) {
    const uint32_t zeros = hfit_leading_zeros(size);
    return (31 - zeros) << (32 - LOG_BITS) | size << zeros << 1 >> LOG_BITS;
}

static FORCE_INLINE uint32_t next_of(const hfit_heap *heap, const hfit_plan *plan,
                                     uint32_t granule) {
    const link_range range = full_range(heap, plan);
    const uint32_t offset = offset_at(plan, granule);
    const uint32_t next =
        joined(load_field(heap, offset, SMALLER), load_field(heap, offset, LARGER));
    return sound_link(next, &range);
}

static FORCE_INLINE void set_next(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                  uint32_t next) {
    const uint32_t offset = offset_at(plan, granule);
    const uint32_t larger = load_field(heap, offset, LARGER);
    store_field(heap, offset, SMALLER,
                (load_field(heap, offset, SMALLER) & LINK_MASK) | low_part(next));
    store_field(heap, offset, LARGER, (larger & (LINK_MASK | IS_LISTED)) | high_part(next));
}

/* Writes all four fields of the chunk at an offset. */
static FORCE_INLINE void set_size_words(hfit_heap *heap, uint32_t offset, uint32_t smaller,
                                        uint32_t larger, uint32_t next) {
    store_field(heap, offset, SMALLER, smaller | low_part(next));
    store_field(heap, offset, LARGER, larger | high_part(next));
}

/* The slot that leads to the entry of a size, or in which it would hang. */
static inline uint32_t size_slot(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                 bool above) {
    const link_range range = full_range(heap, plan);
    uint32_t turns = size_turns(size) | LAST_TURN >> (SIZE_BITS + 1);
    uint32_t slot = sizes_root(above);
    while (turns != LAST_TURN) {
        HFIT_LOOP_AT_MOST(SIZE_BITS + 1);
        const uint32_t at = link_in(heap, slot, &range);
        if (at == NOWHERE || size_at(heap, offset_at(plan, at)) == size) {
            break;
        }
        slot = offset_at(plan, at) + SMALLER + (turns >> 31) * 4;
        turns <<= 1;
    }
    return slot;
}

/* Adds a chunk, whose size is noted. */
static inline void size_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                               uint32_t size, bool above) {
    const link_range range = full_range(heap, plan);
    const uint32_t slot = size_slot(heap, plan, size, above);
    const uint32_t entry = link_in(heap, slot, &range);
    if (entry == NOWHERE) {
        set_link(heap, slot, granule);
        set_size_words(heap, offset_at(plan, granule), NOWHERE, NOWHERE, NOWHERE);
        return;
    }
    const uint32_t next = next_of(heap, plan, entry);
    set_next(heap, plan, entry, granule);
    set_size_words(heap, offset_at(plan, granule), entry, IS_LISTED, next);
    if (next != NOWHERE) {
        set_link(heap, offset_at(plan, next) + PREVIOUS, granule);
    }
}

/* Takes an entry below that has none below itself off the tree, for the place of `entry`; `entry`
 * itself if there is none. */
static inline uint32_t size_leaf(hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                                 uint32_t entry) {
    const link_range range = full_range(heap, plan);
    for (uint32_t bits = 0; bits <= SIZE_BITS; bits++) {
        HFIT_LOOP_AT_MOST(SIZE_BITS + 1);
        const uint32_t offset = offset_at(plan, entry);
        const uint32_t side = link_in(heap, offset + LARGER, &range) != NOWHERE ? LARGER : SMALLER;
        const uint32_t below = link_in(heap, offset + side, &range);
        if (below == NOWHERE) {
            break;
        }
        slot = offset + side;
        entry = below;
    }
    set_link(heap, slot, NOWHERE);
    return entry;
}

/* Takes an entry out, whose slot is known: what is listed behind it comes into its place. */
static inline void remove_entry(hfit_heap *heap, const hfit_plan *plan, uint32_t entry,
                                uint32_t slot) {
    const link_range range = full_range(heap, plan);
    const uint32_t offset = offset_at(plan, entry);
    const uint32_t next = next_of(heap, plan, entry);
    const uint32_t heir = next != NOWHERE ? next : size_leaf(heap, plan, slot, entry);
    if (heir != entry) {
        const uint32_t heirs_next = next_of(heap, plan, heir);
        set_link(heap, slot, heir);
        set_size_words(heap, offset_at(plan, heir), link_in(heap, offset + SMALLER, &range),
                       link_in(heap, offset + LARGER, &range), heirs_next);
    }
}

static FORCE_INLINE bool is_listed(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    return (load_field(heap, offset_at(plan, chunk), LARGER) & IS_LISTED) != 0;
}

/* Takes a chunk out of the list behind an entry. */
static inline void remove_listed(hfit_heap *heap, const hfit_plan *plan, uint32_t granule) {
    const link_range range = full_range(heap, plan);
    const uint32_t next = next_of(heap, plan, granule);
    const uint32_t previous = link_in(heap, offset_at(plan, granule) + PREVIOUS, &range);
    if (HFIT_SAFETY < 1 || previous != NOWHERE) {
        set_next(heap, plan, previous, next);
    }
    if (next != NOWHERE) {
        set_link(heap, offset_at(plan, next) + PREVIOUS, previous);
    }
}

/* Takes a chunk out. */
static inline void size_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                               uint32_t size, bool above) {
    if (is_listed(heap, plan, granule)) {
        remove_listed(heap, plan, granule);
    } else {
        remove_entry(heap, plan, granule, size_slot(heap, plan, size, above));
    }
}

/* An entry, its size and the slot that leads to it; or NOWHERE. */
typedef struct size_entry {
    uint32_t entry;
    uint32_t size; /* granules */
    uint32_t slot;
} size_entry;

/* The entry of the least size from `size` on. Sizes in a subtree that the way leaves on its larger
 * side are all above, and those of the last such subtree, of which the way of the smaller ones is
 * taken, below those of the others; what the way meets in later and is large enough is below them,
 * too. */
static inline size_entry size_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                   bool above) {
    const link_range range = full_range(heap, plan);
    uint32_t turns = size_turns(size);
    uint32_t least = UINT32_MAX; /* above the request */
    uint32_t best = 0;           /* a slot, as these are */
    uint32_t aside = 0;
    uint32_t slot = sizes_root(above);
    uint32_t at = link_in(heap, slot, &range);
    for (uint32_t steps = 0; at != NOWHERE && steps < 2 * (SIZE_BITS + 1); steps++) {
        HFIT_LOOP_AT_MOST(2 * (SIZE_BITS + 1));
        const uint32_t offset = offset_at(plan, at);
        const uint32_t excess = size_at(heap, offset) - size; /* wraps if it is too small */
        if (excess <= MOST_GRANULES) {
            aside = 0;
            best = excess < least ? slot : best;
            least = excess < least ? excess : least;
            if (excess == 0) {
                break;
            }
        }
        slot = offset + LARGER;
        at = link_in(heap, slot, &range);
        if (turns >> 31 == 0) {
            aside = at != NOWHERE ? slot : aside;
            slot = offset + SMALLER;
            at = link_in(heap, slot, &range);
        }
        turns <<= 1;
        if (at == NOWHERE && aside != 0) {
            slot = aside;
            at = link_in(heap, slot, &range);
            turns = 0;
        }
    }
    const uint32_t entry = best != 0 ? link_in(heap, best, &range) : (uint32_t)NOWHERE;
    return (size_entry){entry, size + least, best};
}

/* The chunk that a request takes: the last listed is nearest at hand, an entry without a list is
 * itself. */
static inline uint32_t size_pick(const hfit_heap *heap, const hfit_plan *plan, uint32_t entry) {
    const uint32_t next = next_of(heap, plan, entry);
    return next != NOWHERE ? next : entry;
}

#endif
