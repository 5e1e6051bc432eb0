/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a heap of `tailored` holds: layout, bounds, chunks, top, counts and index, in that order,
 * since each relies on those before it.
 */
#ifndef HFIT_TAILORED_CHECK_H
#define HFIT_TAILORED_CHECK_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/trie.h"
#include "src/tailored/heap.h"
#include "src/tailored/map.h"
#include "src/tailored/headers.h"
#include "src/tailored/pairs.h"
#include "src/tailored/bounds.h"
#include "src/tailored/index.h"
#include "src/tailored/layout.h"

/* What `check` has yet to find. */
typedef struct unfound {
    uint32_t chunks; /* free ones in the index */
    uint32_t slots;  /* of tries, that something hangs from */
} unfound;

/* The granules of a free chunk in a list of the class, which may be any entry; 0 if it is none. */
static uint32_t listed_size(const hfit_heap *heap, const hfit_plan *plan, uint32_t class,
                            uint32_t entry) {
    uint32_t size = class + least_chunk(plan);
    if (!may_be_entry(heap, plan, entry)) {
        return 0;
    }
    if (!is_alone(plan, size)) {
        size = size_at(heap, entry);
        if (size < least_chunk(plan) || class_of(plan, size) != class) {
            return 0;
        }
    }
    return is_free_chunk(heap, plan, granule_of(plan, entry), size) ? size : 0;
}

/* Chunks in the list of the class, if each is a free one of its sizes and the links hold; more than
 * `most` if not. */
static uint32_t count_list(const hfit_heap *heap, const hfit_plan *plan, uint32_t class, bool above,
                           uint32_t most) {
    const uint32_t head = word_of(plan, class, above);
    uint32_t place = head;
    uint32_t entry = load_link(heap, head);
    uint32_t count = 0;
    for (; entry != NO_OFFSET && count <= most; count++) {
        if (listed_size(heap, plan, class, entry) == 0 || load_previous(heap, entry) != place) {
            return UINT32_MAX;
        }
        place = entry + LINK_NEXT;
        entry = load_link_field(heap, entry, LINK_NEXT);
    }
    return count;
}

/* Finds the chunks of all lists and the roots of all tries on one side of the top. False if a list
 * or a map does not hold. */
static bool check_classes(const hfit_heap *heap, const hfit_plan *plan, bool above, unfound *left) {
    const uint32_t count = class_count(plan, chunks_end(heap) >> granule_shift(plan));
    for (uint32_t class = 0; class < count; class ++) {
        const bool is_empty = load_link(heap, word_of(plan, class, above)) == NO_OFFSET;
        const uint32_t map = load_word(heap, map_of(plan, class, above)) >> (class & 31);
        const bool is_last = (class & 31) == 31 || class + 1 == count;
        if ((map & 1) == is_empty || (is_last && map > 1)) {
            return false;
        }
        if (!is_alone(plan, class + least_chunk(plan)) && !is_good_fit(plan)) {
            left->slots += !is_empty;
            continue;
        }
        const uint32_t found = count_list(heap, plan, class, above, left->chunks);
        if (found > left->chunks) {
            return false;
        }
        left->chunks -= found;
    }
    for (uint32_t number = (count + 31) >> 5; number < map_words(plan); number++) {
        if (load_word(heap, index_word(plan, number, above)) != 0) {
            return false;
        }
    }
    return true;
}

/* Finds, for a free chunk that is the entry of a ring, the ring and its slot. False if they or the
 * chunk's links do not hold. */
static bool check_chunk(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                        uint32_t size, unfound *left) {
    const uint32_t entry = entry_of(plan, granule);
    if (!index_holds(heap, plan, granule, size)) {
        return false;
    }
    if (is_alone(plan, size) || is_good_fit(plan) ||
        load_link_field(heap, entry, slot_in(&tries)) == NO_OFFSET) {
        return true;
    }
    const sized_chunk ring = {entry, size};
    const uint32_t count = count_ring(&tries, heap, ring, left->chunks, links_end(heap));
    left->chunks -= count;
    left->slots += count_subtries(&tries, heap, entry) - 1;
    const uint32_t root = word_of(plan, class_of(plan, size), is_above_top(heap, plan, granule));
    return count != 0 && trie_leads_to(&tries, heap, root, ring, links_end(heap));
}

typedef struct chunk_counts {
    uint32_t used;
    uint32_t free;
    bool has_top; /* or its place, where it is used up */
} chunk_counts;

/* As chunk_end, and nothing is believed: any number beyond the end where the bounds do not hold. */
static uint32_t sound_end(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                          uint32_t end, bool *is_free) {
    if (has_headers(plan)) {
        return header_end(heap, plan, chunk, is_free);
    }
    return has_pairs(plan) ? checked_paired_end(heap, chunk, end, is_free)
                           : checked_end(heap, plan, chunk, end, is_free);
}

/* Counts the chunks. False if they do not tile the heap, or free ones touch. */
static bool count_chunks(const hfit_heap *heap, const hfit_plan *plan, uint32_t end,
                         chunk_counts *counts) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t top_end = load_word(heap, TOP_END);
    bool after_free = false;
    *counts = (chunk_counts){0, 0, top == top_end && top == end};
    for (uint32_t chunk = load_word(heap, CHUNKS_FIRST); chunk != end;) {
        bool is_free;
        const uint32_t next = sound_end(heap, plan, chunk, end, &is_free);
        if (next > end || next - chunk < least_chunk(plan) || (is_free && after_free)) {
            return false;
        }
        counts->has_top |= chunk == top && top_end == (is_free ? next : chunk);
        counts->free += is_free;
        counts->used += !is_free;
        after_free = is_free;
        chunk = next;
    }
    return true;
}

/* Every entry is found by its size in the slot that it names, and nothing else hangs from any slot;
 * lists and rings have all chunks but the top, each once. */
static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t end = chunks_end(heap) >> granule_shift(plan);
    const bool has_top = load_word(heap, TOP) != load_word(heap, TOP_END);
    unfound left = {free_count - has_top, 0};
    if (!check_classes(heap, plan, false, &left) ||
        (has_two_ends(plan) && !check_classes(heap, plan, true, &left))) {
        return false;
    }
    for (uint32_t chunk = load_word(heap, CHUNKS_FIRST); chunk != end;) {
        bool is_free;
        const uint32_t next = chunk_end(heap, plan, chunk, &is_free);
        if (is_free && !is_top(heap, chunk) &&
            !check_chunk(heap, plan, chunk, next - chunk, &left)) {
            return false;
        }
        chunk = next;
    }
    return left.chunks == 0 && left.slots == 0;
}

/* True if chunks tile the heap as headers or map say, which agree with themselves. */
static bool are_bounds_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t end) {
    const uint32_t first = load_word(heap, CHUNKS_FIRST);
    map_layout layout;
    if ((chunks_end(heap) & (plan->alignment - 1)) != 0 || first >= end ||
        lay_out(plan, end, &layout) != first) {
        return false;
    }
    if (has_headers(plan)) {
        return are_headers_sound(heap, plan, first, end);
    }
    return has_pairs(plan) ? are_pairs_sound(heap, &layout, first, end)
                           : is_map_sound(heap, &layout, first, end);
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = chunks_end(heap) >> granule_shift(plan);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    chunk_counts counts;
    if (!are_bounds_sound(heap, plan, end) || !count_chunks(heap, plan, end, &counts)) {
        return false;
    }
    return counts.has_top && footprint <= chunks_end(heap) &&
           (!CHECKS_WORDS || load_word(heap, TALLY) == footprint + counts.used) &&
           index_check(heap, plan, counts.free);
}

#endif
