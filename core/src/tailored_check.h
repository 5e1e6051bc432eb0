/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a heap of `tailored` lies in its region, and whether one that is there holds: layout, map,
 * chunks, top, counts and index, in that order, since each relies on those before it.
 */
#ifndef HFIT_TAILORED_CHECK_H
#define HFIT_TAILORED_CHECK_H

#include "src/operations.h"
#include "src/tailored_index.h"

/* Lays a heap out that ends at granule `end`; returns its first chunk's. Each round learns from the
 * one before how many granules are not in need of a bit; the last one covers them all, since each
 * second estimate is too large. */
static uint32_t lay_out(const hfit_plan *plan, uint32_t end, map_layout *layout) {
    uint32_t first = end;
    layout->start = word_of(plan, class_count(end), false);
    layout->last = end + LEAST_CHUNK + 1;
    for (uint32_t round = 0; round < 4; round++) {
        layout->first = (first < end ? first : end) - 1;
        lay_out_map(layout);
        first = (layout->end + plan->alignment - 1) >> granule_shift(plan);
    }
    return first;
}

/* True if the end is marked as a used chunk's beginning, and nothing else is outside the chunks. */
static bool are_ends_marked(const hfit_heap *heap, const map_layout *layout, uint32_t first,
                            uint32_t end) {
    const uint32_t behind = end + LEAST_CHUNK;
    const uint32_t last_word = load_word(heap, map_word(heap, 0, layout->last));
    return next_mark(heap, layout->first & ~31u) == first && is_marked(heap, end) &&
           !is_marked(heap, end + 1) && is_marked(heap, behind) && !is_marked(heap, behind + 1) &&
           last_word >> (layout->last & 31) == 0;
}

typedef struct chunk_counts {
    uint32_t used;
    uint32_t free;
    bool has_top; /* or its place, where it is used up */
} chunk_counts;

/* Counts the chunks. False if they do not tile the heap, or free ones touch. */
static bool count_chunks(const hfit_heap *heap, uint32_t first, uint32_t end,
                         chunk_counts *counts) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t top_end = load_word(heap, TOP_END);
    bool after_free = false;
    *counts = (chunk_counts){0, 0, top == top_end && top == end};
    for (uint32_t chunk = first; chunk != end;) {
        bool is_free;
        const uint32_t next = chunk_end(heap, chunk, &is_free);
        if (next > end || next - chunk < LEAST_CHUNK || (is_free && after_free)) {
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
 * bins and rings have all chunks but the top, each once. */
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
        const uint32_t next = chunk_end(heap, chunk, &is_free);
        if (is_free && !is_top(heap, chunk) &&
            !check_chunk(heap, plan, chunk, next - chunk, &left)) {
            return false;
        }
        chunk = next;
    }
    return left.chunks == 0 && left.slots == 0;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = chunks_end(heap) >> granule_shift(plan);
    const uint32_t first = load_word(heap, CHUNKS_FIRST);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    map_layout layout;
    chunk_counts counts;
    if ((chunks_end(heap) & (plan->alignment - 1)) != 0 || lay_out(plan, end, &layout) != first ||
        first >= end || !is_map_sound(heap, &layout) ||
        !are_ends_marked(heap, &layout, first, end) || !count_chunks(heap, first, end, &counts)) {
        return false;
    }
    return counts.has_top && footprint <= chunks_end(heap) &&
           (HFIT_SAFETY < 1 || load_word(heap, TALLY) == footprint + counts.used) &&
           index_check(heap, plan, counts.free);
}

#endif
