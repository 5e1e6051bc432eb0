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

/* The bit of small chunks of so many granules. Of fewer than a chunk has, which only damaged words
 * say, it is none at safety level 1. */
static FORCE_INLINE uint32_t bit_of_size(const hfit_plan *plan, uint32_t size, bool above) {
    return (HFIT_SAFETY < 1 ? 1u << (size - least_chunk(plan)) : 1u << size >> least_chunk(plan))
           << (above ? SMALL_SIZES : 0);
}

/* The bit of the chunk at a granule if it is small, else 0. */
static FORCE_INLINE uint32_t small_bit(const hfit_heap *heap, const hfit_plan *plan,
                                       uint32_t granule, uint32_t size) {
    return size >= full_chunk(plan) ? 0
                                    : bit_of_size(plan, size, is_above_top(heap, plan, granule));
}

/* What the chunk at a granule notes of small ones; 0 where there is none. */
static FORCE_INLINE uint32_t small_at(const hfit_heap *heap, const hfit_plan *plan,
                                      uint32_t granule) {
    return granule == NOWHERE ? 0
                              : load_field(heap, offset_at(plan, granule), HIGHER) >> SMALL_SHIFT;
}

static FORCE_INLINE uint32_t own_small_bit(const hfit_heap *heap, const hfit_plan *plan,
                                           uint32_t granule) {
    return small_bit(heap, plan, granule, size_at(heap, offset_at(plan, granule)));
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
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, granule);
    uint32_t at = link_in(heap, ADDRESSES, &range);
    path->length = 0;
    while (can_go_on(path, at)) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        path->chunks[path->length++] = at;
        if (at == granule) {
            return;
        }
        at = link_in(heap, offset_at(plan, at) + (turns >> 31) * 4, &range);
        turns <<= 1;
    }
    path->length = 0;
}

/* The first two words of the chunk at a granule. */
typedef struct address_node {
    uint32_t granule;
    uint32_t lower;
    uint32_t higher;
} address_node;

static FORCE_INLINE address_node node_at(const hfit_heap *heap, const hfit_plan *plan,
                                         uint32_t granule) {
    const uint32_t offset = offset_at(plan, granule);
    return (address_node){granule, load_field(heap, offset, LOWER),
                          load_field(heap, offset, HIGHER)};
}

/* What a chunk should note of small ones. */
static FORCE_INLINE uint32_t small_below(const hfit_heap *heap, const hfit_plan *plan,
                                         const address_node *node, const link_range *range) {
    return small_bit(heap, plan, node->granule, joined(node->lower, node->higher)) |
           small_at(heap, plan, link_of(node->lower, range)) |
           small_at(heap, plan, link_of(node->higher, range));
}

/* Lets each chunk of the path, the last one first, note anew what lies at or below it. Stops at the
 * first above the `known` ones whose note was right. */
static inline void note_small(hfit_heap *heap, const hfit_plan *plan, const address_path *path,
                              uint32_t known) {
    const link_range range = chunk_range(heap, plan);
    for (uint32_t i = path->length; i-- > 0;) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const address_node node = node_at(heap, plan, path->chunks[i]);
        const uint32_t small = small_below(heap, plan, &node, &range);
        if (node.higher >> SMALL_SHIFT == small && i <= known) {
            return;
        }
        store_field(heap, offset_at(plan, node.granule), HIGHER,
                    (node.higher & ((1u << SMALL_SHIFT) - 1)) | small << SMALL_SHIFT);
    }
}

/* The slot that leads to the chunk at a granule, or in which it would hang. All above it note
 * `small`. */
static inline uint32_t address_slot(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                    uint32_t small) {
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, granule);
    uint32_t slot = ADDRESSES;
    for (uint32_t bits = 0; bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t at = link_in(heap, slot, &range);
        if (at == NOWHERE || at == granule) {
            break;
        }
        slot = offset_at(plan, at);
        if (small != 0) {
            store_field(heap, slot, HIGHER, load_field(heap, slot, HIGHER) | small << SMALL_SHIFT);
        }
        slot += (turns >> 31) * 4;
        turns <<= 1;
    }
    return slot;
}

/* Adds a chunk of `size` granules. */
static inline void address_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                  uint32_t size) {
    const uint32_t small = small_bit(heap, plan, granule, size);
    const uint32_t offset = offset_at(plan, granule);
    set_link(heap, address_slot(heap, plan, granule, small), granule);
    store_field(heap, offset, LOWER, low_part(size));
    store_field(heap, offset, HIGHER, high_part(size) | small << SMALL_SHIFT);
}

/* The slot that leads to the last chunk of a path. */
static inline uint32_t path_slot(const hfit_heap *heap, const hfit_plan *plan,
                                 const address_path *path) {
    if (path->length == 1) {
        return ADDRESSES;
    }
    const link_range range = chunk_range(heap, plan);
    const uint32_t parent = offset_at(plan, path->chunks[path->length - 2]);
    return link_in(heap, parent + LOWER, &range) == path_end(path) ? parent + LOWER
                                                                   : parent + HIGHER;
}

/* Goes on from the last chunk of a path, to which a slot leads, to one that has none below itself,
 * and takes that off the tree. */
static inline void take_leaf(hfit_heap *heap, const hfit_plan *plan, address_path *path,
                             uint32_t slot) {
    const link_range range = chunk_range(heap, plan);
    for (;;) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, path_end(path));
        uint32_t side = offset + HIGHER;
        uint32_t below = link_in(heap, side, &range);
        if (below == NOWHERE) {
            side = offset + LOWER;
            below = link_in(heap, side, &range);
        }
        if (!can_go_on(path, below)) {
            break;
        }
        path->chunks[path->length++] = below;
        slot = side;
    }
    set_link(heap, slot, NOWHERE);
}

