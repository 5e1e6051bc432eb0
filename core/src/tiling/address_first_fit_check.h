/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `address_first_fit` believes of its caller from safety level 1 on, and whether the whole
 * heap is sound.
 */
#ifndef HFIT_ADDRESS_FIRST_FIT_CHECK_H
#define HFIT_ADDRESS_FIRST_FIT_CHECK_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/address_first_fit_words.h"

/* A used chunk, and the free ones around it. */
typedef struct used_chunk {
    uint32_t offset;
    uint32_t size;
    free_neighbours beside;
} used_chunk;

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, const void *block) {
    HFIT_ON_MISUSE(heap, kind, block);
    return false;
}

/* Stores the size of the chunk, which is free or not as told. False if it cannot be one. */
static FORCE_INLINE bool find_size(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                   bool is_free, uint32_t *size) {
    *size = is_free ? free_size(heap, chunk) : used_size(heap, chunk);
    return is_size_sound(plan, *size, load_word(heap, CHUNKS_END) - chunk);
}

/* True but at safety level 2; there, if a walk over the chunks comes by `chunk`. */
static inline bool is_walked_by(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    uint32_t free = next_free(heap, HEAD);
    uint32_t walked = first_chunk(plan);
    while (HFIT_SAFETY == 2 && walked < chunk) { /* the heap was checked before */
        const bool is_free = walked == free;
        free = is_free ? next_free(heap, walked) : free;
        walked += is_free ? free_size(heap, walked) : used_size(heap, walked);
    }
    return HFIT_SAFETY != 2 || walked == chunk;
}

/* True if no free chunk reaches into a used one, and what is behind it is the end, a free chunk or
 * a used one. */
static FORCE_INLINE bool is_apart(const hfit_heap *heap, const used_chunk *chunk, uint32_t end) {
    const uint32_t previous = chunk->beside.previous;
    const uint32_t next = chunk->offset + chunk->size;
    if ((previous != HEAD && free_size(heap, previous) > chunk->offset - previous) ||
        chunk->beside.next - 1 < next - 1) {
        return false;
    }
    if (!CHECKS_WORDS || next == end || next == chunk->beside.next) {
        return true;
    }
    const uint32_t word = load_word(heap, next);
    return (word & (HEADER_SIZE - 1)) == 0 && word > next && word <= end;
}

/* True if what a free of the chunk would change holds. */
static FORCE_INLINE bool are_neighbours_sound(const hfit_heap *heap, const hfit_plan *plan,
                                              const used_chunk *chunk, uint32_t end) {
    const free_neighbours *beside = &chunk->beside;
    return is_next_sound(plan, beside->next, chunk->offset + 1, end) &&
           (beside->previous == HEAD || is_chunk_offset(plan, beside->previous, end)) &&
           (beside->next != chunk->offset + chunk->size ||
            is_free_sound(heap, plan, beside->next, end));
}

/* Where words are checked all share one copy; else `free` has its own, and the others one. */
#if CHECKS_WORDS
#define FIND_USED CALL_FOR_SIZE
#define FIND_CHANGEABLE FORCE_INLINE
#else
#define FIND_USED FORCE_INLINE
#define FIND_CHANGEABLE CALL_FOR_SIZE
#endif

/* Stores the chunk that `block` is the payload of. From safety level 1 on false, told as misuse, if
 * it is not a live block's, or free chunks around it are damaged. */
static FIND_USED bool find_used(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                used_chunk *chunk) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap - HEADER_SIZE;
    const uint32_t end = HFIT_SAFETY >= 1 ? load_word(heap, CHUNKS_END) : 0;
    chunk->offset = (uint32_t)distance;
    if (HFIT_SAFETY >= 1 &&
        (distance != chunk->offset || !is_chunk_offset(plan, chunk->offset, end))) {
        return refuse(heap, HFIT_MISUSE_FOREIGN, block);
    }
    chunk->size = used_size(heap, chunk->offset);
    if (HFIT_SAFETY >= 1 && !is_size_sound(plan, chunk->size, end - chunk->offset)) {
        const bool is_free = (load_word(heap, chunk->offset) & 1) != 0;
        return refuse(heap, is_free ? HFIT_MISUSE_NOT_LIVE : HFIT_MISUSE_FOREIGN, block);
    }
    find_neighbours(heap, chunk->offset, &chunk->beside);
    if (CHECKS_WORDS && !are_neighbours_sound(heap, plan, chunk, end)) {
        return refuse(heap, HFIT_MISUSE_DAMAGED, block);
    }
    if (HFIT_SAFETY >= 1 &&
        !(is_apart(heap, chunk, end) && is_walked_by(heap, plan, chunk->offset))) {
        return refuse(heap, HFIT_MISUSE_FOREIGN, block);
    }
    return true;
}

/* The same, for all but free to call. */
static FIND_CHANGEABLE bool find_changeable(const hfit_heap *heap, const hfit_plan *plan,
                                            const void *block, used_chunk *chunk) {
    return find_used(heap, plan, block, chunk);
}

/* True if chunks tile the heap, and the list has just the free ones, which do not touch. Reads
 * nothing beyond the end. */
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, CHUNKS_END);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    uint32_t chunk = first_chunk(plan);
    uint32_t free = next_free(heap, HEAD);
    uint32_t used_count = 0;
    uint32_t size;
    if (end < chunk + least_chunk(plan) || last_end(plan, end) != end || footprint > end ||
        free_size(heap, HEAD) != head_size(end) || !is_next_sound(plan, free, chunk, end)) {
        return false;
    }
    for (; chunk != end; chunk += size) {
        const bool is_free = chunk == free;
        if (!find_size(heap, plan, chunk, is_free, &size) ||
            (is_free && !is_free_sound(heap, plan, chunk, end))) {
            return false;
        }
        free = is_free ? next_free(heap, chunk) : free;
        used_count += !is_free;
    }
    return free == NO_OFFSET && (!CHECKS_WORDS || load_word(heap, TALLY) == footprint + used_count);
}

#endif
