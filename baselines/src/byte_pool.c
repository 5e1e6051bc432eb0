/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See baselines/byte_pool.h.
 *
 *   0        4           8        12          16     24                         end
 *   +--------+-----------+--------+-----------+------+-------+-- ... --+--------+------------+
 *   | search | available | chunks | footprint | end  | chunk |         | chunk  | next | used |
 *   +--------+-----------+--------+-----------+------+-------+-- ... --+--------+------------+
 *
 *   a chunk | next chunk | free or used | the caller's bytes ...
 *
 * The chunks form a ring: the last leads to a used one without bytes, which leads to the first.
 */
#include "baselines/byte_pool.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_byte_pool_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"

enum {
    SEARCH = 0,    /* the chunk that the next search begins at */
    AVAILABLE = 4, /* bytes of free chunks, headers included */
    CHUNKS = 8,    /* the last of the ring included */
    FOOTPRINT = 12,
    END = 16,          /* the last of the ring */
    CONTROL_SIZE = 24, /* a multiple of 8: so is the pool */
    NEXT = 0,          /* fields of a chunk */
    STATE = 4,
    HEAD = 8,
    LEAST_SPLIT = 20, /* TX_BYTE_BLOCK_MIN */
};

enum { STATE_FREE = 0xfee, STATE_USED = 0x05ed };

static inline uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    return ((CONTROL_SIZE + HEAD + mask) & ~mask) - HEAD;
}

static inline uint32_t least_chunk(const hfit_plan *plan) {
    return (HEAD + 1 + plan->alignment - 1) & ~(plan->alignment - 1);
}

static inline uint32_t next_of(const hfit_heap *heap, uint32_t chunk) {
    return load_word(heap, chunk + NEXT);
}

static inline bool is_free(const hfit_heap *heap, uint32_t chunk) {
    return load_word(heap, chunk + STATE) == STATE_FREE;
}

static inline void add_to(hfit_heap *heap, uint32_t word, uint32_t added) {
    store_word(heap, word, load_word(heap, word) + added);
}

/* Puts the chunk behind, which is free, into a free one. */
static void join_next(hfit_heap *heap, uint32_t chunk, uint32_t next) {
    store_word(heap, chunk + NEXT, next_of(heap, next));
    add_to(heap, CHUNKS, 0u - 1);
}

/* A free chunk of at least `size` bytes; NO_OFFSET if there is none. From SEARCH on, which then is
 * the first free chunk that it came by; free neighbours are joined on the way, also in vain. */
static uint32_t find_chunk(hfit_heap *heap, uint32_t size) {
    bool has_first = false;
    uint32_t chunk = load_word(heap, SEARCH);
    uint32_t next = next_of(heap, chunk);
    for (uint32_t steps = load_word(heap, CHUNKS) + 1; steps != 0; steps -= steps != 0) {
        if (!is_free(heap, chunk)) {
            chunk = next;
            next = next_of(heap, chunk);
            continue;
        }
        if (!has_first) {
            store_word(heap, SEARCH, chunk);
            has_first = true;
        }
        if (next - chunk >= size) {
            return chunk;
        }
        const uint32_t beyond = next_of(heap, next);
        if (is_free(heap, next)) {
            join_next(heap, chunk, next);
            next = beyond;
        } else {
            chunk = beyond;
            next = next_of(heap, chunk);
            steps--;
        }
    }
    return NO_OFFSET;
}

/* Cuts a chunk in two; the state of the new one is the caller's business. */
static void split_chunk(hfit_heap *heap, uint32_t chunk, uint32_t start) {
    store_word(heap, start + NEXT, next_of(heap, chunk));
    store_word(heap, chunk + NEXT, start);
    add_to(heap, CHUNKS, 1);
}

static void free_chunk(hfit_heap *heap, uint32_t chunk) {
    store_word(heap, chunk + STATE, STATE_FREE);
    add_to(heap, AVAILABLE, next_of(heap, chunk) - chunk);
    if (chunk < load_word(heap, SEARCH)) {
        store_word(heap, SEARCH, chunk);
    }
}

/* A used chunk of at least `size` bytes; NO_OFFSET if there is none. */
static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    (void)plan;
    /* No search could succeed: what is free, and the headers that joining would win. */
    if (size >= load_word(heap, AVAILABLE) + (load_word(heap, CHUNKS) - 1) * HEAD) {
        return NO_OFFSET;
    }
    const uint32_t chunk = find_chunk(heap, size);
    if (chunk == NO_OFFSET) {
        return NO_OFFSET;
    }
    if (next_of(heap, chunk) - chunk - size >= LEAST_SPLIT) {
        split_chunk(heap, chunk, chunk + size);
        store_word(heap, chunk + size + STATE, STATE_FREE);
    }
    const uint32_t next = next_of(heap, chunk);
    store_word(heap, chunk + STATE, STATE_USED);
    add_to(heap, AVAILABLE, 0u - (next - chunk));
    if (load_word(heap, SEARCH) == chunk) {
        store_word(heap, SEARCH, next);
    }
    if (next + HEAD > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, next + HEAD);
    }
    return chunk;
}

