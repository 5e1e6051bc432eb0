/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `good_fit` believes of its caller and of its own words: nothing is checked at safety level
 * 0, and from level 1 on the address, the chunk and all that the call is about to change; and
 * whether the whole heap is sound.
 */
#ifndef HFIT_GOOD_FIT_CHECK_H
#define HFIT_GOOD_FIT_CHECK_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/good_fit_words.h"
#include "src/tiling/good_fit_index.h"

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, const void *block) {
    HFIT_ON_MISUSE(heap, kind, block);
    return false;
}

/* True if a chunk before the top whose header stands as this word has room for a free one and a
 * used one behind it, and the header stands again. */
static FORCE_INLINE bool is_whole(const hfit_heap *heap, uint32_t chunk, uint32_t word,
                                  uint32_t top) {
    const uint32_t size = free_size(word);
    return (size & (WORD_SIZE - 1)) == 0 && size >= CHUNK_LEAST && size < top - chunk &&
           load_word(heap, chunk + size - HEADER_SIZE) == word;
}

static bool is_free_sound(const hfit_heap *heap, uint32_t chunk, uint32_t word, uint32_t top) {
    return is_whole(heap, chunk, word, top) && do_links_hold(heap, chunk, top - LINK_NEXT);
}

/* Takes a free chunk out of its list. False, and nothing changed, if its links do not lead back. */
static FORCE_INLINE bool take_out_here(hfit_heap *heap, uint32_t chunk, uint32_t top) {
    list_links links;
    if (!CHECKS_WORDS) {
        index_remove(heap, chunk);
        return true;
    }
    const uint32_t end = top - LINK_PREVIOUS;
    load_links(heap, chunk, &links);
    if (!are_links_sound(heap, chunk, &links, end, end)) {
        return false;
    }
    remove_linked(heap, &links);
    return true;
}

#if CHECKS_WORDS
/* The same, for all but alloc to call. */
static CALL_FOR_SIZE bool take_out(hfit_heap *heap, uint32_t chunk, uint32_t top) {
    return take_out_here(heap, chunk, top);
}
#else
#define take_out take_out_here
#endif

/* True if a free chunk with this header's word as its last one may lie before `chunk`. */
static FORCE_INLINE bool is_previous(const hfit_heap *heap, uint32_t chunk, uint32_t word) {
    const uint32_t previous = chunk - free_size(word);
    return !CHECKS_WORDS || (is_word_below(previous, chunk - CHUNK_LEAST + WORD_SIZE) &&
                             load_word(heap, previous) == word);
}

/* True but at safety level 2; there, if a walk over the chunks comes by `chunk`. */
static inline bool is_walked_by(const hfit_heap *heap, uint32_t chunk) {
    if (HFIT_SAFETY != 2) {
        return true;
    }
    uint32_t walked = load_word(heap, CHUNKS_FIRST);
    while (walked < chunk) {
        const uint32_t word = load_word(heap, walked); /* the heap was checked before */
        walked += (word & CHUNK_FREE) != 0 ? free_size(word) : chunk_size(word);
    }
    return walked == chunk;
}

/* A used chunk, its header, and what is behind it: where the top begins, and the first word of the
 * chunk that ends there, 0 if that is the top. */
typedef struct used_chunk {
    uint32_t offset;
    uint32_t header;
    uint32_t top;
    uint32_t behind;
} used_chunk;

static FORCE_INLINE void load_behind(const hfit_heap *heap, used_chunk *chunk) {
    const uint32_t next = chunk->offset + chunk_size(chunk->header);
    chunk->top = load_word(heap, TOP);
    chunk->behind = next == chunk->top ? 0 : load_word(heap, next);
}

/* True if the chunk is a used one, and what is behind it, the top or a chunk, does not tell that it
 * is free. Of two free neighbours the one behind it is sound, then. Else stores what is wrong. */
static FORCE_INLINE bool is_used_sound(const hfit_heap *heap, const hfit_plan *plan,
                                       used_chunk *chunk, hfit_misuse *misuse) {
    const uint32_t size = chunk_size(chunk->header);
    const uint32_t next = chunk->offset + size;
    const uint32_t top = chunk->top;
    *misuse = (chunk->header & CHUNK_FREE) != 0 ? HFIT_MISUSE_NOT_LIVE : HFIT_MISUSE_FOREIGN;
    if ((chunk->header & CHUNK_FREE) != 0 || size < CHUNK_LEAST || size > top - chunk->offset ||
        (size & (plan->alignment - 1)) != 0) {
        return false;
    }
    chunk->behind = 0;
    if (next != top) {
        const uint32_t word = load_word(heap, next);
        chunk->behind = word;
        if (is_after_free(word)) {
            return false;
        }
        *misuse = HFIT_MISUSE_DAMAGED;
        if (CHECKS_WORDS &&
            ((word & CHUNK_FREE) == 0
                 ? chunk_size(word) > top - next
                 : (chunk->header & AFTER_FREE) != 0 && !is_free_sound(heap, next, word, top))) {
            return false;
        }
    }
    *misuse = HFIT_MISUSE_FOREIGN;
    return is_walked_by(heap, chunk->offset);
}

/* Stores the chunk that `block` is the payload of. From safety level 1 on false, told as misuse, if
 * it is not a live block's. */
