/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of lea's heap. */
#ifndef BASELINES_LEA_CHECK_H
#define BASELINES_LEA_CHECK_H

#include "src/region.h"
#include "src/tiling/free_list.h"
#include "src/lea_bins.h"

/* How many free chunks, and the sum of their offsets, which tells whether two sets of so many are
 * the same ones. */
typedef struct chunk_set {
    uint32_t count;
    uint32_t sum;
} chunk_set;

static inline void add_chunk(chunk_set *set, uint32_t chunk) {
    set->count++;
    set->sum += chunk;
}

/* True if a chunk of `least` bytes or more may lie there. */
static inline bool is_within(const hfit_heap *heap, uint32_t chunk, uint32_t least) {
    const uint32_t end = load_word(heap, END);
    return chunk % 4 == 0 && chunk >= CONTROL_SIZE && chunk < end && least <= end - chunk;
}

/* True if a listed chunk may be a free one of `size` bytes. */
static inline bool is_listed_sound(const hfit_heap *heap, uint32_t chunk, uint32_t size) {
    return is_within(heap, chunk, size) && load_word(heap, chunk) == (size | PREVIOUS_USED);
}

static bool add_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t bin, uint32_t most,
                    chunk_set *set) {
    uint32_t place = head_of(bin);
    uint32_t chunk = load_word(heap, head_of(bin));
    if ((load_word(heap, SMALL_MAP) >> bin & 1u) != (chunk != NO_OFFSET)) {
        return false;
    }
    for (; chunk != NO_OFFSET; chunk = load_word(heap, chunk + LINK_NEXT)) {
        if (set->count == most || !is_listed_sound(heap, chunk, bin << alignment_log2(plan)) ||
            load_word(heap, chunk + LINK_PREVIOUS) != place) {
            return false;
        }
        add_chunk(set, chunk);
        place = chunk + LINK_NEXT;
    }
    return true;
}

/* Adds the chunks of a node's ring. */
static bool add_ring(const hfit_heap *heap, uint32_t node, uint32_t most, chunk_set *set) {
    const uint32_t size = size_at(heap, node);
    uint32_t chunk = node;
    do {
        const uint32_t next = load_word(heap, chunk + RING_NEXT);
        if (set->count == most || !is_listed_sound(heap, chunk, size) ||
            !is_listed_sound(heap, next, size) || load_word(heap, next + RING_PREVIOUS) != chunk ||
            (load_word(heap, chunk + TREE_PARENT) == NO_OFFSET) != (chunk != node)) {
            return false;
        }
        add_chunk(set, chunk);
        chunk = next;
    } while (chunk != node);
    return true;
}

/* The node after `node` on a walk through its tree, NO_OFFSET after the last. */
static uint32_t node_after(const hfit_heap *heap, uint32_t node) {
    const uint32_t lower = load_word(heap, node + TREE_LOWER);
    uint32_t next = lower != NO_OFFSET ? lower : load_word(heap, node + TREE_HIGHER);
    while (next == NO_OFFSET) {
        const uint32_t parent = load_word(heap, node + TREE_PARENT);
        if (parent == IS_ROOT) {
            return NO_OFFSET;
        }
        next = load_word(heap, parent + TREE_LOWER) == node ? load_word(heap, parent + TREE_HIGHER)
                                                            : NO_OFFSET;
        node = parent;
    }
    return next;
}

/* True if the way of a node's size leads from its tree's root to it, over parents that it names. */
static bool is_on_its_way(const hfit_heap *heap, uint32_t tree, uint32_t node) {
    uint32_t turns = turns_of(size_at(heap, node), tree);
    uint32_t parent = IS_ROOT;
    uint32_t at = load_word(heap, root_of(tree));
    while (at != node && is_within(heap, at, TREE_NODE)) {
        parent = at;
        at = load_word(heap, at + child_at(turns));
        turns <<= 1;
    }
    return at == node && load_word(heap, node + TREE_PARENT) == parent;
}

static bool add_tree(const hfit_heap *heap, const hfit_plan *plan, uint32_t tree, uint32_t most,
                     chunk_set *set) {
    uint32_t node = load_word(heap, root_of(tree));
    if ((load_word(heap, TREE_MAP) >> tree & 1u) != (node != NO_OFFSET)) {
        return false;
    }
    for (; node != NO_OFFSET; node = node_after(heap, node)) {
        if (!is_within(heap, node, TREE_NODE)) {
            return false;
        }
        const uint32_t size = size_at(heap, node);
        if (!is_listed_sound(heap, node, size) || is_small(plan, size) ||
            tree_of(plan, size) != tree || !is_on_its_way(heap, tree, node) ||
            !add_ring(heap, node, most, set)) {
            return false;
        }
    }
    return true;
}

/* True if the victim, the bins and the trees hold the free chunks told, and no others. */
static bool are_lists_sound(const hfit_heap *heap, const hfit_plan *plan, chunk_set tagged) {
    const uint32_t victim = load_word(heap, VICTIM);
    chunk_set listed = {victim != NO_OFFSET, victim};
    for (uint32_t i = 0; i < SMALL_COUNT; i++) {
        if (!add_bin(heap, plan, i, tagged.count, &listed) ||
            !add_tree(heap, plan, i, tagged.count, &listed)) {
            return false;
        }
    }
    return listed.count == tagged.count && listed.sum == tagged.sum;
}

/* True if a chunk below the top is well formed; `after_free` tells of the one before it. */
static bool is_chunk_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                           bool after_free) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t size = header & ~3u;
    const bool is_free = (header & USED) == 0;
    return size >= CHUNK_LEAST && (size & (plan->alignment - 1)) == 0 &&
           size <= load_word(heap, TOP) - chunk && ((header & PREVIOUS_USED) == 0) == after_free &&
           !(is_free && after_free) &&
           (!is_free || load_word(heap, chunk + size - HEADER_SIZE) == size);
}

/* True if every invariant of the heap holds. */
static bool is_lea_sound(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t end = load_word(heap, END);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    uint32_t chunk = first_chunk(plan);
    chunk_set tagged = {0, 0};
    bool after_free = false;
    if (top < chunk || top > end || footprint < top + HEADER_SIZE ||
        footprint > end + HEADER_SIZE || load_word(heap, top) != ((end - top) | PREVIOUS_USED)) {
        return false;
    }
    while (chunk < top) {
        if (!is_chunk_sound(heap, plan, chunk, after_free)) {
            return false;
        }
        after_free = (load_word(heap, chunk) & USED) == 0;
        if (after_free) {
            add_chunk(&tagged, chunk);
        }
        chunk += size_at(heap, chunk);
    }
    return !after_free && are_lists_sound(heap, plan, tagged);
}

#endif
