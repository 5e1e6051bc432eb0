/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks with boundary tags that tile a region: splitting, coalescing, resizing and walking, for
 * any allocator that keeps its free chunks in an index of its own.
 *
 *   0       4     8           12    16               first                     end
 *   +-------+-----+-----------+-----+------ ... -----+-------+-- ... --+-------+----------+
 *   | first | end | footprint | tally | the index    | chunk |         | chunk | sentinel |
 *   +-------+-----+-----------+-----+------ ... -----+-------+-- ... --+-------+----------+
 *
 *   a chunk       header   payload: a multiple of the alignment begins here
 *   used          | size+F | the caller's bytes ...                                      |
 *   free          | size+F | next free | previous free | ...              | size+F again |
 *
 * What lies in a free chunk is coded: see coded.h.
 *
 * The header is a word; an allocator may say that it is longer, and what follows the word in it is
 * then not used but for the links.
 *
 * F: two flag bits, CHUNK_FREE and AFTER_FREE ("the chunk before me is free, so its header stands
 * again just before me"). The sentinel is a used chunk of size 0. Sizes are multiples of the plan's
 * alignment and count the header.
 *
 * The tally is the footprint plus the number of used chunks, kept from safety level 1 on. With it
 * `check` finds a used chunk whose flipped size makes it end where a later one does.
 *
 * A source that includes this file first defines HFIT_THIS(operation) and HFIT_TELLS_USABLE, then
 * defines the static functions declared in chunk.h; what it gets are the functions of
 * src/operations/operations.h, all but heap_init and heap_smallest_region.
 */
#ifndef HFIT_TILING_H
#define HFIT_TILING_H

#include "hfit/descriptor.h"

#ifndef HFIT_TELLS_USABLE
#define HFIT_TELLS_USABLE 1
#endif

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/chunk.h"

/* For maps among the control words. */
static inline void set_flag(hfit_heap *heap, uint32_t word, uint32_t flag) {
    store_word(heap, word, load_word(heap, word) | flag);
}

static inline void clear_flag(hfit_heap *heap, uint32_t word, uint32_t flag) {
    store_word(heap, word, load_word(heap, word) & ~flag);
}

static inline void add_to_tally(hfit_heap *heap, uint32_t added) {
    if (HFIT_SAFETY >= 1) {
        store_word(heap, TILING_TALLY, load_word(heap, TILING_TALLY) + added);
    }
}

/* Returns by how much the footprint rose. */
static inline uint32_t raise_footprint(hfit_heap *heap, uint32_t end) {
    const uint32_t before = load_word(heap, TILING_FOOTPRINT);
    const uint32_t footprint = end + WORD_SIZE; /* the next header is in use too */
    if (footprint <= before) {
        return 0;
    }
    store_word(heap, TILING_FOOTPRINT, footprint);
    return footprint - before;
}

/* Writes a free chunk and puts it into the index. The next chunk's AFTER_FREE is the caller's
 * business. */
static INLINE_FOR_SPEED void put_free_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                            uint32_t header) {
    const uint32_t size = chunk_size(header);
    HFIT_ASSERT(size >= smallest_chunk(plan) && (header & CHUNK_FREE) != 0);
    store_word(heap, chunk, coded_header(header));
    store_word(heap, chunk + size - WORD_SIZE, footer_of(plan, header));
    index_insert(heap, plan, chunk, size);
}

/* Makes a used chunk free and joins it with its free neighbours. */
static FORCE_INLINE void release_chunk(hfit_heap *heap, const hfit_plan *plan, used_chunk chunk) {
    HFIT_ASSERT((chunk.header & CHUNK_FREE) == 0 && !is_after_free(chunk.next_word));
    uint32_t start = chunk.offset;
    uint32_t joined = chunk.header;
    const uint32_t next = chunk.offset + chunk_size(chunk.header);
    if ((chunk.next_word & CHUNK_FREE) != 0 && may_coalesce(plan)) {
        const uint32_t next_size = free_size(plan, chunk.next_word);
        index_remove(heap, plan, next, next_size);
        joined += next_size;
    } else {
        store_word(heap, next, put_after_free(chunk.next_word));
    }
    if ((chunk.header & AFTER_FREE) != 0 && may_coalesce(plan)) {
        const uint32_t footer = load_word(heap, start - WORD_SIZE);
        const uint32_t size = free_size(plan, footer);
        if (HFIT_SAFETY >= 1) {
            store_word(heap, start, footer); /* left behind inside: tells a second free */
        }
        start -= size;
        index_remove(heap, plan, start, size);
        joined += size + CHUNK_FREE - AFTER_FREE;
    } else {
        joined |= CHUNK_FREE;
    }
    put_free_chunk(heap, plan, start, joined);
    add_to_tally(heap, 0u - 1);
}

