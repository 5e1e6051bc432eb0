/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a heap of `sized` holds: free chunks lie apart from each other and from the top, each is
 * where the way of its address and of its size leads, and nothing else hangs in either tree.
 */
#ifndef HFIT_SIZED_CHECK_H
#define HFIT_SIZED_CHECK_H

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"
#include "src/sized/by_address.h"
#include "src/sized/by_size.h"
#include "src/sized/live_map.h"
#include "src/sized/chunks.h"

/* What has been met, less what should have been: all 0 in a sound heap. (Set word by word: an
 * initialiser would call memset.) */
typedef struct unmatched {
    uint32_t addresses; /* links of the tree by address, less chunks in it */
    uint32_t sizes;     /* links of the trees by size, less entries */
    uint32_t listed;    /* links of lists, less chunks listed */
    uint32_t unsound;   /* links that lead to no chunk */
    uint32_t free;      /* granules that are not in use, less those of chunks and top */
} unmatched;

/* True if a chunk hangs in the tree by address where its way leads. */
static bool is_in_place(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    const uint32_t root = addresses_root(plan, size_at(heap, offset_at(plan, chunk)));
    return raw_link(heap, address_slot(heap, plan, root, chunk)) == chunk;
}

/* True if a link leads nowhere, or to a chunk of the tree by address. */
static bool is_link_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t link) {
    const uint32_t last = load_word(heap, END) - least_chunk(plan);
    return link == NOWHERE ||
           (link >= first_chunk(plan) && link <= last && is_in_place(heap, plan, link));
}

/* How many links a slot holds: 0 or 1. */
static uint32_t count_link(const hfit_heap *heap, const hfit_plan *plan, uint32_t slot,
                           unmatched *left) {
    const uint32_t link = load_word(heap, slot) & LINK_MASK;
    left->unsound += !is_link_sound(heap, plan, link);
    return link != NOWHERE;
}

/* True if a chunk, which is not an entry, hangs in the list of its size. */
static bool is_listed_well(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                           uint32_t size) {
    const link_range range = full_range(heap, plan);
    const uint32_t previous = link_in(heap, offset_at(plan, chunk) + PREVIOUS, &range);
    return previous != NOWHERE && is_link_sound(heap, plan, previous) &&
           next_of(heap, plan, previous) == chunk &&
           size_at(heap, offset_at(plan, previous)) == size;
}

/* Checks what a chunk of full size has in the tree by size. */
static bool check_size(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                       unmatched *left) {
    const link_range range = full_range(heap, plan);
    const uint32_t offset = offset_at(plan, chunk);
    const uint32_t next = next_of(heap, plan, chunk);
    left->listed += next != NOWHERE;
    if (!is_link_sound(heap, plan, next) ||
        (next != NOWHERE && link_in(heap, offset_at(plan, next) + PREVIOUS, &range) != chunk)) {
        return false;
    }
    if (is_listed(heap, plan, chunk)) {
        left->listed--;
        return is_listed_well(heap, plan, chunk, size);
    }
    left->sizes += count_link(heap, plan, offset + SMALLER, left) +
                   count_link(heap, plan, offset + LARGER, left) - 1;
    const uint32_t slot = size_slot(heap, plan, size, is_above_top(heap, plan, chunk));
    return link_in(heap, slot, &range) == chunk;
}

/* True if a small chunk hangs from the one at an offset. */
static bool is_above_small(const hfit_heap *heap, const hfit_plan *plan, uint32_t offset) {
    const link_range range = chunk_range(heap, plan);
    return leads_to_small(heap, plan, offset + LOWER, &range) ||
           leads_to_small(heap, plan, offset + HIGHER, &range);
}

static bool check_chunk(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                        unmatched *left) {
    const uint32_t offset = offset_at(plan, chunk);
    left->addresses += count_link(heap, plan, offset + LOWER, left) +
                       count_link(heap, plan, offset + HIGHER, left) - 1;
    const uint32_t flags = load_field(heap, offset, HIGHER) >> FLAG_SHIFT << FLAG_SHIFT;
    const bool small = is_small(plan, size);
    return is_in_place(heap, plan, chunk) && flags == (small ? IS_SMALL : 0) &&
           (small || !is_above_small(heap, plan, offset)) &&
           (small || check_size(heap, plan, chunk, size, left));
}

static bool is_control_sound(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, END);
    const uint32_t top = load_word(heap, TOP);
    const uint32_t behind_top = top_end(heap, plan);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    return end <= MOST_GRANULES && first_chunk(plan) <= top && top <= behind_top &&
           behind_top <= end &&
           (has_two_ends(plan) ||
            (footprint <= offset_at(plan, end) && footprint >= offset_at(plan, top)));
}

/* True if a chunk neither shares granules with the top nor touches it. */
static FORCE_INLINE bool is_apart_from_top(const hfit_heap *heap, const hfit_plan *plan,
                                           const place *chunk) {
    return chunk->end < load_word(heap, TOP) || chunk->start > top_end(heap, plan);
}

/* True if no chunk of the tree by address, but perhaps the first granule's, begins in this free
 * place or just behind it. */
static bool is_whole(const hfit_heap *heap, const hfit_plan *plan, const place *rest) {
    const uint32_t next = first_from(heap, plan, rest->start + 1);
    return is_nothing_live(heap, plan, rest->start, rest->end) &&
           (next == NOWHERE || next > rest->end);
}

static bool check_free(const hfit_heap *heap, const hfit_plan *plan, const place *rest,
                       unmatched *left) {
    const uint32_t size = rest->end - rest->start;
    left->free -= size;
    if (rest->start == load_word(heap, TOP)) {
        return is_whole(heap, plan, rest);
    }
    return size >= least_chunk(plan) && size <= load_word(heap, END) - rest->start &&
           is_apart_from_top(heap, plan, rest) && is_whole(heap, plan, rest) &&
           check_chunk(heap, plan, rest->start, size, left);
}

/* Free chunks that touch would be one, so between any two something is used. */
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    if (!is_control_sound(heap, plan)) {
        return false;
    }
    const uint32_t end = load_word(heap, END);
    unmatched left;
    left.listed = 0;
    left.unsound = 0;
    left.free = load_word(heap, FREE);
    left.addresses = count_link(heap, plan, ADDRESSES, &left);
    if (has_least_tree(plan)) {
        left.addresses += count_link(heap, plan, LEAST_ADDRESSES, &left);
    }
    left.sizes = count_link(heap, plan, sizes_root(plan, false), &left);
    if (has_two_ends(plan)) {
        left.sizes += count_link(heap, plan, sizes_root(plan, true), &left);
    }
    for (uint32_t at = first_chunk(plan); at < end;) {
        const place rest = next_free(heap, plan, at);
        const bool is_used_before =
            rest.start == at ? at == first_chunk(plan) : is_used_well(heap, plan, at, rest.start);
        if (!is_used_before || (rest.start < end && !check_free(heap, plan, &rest, &left))) {
            return false;
        }
        at = rest.end;
    }
    return left.addresses == 0 && left.sizes == 0 && left.listed == 0 && left.unsound == 0 &&
           left.free == 0;
}

#endif
