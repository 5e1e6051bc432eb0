/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a heap of `tailored` lies in its region: control words, index, map if any, and the granules
 * that are left.
 */
#ifndef HFIT_TAILORED_LAYOUT_H
#define HFIT_TAILORED_LAYOUT_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tailored/heap.h"
#include "src/tailored/map.h"
#include "src/tailored/headers.h"
#include "src/tailored/pairs.h"
#include "src/tailored/index.h"

/* Lays a heap out that ends at granule `end`; returns its first chunk's. Of a map each round learns
 * from the one before how many granules are not in need of a bit; the last one covers them all,
 * since each second estimate is too large. */
static uint32_t lay_out(const hfit_plan *plan, uint32_t end, map_layout *layout) {
    HFIT_ASSERT(end != 0);
    const uint32_t shift = granule_shift(plan);
    uint32_t first = end;
    layout->start = index_end(plan, end);
    if (has_headers(plan)) {
        layout->end = layout->start;
        return (layout->start + HEADER_SIZE + plan->alignment - 1) >> shift;
    }
    layout->last = end + 1;
    for (uint32_t round = 0; round < 4; round++) {
        layout->first = (first < end ? first : end) - 1;
        if (has_pairs(plan)) {
            lay_out_pairs(layout);
        } else {
            lay_out_map(layout);
        }
        first = (layout->end + plan->alignment - 1) >> shift;
    }
    return first;
}

static FORCE_INLINE bool is_plan_sound(const hfit_plan *plan) {
    const hfit_tailored_plan *own = own_plan(plan);
    return is_alignment_allowed(plan->alignment) && (own->ends == 1 || own->ends == 2) &&
           own->layout <= HFIT_TAILORED_PAIRS &&
           (own->layout != HFIT_TAILORED_PAIRS || plan->alignment >= LEAST_PAIRED) &&
           own->index <= HFIT_TAILORED_GOOD_FIT &&
           (own->layout != HFIT_TAILORED_HEADERS || own->index == HFIT_TAILORED_EXACT) &&
           own->tags <= HFIT_TAILORED_TAGS && own->hole_limit <= HFIT_TAILORED_MOST_LIMIT;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    map_layout layout;
    uint32_t end = 1;
    if (!is_plan_sound(plan)) {
        return 0;
    }
    while (lay_out(plan, end, &layout) + least_chunk(plan) > end) {
        end++;
    }
    return (size_t)end << granule_shift(plan);
}

/* Makes all granules from `first` to `end` one free chunk. */
static void init_bounds(hfit_heap *heap, const hfit_plan *plan, const map_layout *layout,
                        uint32_t first, uint32_t end) {
    if (has_headers(plan)) {
        write_free(heap, plan, first, end);
        store_header(heap, plan, end, AFTER_FREE);
        return;
    }
    store_word(heap, MAP_BASE, layout->base);
    if (has_pairs(plan)) {
        begin_at(heap, first - 1, USED_BEGINS);
        begin_at(heap, first, FREE_BEGINS);
        begin_at(heap, end, USED_BEGINS);
        note_passed(heap, first, end);
        return;
    }
    mark(heap, layout->base, first, 2);
    mark(heap, layout->base, end - 2, 3);
    note_free(heap, plan, first, end);
}

/* The last granule up to `end` at which a heap can end: a granule more may need more words of the
 * index than it gives. 0 if there is none. */
static uint32_t fitting_end(const hfit_plan *plan, uint32_t end) {
    map_layout layout;
    while (end != 0 && lay_out(plan, end, &layout) + least_chunk(plan) > end) {
        end--;
    }
    return end;
}

/* Empties the index, and a map behind it. */
static void clear_words(hfit_heap *heap, const hfit_plan *plan, const map_layout *layout) {
    const uint32_t classes = word_of(plan, 0, false);
    for (uint32_t offset = index_start(plan); offset < layout->end; offset += 4) {
        const bool is_class = offset >= classes && offset < layout->start;
        store_word(heap, offset, is_class ? coded(NO_OFFSET) : 0);
    }
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    map_layout layout;
    uint32_t end = (uint32_t)region_size >> granule_shift(plan);
    end = fitting_end(plan, end < most_granules(plan) ? end : most_granules(plan));
    if (end == 0) {
        return NULL;
    }
    const uint32_t first = lay_out(plan, end, &layout); /* what is behind the end stays unused */
    const uint32_t footprint = first << granule_shift(plan);
    store_word(heap, CHUNKS_END, end << granule_shift(plan));
    store_word(heap, CHUNKS_FIRST, first);
    store_word(heap, FOOTPRINT, footprint);
    if (CHECKS_WORDS) {
        store_word(heap, TALLY, footprint);
    }
    store_word(heap, TOP, first);
    store_word(heap, TOP_END, end);
    clear_words(heap, plan, &layout);
    init_bounds(heap, plan, &layout, first, end);
    return heap;
}

#endif