static inline bool is_worth_splitting(const hfit_plan *plan, uint32_t left) {
    return left >= smallest_chunk(plan) && left >= least_split(plan);
}

/* Takes what is to be a free chunk of at least `size` bytes out of the index, and stores its
 * header. From safety level 1 on false, told as damage, if there is no such chunk at its offset. */
static FORCE_INLINE bool take_chunk(hfit_heap *heap, const hfit_plan *plan, tiling_chunk *chunk,
                                    uint32_t size, uint32_t end) {
    const uint32_t word = load_word(heap, chunk->offset);
    const uint32_t header = coded_header(word);
    const bool is_large = (word & CHUNK_FREE) != 0 && header > size;
    if (HFIT_SAFETY >= 1 &&
        !(is_large && is_free_chunk_sound(heap, plan, chunk->offset, word, end))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        return false;
    }
    index_remove(heap, plan, chunk->offset, chunk_size(header));
    chunk->header = header;
    return true;
}

/* Makes `needed` bytes of a free chunk that is out of the index a used chunk; the rest goes back to
 * the index if it can be a chunk. Returns the offset behind the used one. */
static FORCE_INLINE uint32_t use_chunk(hfit_heap *heap, const hfit_plan *plan,
                                       const tiling_chunk *chunk, uint32_t needed) {
    HFIT_ASSERT(chunk_size(chunk->header) >= needed && needed >= smallest_chunk(plan));
    const uint32_t left = chunk_size(chunk->header) - needed;
    uint32_t used = chunk->header & ~(uint32_t)CHUNK_FREE;
    uint32_t next = chunk->offset + needed;
    if (is_worth_splitting(plan, left)) {
        used -= left;
        put_free_chunk(heap, plan, next, left | CHUNK_FREE);
    } else {
        next += left;
        store_word(heap, next, put_after_used(plan, load_word(heap, next)));
    }
    store_word(heap, chunk->offset, used);
    add_to_tally(heap, 1 + raise_footprint(heap, next));
    return next;
}

/* The size of the smallest chunk that can hold `size` bytes; 0 if no region could. No chunk is too
 * small for 1 byte, so 0 bytes need no care. */
static inline uint32_t smallest_chunk_for(const hfit_plan *plan, size_t size) {
    uint32_t smallest;
    if (!round_sum(size, header_size(plan), plan->alignment, &smallest)) {
        return 0;
    }
    return smallest < smallest_chunk(plan) ? smallest_chunk(plan) : smallest;
}

/* Offset of the first chunk behind `control_size` bytes of control words. */
static FORCE_INLINE uint32_t first_chunk(const hfit_plan *plan, uint32_t control_size) {
    const uint32_t mask = plan->alignment - 1;
    return ((control_size + header_size(plan) + mask) & ~mask) - header_size(plan);
}

/* Bytes of region that `control_size` bytes of control words and the smallest chunk take. */
static size_t smallest_tiling(const hfit_plan *plan, uint32_t control_size) {
    return first_chunk(plan, control_size) + smallest_chunk(plan) + WORD_SIZE;
}

/* Where the sentinel of a region of `region_size` bytes lies. */
static uint32_t sentinel_of(const hfit_plan *plan, size_t region_size) {
    const uint32_t after_header = header_size(plan) - WORD_SIZE;
    return (((uint32_t)region_size + after_header) & ~(plan->alignment - 1)) - header_size(plan);
}

/* Lays one free chunk over the region, from `first` to the sentinel at `end`. The index must be
 * initialised and empty. */
static void tile_region(hfit_heap *heap, const hfit_plan *plan, uint32_t first, uint32_t end) {
    HFIT_ASSERT(((first + header_size(plan)) & (plan->alignment - 1)) == 0 && first < end);
    const uint32_t footprint = first + WORD_SIZE;
    const uint32_t header = (end - first) | CHUNK_FREE;
    store_word(heap, TILING_FIRST, first);
    store_word(heap, TILING_END, end);
    store_word(heap, TILING_FOOTPRINT, footprint);
    store_word(heap, TILING_TALLY, footprint);
    store_word(heap, end, AFTER_FREE);
    put_free_chunk(heap, plan, first, header);
}