static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    return round_size(size, HEAD, plan->alignment, needed);
}

static uint32_t chunk_of(const hfit_heap *heap, const void *block) {
    return (uint32_t)((uintptr_t)block - (uintptr_t)heap) - HEAD;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, plan, needed);
    return chunk == NO_OFFSET ? NULL : block_at(heap, chunk + HEAD);
}

/* As there, a block that is free already is let be. */
static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)plan;
    if (block != NULL && !is_free(heap, chunk_of(heap, block))) {
        free_chunk(heap, chunk_of(heap, block));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the chunk tells */
    heap_free(heap, plan, block);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    (void)plan;
    return block == NULL ? 0 : next_of(heap, chunk_of(heap, block)) - chunk_of(heap, block) - HEAD;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const size_t usable = heap_usable_size(heap, plan, block);
    return size <= usable ? block : move_block(heap, plan, block, usable, size);
}

static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    (void)plan;
    if (next_of(heap, chunk) - chunk - size >= LEAST_SPLIT) {
        split_chunk(heap, chunk, chunk + size);
        free_chunk(heap, chunk + size);
    }
}

static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start) {
    (void)plan;
    split_chunk(heap, chunk, start);
    store_word(heap, start + STATE, STATE_USED);
    free_chunk(heap, chunk);
}

static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room) {
    return round_sum(needed, alignment + least_chunk(plan), plan->alignment, room);
}

static uint32_t header_size(void) {
    return HEAD;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t end = load_word(heap, END);
    for (uint32_t chunk = first_chunk(plan); chunk != end; chunk = next_of(heap, chunk)) {
        visitor(context, block_at(heap, chunk + HEAD), next_of(heap, chunk) - chunk - HEAD,
                !is_free(heap, chunk));
    }
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = load_word(heap, END);
    const uint32_t search = load_word(heap, SEARCH);
    uint32_t chunk = first_chunk(plan);
    uint32_t count = 1;
    uint32_t available = 0;
    bool has_search = search == end;
    while (chunk != end) {
        const uint32_t next = next_of(heap, chunk);
        const uint32_t state = load_word(heap, chunk + STATE);
        if (next > end || next <= chunk || next - chunk < least_chunk(plan) ||
            (next - chunk) % plan->alignment != 0 || (state != STATE_FREE && state != STATE_USED)) {
            return false;
        }
        available += state == STATE_FREE ? next - chunk : 0;
        has_search |= chunk == search;
        count++;
        chunk = next;
    }
    return next_of(heap, end) == first_chunk(plan) && !is_free(heap, end) && has_search &&
           count == load_word(heap, CHUNKS) && available == load_word(heap, AVAILABLE);
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? first_chunk(plan) + least_chunk(plan) + HEAD : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t first = first_chunk(plan);
    const uint32_t room = ((uint32_t)region_size - HEAD - first) & ~(plan->alignment - 1);
    const uint32_t end = first + room;
    store_word(heap, SEARCH, first);
    store_word(heap, AVAILABLE, room);
    store_word(heap, CHUNKS, 2);
    store_word(heap, FOOTPRINT, first + HEAD);
    store_word(heap, END, end);
    store_word(heap, first + NEXT, end);
    store_word(heap, first + STATE, STATE_FREE);
    store_word(heap, end + NEXT, first);
    store_word(heap, end + STATE, STATE_USED);
    return heap;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_byte_pool_allocator = {
    .name = "byte_pool",
    .title = "next fit, joined while searched",
    .origin = "ThreadX 7ad78c40, its byte pool",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: linear in the chunks, used ones too; free: constant",
            .block_bytes = "8, then rounded up to the alignment; up to 16 more where what is left "
                           "is too small to be split off",
            .fragmentation = "M n for M live bytes and a largest request of n units: every hole "
                             "has a live neighbour once it was searched",
            .layout = "| search | available | chunks | footprint | end | chunk | ... | next | used "
                      "|\n"
                      "a chunk: | next | free or used | payload ... |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "from 20 bytes on",
            .coalescing.text = "while searching",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit.text = "next",
            .order.text = "by address, from where the last search ended",
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .operations = &hfit_byte_pool_operations,
    .unlocked = &hfit_byte_pool_unlocked,
};
