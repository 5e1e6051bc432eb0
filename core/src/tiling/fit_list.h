/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two allocators of Cebeci 2019 share: free lists that are searched first fit, with
 * insertion by address, the sizes on them and their check; and two tunables.
 */
#ifndef HFIT_FIT_LIST_H
#define HFIT_FIT_LIST_H

#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/chunk.h"

enum { LARGEST_HEADER = 64, LARGEST_LEAST_SPLIT = 4096 };

#define HFIT_HEADER_SIZE_TUNABLE(plan_type)                                                        \
    {                                                                                              \
        "header_size", "Bytes before each block, a multiple of 4; the report has 24.",             \
            HFIT_SCALAR, offsetof(plan_type, header_size), WORD_SIZE, LARGEST_HEADER, WORD_SIZE,   \
            HFIT_AMOUNT                                                                            \
    }

#define HFIT_LEAST_SPLIT_TUNABLE(plan_type)                                                        \
    {                                                                                              \
        "least_split",                                                                             \
            "The least bytes left over from a chunk that are split off; 0: as few as can be a "    \
            "chunk.",                                                                              \
            HFIT_SCALAR, offsetof(plan_type, least_split), 0, LARGEST_LEAST_SPLIT, 0, HFIT_AMOUNT  \
    }

static inline bool is_header_size_allowed(uint32_t size) {
    return size >= WORD_SIZE && size <= LARGEST_HEADER && size % WORD_SIZE == 0;
}

/* Puts `chunk` before the first one that lies behind it. A link that leads to no word is neither
 * followed nor written through: what it led to is lost, as `check` tells from then on. */
static inline void list_insert_by_address(hfit_heap *heap, uint32_t head, uint32_t chunk) {
    uint32_t place = head;
    uint32_t next = load_link(heap, head);
    while (next > place && (HFIT_SAFETY < 1 ? next < chunk : is_word_below(next, chunk))) {
        place = next + LINK_NEXT; /* NO_OFFSET is 0, so above nothing */
        next = load_link_field(heap, next, LINK_NEXT);
    }
    if (HFIT_SAFETY >= 1 && !does_link_hold(heap, place, next, load_word(heap, TILING_END))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        next = NO_OFFSET;
    }
    store_link_field(heap, chunk, LINK_NEXT, next);
    store_previous(heap, chunk, place);
    store_link(heap, place, chunk);
    if (next != NO_OFFSET) {
        store_previous(heap, next, chunk + LINK_NEXT);
    }
}

/* Stores the first chunk of at least `size` bytes, still on the list; false if there is none. Where
 * a link leads out of the heap or links form a ring it stores NO_OFFSET. */
static inline bool list_search(const hfit_heap *heap, uint32_t head, uint32_t size, uint32_t end,
                               uint32_t *chunk) {
    uint32_t link = load_link(heap, head);
    for (uint32_t steps = end / CHUNK_LEAST; link != NO_OFFSET; steps--) {
        *chunk = HFIT_SAFETY >= 1 && steps == 0 ? NO_OFFSET : sound_offset(link, end);
        if (*chunk == NO_OFFSET || coded_header(load_word(heap, link)) > size) {
            return true;
        }
        link = load_link_field(heap, link, LINK_NEXT);
    }
    return false;
}

/* An array that takes the sizes of free chunks: all are counted, as many stored as it has room. */
typedef struct size_array {
    uint32_t *sizes;
    size_t room;
    size_t count;
} size_array;

static inline void add_size(size_array *array, uint32_t size) {
    if (array->count < array->room) {
        array->sizes[array->count] = size - (HFIT_SAFETY >= 3 ? HFIT_GUARD_A_BLOCK : 0);
    }
    array->count++;
}

/* Adds what each chunk on the list could serve. */
static inline void add_listed_sizes(const hfit_heap *heap, const hfit_plan *plan, uint32_t head,
                                    size_array *array) {
    uint32_t chunk = load_link(heap, head);
    for (; chunk != NO_OFFSET; chunk = load_link_field(heap, chunk, LINK_NEXT)) {
        add_size(array, chunk_size(load_header(heap, chunk)) - header_size(plan));
    }
}

/* Sizes of the chunks on one list, in bytes; both may be on it. */
typedef struct size_range {
    uint32_t lowest;
    uint32_t highest;
} size_range;

/* Chunks on the list, or UINT32_MAX if one of them is not a free chunk of such a size or
 * the links do not hold. At most `most` + 1 chunks are looked at. */
static inline uint32_t count_list(const hfit_heap *heap, const hfit_plan *plan, uint32_t head,
                                  size_range sizes, uint32_t most) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t place = head;
    uint32_t chunk = load_link(heap, head);
    uint32_t count = 0;
    for (; chunk != NO_OFFSET && count <= most; count++) {
        const uint32_t word = is_word_below(chunk, end) ? load_word(heap, chunk) : 0;
        const uint32_t size = chunk_size(coded_header(word));
        if ((word & CHUNK_FREE) == 0 || size > sizes.highest || size < sizes.lowest ||
            !is_free_chunk_sound(heap, plan, chunk, word, end) ||
            load_previous(heap, chunk) != place) {
            return UINT32_MAX;
        }
        place = chunk + LINK_NEXT;
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return count;
}

#endif
