/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free chunks of `good_fit` but the top: a list for each class, last in first out.
 *
 * A class is known by the number of its bin, the word that is the head of its list: its offset / 4,
 * which is also the place of its bit in the maps. Behind the class of the heap's end is one more
 * bit, which is always set, and a bin that is always empty: there a search ends that finds no
 * chunk, at the top.
 */
#ifndef HFIT_GOOD_FIT_INDEX_H
#define HFIT_GOOD_FIT_INDEX_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/good_fit/chunk.h"

enum {
    EXACT_GRANULES = 16, /* sizes from here on share classes */
    PROBES = 2,          /* chunks looked at in the class of a request */
    MAP_WORDS = 4,
};

/* The bin for chunks of `size` bytes. */
static inline uint32_t bin_of(const hfit_plan *plan, uint32_t size) {
    const uint32_t log2 = hfit_trailing_zeros(plan->alignment);
    const uint32_t before = BINS / 4 - ((uint32_t)CHUNK_LEAST >> log2);
    HFIT_ASSERT(size >= CHUNK_LEAST);
    if (size < plan->alignment * EXACT_GRANULES) {
        return before + (size >> log2);
    }
    const uint32_t width = 29 - hfit_leading_zeros(size); /* log2 of a fourth of a power of two */
    return before + 4 - 4 * log2 + 4 * width + (size >> width);
}

/* Where the first chunk of a heap with this end begins: behind the bin of the top. */
static uint32_t first_chunk(const hfit_plan *plan, uint32_t end) {
    const uint32_t mask = plan->alignment - 1;
    return ((4 * (bin_of(plan, end) + 2) + HEADER_SIZE + mask) & ~mask) - HEADER_SIZE;
}

/* The map's word with the bin's bit. */
static inline uint32_t map_of(uint32_t bin) {
    return MAPS + 4 * (bin >> 5);
}

/* Puts a free chunk, whose header is written, into its list. A damaged head is not written through:
 * what it led to is lost, as `check` tells from then on. */
static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t bin = bin_of(plan, size);
    const uint32_t map = map_of(bin);
    uint32_t first = load_link(heap, 4 * bin);
    if (HFIT_SAFETY >= 1 &&
        !does_link_hold(heap, 4 * bin, first, load_word(heap, TOP) - LINK_PREVIOUS)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        first = NO_OFFSET;
    }
    list_push_before(heap, 4 * bin, first, chunk);
    store_word(heap, map, load_word(heap, map) | 1u << (bin & 31));
}

/* Takes a chunk out of its list, whichever that is. */
static void index_remove(hfit_heap *heap, uint32_t chunk) {
    uint32_t link;
    if (list_unlink(heap, chunk, &link) && link < load_word(heap, CHUNKS_FIRST)) {
        const uint32_t bin = link / 4;
        const uint32_t map = map_of(bin);
        store_word(heap, map, load_word(heap, map) & ~(1u << (bin & 31)));
    }
}

/* One of the first two chunks in a bin that has `size` bytes; NO_OFFSET if neither has. Where links
 * are damaged it may be any number, for the caller to judge. */
static FORCE_INLINE uint32_t find_in_bin(const hfit_heap *heap, uint32_t bin, uint32_t size,
                                         uint32_t end) {
    uint32_t chunk = load_link(heap, 4 * bin);
    for (uint32_t left = PROBES; chunk != NO_OFFSET; left--) {
        HFIT_LOOP_AT_MOST(PROBES + 1);
        if (left == 0) {
            return NO_OFFSET;
        }
        if ((HFIT_SAFETY >= 1 && !is_word_below(chunk, end - LINK_NEXT)) ||
            free_size(load_word(heap, chunk)) >= size) {
            return chunk;
        }
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return chunk;
}

/* The chunk that is to serve `size` bytes, less than the heap's end; NO_OFFSET if the top is. */
static FORCE_INLINE uint32_t index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                        uint32_t end) {
    uint32_t bin = bin_of(plan, size);
    const uint32_t chunk = find_in_bin(heap, bin, size, end);
    if (chunk != NO_OFFSET) {
        return chunk;
    }
    uint32_t map = load_word(heap, map_of(bin)) & ~1u << (bin & 31);
    while (map == 0) {
        HFIT_LOOP_AT_MOST(MAP_WORDS - 1);
        bin += 32;
        map = load_word(heap, map_of(bin));
    }
    return load_link(heap, 4 * ((bin & ~31u) + hfit_trailing_zeros(map)));
}

#endif