static void *alloc_block(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t found;
    const uint32_t needed = smallest_chunk_for(plan, size);
    const uint32_t end = load_word(heap, TILING_END);
    if (needed == 0 || !index_find(heap, plan, needed, end, &found)) {
        return NULL;
    }
    tiling_chunk chunk = {found, 0};
    if (!take_chunk(heap, plan, &chunk, needed, end)) {
        return NULL;
    }
    (void)use_chunk(heap, plan, &chunk, needed);
    return block_at(heap, chunk.offset + header_size(plan));
}

static FORCE_INLINE void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                            size_t *usable) {
    void *block = alloc_block(heap, plan, size);
    if (usable != NULL && block != NULL) {
        const uint32_t chunk = (uint32_t)((uintptr_t)block - (uintptr_t)heap) - header_size(plan);
        *usable = chunk_size(load_word(heap, chunk)) - header_size(plan);
    }
    return block;
}

static size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    used_chunk chunk;
    if (block == NULL || !find_changeable_chunk(heap, plan, block, &chunk)) {
        return 0;
    }
    release_chunk(heap, plan, chunk);
    return chunk_size(chunk.header) - header_size(plan);
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* Cuts a used chunk down to `needed` bytes where the rest can be a chunk. */
static void shrink_chunk(hfit_heap *heap, const hfit_plan *plan, used_chunk chunk,
                         uint32_t needed) {
    HFIT_ASSERT(chunk_size(chunk.header) >= needed);
    const uint32_t left = chunk_size(chunk.header) - needed;
    if (!is_worth_splitting(plan, left)) {
        return;
    }
    store_word(heap, chunk.offset, chunk.header - left);
    add_to_tally(heap, 1);
    const used_chunk rest = {chunk.offset + needed, left, chunk.next_word};
    release_chunk(heap, plan, rest);
}

/* Joins a used chunk with the free one behind it if that makes `needed` bytes, and cuts it there.
 * False, and nothing changed, if it does not. */
static bool grow_chunk(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk,
                       uint32_t needed) {
    const uint32_t next_size = chunk_size(coded_header(chunk->next_word));
    const tiling_chunk joined = {chunk->offset, chunk->header + next_size};
    if ((chunk->next_word & CHUNK_FREE) == 0 || chunk_size(joined.header) < needed ||
        !may_coalesce(plan)) {
        return false;
    }
    index_remove(heap, plan, chunk->offset + chunk_size(chunk->header), next_size);
    add_to_tally(heap, 0u - 1);
    (void)use_chunk(heap, plan, &joined, needed);
    return true;
}

/* Makes the block of a used chunk one of `size` bytes. */
static void *resize_chunk(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk,
                          size_t size) {
    void *block = block_at(heap, chunk->offset + header_size(plan));
    const uint32_t needed = smallest_chunk_for(plan, size);
    if (needed == 0) {
        return NULL;
    }
    if (needed <= chunk_size(chunk->header)) {
        shrink_chunk(heap, plan, *chunk, needed);
        return block;
    }
    if (grow_chunk(heap, plan, chunk, needed)) {
        return block;
    }
    return move_block(heap, plan, block, chunk_size(chunk->header) - header_size(plan), size);
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    used_chunk chunk;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!find_changeable_chunk(heap, plan, block, &chunk)) {
        return NULL;
    }
    return resize_chunk(heap, plan, &chunk, size);
}

/* Bytes from `chunk` to the first chunk behind it whose payload is aligned: 0, or enough for a free
 * chunk. */
static uint32_t aligning_gap(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                             uint32_t alignment) {
    uint32_t gap = alignment_gap(heap, chunk + header_size(plan), alignment);
    while (gap != 0 && gap < smallest_chunk(plan)) {
        HFIT_LOOP_AT_MOST(smallest_chunk(plan) / plan->alignment / 2); /* in steps of two */
        gap += alignment;
    }
    return gap;
}

/* Stores the free chunk before the sentinel. False if it does not hold `needed` bytes from its
 * first aligned payload on. A search for a chunk that does in any case passes by one that just
 * does, and a region that is just large enough has no other. */
static bool find_last_aligned(const hfit_heap *heap, const hfit_plan *plan, uint32_t alignment,
                              uint32_t needed, uint32_t *chunk) {
    const uint32_t end = load_word(heap, TILING_END);
    const uint32_t size = chunk_size(coded_header(load_word(heap, end - WORD_SIZE)));
    *chunk = sound_offset(end - size, end);
    return (load_word(heap, end) & AFTER_FREE) != 0 && size >= needed &&
           aligning_gap(heap, plan, *chunk, alignment) <= size - needed;
}

