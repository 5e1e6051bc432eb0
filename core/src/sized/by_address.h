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
 * Chunks too short for the tree by size are found here: no such small chunk hangs below one that is
 * none, so they are a tree of their own from the root on. Where a granule has 4 B there are two
 * small sizes, and chunks of the lesser one hang from a root of their own.
 */
#ifndef HFIT_SIZED_BY_ADDRESS_H
#define HFIT_SIZED_BY_ADDRESS_H

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"
#include "src/sized/trees.h"

static FORCE_INLINE bool is_small(const hfit_plan *plan, uint32_t size) {
    return size < full_chunk(plan);
}

/* The same of a chunk in a tree. */
static FORCE_INLINE bool is_small_at(const hfit_heap *heap, const hfit_plan *plan,
                                     uint32_t granule) {
    return is_small(plan, least_chunk(plan)) &&
           (load_field(heap, offset_at(plan, granule), HIGHER) & IS_SMALL) != 0;
}

/* The root of the tree for chunks of so many granules. */
static FORCE_INLINE uint32_t addresses_root(const hfit_plan *plan, uint32_t size) {
    return has_least_tree(plan) && size == least_chunk(plan) ? LEAST_ADDRESSES : ADDRESSES;
}

/* The slot that leads to the chunk at a granule, or in which it would hang, from this slot on, in
 * which these turns are left. */
static inline uint32_t slot_below(const hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                                  uint32_t turns, uint32_t granule) {
    const link_range range = chunk_range(heap, plan);
    uint32_t at;
    while (has_turns(turns) && (at = raw_link(heap, slot)) != granule && is_link(at, &range)) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
        slot = offset_at(plan, at) + (turns >> 31) * 4;
        turns <<= 1;
    }
    return slot;
}

static inline uint32_t address_slot(const hfit_heap *heap, const hfit_plan *plan, uint32_t root,
                                    uint32_t granule) {
    return slot_below(heap, plan, root, turns_of(heap, granule), granule);
}

/* Writes a chunk's words, without links. */
static FORCE_INLINE void set_node(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                  uint32_t size) {
    const uint32_t offset = offset_at(plan, granule);
    store_field(heap, offset, LOWER, low_part(size));
    store_field(heap, offset, HIGHER, high_part(size) | (is_small(plan, size) ? IS_SMALL : 0));
}

/* Hangs a chunk from a slot that leads nowhere. */
static inline void hang(hfit_heap *heap, const hfit_plan *plan, uint32_t slot, uint32_t granule,
                        uint32_t size) {
    set_link(heap, slot, granule);
    set_node(heap, plan, granule, size);
}

/* Puts a small chunk above the first on its way that is not small, which moves on. */
static inline void insert_small(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                uint32_t size) {
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, granule);
    uint32_t slot = addresses_root(plan, size);
    uint32_t depth = 0;
    uint32_t at;
    while (is_link(at = raw_link(heap, slot), &range) && is_small_at(heap, plan, at) &&
           has_steps(depth, NUMBER_BITS)) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
        slot = offset_at(plan, at) + (turns >> 31) * 4;
        turns <<= 1;
        depth++;
    }
    if (!is_link(at, &range)) {
        hang(heap, plan, slot, granule, size);
        return;
    }
    const uint32_t moved_size = size_at(heap, offset_at(plan, at));
    set_node(heap, plan, granule, size);
    take_place(heap, plan, slot, LOWER, granule);
    turns = turns_of(heap, at) << depth;
    slot = offset_at(plan, granule) + (turns >> 31) * 4;
    hang(heap, plan, slot_below(heap, plan, slot, turns << 1, at), at, moved_size);
}

/* Adds a chunk of `size` granules. */
static inline void address_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                  uint32_t size) {
    if (is_small(plan, size)) {
        insert_small(heap, plan, granule, size);
    } else {
        hang(heap, plan, address_slot(heap, plan, ADDRESSES, granule), granule, size);
    }
}

/* Takes the chunk that a slot leads to out of its place, which one below that has none below itself
 * takes. */
static inline void vacate(hfit_heap *heap, const hfit_plan *plan, uint32_t slot) {
    const link_range range = chunk_range(heap, plan);
    const uint32_t chunk = raw_link(heap, slot);
    if (HFIT_SAFETY >= 1 && !is_link(chunk, &range)) {
        return;
    }
    const uint32_t leaf = take_leaf(heap, plan, slot, LOWER, &range);
    if (leaf != chunk) {
        take_place(heap, plan, slot, LOWER, leaf);
    }
}

static FORCE_INLINE bool leads_to_small(const hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                                        const link_range *range) {
    const uint32_t at = raw_link(heap, slot);
    return is_link(at, range) && is_small_at(heap, plan, at);
}

/* The slot of the last small chunk on a way of small ones from the one that a slot leads to on. */
static inline uint32_t last_small_slot(const hfit_heap *heap, const hfit_plan *plan,
                                       uint32_t slot) {
    const link_range range = chunk_range(heap, plan);
    uint32_t last = slot;
    for (uint32_t bits = 0;
         leads_to_small(heap, plan, slot, &range) && has_steps(bits, MOST_CHUNKS); bits++) {
        HFIT_LOOP_AT_MOST(MOST_CHUNKS);
        last = slot;
        slot = offset_at(plan, raw_link(heap, last)) + HIGHER;
        slot = leads_to_small(heap, plan, slot, &range) ? slot : slot - HIGHER + LOWER;
    }
    return last;
}

