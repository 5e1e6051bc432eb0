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
 * A listed chunk keeps the link to the one before it where an entry has the smaller ones. No chunk
 * keeps a link to its parent: an entry is found by its size.
 */
#ifndef HFIT_SIZED_BY_SIZE_H
#define HFIT_SIZED_BY_SIZE_H

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"

enum { PREVIOUS = SMALLER };
#define IS_LISTED (1u << SMALL_SHIFT)

static FORCE_INLINE uint32_t sizes_root(bool above) {
    return above ? SIZES_HIGH : SIZES;
}

static FORCE_INLINE uint32_t next_of(const hfit_heap *heap, const hfit_plan *plan,
                                     uint32_t granule) {
    const uint32_t offset = offset_at(plan, granule);
    const uint32_t next =
        joined(load_field(heap, offset, SMALLER), load_field(heap, offset, LARGER));
    return next <= last_full(heap, plan) ? next : (uint32_t)NOWHERE;
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
    const uint32_t last = last_full(heap, plan);
    uint32_t turns = turns_of(heap, size);
    uint32_t slot = sizes_root(above);
    for (uint32_t bits = 0; bits < LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t at = link_in(heap, slot, last);
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
    const uint32_t slot = size_slot(heap, plan, size, above);
    const uint32_t entry = link_in(heap, slot, last_full(heap, plan));
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
    const uint32_t last = last_full(heap, plan);
    for (uint32_t bits = 0; bits < LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, entry);
        const uint32_t side = link_in(heap, offset + LARGER, last) != NOWHERE ? LARGER : SMALLER;
        const uint32_t below = link_in(heap, offset + side, last);
        if (below == NOWHERE) {
            break;
        }
        slot = offset + side;
        entry = below;
    }
    set_link(heap, slot, NOWHERE);
    return entry;
}

static inline void remove_entry(hfit_heap *heap, const hfit_plan *plan, uint32_t entry,
                                uint32_t size, bool above) {
    const uint32_t last = last_full(heap, plan);
    const uint32_t slot = size_slot(heap, plan, size, above);
    const uint32_t offset = offset_at(plan, entry);
    const uint32_t next = next_of(heap, plan, entry);
    uint32_t heir = next;
    uint32_t heirs_next;
    if (next == NOWHERE) {
        heir = size_leaf(heap, plan, slot, entry);
        if (heir == entry) {
            return;
        }
        heirs_next = next_of(heap, plan, heir);
    } else {
        heirs_next = next_of(heap, plan, next);
    }
    set_link(heap, slot, heir);
    set_size_words(heap, offset_at(plan, heir), link_in(heap, offset + SMALLER, last),
                   link_in(heap, offset + LARGER, last), heirs_next);
}

/* Takes a chunk out. */
static inline void size_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                               uint32_t size, bool above) {
    const uint32_t offset = offset_at(plan, granule);
    if ((load_field(heap, offset, LARGER) & IS_LISTED) == 0) {
        remove_entry(heap, plan, granule, size, above);
        return;
    }
    const uint32_t next = next_of(heap, plan, granule);
    const uint32_t previous = link_in(heap, offset + PREVIOUS, last_full(heap, plan));
    set_next(heap, plan, previous, next);
    if (next != NOWHERE) {
        set_link(heap, offset_at(plan, next) + PREVIOUS, previous);
    }
}

/* The entry of the least size from `size` on; NOWHERE if there is none. */
static inline uint32_t size_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                 bool above) {
    const uint32_t last = last_full(heap, plan);
    uint32_t turns = turns_of(heap, size);
    uint32_t best = NOWHERE;
    uint32_t least = UINT32_MAX - size;
    uint32_t aside = NOWHERE;
    uint32_t at = link_in(heap, sizes_root(above), last);
    for (uint32_t bits = 0; at != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, at);
        const uint32_t excess = size_at(heap, offset) - size; /* wraps if it is too small */
        if (excess < least) {
            least = excess;
            best = at;
        }
        if (excess == 0) {
            return at;
        }
        at = link_in(heap, offset + LARGER, last);
        if (turns >> 31 == 0) {
            aside = at != NOWHERE ? at : aside;
            at = link_in(heap, offset + SMALLER, last);
        }
        turns <<= 1;
    }
    for (uint32_t bits = 0; aside != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        const uint32_t excess = size_at(heap, offset) - size;
        if (excess < least) {
            least = excess;
            best = aside;
        }
        aside = link_in(heap, offset + SMALLER, last);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + LARGER, last);
    }
    return best;
}

/* The chunk that a request takes: the last listed is nearest at hand, an entry without a list is
 * itself. */
static inline uint32_t size_pick(const hfit_heap *heap, const hfit_plan *plan, uint32_t entry) {
    const uint32_t next = next_of(heap, plan, entry);
    return next != NOWHERE ? next : entry;
}

#endif
