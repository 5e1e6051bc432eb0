/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `address_first_fit`: control words, those of a chunk, and what is believed of them.
 *
 * A chunk is known by the offset of its header. At safety level 0 that holds its size. From level 1
 * on that of a used chunk holds the offset of the chunk's end, an even word, and both words of a
 * free chunk are coded (src/tiling/coded.h), which makes them odd and large: they never read as a
 * used chunk's header, whatever was freed, split or joined since. A small number of a program's own
 * is no end behind it.
 *
 * The head stands where a free chunk at offset 0 would have its `next`; that chunk's size, more
 * than anyone can ask for, ends every search, since the last `next` leads there.
 */
#ifndef HFIT_ADDRESS_FIRST_FIT_WORDS_H
#define HFIT_ADDRESS_FIRST_FIT_WORDS_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"

enum {
    HEAD = 0, /* the chunk at whose end a search ends */
    NEXT = 4, /* a field */
    CHUNKS_END = 8,
    FOOTPRINT = 12,
    TALLY = 16, /* footprint plus used chunks, from safety level 1 on */
    CONTROL_SIZE = 20,
    HEADER_SIZE = 4,
};

/* Free and used chunks that lie one behind the other around an offset. */
typedef struct free_neighbours {
    uint32_t previous; /* HEAD: there is none */
    uint32_t next;     /* NO_OFFSET: there is none */
} free_neighbours;

static FORCE_INLINE uint32_t least_chunk(const hfit_plan *plan) {
    return plan->alignment <= 8 ? 8 : plan->alignment;
}

static FORCE_INLINE uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    return ((CONTROL_SIZE + HEADER_SIZE + mask) & ~mask) - HEADER_SIZE;
}

/* The end of the last chunk up to `end`. */
static FORCE_INLINE uint32_t last_end(const hfit_plan *plan, uint32_t end) {
    return ((end + HEADER_SIZE) & ~(plan->alignment - 1)) - HEADER_SIZE;
}

/* Stores the bytes of the chunk that serves `size` bytes; false if no region could. The two sizes
 * that need care share a branch, and from 1 byte on no chunk is below the least. */
static FORCE_INLINE bool chunk_for(const hfit_plan *plan, size_t size, uint32_t *chunk) {
    if (size - 1 >= HFIT_LARGEST_BLOCK) {
        if (size != 0) {
            return false;
        }
        size = 1;
    }
    return round_below(size, HFIT_LARGEST_BLOCK + 1, HEADER_SIZE, plan->alignment, chunk);
}

/* The size of HEAD: more than anyone can ask for, and odd, so that nothing lies where it would end.
 * From level 1 on it tells the end of the chunks again, which a walk relies on. */
static FORCE_INLINE uint32_t head_size(uint32_t end) {
    return HFIT_SAFETY >= 1 ? ~((end + HEADER_SIZE) / 2) : UINT32_MAX;
}

_Static_assert(~((LARGEST_LIMIT + HEADER_SIZE) / 2) >= HFIT_LARGEST_BLOCK + HEADER_SIZE + 16,
               "no chunk that is asked for exceeds the head's size in the largest region");

/* Of a free chunk, or of HEAD. */
static FORCE_INLINE uint32_t free_size(const hfit_heap *heap, uint32_t chunk) {
    return coded(load_word(heap, chunk));
}

static FORCE_INLINE uint32_t next_free(const hfit_heap *heap, uint32_t chunk) {
    return load_link_field(heap, chunk, NEXT);
}

static FORCE_INLINE void store_free_size(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, chunk, coded(size));
}

static FORCE_INLINE void store_next(hfit_heap *heap, uint32_t chunk, uint32_t next) {
    store_link_field(heap, chunk, NEXT, next);
}

/* Of a used chunk; anything, if it is none. */
static FORCE_INLINE uint32_t used_size(const hfit_heap *heap, uint32_t chunk) {
    return load_word(heap, chunk) - (HFIT_SAFETY >= 1 ? chunk : 0);
}

static FORCE_INLINE void store_used_size(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, chunk, size + (HFIT_SAFETY >= 1 ? chunk : 0));
}

/* True if a chunk that has `room` bytes up to the end can have this size. */
static FORCE_INLINE bool is_size_sound(const hfit_plan *plan, uint32_t size, uint32_t room) {
    return size >= least_chunk(plan) && size <= room && (size & (plan->alignment - 1)) == 0;
}

/* True if a chunk may begin here. */
static FORCE_INLINE bool is_chunk_offset(const hfit_plan *plan, uint32_t offset, uint32_t end) {
    const uint32_t first = first_chunk(plan);
    return offset - first < end - first && ((offset + HEADER_SIZE) & (plan->alignment - 1)) == 0;
}

/* True if `next` may be the `next` of the free chunk before `offset`, where a chunk ends: it leads
 * behind it, or nowhere. */
static FORCE_INLINE bool is_next_sound(const hfit_plan *plan, uint32_t next, uint32_t offset,
                                       uint32_t end) {
    return next == NO_OFFSET || (next >= offset && is_chunk_offset(plan, next, end));
}

/* True if a free chunk has a size and a next that it may have. */
static FORCE_INLINE bool is_free_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                       uint32_t end) {
    const uint32_t size = free_size(heap, chunk);
    return is_size_sound(plan, size, end - chunk) &&
           is_next_sound(plan, next_free(heap, chunk), chunk + size + 1, end);
}

/* The last free chunk before `offset`, and that behind it; from safety level 1 on the walk ends,
 * too, where a link does not lead on to a word. */
static FORCE_INLINE void find_neighbours(const hfit_heap *heap, uint32_t offset,
                                         free_neighbours *found) {
    found->next = HEAD;
    do {
        found->previous = found->next;
        found->next = load_link(heap, found->previous + NEXT); /* shorter here than a field */
    } while (!CHECKS_WORDS ? found->next - 1 < offset          /* NO_OFFSET wraps */
                           : found->next > found->previous && is_word_below(found->next, offset));
}

#endif
