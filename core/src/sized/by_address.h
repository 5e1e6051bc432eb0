/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free chunks of `sized` by address: a bitwise tree over the numbers of their first granules.
 *
 *   addresses -> chunk -- lower --> chunks whose next bit is 0
 *                      \- higher -> chunks whose next bit is 1
 *
 * The first bit in which numbers can differ decides at the root, the next one at its children, and
 * so on; the chunk at a place may be any whose bits so far lead there. So no path is longer than a
 * number has bits, whatever happened before.
 *
 * Chunks too short for the tree by size are found here: each chunk notes which small sizes there
 * are at or below it, a bit for each size, twice where there are two ends.
 */
#ifndef HFIT_SIZED_BY_ADDRESS_H
#define HFIT_SIZED_BY_ADDRESS_H

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"

enum { SMALL_SIZES = 2 }; /* on either side of the top */

/* The bit of a small chunk of so many granules; 0 for others. */
static FORCE_INLINE uint32_t small_bit(const hfit_plan *plan, uint32_t size, bool above) {
    return size >= full_chunk(plan) ? 0
                                    : 1u << (size - least_chunk(plan)) << (above ? SMALL_SIZES : 0);
}

/* What the chunk at a granule notes of small ones; 0 where there is none. */
static FORCE_INLINE uint32_t small_at(const hfit_heap *heap, const hfit_plan *plan,
                                      uint32_t granule) {
    return granule == NOWHERE ? 0
                              : load_field(heap, offset_at(plan, granule), HIGHER) >> SMALL_SHIFT;
}

static FORCE_INLINE uint32_t own_small_bit(const hfit_heap *heap, const hfit_plan *plan,
                                           uint32_t granule) {
    return small_bit(plan, size_at(heap, offset_at(plan, granule)),
                     is_above_top(heap, plan, granule));
}

/* The way from the root to a chunk. */
typedef struct address_path {
    uint32_t chunks[LINK_BITS + 1]; /* granules */
    uint32_t length;
} address_path;

static FORCE_INLINE uint32_t path_end(const address_path *path) {
    return path->chunks[path->length - 1];
}

static FORCE_INLINE bool can_go_on(const address_path *path, uint32_t granule) {
    return granule != NOWHERE && path->length <= LINK_BITS;
}

/* Follows the way of a granule to its chunk. Empty if there is none. */
static inline void find_path(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                             address_path *path) {
    const uint32_t last = last_chunk(heap, plan);
    uint32_t turns = turns_of(heap, granule);
    uint32_t at = link_in(heap, ADDRESSES, last);
    path->length = 0;
    while (can_go_on(path, at)) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        path->chunks[path->length++] = at;
        if (at == granule) {
            return;
        }
        at = link_in(heap, offset_at(plan, at) + (turns >> 31) * 4, last);
        turns <<= 1;
    }
    path->length = 0;
}

/* What the chunk at a granule should note of small ones. */
static FORCE_INLINE uint32_t small_below(const hfit_heap *heap, const hfit_plan *plan,
                                         uint32_t granule) {
    const uint32_t last = last_chunk(heap, plan);
    const uint32_t offset = offset_at(plan, granule);
    return own_small_bit(heap, plan, granule) |
           small_at(heap, plan, link_in(heap, offset + LOWER, last)) |
           small_at(heap, plan, link_in(heap, offset + HIGHER, last));
}

/* Lets each chunk of the path, the last one first, note anew what lies at or below it. Stops at the
 * first above the `known` ones whose note was right. */
static inline void note_small(hfit_heap *heap, const hfit_plan *plan, const address_path *path,
                              uint32_t known) {
    for (uint32_t i = path->length; i-- > 0;) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, path->chunks[i]);
        const uint32_t noted = load_field(heap, offset, HIGHER);
        const uint32_t small = small_below(heap, plan, path->chunks[i]);
        if (noted >> SMALL_SHIFT == small && i <= known) {
            return;
        }
        store_field(heap, offset, HIGHER,
                    (noted & ((1u << SMALL_SHIFT) - 1)) | small << SMALL_SHIFT);
    }
}

/* Adds a chunk of `size` granules. */
static inline void address_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                  uint32_t size) {
    const uint32_t last = last_chunk(heap, plan);
    const uint32_t small = small_bit(plan, size, is_above_top(heap, plan, granule)) << SMALL_SHIFT;
    const uint32_t offset = offset_at(plan, granule);
    uint32_t turns = turns_of(heap, granule);
    uint32_t slot = ADDRESSES;
    uint32_t at;
    for (uint32_t bits = 0; (at = link_in(heap, slot, last)) != NOWHERE && bits < LINK_BITS;
         bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        slot = offset_at(plan, at);
        if (small != 0) {
            store_field(heap, slot, HIGHER, load_field(heap, slot, HIGHER) | small);
        }
        slot += (turns >> 31) * 4;
        turns <<= 1;
    }
    set_link(heap, slot, granule);
    store_field(heap, offset, LOWER, low_part(size));
    store_field(heap, offset, HIGHER, high_part(size) | small);
}

/* The slot that leads to the last chunk of the first `length` of a path. */
static inline uint32_t slot_on(const hfit_heap *heap, const hfit_plan *plan,
                               const address_path *path, uint32_t length) {
    if (length == 1) {
        return ADDRESSES;
    }
    const uint32_t parent = offset_at(plan, path->chunks[length - 2]);
    return link_in(heap, parent + LOWER, last_chunk(heap, plan)) == path->chunks[length - 1]
               ? parent + LOWER
               : parent + HIGHER;
}