/* Cuts `gap` bytes, if any, off a free chunk that is out of the index; they go back to it. */
static void cut_front(hfit_heap *heap, const hfit_plan *plan, tiling_chunk *chunk, uint32_t gap) {
    if (gap != 0) {
        HFIT_ASSERT(gap < chunk_size(chunk->header));
        const uint32_t flags = chunk->header & (CHUNK_FREE | AFTER_FREE);
        put_free_chunk(heap, plan, chunk->offset, gap | flags);
        chunk->offset += gap;
        chunk->header = (chunk_size(chunk->header) - gap) | CHUNK_FREE | AFTER_FREE;
    }
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    uint32_t room;
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    if (alignment <= plan->alignment) {
        return heap_alloc(heap, plan, size);
    }
    const uint32_t needed = smallest_chunk_for(plan, size);
    if (needed == 0 ||
        !round_size(needed, (uint32_t)alignment + smallest_chunk(plan), plan->alignment, &room)) {
        return NULL;
    }
    uint32_t found;
    const uint32_t end = load_word(heap, TILING_END);
    if (!index_find(heap, plan, room, end, &found) &&
        !find_last_aligned(heap, plan, (uint32_t)alignment, needed, &found)) {
        return NULL;
    }
    tiling_chunk chunk = {found, 0};
    const uint32_t gap = aligning_gap(heap, plan, found, (uint32_t)alignment);
    if (!take_chunk(heap, plan, &chunk, gap + needed, end)) {
        return NULL;
    }
    cut_front(heap, plan, &chunk, gap);
    (void)use_chunk(heap, plan, &chunk, needed);
    return block_at(heap, chunk.offset + header_size(plan));
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    used_chunk chunk;
    if (block == NULL || !find_changeable_chunk(heap, plan, block, &chunk)) {
        return 0;
    }
    return chunk_size(chunk.header) - header_size(plan);
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t chunk = load_word(heap, TILING_FIRST);
    while (chunk < end) {
        const uint32_t header = load_header(heap, chunk);
        if (!is_size_sound(plan, chunk_size(header), end - chunk)) {
            return; /* damaged: `check` tells */
        }
        visitor(context, block_at(heap, chunk + header_size(plan)),
                chunk_size(header) - header_size(plan), (header & CHUNK_FREE) == 0);
        chunk += chunk_size(header);
    }
}

/* Reads nothing beyond the sentinel, even if END is damaged: the walk meets a size of 0 there. */
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, TILING_END);
    const uint32_t footprint = load_word(heap, TILING_FOOTPRINT);
    uint32_t chunk = load_word(heap, TILING_FIRST);
    uint32_t used_count = 0;
    uint32_t free_count = 0;
    bool after_free = false;
    if (!is_chunk_offset(heap, plan, chunk, end)) {
        return false;
    }
    while (chunk != end) {
        const uint32_t header = load_header(heap, chunk);
        if (!is_chunk_sound(heap, plan, (tiling_chunk){chunk, header}, after_free, end)) {
            return false;
        }
        after_free = (header & CHUNK_FREE) != 0;
        free_count += after_free;
        used_count += !after_free;
        chunk += chunk_size(header);
    }
    return load_word(heap, end) == (after_free ? (uint32_t)AFTER_FREE : 0) &&
           footprint <= end + WORD_SIZE &&
           (HFIT_SAFETY < 1 || load_word(heap, TILING_TALLY) == footprint + used_count) &&
           index_check(heap, plan, free_count);
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, TILING_FOOTPRINT);
}

/* What the descriptor tells of chunks (hfit_holes) where every one that is large enough serves. A
 * caller with any other plan than the build's would make smallest_chunk longer in firmware. (Word
 * by word: a copy of the whole would call memcpy.) */
static inline void tiling_holes(const hfit_plan *given, hfit_holes *holes) {
    const hfit_plan *plan = HFIT_PLAN_OF_BUILD(given);
    const uint32_t smallest = smallest_chunk(plan);
    const uint32_t split = least_split(plan) > smallest ? least_split(plan) : smallest;
    holes->header = header_size(plan);
    holes->smallest_chunk = smallest;
    holes->spare = split - plan->alignment;
    holes->class_log2 = 0;
    holes->is_by_address = false;
}

#endif
