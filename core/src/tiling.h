/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks with boundary tags that tile a region: splitting, coalescing, resizing and walking, for
 * any allocator that keeps its free chunks in an index of its own.
 *
 *   0       4     8           12                first                                     end
 *   +-------+-----+-----------+------ ... ------+---------+---------+-- ...
 * --+-----------+----------+ | first | end | footprint | the index       | chunk   | chunk   | |
 * chunk     | sentinel |
 *   +-------+-----+-----------+------ ... ------+---------+---------+-- ...
 * --+-----------+----------+
 *
 *   a chunk       header   payload: a multiple of the alignment begins here
 *   used          | size+F | the caller's bytes ...                                      |
 *   free          | size+F | next free | previous free | ...                | size again |
 *
 * The header is a word; an allocator may say that it is longer, and what follows the word in it is
 * then not used but for the links.
 *
 * F: two flag bits, CHUNK_FREE and AFTER_FREE ("the chunk before me is free, so its size stands
 * just before me"). The sentinel is a used chunk of size 0. Sizes are multiples of the plan's
 * alignment and count the header.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines the static
 * functions declared below; what it gets are the contract's functions, all but `init` and
 * `smallest_region`.
 */
#ifndef HFIT_TILING_H
#define HFIT_TILING_H

#include "src/operations.h"
#include "src/region.h"

enum {
    TILING_FIRST = 0,     /* offset of the first chunk */
    TILING_END = 4,       /* offset of the sentinel */
    TILING_FOOTPRINT = 8, /* the heap's footprint so far, in bytes */
    TILING_INDEX = 12,    /* where the including allocator's own control words begin */
    WORD_SIZE = 4,
    CHUNK_LEAST = 16, /* header word, two links and the size again */
    CHUNK_FREE = 1,
    AFTER_FREE = 2,
};

/* Adds a free chunk of `size` bytes to the index; its header is written already. */
static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size);

/* Takes a chunk of `size` bytes that is in the index out of it. */
static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size);

/* Takes a free chunk of at least `size` bytes, rounded by index_round, out of the index. NO_OFFSET
 * if there is none. */
static uint32_t index_take(hfit_heap *heap, const hfit_plan *plan, uint32_t size);

/* True if the index holds just the heap's free chunks, of which there are `free_count`. */
static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count);

/* The chunk size to split off for a chunk that must have at least `size` bytes. */
static uint32_t index_round(const hfit_heap *heap, const hfit_plan *plan, uint32_t size);

/* False if free neighbours stay apart. */
static inline bool may_coalesce(const hfit_plan *plan);

/* Bytes from a chunk's start to its payload: 4 or more, a multiple of 4. */
static inline uint32_t header_size(const hfit_plan *plan);

/* The least bytes left over from a chunk that are split off as a chunk of their own; what is too
 * small to be a chunk never is. */
static inline uint32_t least_split(const hfit_plan *plan);

static inline uint32_t chunk_size(uint32_t header) {
    return header & ~(uint32_t)(CHUNK_FREE | AFTER_FREE);
}

static inline void set_flag(hfit_heap *heap, uint32_t chunk, uint32_t flag) {
    store_word(heap, chunk, load_word(heap, chunk) | flag);
}

static inline void clear_flag(hfit_heap *heap, uint32_t chunk, uint32_t flag) {
    store_word(heap, chunk, load_word(heap, chunk) & ~flag);
}

static inline void raise_footprint(hfit_heap *heap, uint32_t end) {
    const uint32_t footprint = end + WORD_SIZE; /* the next header is in use too */
    if (footprint > load_word(heap, TILING_FOOTPRINT)) {
        store_word(heap, TILING_FOOTPRINT, footprint);
    }
}

/* Writes a free chunk and puts it into the index. The next chunk's AFTER_FREE is the caller's
 * business. */
static void put_free_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                           uint32_t after_free) {
    store_word(heap, chunk, size | CHUNK_FREE | after_free);
    store_word(heap, chunk + size - WORD_SIZE, size);
    index_insert(heap, plan, chunk, size);
}

/* Makes `size` bytes at `chunk` free and joins them with their free neighbours. */
static void release_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                          uint32_t after_free) {
    const uint32_t next_header = load_word(heap, chunk + size);
    if ((next_header & CHUNK_FREE) != 0 && may_coalesce(plan)) {
        index_remove(heap, plan, chunk + size, chunk_size(next_header));
        size += chunk_size(next_header);
    } else {
        store_word(heap, chunk + size, next_header | AFTER_FREE);
    }
    if (after_free != 0 && may_coalesce(plan)) {
        const uint32_t previous_size = load_word(heap, chunk - WORD_SIZE);
        store_word(heap, chunk, CHUNK_FREE); /* left behind inside: tells a second free */
        chunk -= previous_size;
        index_remove(heap, plan, chunk, previous_size);
        size += previous_size;
        after_free = 0;
    }
    put_free_chunk(heap, plan, chunk, size, after_free);
}

