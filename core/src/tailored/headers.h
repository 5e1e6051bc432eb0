/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where chunks begin and which are free, in a word before each chunk's block, as boundary tags.
 *
 *   used chunk    | size+F | payload ...                             |
 *   free chunk    | size+F | words of the index | ...       | size+F |
 *                   entry                                     entry of the next chunk - 4
 *
 * Sizes are in granules, above two flag bits: CHUNK_FREE, and AFTER_FREE ("the chunk before me is
 * free, so its header stands again before mine"). The end of all chunks has the header of a used
 * chunk of no granules. A header of a used chunk that was joined with a free one before it is left
 * behind as that of a free one, from safety level 1 on, which tells a second free. What lies in a
 * free chunk is coded: see src/tiling/coded.h.
 */
#ifndef HFIT_TAILORED_HEADERS_H
#define HFIT_TAILORED_HEADERS_H

#include "src/size.h"
#include "src/region.h"
#include "src/tailored/heap.h"
#include "src/tiling/coded.h"

enum { SIZE_SHIFT = 2 };

/* The header as it stands, which is what it says if the chunk is used. */
static FORCE_INLINE uint32_t load_header(const hfit_heap *heap, const hfit_plan *plan,
                                         uint32_t chunk) {
    return load_word(heap, entry_of(plan, chunk));
}

static FORCE_INLINE void store_header(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                      uint32_t word) {
    store_word(heap, entry_of(plan, chunk), word);
}

/* How the header of a free chunk of so many granules stands. */
static FORCE_INLINE uint32_t free_header(uint32_t size) {
    return coded_header(size << SIZE_SHIFT | CHUNK_FREE);
}

/* The granules of a free chunk whose header stands as this word. */
static FORCE_INLINE uint32_t free_size(uint32_t word) {
    return coded_header(word) >> SIZE_SHIFT;
}

/* The word before the chunk's header, where that of a free chunk before it stands again. */
static FORCE_INLINE uint32_t footer_before(const hfit_plan *plan, uint32_t chunk) {
    return entry_of(plan, chunk) - HEADER_SIZE;
}

static inline void set_after_free(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                  bool after_free) {
    const uint32_t header = load_header(heap, plan, chunk) & ~(uint32_t)AFTER_FREE;
    store_header(heap, plan, chunk, header | (after_free ? (uint32_t)AFTER_FREE : 0));
}

/* The granule behind the chunk; it may be any number where the header was overwritten. */
static inline uint32_t header_end(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                  bool *is_free) {
    const uint32_t word = load_header(heap, plan, chunk);
    *is_free = (word & CHUNK_FREE) != 0;
    return chunk + (*is_free ? free_size(word) : word >> SIZE_SHIFT);
}

/* Writes a free chunk, whose neighbours are used. */
static inline void write_free(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                              uint32_t end) {
    HFIT_ASSERT(start < end && end - start >= least_chunk(plan));
    const uint32_t word = free_header(end - start);
    store_header(heap, plan, start, word);
    store_word(heap, footer_before(plan, end), word);
}

/* The five changes of bounds: see bounds.h. */

static inline void headers_use(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                               uint32_t behind, uint32_t end) {
    const bool after_free = is_after_free(load_header(heap, plan, start));
    store_header(heap, plan, start,
                 (behind - start) << SIZE_SHIFT | (after_free ? (uint32_t)AFTER_FREE : 0));
    if (behind != end) {
        write_free(heap, plan, behind, end);
    } else {
        set_after_free(heap, plan, end, false);
    }
}

static inline void headers_use_last(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                    uint32_t at, uint32_t end) {
    write_free(heap, plan, start, at);
    store_header(heap, plan, at, (end - at) << SIZE_SHIFT | AFTER_FREE);
    set_after_free(heap, plan, end, false);
}

static inline void headers_free(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    if (HFIT_SAFETY >= 1 && at->from != at->start) {
        store_header(heap, plan, at->start, free_header(at->end - at->start));
    }
    write_free(heap, plan, at->from, at->to);
    if (at->to == at->end) {
        set_after_free(heap, plan, at->end, true);
    }
}

static inline void headers_join(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    if (HFIT_SAFETY >= 1 && at->from != at->start) {
        store_header(heap, plan, at->start, free_header(at->end - at->start));
    }
    if (at->to == at->end) {
        set_after_free(heap, plan, at->end, true);
    }
}

static inline void headers_cut(hfit_heap *heap, const hfit_plan *plan, const place *at,
                               uint32_t behind) {
    const uint32_t rest = (at->end - behind) << SIZE_SHIFT;
    store_header(heap, plan, at->start, load_header(heap, plan, at->start) - rest);
    store_header(heap, plan, behind, rest);
}

/* True if a chunk with this header can begin `room` granules before the end of all chunks. */
static inline bool is_header_sound(const hfit_plan *plan, uint32_t header, uint32_t room) {
    const uint32_t size = header >> SIZE_SHIFT;
    return size <= room && (size >= least_chunk(plan) || (room == 0 && (header & CHUNK_FREE) == 0));
}

/* True if a free chunk whose header stands as this word begins at `chunk` and ends where it says.
 */
static inline bool is_free_headed(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                  uint32_t word, uint32_t room) {
    const uint32_t header = coded_header(word);
    return (header & (CHUNK_FREE | AFTER_FREE)) == CHUNK_FREE &&
           is_header_sound(plan, header, room) &&
           load_word(heap, footer_before(plan, chunk + (header >> SIZE_SHIFT))) == word;
}

/* True but at safety level 2; there, if a walk over the chunks comes by `chunk`. What a program
 * wrote into a block to look like a header is not believed. */
static inline bool is_walked_by(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    if (HFIT_SAFETY != 2) {
        return true;
    }
    uint32_t walked = load_word(heap, CHUNKS_FIRST);
    while (walked < chunk) {
        bool is_free;
        walked = header_end(heap, plan, walked, &is_free); /* the heap was checked before */
    }
    return walked == chunk;
}

/* Stores where the used chunk at `at->start`, a granule of the chunks, ends. From safety level 1 on
 * false, and what is wrong, if there is none. */
static inline bool headers_find(const hfit_heap *heap, const hfit_plan *plan, place *at,
                                hfit_misuse *misuse) {
    const uint32_t header = load_header(heap, plan, at->start);
    at->end = at->start + (header >> SIZE_SHIFT);
    if (HFIT_SAFETY < 1) {
        return true;
    }
    const uint32_t end = chunks_end(heap) >> granule_shift(plan);
    *misuse = (header & CHUNK_FREE) != 0 ? HFIT_MISUSE_NOT_LIVE : HFIT_MISUSE_FOREIGN;
    return (header & CHUNK_FREE) == 0 && is_header_sound(plan, header, end - at->start) &&
           !is_after_free(load_header(heap, plan, at->end)) && is_walked_by(heap, plan, at->start);
}

/* Stores how far the free neighbours reach. From safety level 1 on false if their words do not
 * hold. */
static INLINE_FOR_SPEED bool headers_look_around(const hfit_heap *heap, const hfit_plan *plan,
                                                 place *at) {
    const uint32_t next = load_header(heap, plan, at->end);
    const uint32_t end = CHECKS_WORDS ? chunks_end(heap) >> granule_shift(plan) : 0;
    at->to = at->end + ((next & CHUNK_FREE) != 0 ? free_size(next) : 0);
    at->from = at->start;
    if (CHECKS_WORDS &&
        !((next & CHUNK_FREE) != 0 ? is_free_headed(heap, plan, at->end, next, end - at->end)
                                   : is_header_sound(plan, next, end - at->end))) {
        return false;
    }
    if ((load_header(heap, plan, at->start) & AFTER_FREE) == 0) {
        return true;
    }
    const uint32_t footer = load_word(heap, footer_before(plan, at->start));
    at->from = at->start - free_size(footer);
    return !CHECKS_WORDS || (free_size(footer) <= at->start - load_word(heap, CHUNKS_FIRST) &&
                             load_header(heap, plan, at->from) == footer &&
                             is_free_headed(heap, plan, at->from, footer, at->start - at->from));
}

/* True if every header from `first` on fits what lies before it, up to the end's. */
static bool are_headers_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t first,
                              uint32_t end) {
    bool after_free = false;
    for (uint32_t chunk = first;;) {
        const uint32_t word = load_header(heap, plan, chunk);
        const bool is_free = (word & CHUNK_FREE) != 0;
        const uint32_t header = is_free ? coded_header(word) : word;
        if (is_after_free(word) != after_free || !is_header_sound(plan, header, end - chunk) ||
            (is_free && !is_free_headed(heap, plan, chunk, word, end - chunk))) {
            return false;
        }
        if (chunk == end) {
            return true;
        }
        after_free = is_free;
        chunk += header >> SIZE_SHIFT;
    }
}

#endif
