/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunks of a tiling, looked at: their words, what an includer of tiling.h tells of them, and
 * what can be known of a chunk without a walk. Nothing here changes a heap. See tiling.h for the
 * layout.
 */
#ifndef HFIT_TILING_CHUNK_H
#define HFIT_TILING_CHUNK_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"

enum {
    TILING_FIRST = 0,     /* offset of the first chunk */
    TILING_END = 4,       /* offset of the sentinel */
    TILING_FOOTPRINT = 8, /* the heap's footprint so far, in bytes */
    TILING_TALLY = 12,    /* footprint plus used chunks, from safety level 1 on */
    TILING_INDEX = 16,    /* where the including allocator's own control words begin */
    WORD_SIZE = 4,
    CHUNK_LEAST = 16, /* header word, two links and the header again */
};

/* A chunk: where it lies, and its header. */
typedef struct tiling_chunk {
    uint32_t offset;
    uint32_t header;
} tiling_chunk;

/* A used chunk, and what stands behind it. */
typedef struct used_chunk {
    uint32_t offset;
    uint32_t header;
    uint32_t next_word; /* the header of the chunk behind it, or of the sentinel, as it stands */
} used_chunk;

/* What an includer defines. `end` is the offset of the sentinel, loaded once for all that is looked
 * at before something changes. */

/* Adds a free chunk of `size` bytes to the index; its header is written already. */
static inline void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size);

/* Takes a chunk of `size` bytes that is in the index out of it. */
static inline void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size);

/* For safety level 1: true if what index_remove would read and write for a free chunk of `size`
 * bytes holds. Constant time. */
static inline bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                               uint32_t size, uint32_t end);

/* Stores the free chunk in the index that is to serve `size` bytes. False if there is none. Where
 * the index is damaged it may store any word before `end`, for take_chunk to judge. */
static inline bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                              uint32_t end, uint32_t *chunk);

/* True if the index holds just the heap's free chunks, of which there are `free_count`. */
static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count);

/* False if free neighbours stay apart. */
static inline bool may_coalesce(const hfit_plan *plan);

/* Bytes from a chunk's start to its payload: 4 or more, a multiple of 4. */
static inline uint32_t header_size(const hfit_plan *plan);

/* The least bytes left over from a chunk that are split off as a chunk of their own; what is too
 * small to be a chunk never is. */
static inline uint32_t least_split(const hfit_plan *plan);

/* Bytes that a free chunk's words take: CHUNK_LEAST, or less of an index that keeps no links. */
static inline uint32_t free_words(const hfit_plan *plan);

static inline uint32_t chunk_size(uint32_t header) {
    return header & ~(uint32_t)(CHUNK_FREE | AFTER_FREE);
}

/* The header of a chunk, used or free. */
static inline uint32_t load_header(const hfit_heap *heap, uint32_t chunk) {
    const uint32_t word = load_word(heap, chunk);
    return (word & CHUNK_FREE) != 0 ? coded_header(word) : word;
}

/* The size of a free chunk whose header stands as this word, which was found sound. Where
 * neighbours coalesce it has no other flag, so its complement is its size. */
static inline uint32_t free_size(const hfit_plan *plan, uint32_t word) {
    return IS_CODED && may_coalesce(plan) ? ~word : chunk_size(coded_header(word));
}

/* What stands at the end of a free chunk with this header: the header's word again, but not whether
 * the chunk before it is free. Where neighbours coalesce it never is. */
static inline uint32_t footer_of(const hfit_plan *plan, uint32_t header) {
    return coded_header(may_coalesce(plan) ? header : header & ~(uint32_t)AFTER_FREE);
}

/* The word with AFTER_FREE, which it did not have. */
static inline uint32_t put_after_free(uint32_t word) {
    return IS_CODED ? word ^ AFTER_FREE : word | AFTER_FREE;
}

/* The word without AFTER_FREE, which it should have. */
static inline uint32_t put_after_used(const hfit_plan *plan, uint32_t word) {
    const bool is_coded = IS_CODED && !may_coalesce(plan) && (word & CHUNK_FREE) != 0;
    return is_coded ? word | AFTER_FREE : word & ~(uint32_t)AFTER_FREE;
}

/* The smallest chunk there is, in bytes: room for a free chunk's words, and for a byte behind the
 * header. No alignment exceeds CHUNK_LEAST. */
static inline uint32_t smallest_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    const uint32_t words = free_words(plan);
    const bool is_aligned = words == CHUNK_LEAST || plan->alignment <= words;
    return header_size(plan) < words && is_aligned ? words : (header_size(plan) + 1 + mask) & ~mask;
}

/* True if a chunk that has `room` bytes up to the sentinel can have this size. */
static FORCE_INLINE bool is_size_sound(const hfit_plan *plan, uint32_t size, uint32_t room) {
    return size >= smallest_chunk(plan) && size <= room && (size & (plan->alignment - 1)) == 0;
}

/* A link of the index, which is to lead to a chunk. From safety level 1 on NO_OFFSET, where there
 * is none, if it leads out of the heap. */
static FORCE_INLINE uint32_t sound_offset(uint32_t link, uint32_t end) {
    return HFIT_SAFETY < 1 || is_word_below(link, end) ? link : NO_OFFSET;
}

