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
#include "src/sized/trees.h"

enum {
    PREVIOUS = SMALLER,
    LOW_BITS = (1 << (32 - LINK_BITS)) - 1 /* of a size, above the link of one word */
};

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
    return is_link(next, &range) ? next : (uint32_t)NOWHERE;
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

/* True if the chunk at an offset has so many granules. */
static FORCE_INLINE bool has_size(const hfit_heap *heap, uint32_t offset, uint32_t size) {
    return load_field(heap, offset, LOWER) >> LINK_BITS == (size & LOW_BITS) &&
           size_at(heap, offset) == size;
}

/* The slot that leads to the entry of a size, or in which it would hang. */
static inline uint32_t size_slot(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                 bool above) {
    const link_range range = full_range(heap, plan);
    const uint32_t last = LAST_TURN >> (SIZE_BITS + 1);
    uint32_t turns = (size_turns(size) & (0 - last)) | last; /* of a damaged size no more */
    uint32_t slot = sizes_root(plan, above);
    uint32_t at;
    while (has_turns(turns) && is_link(at = raw_link(heap, slot), &range) &&
           !has_size(heap, offset_at(plan, at), size)) {
        HFIT_LOOP_AT_MOST(SIZE_BITS + 1);
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

/* Takes an entry out, whose slot is known: what is listed behind it comes into its place. */
static inline void remove_entry(hfit_heap *heap, const hfit_plan *plan, uint32_t entry,
                                uint32_t slot) {
    const link_range range = full_range(heap, plan);
    if (HFIT_SAFETY >= 1 && raw_link(heap, slot) != entry) {
        return;
    }
    const uint32_t next = next_of(heap, plan, entry);
    if (next != NOWHERE) {
        const uint32_t offset = offset_at(plan, next);
        take_place(heap, plan, slot, SMALLER, next);
        store_field(heap, offset, LARGER, load_field(heap, offset, LARGER) & ~IS_LISTED);
        return;
    }
    const uint32_t leaf = take_leaf(heap, plan, slot, SMALLER, &range);
    if (leaf != entry) {
        take_place(heap, plan, slot, SMALLER, leaf);
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
    uint32_t slot = sizes_root(plan, above);
    uint32_t at = link_in(heap, slot, &range);
    for (uint32_t steps = 0; at != NOWHERE && has_steps(steps, 2 * (SIZE_BITS + 1)); steps++) {
        HFIT_LOOP_AT_MOST(2 * (SIZE_BITS + 1));
        const uint32_t offset = offset_at(plan, at);
        const uint32_t excess = size_at(heap, offset) - size; /* wraps if it is too small */
        if (excess >> 31 == 0) {
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