/* Takes the last chunk of a path out: one below it that has none below itself takes its place. */
static inline void address_remove_path(hfit_heap *heap, const hfit_plan *plan, address_path *path) {
    const uint32_t place = path->length;
    const uint32_t chunk = path_end(path);
    const uint32_t slot = path_slot(heap, plan, path);
    take_leaf(heap, plan, path, slot);
    const uint32_t leaf = path_end(path);
    uint32_t small = own_small_bit(heap, plan, chunk);
    path->length--;
    if (leaf != chunk) {
        const address_node from = node_at(heap, plan, chunk);
        const uint32_t to = offset_at(plan, leaf);
        const uint32_t size = size_at(heap, to);
        small |= small_bit(heap, plan, leaf, size);
        store_field(heap, to, LOWER, (from.lower & LINK_MASK) | low_part(size));
        store_field(heap, to, HIGHER,
                    (from.higher & (LINK_MASK | ~0u << SMALL_SHIFT)) | high_part(size));
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
    const address_node node = node_at(heap, plan, granule);
    const uint32_t was = small_bit(heap, plan, granule, joined(node.lower, node.higher));
    const uint32_t small = small_bit(heap, plan, granule, size);
    store_field(heap, offset, LOWER, (node.lower & LINK_MASK) | low_part(size));
    store_field(heap, offset, HIGHER,
                (node.higher & (LINK_MASK | ~0u << SMALL_SHIFT)) | high_part(size) |
                    small << SMALL_SHIFT);
    if (was == 0 && small != 0) {
        (void)address_slot(heap, plan, granule, small);
    } else if (was != small) {
        address_path path;
        find_path(heap, plan, granule, &path);
        note_small(heap, plan, &path, path.length - 1);
    }
}

/* The last chunk that begins before `limit`; NOWHERE if none does. The path is that to the chunk
 * which begins there, and empty if none does. Numbers in a subtree that the way leaves on its lower
 * side are all below, and those of the last such subtree above those of the others; what the way
 * meets in later and is below as well is above them, too. */
static inline uint32_t last_before(const hfit_heap *heap, const hfit_plan *plan, uint32_t limit,
                                   address_path *path) {
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, limit) | LAST_TURN >> LINK_BITS;
    uint32_t best = NOWHERE; /* less than any chunk */
    uint32_t aside = NOWHERE;
    uint32_t length = 0;
    uint32_t slot = ADDRESSES;
    uint32_t at;
    path->length = 0;
    while ((at = link_in(heap, slot, &range)) != NOWHERE) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        path->chunks[length++] = at;
        if (at < limit) {
            best = at > best ? at : best;
            aside = NOWHERE;
        } else if (at == limit) {
            path->length = length;
        }
        if (turns == LAST_TURN) {
            break;
        }
        slot = offset_at(plan, at);
        if (turns >> 31 != 0) {
            const uint32_t lower = link_in(heap, slot + LOWER, &range);
            aside = lower != NOWHERE ? lower : aside;
            slot += HIGHER;
        }
        turns <<= 1;
    }
    for (uint32_t bits = 0; aside != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        best = aside < limit && aside > best ? aside : best;
        aside = link_in(heap, offset + HIGHER, &range);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + LOWER, &range);
    }
    return best;
}

/* The first chunk that begins at `limit` or behind; NOWHERE if none does. The same, seen from the
 * other side. */
static inline uint32_t first_from(const hfit_heap *heap, const hfit_plan *plan, uint32_t limit) {
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, limit);
    uint32_t best = UINT32_MAX;
    uint32_t aside = NOWHERE;
    uint32_t at = link_in(heap, ADDRESSES, &range);
    for (uint32_t bits = 0; at != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, at);
        if (at >= limit) {
            best = at < best ? at : best;
            aside = NOWHERE;
        }
        if (turns >> 31 == 0) {
            const uint32_t higher = link_in(heap, offset + HIGHER, &range);
            aside = higher != NOWHERE ? higher : aside;
        }
        at = link_in(heap, offset + (turns >> 31) * 4, &range);
        turns <<= 1;
    }
    for (uint32_t bits = 0; aside != NOWHERE && bits <= LINK_BITS; bits++) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        best = aside >= limit && aside < best ? aside : best;
        aside = link_in(heap, offset + LOWER, &range);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + HIGHER, &range);
    }
    return best != UINT32_MAX ? best : (uint32_t)NOWHERE;
}

/* Finds a chunk with this bit. False if there is none. */
static inline bool find_small(const hfit_heap *heap, const hfit_plan *plan, uint32_t bit,
                              address_path *path) {
    const link_range range = chunk_range(heap, plan);
    uint32_t at = link_in(heap, ADDRESSES, &range);
    path->length = 0;
    while (can_go_on(path, at) && (small_at(heap, plan, at) & bit) != 0) {
        HFIT_LOOP_AT_MOST(LINK_BITS + 1);
        path->chunks[path->length++] = at;
        if (own_small_bit(heap, plan, at) == bit) {
            return true;
        }
        const uint32_t offset = offset_at(plan, at);
        const uint32_t lower = link_in(heap, offset + LOWER, &range);
        at = (small_at(heap, plan, lower) & bit) != 0 ? lower
                                                      : link_in(heap, offset + HIGHER, &range);
    }
    return false;
}

#endif
