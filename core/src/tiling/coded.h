/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a heap writes into its free chunks, so that it never reads as the header of a used one.
 *
 *                          says          from safety level 1 on stands as
 *   a link                 0x00000120    0xfffffedf
 *   a free chunk's header  0x00000041    0xffffffbf     size 64 and CHUNK_FREE
 *
 * These words stay behind in blocks: where chunks were joined or split, and where a program leaves
 * a block as it was handed out. An address before which one of them stands may be freed once more.
 * As a complement a link is odd, as is a free chunk's header, and either says a size that no region
 * has, even where a block's last bytes cover the word's lowest ones. So a second free is refused,
 * whatever was freed, split or joined since: decision 18.
 *
 * A header is negated, which is the complement of its size, and keeps its lowest bit, CHUNK_FREE.
 */
#ifndef HFIT_CODED_H
#define HFIT_CODED_H

#include "src/size.h"
#include "src/region.h"

/* An includer whose chunks are told apart by other means may define this as 0. */
#ifndef IS_CODED
#define IS_CODED (HFIT_SAFETY >= 1)
#endif

/* The flags of a header. */
enum {
    CHUNK_FREE = 1,
    AFTER_FREE = 2, /* the chunk before is free */
};

/* What stands for a word, and the word that something stands for. */
static FORCE_INLINE uint32_t coded(uint32_t word) {
    return IS_CODED ? ~word : word;
}

/* The same of a free chunk's header. */
static FORCE_INLINE uint32_t coded_header(uint32_t header) {
    return IS_CODED ? 0u - header : header;
}

/* True if a header that stands as this word says AFTER_FREE: negated, the flag is turned round. */
static FORCE_INLINE bool is_after_free(uint32_t word) {
    return ((IS_CODED ? word + CHUNK_FREE : word) & AFTER_FREE) != 0;
}

/* The link in the word at this offset, and in a chunk's word. */
static FORCE_INLINE uint32_t load_link(const hfit_heap *heap, uint32_t offset) {
    return coded(load_word(heap, offset));
}

static FORCE_INLINE uint32_t load_link_field(const hfit_heap *heap, uint32_t start,
                                             uint32_t field) {
    return coded(load_field(heap, start, field));
}

static FORCE_INLINE void store_link(hfit_heap *heap, uint32_t offset, uint32_t link) {
    store_word(heap, offset, coded(link));
}

static FORCE_INLINE void store_link_field(hfit_heap *heap, uint32_t start, uint32_t field,
                                          uint32_t link) {
    store_field(heap, start, field, coded(link));
}

#endif