/* True if a chunk could begin at `offset`. */
static FORCE_INLINE bool is_chunk_offset(const hfit_heap *heap, const hfit_plan *plan,
                                         uint32_t offset, uint32_t end) {
    return offset >= load_word(heap, TILING_FIRST) && offset < end &&
           ((offset + header_size(plan)) & (plan->alignment - 1)) == 0;
}

/* True if a chunk whose header stands as this word, which says that it is free, has room, a footer
 * that agrees, and a place in the index. Its size is for the caller to compare with the least. */
static inline bool is_free_chunk_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                       uint32_t word, uint32_t end) {
    const uint32_t header = coded_header(word);
    const uint32_t size = chunk_size(header);
    return size <= end - chunk &&
           load_word(heap, chunk + size - WORD_SIZE) == footer_of(plan, header) &&
           index_holds(heap, plan, chunk, size, end);
}

/* True if the chunk behind a used one, or the sentinel there, has a sound header and may be joined
 * with it if it is free. */
static inline bool is_next_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t next,
                                 uint32_t word, uint32_t end) {
    const bool is_free = (word & CHUNK_FREE) != 0;
    if (is_free && may_coalesce(plan)) {
        return free_size(plan, word) >= smallest_chunk(plan) &&
               is_free_chunk_sound(heap, plan, next, word, end);
    }
    const uint32_t size = is_free ? free_size(plan, word) : chunk_size(word);
    const uint32_t room = end - next;
    return size <= room && (size >= smallest_chunk(plan) || room == 0);
}

/* True if the chunk before `chunk` is not free, as `chunk`'s header tells, or may be joined with
 * it. */
static inline bool is_previous_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                     uint32_t header, uint32_t end) {
    if ((header & AFTER_FREE) == 0 || !may_coalesce(plan)) {
        return true;
    }
    const uint32_t footer = load_word(heap, chunk - WORD_SIZE);
    const uint32_t size = coded_header(footer) - CHUNK_FREE; /* odd if it is not free */
    const uint32_t previous = chunk - size;
    return is_word_below(previous, chunk) && load_word(heap, previous) == footer &&
           index_holds(heap, plan, previous, size, end);
}

/* Stores the used chunk that `block` is the payload of. From safety level 1 on false, told as
 * misuse, if there is none. Finds addresses outside the region, misaligned ones, free chunks and
 * most addresses that are not a payload's first. */
static FORCE_INLINE bool find_used_chunk(const hfit_heap *heap, const hfit_plan *plan,
                                         const void *block, uint32_t end, used_chunk *chunk) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    chunk->offset = (uint32_t)distance - header_size(plan);
    if (HFIT_SAFETY >= 1 &&
        (distance != (uint32_t)distance || !is_chunk_offset(heap, plan, chunk->offset, end))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    chunk->header = load_word(heap, chunk->offset);
    if (HFIT_SAFETY >= 1 && (chunk->header & CHUNK_FREE) != 0) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return false;
    }
    const uint32_t size = chunk_size(chunk->header);
    if (HFIT_SAFETY >= 1 && !is_size_sound(plan, size, end - chunk->offset)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    chunk->next_word = load_word(heap, chunk->offset + size);
    if (HFIT_SAFETY >= 1 && is_after_free(chunk->next_word)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    return true;
}

/* True but at safety level 2; there, if a walk over the chunks comes by `chunk`. What a program
 * wrote into a block to look like a header is not believed. */
static inline bool is_walked_by(const hfit_heap *heap, uint32_t chunk) {
    if (HFIT_SAFETY != 2) {
        return true;
    }
    uint32_t walked = load_word(heap, TILING_FIRST);
    while (walked < chunk) {
        walked += chunk_size(load_header(heap, walked)); /* the heap was checked before */
    }
    return walked == chunk;
}

/* As find_used_chunk, for a chunk that is about to be freed or resized: its neighbours are checked,
 * too. */
static INLINE_FOR_SPEED bool find_changeable_chunk(const hfit_heap *heap, const hfit_plan *plan,
                                                   const void *block, used_chunk *chunk) {
    const uint32_t end = HFIT_SAFETY >= 1 ? load_word(heap, TILING_END) : 0;
    if (!find_used_chunk(heap, plan, block, end, chunk)) {
        return false;
    }
    if (!is_walked_by(heap, chunk->offset)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    const uint32_t next = chunk->offset + chunk_size(chunk->header);
    if (HFIT_SAFETY >= 1 && !(is_next_sound(heap, plan, next, chunk->next_word, end) &&
                              is_previous_sound(heap, plan, chunk->offset, chunk->header, end))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block);
        return false;
    }
    return true;
}

/* True if a chunk, whose predecessor is free or not as told, is well formed. */
static bool is_chunk_sound(const hfit_heap *heap, const hfit_plan *plan, tiling_chunk chunk,
                           bool after_free, uint32_t end) {
    const uint32_t size = chunk_size(chunk.header);
    const bool is_free = (chunk.header & CHUNK_FREE) != 0;
    return is_size_sound(plan, size, end - chunk.offset) &&
           ((chunk.header & AFTER_FREE) != 0) == after_free &&
           !(is_free && after_free && may_coalesce(plan)) &&
           (!is_free ||
            load_word(heap, chunk.offset + size - WORD_SIZE) == footer_of(plan, chunk.header));
}

#endif