/* Takes the chunk of so many granules that a slot leads to out. The place of a small one is taken
 * by a small one, if there is one below. */
static inline void address_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                                  uint32_t size) {
    const uint32_t last = is_small(plan, size) ? last_small_slot(heap, plan, slot) : slot;
    const uint32_t heir = raw_link(heap, last);
    vacate(heap, plan, last);
    if (last != slot) {
        take_place(heap, plan, slot, LOWER, heir);
    }
}

/* Gives a chunk that neither was small nor becomes so another size. */
static inline void address_set_size(hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                                    uint32_t size) {
    const uint32_t offset = offset_at(plan, granule);
    store_field(heap, offset, LOWER, raw_link(heap, offset + LOWER) | low_part(size));
    store_field(heap, offset, HIGHER, raw_link(heap, offset + HIGHER) | high_part(size));
}

/* A chunk, or NOWHERE, and the slot that leads to it. */
typedef struct address_place {
    uint32_t chunk;
    uint32_t slot;
} address_place;

/* The last chunk of a tree that begins before `limit`; NOWHERE if none does. `at_limit` is set if
 * one begins there. Numbers in a subtree that the way leaves on its lower side are all below, and
 * those of the last such subtree above those of the others; what the way meets in later and is
 * below as well is above them, too. */
static inline uint32_t last_before(const hfit_heap *heap, const hfit_plan *plan, uint32_t root,
                                   uint32_t limit, address_place *at_limit) {
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, limit);
    uint32_t best = NOWHERE; /* less than any chunk */
    uint32_t aside = NOWHERE;
    uint32_t slot = root;
    uint32_t at;
    while (is_link(at = raw_link(heap, slot), &range)) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
        if (at < limit) {
            best = at > best ? at : best;
            aside = NOWHERE;
        } else if (at == limit) {
            *at_limit = (address_place){at, slot};
        }
        if (!has_turns(turns)) {
            break;
        }
        slot = offset_at(plan, at);
        if (turns >> 31 != 0) {
            const uint32_t lower = raw_link(heap, slot + LOWER);
            aside = is_link(lower, &range) ? lower : aside;
            slot += HIGHER;
        }
        turns <<= 1;
    }
    for (uint32_t bits = 0; aside != NOWHERE && has_steps(bits, NUMBER_BITS + 1); bits++) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        best = aside < limit && aside > best ? aside : best;
        aside = link_in(heap, offset + HIGHER, &range);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + LOWER, &range);
    }
    return best;
}

/* The first chunk of a tree that begins at `limit` or behind, and before `end`, which is returned
 * if there is none. The same, seen from the other side. */
static inline uint32_t first_in(const hfit_heap *heap, const hfit_plan *plan, uint32_t root,
                                uint32_t limit, uint32_t end) {
    const link_range range = chunk_range(heap, plan);
    uint32_t turns = turns_of(heap, limit);
    uint32_t best = end;
    uint32_t aside = NOWHERE;
    uint32_t at = link_in(heap, root, &range);
    for (uint32_t bits = 0; at != NOWHERE && has_steps(bits, NUMBER_BITS + 1); bits++) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
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
    for (uint32_t bits = 0; aside != NOWHERE && has_steps(bits, NUMBER_BITS + 1); bits++) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
        const uint32_t offset = offset_at(plan, aside);
        best = aside >= limit && aside < best ? aside : best;
        aside = link_in(heap, offset + LOWER, &range);
        aside = aside != NOWHERE ? aside : link_in(heap, offset + HIGHER, &range);
    }
    return best;
}

/* The first chunk that begins at `limit` or behind; NOWHERE if none does. */
static inline uint32_t first_from(const hfit_heap *heap, const hfit_plan *plan, uint32_t limit) {
    uint32_t first = first_in(heap, plan, ADDRESSES, limit, UINT32_MAX);
    if (has_least_tree(plan)) {
        first = first_in(heap, plan, LEAST_ADDRESSES, limit, first);
    }
    return first != UINT32_MAX ? first : (uint32_t)NOWHERE;
}

/* The slot of the small chunk in a tree that begins first, or `last`; NO_SLOT if there is none. */
static inline uint32_t small_slot(const hfit_heap *heap, const hfit_plan *plan, uint32_t root,
                                  bool last) {
    const link_range range = chunk_range(heap, plan);
    uint32_t best = last ? 0 : UINT32_MAX;
    uint32_t best_slot = NO_SLOT;
    uint32_t slot = root;
    for (uint32_t bits = 0;
         has_steps(bits, NUMBER_BITS + 1) && leads_to_small(heap, plan, slot, &range); bits++) {
        HFIT_LOOP_AT_MOST(NUMBER_BITS + 1);
        const uint32_t at = raw_link(heap, slot);
        const uint32_t near = offset_at(plan, at) + (last ? HIGHER : LOWER);
        const uint32_t far = offset_at(plan, at) + (last ? LOWER : HIGHER);
        if ((at > best) == last) {
            best = at;
            best_slot = slot;
        }
        slot = leads_to_small(heap, plan, near, &range) ? near : far;
    }
    return best_slot;
}

#endif
