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
#include "src/tiling/good_fit_words.h"

enum {
    EXACT_GRANULES = 16, /* sizes from here on share classes */
    PROBES = 2,          /* chunks looked at in the class of a request */
    MAP_WORDS = 4,
};

_Static_assert(BINS / 4 == 8 && ONE_USED == 1 << (32 - BINS / 4),
               "the used chunks are counted in the bits that no bin has");
_Static_assert(BINS / 4 - CHUNK_LEAST / 4 + 4 - 4 * 2 + 4 * 29 + 7 + 1 < 32 * MAP_WORDS,
               "the maps have a bit behind the bin of the largest chunk, alignment 4");

/* The bin for chunks of `size` bytes, which may have flags. */
static FORCE_INLINE uint32_t bin_of(const hfit_plan *plan, uint32_t size) {
    const uint32_t log2 = hfit_trailing_zeros(plan->alignment);
    const uint32_t before = BINS / 4 - ((uint32_t)CHUNK_LEAST >> log2);
    HFIT_ASSERT(size >= CHUNK_LEAST);
    if (size < plan->alignment * EXACT_GRANULES) {
        return before + (size >> log2);
    }
    const uint32_t width = 29 - hfit_leading_zeros(size); /* log2 of a fourth of a power of two */
    return before + 4 - 4 * log2 + 4 * width + (size >> width);
}

/* The last bin of a heap with this end: of the largest chunk that a request below it asks for. */
static inline uint32_t last_bin(const hfit_plan *plan, uint32_t end) {
    return bin_of(plan, end + HEADER_SIZE);
}

/* Where the first chunk begins if this is the last bin: behind the bin of the top. */
static FORCE_INLINE uint32_t first_chunk(const hfit_plan *plan, uint32_t bin) {
    const uint32_t mask = plan->alignment - 1;
    return ((4 * (bin + 2) + HEADER_SIZE + mask) & ~mask) - HEADER_SIZE;
}

/* The map's word with the bin's bit. */
static inline uint32_t map_of(uint32_t bin) {
    return MAPS + 4 * (bin >> 5);
}

/* The bits of lower bins are higher, so that the first of those that follow has zeros above it. */
static inline uint32_t bit_of(uint32_t bin) {
    return 1u << 31 >> (bin & 31);
}

/* Puts a free chunk, whose header is written, into its list. A damaged head is not written through:
 * what it led to is lost, as `check` tells from then on. */
static inline void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size) {
    const uint32_t bin = bin_of(plan, size);
    uint32_t first = load_link(heap, 4 * bin);
    if (CHECKS_WORDS &&
        !does_link_hold(heap, 4 * bin, first, load_word(heap, TOP) - LINK_PREVIOUS)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        first = NO_OFFSET;
    }
    list_push_before(heap, 4 * bin, first, chunk);
    if (first == NO_OFFSET) {
        const uint32_t map = map_of(bin);
        store_word(heap, map, load_word(heap, map) | bit_of(bin));
    }
}

/* Takes out of its list the chunk that these are the links of. */
static FORCE_INLINE void remove_linked(hfit_heap *heap, const list_links *links) {
    uint32_t link;
    if (join_links(heap, links, &link) && links->previous < load_word(heap, CHUNKS_FIRST)) {
        const uint32_t bin = link / 4;
        const uint32_t map = map_of(bin);
        store_word(heap, map, load_word(heap, map) & ~bit_of(bin));
    }
}

/* Takes a chunk out of its list, whichever that is. */
static void index_remove(hfit_heap *heap, uint32_t chunk) {
    list_links links;
    load_links(heap, chunk, &links);
    remove_linked(heap, &links);
}

/* What is to serve a request: a chunk, and its header as it stands. */
typedef struct found_chunk {
    uint32_t offset; /* NO_OFFSET if the top is to serve */
    uint32_t word;
    uint32_t top; /* where words are checked */
} found_chunk;

/* Stores the chunk that a link leads to. From safety level 1 on of no free chunk, if it leads to no
 * word before the top: that is for the caller to judge, as any damage is. */
static FORCE_INLINE void load_linked(const hfit_heap *heap, uint32_t link, found_chunk *found) {
    const bool is_inside = !CHECKS_WORDS || is_word_below(link, found->top - LINK_NEXT);
    found->offset = link;
    found->word = is_inside ? load_word(heap, link) : 0;
}

/* Stores one of the first two chunks in the class of `size` bytes, else the first of the next
 * class. `size` is less than the heap's end. */
static FORCE_INLINE void index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                    found_chunk *found) {
    found->top = CHECKS_WORDS ? load_word(heap, TOP) : 0;
    uint32_t bin = bin_of(plan, size);
    uint32_t link = load_link(heap, 4 * bin);
    for (uint32_t left = PROBES; left > 0 && link != NO_OFFSET; left--) {
        HFIT_LOOP_AT_MOST(PROBES);
        load_linked(heap, link, found);
        if (rough_size(found->word) >= size) {
            return;
        }
        link = load_link_field(heap, link, LINK_NEXT);
    }
    uint32_t from = bin + 1;
    uint32_t map = load_word(heap, map_of(bin)) << (bin & 31) << 1;
    while (map == 0) {
        HFIT_LOOP_AT_MOST(MAP_WORDS - 1);
        bin = (bin | 31) + 1;
        from = bin;
        map = load_word(heap, map_of(bin));
    }
    link = load_link(heap, 4 * (from + hfit_leading_zeros(map)));
    found->offset = NO_OFFSET;
    if (link != NO_OFFSET) {
        load_linked(heap, link, found);
    }
}

#endif
