/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both trees of `sized` do alike: a chunk in one has two links side by side, `low` and the
 * word behind it, LOWER and HIGHER or SMALLER and LARGER. A slot is where a link lies.
 */
#ifndef HFIT_SIZED_TREES_H
#define HFIT_SIZED_TREES_H

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"

enum { LOG_BITS = 5 };                         /* of a size's logarithm */
#define SIZE_BITS (LOG_BITS + NUMBER_BITS - 1) /* by which the tree by size branches */
#define MOST_CHUNKS (SIZE_BITS + 1)            /* on a way in either tree */

_Static_assert(LINK_BITS <= 1 << LOG_BITS, "the logarithm of each size has room");
_Static_assert(SIZE_BITS < 32, "the last turn lies behind a size's");

/* A chunk below, and its slot: on the higher side if there is one, else on the lower; NOWHERE if
 * there is none on either. */
static FORCE_INLINE uint32_t chunk_below(const hfit_heap *heap, uint32_t links, uint32_t *slot,
                                         const link_range *range) {
    *slot = links + 4;
    const uint32_t higher = raw_link(heap, *slot);
    if (is_link(higher, range)) {
        return higher;
    }
    *slot = links;
    return link_in(heap, *slot, range);
}

/* Takes a chunk that has none below itself off the tree: the one that a slot leads to, or one below
 * it. Returns it. */
static CALL_FOR_SIZE uint32_t take_leaf(hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                                        uint32_t low, const link_range *range) {
    uint32_t leaf = raw_link(heap, slot);
    uint32_t next;
    uint32_t below = chunk_below(heap, offset_at(plan, leaf) + low, &next, range);
    for (uint32_t steps = 0; below != NOWHERE && has_steps(steps, MOST_CHUNKS); steps++) {
        HFIT_LOOP_AT_MOST(MOST_CHUNKS);
        slot = next;
        leaf = below;
        below = chunk_below(heap, offset_at(plan, leaf) + low, &next, range);
    }
    set_link(heap, slot, NOWHERE);
    return leaf;
}

/* Hangs `heir` in the place of the chunk that a slot leads to. */
static CALL_FOR_SIZE void take_place(hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                                     uint32_t low, uint32_t heir) {
    const uint32_t from = offset_at(plan, raw_link(heap, slot)) + low;
    const uint32_t to = offset_at(plan, heir) + low;
    set_link(heap, slot, heir);
    set_link(heap, to, raw_link(heap, from));
    set_link(heap, to + 4, raw_link(heap, from + 4));
}

#endif