/* The smallest chunk there is, in bytes: room for a free chunk's words, and for a byte behind the
 * header. */
static inline uint32_t smallest_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    const uint32_t least = (header_size(plan) + 1 + mask) & ~mask;
    return least < CHUNK_LEAST ? CHUNK_LEAST : least;
}

static inline bool is_worth_splitting(const hfit_plan *plan, uint32_t left) {
    return left >= smallest_chunk(plan) && left >= least_split(plan);
}

/* Makes `needed` of the `available` bytes at `chunk`, a free chunk out of the index, a used chunk;
 * the rest goes back to the index if it can be a chunk. */
static void use_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t available,
                      uint32_t needed, uint32_t after_free) {
    if (is_worth_splitting(plan, available - needed)) {
        store_word(heap, chunk, needed | after_free);
        put_free_chunk(heap, plan, chunk + needed, available - needed, 0);
    } else {
        needed = available;
        store_word(heap, chunk, needed | after_free);
        clear_flag(heap, chunk + needed, AFTER_FREE);
    }
    raise_footprint(heap, chunk + needed);
}

/* The used chunk that `block` is the payload of; NO_OFFSET, told as misuse, if there is none. Finds
 * addresses outside the region, misaligned ones, free chunks and most addresses that are not a
 * payload's first. */
static uint32_t used_chunk_of(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                              uint32_t *header) {
    const uint32_t end = load_word(heap, TILING_END);
    const uint32_t payload = offset_of(heap, block, end);
    if (payload < TILING_INDEX + header_size(plan) || (payload & (plan->alignment - 1)) != 0) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return NO_OFFSET;
    }
    const uint32_t chunk = payload - header_size(plan);
    *header = load_word(heap, chunk);
    const uint32_t size = chunk_size(*header);
    if ((*header & CHUNK_FREE) != 0 || size < smallest_chunk(plan) || size > end - chunk ||
        (size & (plan->alignment - 1)) != 0 || (load_word(heap, chunk + size) & AFTER_FREE) != 0) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, block);
        return NO_OFFSET;
    }
    return chunk;
}

/* Stores the smallest chunk that can hold `size` bytes. False if no region could. */
static bool smallest_chunk_for(const hfit_plan *plan, size_t size, uint32_t *smallest) {
    if (!round_size(size, header_size(plan), plan->alignment, smallest)) {
        return false;
    }
    if (*smallest < smallest_chunk(plan)) {
        *smallest = smallest_chunk(plan);
    }
    return true;
}