static FORCE_INLINE bool find_used(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                   used_chunk *chunk) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap - HEADER_SIZE;
    chunk->offset = (uint32_t)distance;
    if (HFIT_SAFETY < 1) {
        chunk->header = load_word(heap, chunk->offset);
        return true;
    }
    const uint32_t first = load_word(heap, CHUNKS_FIRST);
    hfit_misuse misuse;
    chunk->top = load_word(heap, TOP);
    if (distance - first >= chunk->top - first ||
        ((chunk->offset + HEADER_SIZE) & (plan->alignment - 1)) != 0) {
        return refuse(heap, HFIT_MISUSE_FOREIGN, block);
    }
    chunk->header = load_word(heap, chunk->offset);
    return is_used_sound(heap, plan, chunk, &misuse) || refuse(heap, misuse, block);
}

/* As find_used, and what is free on either side of the chunk is sound, too. */
static CALL_FOR_SIZE bool find_changeable(const hfit_heap *heap, const hfit_plan *plan,
                                          const void *block, used_chunk *chunk) {
    if (!find_used(heap, plan, block, chunk)) {
        return false;
    }
    if (!CHECKS_WORDS) {
        return true;
    }
    uint32_t beside = chunk->offset + chunk_size(chunk->header);
    uint32_t word = chunk->behind;
    if ((chunk->header & AFTER_FREE) != 0) {
        word = load_word(heap, chunk->offset - HEADER_SIZE);
        beside = chunk->offset - free_size(word);
        if (!is_previous(heap, chunk->offset, word)) {
            return refuse(heap, HFIT_MISUSE_DAMAGED, block);
        }
    }
    return (word & CHUNK_FREE) == 0 || is_free_sound(heap, beside, word, chunk->top) ||
           refuse(heap, HFIT_MISUSE_DAMAGED, block);
}

/* Chunks in one bin, or UINT32_MAX if one of them is not a free chunk of this class or the links do
 * not hold. At most `most` + 1 chunks are looked at, so a ring of links ends. */
static uint32_t count_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t bin,
                          uint32_t most) {
    const uint32_t top = load_word(heap, TOP);
    uint32_t place = 4 * bin;
    uint32_t count = 0;
    for (uint32_t chunk = load_link(heap, 4 * bin); chunk != NO_OFFSET && count <= most; count++) {
        if (!is_word_below(chunk, top) || chunk < load_word(heap, CHUNKS_FIRST)) {
            return UINT32_MAX;
        }
        const uint32_t word = load_word(heap, chunk);
        if (!is_free_sound(heap, chunk, word, top) || bin_of(plan, free_size(word)) != bin ||
            load_previous(heap, chunk) != place) {
            return UINT32_MAX;
        }
        place = chunk + LINK_NEXT;
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return count;
}

/* True if the bins hold so many chunks, and the maps tell which have any. */
static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t none = last_bin(plan, load_word(heap, CHUNKS_END)) + 1;
    uint32_t found = 0;
    for (uint32_t bin = BINS / 4; bin < 32 * MAP_WORDS; bin++) {
        const bool is_bin = bin <= none;
        const uint32_t count = is_bin ? count_bin(heap, plan, bin, free_count) : 0;
        const bool is_marked = (load_word(heap, map_of(bin)) & bit_of(bin)) != 0;
        if (count > free_count || (bin == none && count != 0) ||
            is_marked != (count != 0 || bin == none)) {
            return false;
        }
        found += count;
    }
    return found == free_count;
}

/* Stores how many chunks are free. False if chunks do not tile the heap up to the top, do not agree
 * with their neighbours, or are not as many used ones as were counted. */
static bool are_chunks_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t first,
                             uint32_t top, uint32_t *free_count) {
    bool after_free = false;
    uint32_t used = 0;
    *free_count = 0;
    for (uint32_t chunk = first; chunk != top;) {
        const uint32_t word = load_word(heap, chunk);
        const bool is_free = (word & CHUNK_FREE) != 0;
        const uint32_t size = is_free ? free_size(word) : chunk_size(word);
        if (size < CHUNK_LEAST || size > top - chunk || (size & (plan->alignment - 1)) != 0 ||
            is_after_free(word) != after_free ||
            (is_free && (after_free || !is_free_sound(heap, chunk, word, top)))) {
            return false;
        }
        *free_count += is_free;
        used += CHECKS_WORDS && !is_free;
        after_free = is_free;
        chunk += size;
    }
    return !after_free && load_word(heap, MAPS) / ONE_USED == used % (UINT32_MAX / ONE_USED + 1);
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, CHUNKS_END);
    const uint32_t top = load_word(heap, TOP);
    const uint32_t first = load_word(heap, CHUNKS_FIRST);
    uint32_t free_count;
    return end >= CHUNK_LEAST && end <= LARGEST_LIMIT &&
           ((end + HEADER_SIZE) & (plan->alignment - 1)) == 0 &&
           first == first_chunk(plan, last_bin(plan, end)) && first <= top && top <= end &&
           load_word(heap, FOOTPRINT) <= end &&
           are_chunks_sound(heap, plan, first, top, &free_count) &&
           index_check(heap, plan, free_count);
}

#endif
