/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap that grows from its bottom, whose chunks know their size and whose free chunks are linked
 * by address.
 *
 *   0      4       8            first              top            end
 *   +------+-------+----- ... --+-------+---------+--------------+
 *   | list | top   | end        | chunk | chunk   | not yet used |
 *   +------+-------+----- ... --+-------+---------+--------------+
 *
 *   used                | size | the caller's bytes ... |
 *   used, aligned by it | size | gap | -gap | the caller's bytes ... |   the size with LATE, if the
 *                                                                        gap is one alignment more
 *   free                | size | next free | ... |
 *
 * Nothing in a chunk tells whether it is free: the list does.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines the functions
 * declared below, take_aligned and heap_resize; what it gets are the others of the contract.
 */
#ifndef BASELINES_GROWN_CHUNKS_H
#define BASELINES_GROWN_CHUNKS_H

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"

enum {
    LIST = 0,
    TOP = 4, /* where the heap ends so far */
    END = 8, /* and may at most */
    CONTROL_SIZE = 12,
    SIZE = 0, /* fields of a chunk */
    NEXT = 4,
    HEAD = 4,
    UNIT = 4, /* sizes are multiples of it */
    LATE = 1, /* in a used chunk's size */
};

static inline uint32_t first_chunk(const hfit_plan *plan);

/* Stores the bytes of a chunk for a request. False if there are no such. */
static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed);

/* Bytes of the smallest chunk that is split off. */
static inline uint32_t least_chunk(const hfit_plan *plan);

/* A used chunk of at least so many bytes; NO_OFFSET if there is none. */
static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t needed);

static inline uint32_t size_at(const hfit_heap *heap, uint32_t chunk) {
    return load_word(heap, chunk + SIZE) & ~(uint32_t)LATE;
}

static inline uint32_t behind(const hfit_heap *heap, uint32_t chunk) {
    return chunk + size_at(heap, chunk);
}

/* The word that leads to the free chunk at or behind `place`. */
static uint32_t link_to(const hfit_heap *heap, uint32_t place) {
    uint32_t link = LIST;
    for (uint32_t at = load_word(heap, link); at != NO_OFFSET && at < place;
         at = load_word(heap, link)) {
        link = at + NEXT;
    }
    return link;
}

static void free_chunk(hfit_heap *heap, uint32_t chunk) {
    const uint32_t link = link_to(heap, chunk);
    const uint32_t next = load_word(heap, link);
    const uint32_t before = link == LIST ? NO_OFFSET : link - NEXT;
    uint32_t joined = chunk;
    if (before != NO_OFFSET && behind(heap, before) == chunk) {
        store_word(heap, before + SIZE, size_at(heap, before) + size_at(heap, chunk));
        joined = before;
    } else {
        store_word(heap, link, chunk);
        store_word(heap, chunk + NEXT, next);
    }
    if (next != NO_OFFSET && behind(heap, joined) == next) {
        store_word(heap, joined + SIZE, size_at(heap, joined) + size_at(heap, next));
        store_word(heap, joined + NEXT, load_word(heap, next + NEXT));
    }
}

/* A new chunk at the top; NO_OFFSET if the region has no room. */
static uint32_t grow(hfit_heap *heap, uint32_t size) {
    const uint32_t chunk = load_word(heap, TOP);
    if (size > load_word(heap, END) - chunk) {
        return NO_OFFSET;
    }
    store_word(heap, TOP, chunk + size);
    store_word(heap, chunk + SIZE, size);
    return chunk;
}

static inline uint32_t before_block(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    return HEAD + alignment_gap(heap, chunk + HEAD, plan->alignment);
}

/* The block in a chunk; a gap before it is told by the word before the block. */
static void *block_in(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    const uint32_t gap = before_block(heap, plan, chunk) - HEAD;
    if (gap != 0) {
        store_word(heap, chunk + gap, 0u - gap);
    }
    return block_at(heap, chunk + HEAD + gap);
}

/* The chunk of a live block; stores the bytes from the block to the chunk's end. */
static uint32_t chunk_of(const hfit_heap *heap, const void *block, uint32_t *usable) {
    const uint32_t place = (uint32_t)((uintptr_t)block - (uintptr_t)heap);
    const uint32_t word = load_word(heap, place - HEAD);
    const uint32_t chunk = (int32_t)word < 0 ? place - HEAD + word : place - HEAD;
    *usable = behind(heap, chunk) - place;
    return chunk;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, plan, needed);
    return chunk == NO_OFFSET ? NULL : block_in(heap, plan, chunk);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    uint32_t usable;
    if (block != NULL) {
        const uint32_t chunk = chunk_of(heap, block, &usable);
        const uint32_t place = (uint32_t)((uintptr_t)block - (uintptr_t)heap);
        if (place - HEAD - chunk >= plan->alignment) {
            store_word(heap, chunk + SIZE, size_at(heap, chunk)); /* no longer LATE */
        }
        free_chunk(heap, chunk);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the chunk tells */
    heap_free(heap, plan, block);
}

/* Gives back what a chunk has beyond `size` bytes, if that is a chunk. */
static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t end = behind(heap, chunk);
    if (end - chunk >= size + least_chunk(plan)) {
        store_word(heap, chunk + SIZE, size);
        store_word(heap, chunk + size + SIZE, end - chunk - size);
        free_chunk(heap, chunk + size);
    }
}

static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start) {
    const uint32_t end = behind(heap, chunk);
    (void)plan;
    store_word(heap, start + SIZE, end - start);
    store_word(heap, chunk + SIZE, start - chunk);
    free_chunk(heap, chunk);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    uint32_t usable = 0;
    (void)plan;
    if (block != NULL) {
        (void)chunk_of(heap, block, &usable);
    }
    return usable;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t top = load_word(heap, TOP);
    uint32_t next_free = load_word(heap, LIST);
    for (uint32_t chunk = first_chunk(plan); chunk < top; chunk = behind(heap, chunk)) {
        const bool is_used = chunk != next_free;
        const bool is_late = is_used && (load_word(heap, chunk + SIZE) & LATE) != 0;
        const uint32_t before = before_block(heap, plan, chunk) + (is_late ? plan->alignment : 0);
        const uint32_t size = size_at(heap, chunk); /* a free one may be too small for a block */
        visitor(context, block_at(heap, chunk + before), size < before ? 0 : size - before,
                is_used);
        next_free = is_used ? next_free : load_word(heap, chunk + NEXT);
    }
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t end = load_word(heap, END);
    uint32_t next_free = load_word(heap, LIST);
    uint32_t chunk = first_chunk(plan);
    bool after_free = false;
    if (top < chunk || top > end) {
        return false;
    }
    while (chunk < top) {
        const uint32_t size = size_at(heap, chunk);
        const bool is_free = chunk == next_free;
        if (size < HEAD + UNIT || size % UNIT != 0 || size > top - chunk ||
            (is_free && after_free)) {
            return false;
        }
        next_free = is_free ? load_word(heap, chunk + NEXT) : next_free;
        after_free = is_free;
        chunk += size;
    }
    return next_free == NO_OFFSET;
}

/* What was once the heap's stays so. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, TOP);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? first_chunk(plan) + least_chunk(plan) : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    store_word(heap, LIST, NO_OFFSET);
    store_word(heap, TOP, first_chunk(plan));
    store_word(heap, END, (uint32_t)region_size & ~(uint32_t)(UNIT - 1));
    return heap;
}

#endif
