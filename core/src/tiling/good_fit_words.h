/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of `good_fit`: control words, and those of a chunk.
 *
 *   0               16    20    24          28      32
 *   +---------------+-----+-----+-----------+-------+---------------------------------+--------
 *   | maps, 4 words | end | top | footprint | first | bins: heads of the free lists   | chunks
 *   +---------------+-----+-----+-----------+-------+---------------------------------+--------
 *
 * A chunk is known by the offset of its header: its size in bytes and two flags, CHUNK_FREE and
 * AFTER_FREE. No two free chunks touch and none touches the top, so a free one has no other flag,
 * and its header stands again as its last word. Headers of free chunks and links are coded:
 * src/tiling/coded.h.
 *
 * The top has no header, and may have any size: it is what lies between `top` and `end`. The chunk
 * before it is used.
 *
 * The highest 8 bits of the first map are of bins that are control words. From safety level 1 on
 * they count used chunks, by which `check` finds one whose flipped size makes it end where a later
 * one does.
 */
#ifndef HFIT_GOOD_FIT_WORDS_H
#define HFIT_GOOD_FIT_WORDS_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"

enum {
    MAPS = 0,          /* first, so that the number of a bit needs no sum to be found */
    CHUNKS_END = 16,   /* offset of the end of all chunks */
    TOP = 20,          /* offset of the top */
    FOOTPRINT = 24,    /* the highest top that was lowered */
    CHUNKS_FIRST = 28, /* offset of the first chunk */
    BINS = 32,
    WORD_SIZE = 4,
    HEADER_SIZE = WORD_SIZE,
    CHUNK_LEAST = 16, /* header, two links and the header again */
};

enum { ONE_USED = 1 << 24 }; /* in the first map */

/* There are so many more used chunks, a negative number likewise. */
static FORCE_INLINE void count_used(hfit_heap *heap, uint32_t more) {
    if (CHECKS_WORDS) {
        store_word(heap, MAPS, load_word(heap, MAPS) + more * ONE_USED);
    }
}

static FORCE_INLINE uint32_t chunk_size(uint32_t header) {
    return header & ~(uint32_t)(CHUNK_FREE | AFTER_FREE);
}

/* How the header of a free chunk of this size stands. */
static FORCE_INLINE uint32_t free_word(uint32_t size) {
    return IS_CODED ? ~size : size | CHUNK_FREE;
}

/* How the header of one stands that has so many bytes more, a negative number likewise. */
static FORCE_INLINE uint32_t longer_word(uint32_t word, uint32_t more) {
    return IS_CODED ? word - more : word + more;
}

/* The size of a free chunk whose header stands as this word. */
static FORCE_INLINE uint32_t free_size(uint32_t word) {
    return IS_CODED ? ~word : word - CHUNK_FREE;
}

/* The same or, where that is cheaper, CHUNK_FREE more: for classes, and to be compared with sizes.
 */
static FORCE_INLINE uint32_t rough_size(uint32_t word) {
    return IS_CODED ? ~word : word;
}

/* Stores the bytes of the chunk that serves `size` bytes in a heap of `end` bytes. False if none
 * does. */
static FORCE_INLINE bool chunk_for(const hfit_plan *plan, size_t size, uint32_t end,
                                   uint32_t *chunk) {
    if (!round_below(size, end, HEADER_SIZE, plan->alignment, chunk)) {
        return false;
    }
    *chunk = *chunk < CHUNK_LEAST ? (uint32_t)CHUNK_LEAST : *chunk;
    return true;
}

#endif