/* Offset of the first chunk behind `control_size` bytes of control words. */
static uint32_t first_chunk(const hfit_plan *plan, uint32_t control_size) {
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

/* Lays one free chunk over the region. The index must be initialised and empty. */
static void tile_region(hfit_heap *heap, const hfit_plan *plan, size_t region_size,
                        uint32_t control_size) {
    const uint32_t first = first_chunk(plan, control_size);
    const uint32_t end = sentinel_of(plan, region_size);
    store_word(heap, TILING_FIRST, first);
    store_word(heap, TILING_END, end);
    store_word(heap, TILING_FOOTPRINT, first + WORD_SIZE);
    store_word(heap, end, AFTER_FREE);
    put_free_chunk(heap, plan, first, end - first, 0);
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t smallest;
    if (!smallest_chunk_for(plan, size, &smallest)) {
        return NULL;
    }
    const uint32_t needed = index_round(heap, plan, smallest);
    const uint32_t chunk = index_take(heap, plan, needed);
    if (chunk == NO_OFFSET) {
        return NULL;
    }
    const uint32_t header = load_word(heap, chunk);
    use_chunk(heap, plan, chunk, chunk_size(header), needed, header & AFTER_FREE);
    return block_at(heap, chunk + header_size(plan));
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    uint32_t header;
    if (block == NULL) {
        return;
    }
    const uint32_t chunk = used_chunk_of(heap, plan, block, &header);
    if (chunk != NO_OFFSET) {
        release_chunk(heap, plan, chunk, chunk_size(header), header & AFTER_FREE);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* Cuts a used chunk down to `needed` bytes where the rest can be a chunk. */
static void shrink_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t header,
                         uint32_t needed) {
    const uint32_t size = chunk_size(header);
    if (size < needed || !is_worth_splitting(plan, size - needed)) {
        return;
    }
    store_word(heap, chunk, needed | (header & AFTER_FREE));
    release_chunk(heap, plan, chunk + needed, size - needed, 0);
}

/* Joins a used chunk with the free one behind it if that makes at least `smallest` bytes, and cuts
 * it at `needed`. False, and nothing changed, if it does not. */
static bool grow_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t header,
                       uint32_t smallest, uint32_t needed) {
    const uint32_t next = chunk + chunk_size(header);
    const uint32_t next_header = load_word(heap, next);
    const uint32_t together = chunk_size(header) + chunk_size(next_header);
    if ((next_header & CHUNK_FREE) == 0 || together < smallest || !may_coalesce(plan)) {
        return false;
    }
    index_remove(heap, plan, next, chunk_size(next_header));
    use_chunk(heap, plan, chunk, together, needed < together ? needed : together,
              header & AFTER_FREE);
    return true;
}

/* Moves a used chunk's payload to a new block of `size` bytes. */
static void *move_block(hfit_heap *heap, const hfit_plan *plan, void *block, uint32_t header,
                        size_t size) {
    void *moved = heap_alloc(heap, plan, size);
    if (moved != NULL) {
        const size_t usable = chunk_size(header) - header_size(plan);
        copy_payload(moved, block, usable < size ? usable : size);
        heap_free(heap, plan, block);
    }
    return moved;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t header;
    uint32_t smallest;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const uint32_t chunk = used_chunk_of(heap, plan, block, &header);
    if (chunk == NO_OFFSET || !smallest_chunk_for(plan, size, &smallest)) {
        return NULL;
    }
    const uint32_t needed = index_round(heap, plan, smallest);
    if (smallest <= chunk_size(header)) {
        shrink_chunk(heap, plan, chunk, header, needed);
        return block;
    }
    if (grow_chunk(heap, plan, chunk, header, smallest, needed)) {
        return block;
    }
    return move_block(heap, plan, block, header, size);
}

/* Bytes from `chunk` to the first chunk behind it whose payload is aligned: 0, or enough for a free
 * chunk. */
static uint32_t aligning_gap(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                             uint32_t alignment) {
    uint32_t gap = alignment_gap(heap, chunk + header_size(plan), alignment);
    while (gap != 0 && gap < smallest_chunk(plan)) {
        gap += alignment;
    }
    return gap;
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    uint32_t smallest;
    uint32_t room;
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    if (alignment <= plan->alignment) {
        return heap_alloc(heap, plan, size);
    }
    if (!smallest_chunk_for(plan, size, &smallest)) {
        return NULL;
    }
    const uint32_t needed = index_round(heap, plan, smallest);
    if (!round_size(needed, (uint32_t)alignment + smallest_chunk(plan), plan->alignment, &room)) {
        return NULL;
    }
    const uint32_t found = index_take(heap, plan, index_round(heap, plan, room));
    if (found == NO_OFFSET) {
        return NULL;
    }
    const uint32_t header = load_word(heap, found);
    const uint32_t available = chunk_size(header);
    const uint32_t gap = aligning_gap(heap, plan, found, (uint32_t)alignment);
    if (gap != 0) {
        put_free_chunk(heap, plan, found, gap, header & AFTER_FREE);
    }
    use_chunk(heap, plan, found + gap, available - gap, needed,
              gap != 0 ? (uint32_t)AFTER_FREE : header & AFTER_FREE);
    return block_at(heap, found + gap + header_size(plan));
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    uint32_t header;
    if (block == NULL || used_chunk_of(heap, plan, block, &header) == NO_OFFSET) {
        return 0;
    }
    return chunk_size(header) - header_size(plan);
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t chunk = load_word(heap, TILING_FIRST);
    while (chunk < end) {
        const uint32_t header = load_word(heap, chunk);
        visitor(context, block_at(heap, chunk + header_size(plan)),
                chunk_size(header) - header_size(plan), (header & CHUNK_FREE) == 0);
        chunk += chunk_size(header);
    }
}

/* True if a chunk at `chunk`, whose predecessor is free or not as told, is well formed. */
static bool is_chunk_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                           uint32_t end, bool after_free) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t size = chunk_size(header);
    const bool is_free = (header & CHUNK_FREE) != 0;
    return size >= smallest_chunk(plan) && size <= end - chunk &&
           (size & (plan->alignment - 1)) == 0 && ((header & AFTER_FREE) != 0) == after_free &&
           !(is_free && after_free && may_coalesce(plan)) &&
           (!is_free || load_word(heap, chunk + size - WORD_SIZE) == size);
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t chunk = load_word(heap, TILING_FIRST);
    uint32_t free_count = 0;
    bool after_free = false;
    while (chunk < end) {
        if (!is_chunk_sound(heap, plan, chunk, end, after_free)) {
            return false;
        }
        const uint32_t header = load_word(heap, chunk);
        after_free = (header & CHUNK_FREE) != 0;
        free_count += after_free;
        chunk += chunk_size(header);
    }
    return load_word(heap, end) == (after_free ? (uint32_t)AFTER_FREE : 0) &&
           load_word(heap, TILING_FOOTPRINT) <= end + WORD_SIZE &&
           index_check(heap, plan, free_count);
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, TILING_FOOTPRINT);
}

#endif