/* Takes the last chunk of a path out: one below it that has none below itself takes its place. */
static inline void address_remove_path(hfit_heap *heap, const hfit_plan *plan, address_path *path) {
    const uint32_t last = last_chunk(heap, plan);
    const uint32_t place = path->length;
    const uint32_t chunk = path_end(path);
    const uint32_t slot = slot_on(heap, plan, path, place);
    uint32_t below = chunk;
    for (;;) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, below);
        below = link_in(heap, offset + HIGHER, last);
        below = below != NOWHERE ? below : link_in(heap, offset + LOWER, last);
        if (!can_go_on(path, below)) {
            break;
        }
        path->chunks[path->length++] = below;
    }
    const uint32_t leaf = path_end(path);
    uint32_t small = own_small_bit(heap, plan, chunk);
    set_link(heap, slot_on(heap, plan, path, path->length), NOWHERE);
    path->length--;
    if (leaf != chunk) {
        small |= own_small_bit(heap, plan, leaf);
        const uint32_t from = offset_at(plan, chunk);
        const uint32_t to = offset_at(plan, leaf);
        const uint32_t size = size_at(heap, to);
        const uint32_t higher = load_field(heap, from, HIGHER);
        store_field(heap, to, LOWER, link_in(heap, from + LOWER, last) | low_part(size));
        store_field(heap, to, HIGHER,
                    (higher & LINK_MASK) | high_part(size) | higher >> SMALL_SHIFT << SMALL_SHIFT);
        set_link(heap, slot, leaf);
        path->chunks[place - 1] = leaf;
    }
    if (small != 0) {
        note_small(heap, plan, path, place - 1);
    }
}

static inline void address_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t granule) {
    address_path path;
    find_path(heap, plan, granule, &path);
    if (path.length != 0) {
        address_remove_path(heap, plan, &path);
    }
}

/* Gives a chunk another size, where it stays. */
static inline void address_set_size(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                    uint32_t size) {
    const uint32_t offset = offset_at(plan, granule);
    const uint32_t higher = load_field(heap, offset, HIGHER);
    const uint32_t was = own_small_bit(heap, plan, granule);
    store_field(heap, offset, LOWER,
                (load_field(heap, offset, LOWER) & LINK_MASK) | low_part(size));
    store_field(heap, offset, HIGHER,
                (higher & LINK_MASK) | high_part(size) | higher >> SMALL_SHIFT << SMALL_SHIFT);
    if (was != own_small_bit(heap, plan, granule)) {
        address_path path;
        find_path(heap, plan, granule, &path);
        note_small(heap, plan, &path, path.length - 1);
    }
}

/* The last chunk that begins before `limit`; NOWHERE if none does. The path is that to the chunk
 * which begins there, and empty if none does. Numbers in a subtree that the way leaves on its lower
 * side are all below, and those of the last such subtree above those of the others. */
static inline uint32_t last_before(const hfit_heap *heap, const hfit_plan *plan, uint32_t limit,
                                   address_path *path) {
    const uint32_t last = last_chunk(heap, plan);
    uint32_t turns = turns_of(heap, limit);
    uint32_t best = NOWHERE; /* less than any chunk */
    uint32_t aside = NOWHERE;
    uint32_t at = link_in(heap, ADDRESSES, last);
    path->length = 0;
    for (uint32_t bits = 0; at != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, at);
        path->chunks[bits] = at;
        if (at == limit) {
            path->length = bits + 1;
        }
        best = at < limit && at > best ? at : best;
        if (turns >> 31 != 0) {
            const uint32_t lower = link_in(heap, offset + LOWER, last);
            aside = lower != NOWHERE ? lower : aside;
        }
        at = link_in(heap, offset + (turns >> 31) * 4, last);
        turns <<= 1;
    }
    for (uint32_t bits = 0; aside != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        best = aside < limit && aside > best ? aside : best;
        aside = link_in(heap, offset + HIGHER, last);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + LOWER, last);
    }
    return best;
}

/* The first chunk that begins at `limit` or behind; NOWHERE if none does. The same, seen from the
 * other side. */
static inline uint32_t first_from(const hfit_heap *heap, const hfit_plan *plan, uint32_t limit) {
    const uint32_t last = last_chunk(heap, plan);
    uint32_t turns = turns_of(heap, limit);
    uint32_t best = UINT32_MAX;
    uint32_t aside = NOWHERE;
    uint32_t at = link_in(heap, ADDRESSES, last);
    for (uint32_t bits = 0; at != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, at);
        best = at >= limit && at < best ? at : best;
        if (turns >> 31 == 0) {
            const uint32_t higher = link_in(heap, offset + HIGHER, last);
            aside = higher != NOWHERE ? higher : aside;
        }
        at = link_in(heap, offset + (turns >> 31) * 4, last);
        turns <<= 1;
    }
    for (uint32_t bits = 0; aside != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        best = aside >= limit && aside < best ? aside : best;
        aside = link_in(heap, offset + LOWER, last);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + HIGHER, last);
    }
    return best != UINT32_MAX ? best : (uint32_t)NOWHERE;
}

/* Finds a chunk with this bit. False if there is none. */
static inline bool find_small(const hfit_heap *heap, const hfit_plan *plan, uint32_t bit,
                              address_path *path) {
    const uint32_t last = last_chunk(heap, plan);
    uint32_t at = link_in(heap, ADDRESSES, last);
    path->length = 0;
    while (can_go_on(path, at) && (small_at(heap, plan, at) & bit) != 0) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        path->chunks[path->length++] = at;
        if (own_small_bit(heap, plan, at) == bit) {
            return true;
        }
        const uint32_t offset = offset_at(plan, at);
        const uint32_t lower = link_in(heap, offset + LOWER, last);
        at =
            (small_at(heap, plan, lower) & bit) != 0 ? lower : link_in(heap, offset + HIGHER, last);
    }
    return false;
}

#endif
