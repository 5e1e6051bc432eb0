/* SPDX-License-Identifier: Apache-2.0 */
/* Lea's allocator. See baselines/lea.h; the region is drawn in src/lea_bins.h. */
#include "baselines/lea.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_lea_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"
#define IS_CODED 0 /* links stand as published */
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/logarithm.h"
#include "src/lea_bins.h"
#include "src/lea_check.h"

/* Writes the tags of a free chunk; the next one's P is the caller's business. */
static inline void set_free(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, chunk, size | PREVIOUS_USED);
    store_word(heap, chunk + size - HEADER_SIZE, size);
}

static inline void set_top(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    store_word(heap, TOP, chunk);
    store_word(heap, chunk, size | PREVIOUS_USED);
}

static inline void set_victim(hfit_heap *heap, uint32_t chunk) {
    store_word(heap, VICTIM, chunk);
}

/* Makes the first `needed` bytes of a chunk that is in no list used. The rest, a free chunk in
 * no list, is returned; NO_OFFSET if it would be too small for one and is used too. */
static uint32_t use_chunk(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t size = header & ~3u;
    uint32_t rest = NO_OFFSET;
    if (size - needed >= CHUNK_LEAST) {
        rest = chunk + needed;
        set_free(heap, rest, size - needed);
    } else {
        needed = size;
        store_word(heap, chunk + size, load_word(heap, chunk + size) | PREVIOUS_USED);
    }
    store_word(heap, chunk, needed | USED | (header & PREVIOUS_USED));
    return rest;
}

/* Uses a chunk from a bin or tree for a small request: its rest is the new victim. */
static uint32_t use_for_victim(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                               uint32_t needed) {
    const uint32_t rest = use_chunk(heap, chunk, needed);
    if (rest != NO_OFFSET) {
        const uint32_t old = load_word(heap, VICTIM);
        if (old != NO_OFFSET) {
            insert_chunk(heap, plan, old, size_at(heap, old));
        }
        set_victim(heap, rest);
    }
    return chunk;
}

/* A used chunk for a small request from the bins or trees; NO_OFFSET if none is large enough, or
 * the victim, of `victim_size` bytes, goes first. */
static uint32_t take_small(hfit_heap *heap, const hfit_plan *plan, uint32_t needed,
                           uint32_t victim_size) {
    const uint32_t bin = bin_of(plan, needed);
    const uint32_t larger = load_word(heap, SMALL_MAP) >> bin << bin;
    const uint32_t without_rest = plan->alignment < CHUNK_LEAST ? 3u : 1u;
    if ((larger >> bin & without_rest) != 0) {
        const uint32_t chunk = pop_small(heap, hfit_trailing_zeros(larger));
        (void)use_chunk(heap, chunk, needed);
        return chunk;
    }
    if (victim_size >= needed) {
        return NO_OFFSET;
    }
    if (larger != 0) {
        const uint32_t chunk = pop_small(heap, hfit_trailing_zeros(larger));
        return use_for_victim(heap, plan, chunk, needed);
    }
    const uint32_t chunk = least_from_tree(heap, 0);
    if (chunk != NO_OFFSET) {
        tree_remove(heap, plan, chunk, size_at(heap, chunk));
        return use_for_victim(heap, plan, chunk, needed);
    }
    return NO_OFFSET;
}

/* A used chunk for a large request: the trees' best fit; NO_OFFSET if there is none, or the victim,
 * of `victim_size` bytes, fits as well. */
static uint32_t take_large(hfit_heap *heap, const hfit_plan *plan, uint32_t needed,
                           uint32_t victim_size) {
    if (load_word(heap, TREE_MAP) == 0) {
        return NO_OFFSET;
    }
    const uint32_t chunk = tree_best(heap, plan, needed);
    if (chunk == NO_OFFSET) {
        return NO_OFFSET;
    }
    const uint32_t size = size_at(heap, chunk);
    if (victim_size >= needed && victim_size <= size) {
        return NO_OFFSET;
    }
    tree_remove(heap, plan, chunk, size);
    const uint32_t rest = use_chunk(heap, chunk, needed);
    if (rest != NO_OFFSET) {
        insert_chunk(heap, plan, rest, size - needed);
    }
    return chunk;
}

static uint32_t take_top(hfit_heap *heap, uint32_t needed) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t size = size_at(heap, top);
    if (size < needed) {
        return NO_OFFSET;
    }
    set_top(heap, top + needed, size - needed);
    store_word(heap, top, needed | USED | PREVIOUS_USED);
    return top;
}

static void raise_footprint(hfit_heap *heap, uint32_t chunk) {
    const uint32_t end = chunk + size_at(heap, chunk) + HEADER_SIZE;
    if (end > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, end);
    }
}

static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t needed) {
    const uint32_t victim = load_word(heap, VICTIM);
    const uint32_t victim_size = victim == NO_OFFSET ? 0 : size_at(heap, victim);
    uint32_t chunk = is_small(plan, needed) ? take_small(heap, plan, needed, victim_size)
                                            : take_large(heap, plan, needed, victim_size);
    if (chunk != NO_OFFSET) {
        return chunk;
    }
    if (victim_size >= needed) {
        set_victim(heap, use_chunk(heap, victim, needed));
        return victim;
    }
    chunk = take_top(heap, needed);
    if (chunk != NO_OFFSET) {
        raise_footprint(heap, chunk);
    }
    return chunk;
}

/* Stores the smallest chunk that holds `size` bytes. False if no region could. */
static inline bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    if (!round_size(size, HEADER_SIZE, plan->alignment, needed)) {
        return false;
    }
    *needed = *needed < CHUNK_LEAST ? CHUNK_LEAST : *needed;
    return true;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, plan, needed);
    return chunk == NO_OFFSET ? NULL : block_at(heap, chunk + HEADER_SIZE);
}

/* Makes a used chunk free and joins it with its free neighbours. What joins the top becomes top,
 * what joins the victim becomes victim. */
static void release_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t victim = load_word(heap, VICTIM);
    uint32_t size = header & ~3u;
    const uint32_t next = chunk + size;
    const uint32_t next_header = load_word(heap, next);
    bool is_victim = false;
    if ((header & PREVIOUS_USED) == 0) {
        const uint32_t previous_size = load_word(heap, chunk - HEADER_SIZE);
        chunk -= previous_size;
        size += previous_size;
        is_victim = chunk == victim;
        if (!is_victim) {
            remove_chunk(heap, plan, chunk, previous_size);
        }
    }
    if ((next_header & USED) != 0) {
        store_word(heap, next, next_header & ~(uint32_t)PREVIOUS_USED);
    } else if (next == load_word(heap, TOP)) {
        set_top(heap, chunk, size + (next_header & ~3u));
        if (is_victim) {
            set_victim(heap, NO_OFFSET);
        }
        return;
    } else {
        size += next_header & ~3u;
        if (next != victim) {
            remove_chunk(heap, plan, next, next_header & ~3u);
        } else {
            set_victim(heap, chunk);
            is_victim = true;
        }
    }
    set_free(heap, chunk, size);
    if (!is_victim) {
        insert_chunk(heap, plan, chunk, size);
    }
}

static inline uint32_t chunk_of(const hfit_heap *heap, const void *block) {
    return (uint32_t)((uintptr_t)block - (uintptr_t)heap) - HEADER_SIZE;
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (block != NULL) {
        release_chunk(heap, plan, chunk_of(heap, block));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* Frees what a used chunk has beyond `needed` bytes, if it can be a chunk. */
static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t rest = (header & ~3u) - needed;
    if (rest >= CHUNK_LEAST) {
        store_word(heap, chunk, header - rest);
        store_word(heap, chunk + needed, rest | USED | PREVIOUS_USED);
        release_chunk(heap, plan, chunk + needed);
    }
}

static void grow_into_top(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t more = needed - (header & ~3u);
    const uint32_t top = load_word(heap, TOP);
    set_top(heap, top + more, size_at(heap, top) - more);
    store_word(heap, chunk, header + more);
    raise_footprint(heap, chunk);
}

/* Joins a used chunk with what is free behind it, if that makes `needed` bytes, and cuts it there.
 * The rest stays what it was: top, victim or in the bins. False, and nothing changed, if it is not
 * enough. */
static bool grow_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t next = chunk + (header & ~3u);
    const uint32_t next_header = load_word(heap, next);
    const uint32_t next_size = next_header & ~3u;
    if ((next_header & USED) != 0 || next - chunk + next_size < needed) {
        return false;
    }
    if (next == load_word(heap, TOP)) {
        grow_into_top(heap, chunk, needed);
        return true;
    }
    const bool is_victim = next == load_word(heap, VICTIM);
    if (!is_victim) {
        remove_chunk(heap, plan, next, next_size);
    }
    store_word(heap, chunk, header + next_size);
    const uint32_t rest = use_chunk(heap, chunk, needed);
    if (is_victim) {
        set_victim(heap, rest);
    } else if (rest != NO_OFFSET) {
        insert_chunk(heap, plan, rest, size_at(heap, rest));
    }
    return true;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t needed;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = chunk_of(heap, block);
    const uint32_t own = size_at(heap, chunk);
    if (needed <= own) {
        cut_end(heap, plan, chunk, needed);
        return block;
    }
    if (grow_chunk(heap, plan, chunk, needed)) {
        return block;
    }
    return move_block(heap, plan, block, own - HEADER_SIZE, size);
}

static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room) {
    return round_size(needed, alignment + CHUNK_LEAST, plan->alignment, room);
}

static uint32_t least_chunk(const hfit_plan *plan) {
    (void)plan;
    return CHUNK_LEAST;
}

static uint32_t header_size(void) {
    return HEADER_SIZE;
}

static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t gap = start - chunk;
    store_word(heap, chunk, gap | (header & 3u));
    store_word(heap, start, ((header & ~3u) - gap) | USED | PREVIOUS_USED);
    release_chunk(heap, plan, chunk);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    (void)plan;
    return block == NULL ? 0 : size_at(heap, chunk_of(heap, block)) - HEADER_SIZE;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t end = load_word(heap, END);
    uint32_t chunk = first_chunk(plan);
    while (chunk < end) {
        const uint32_t header = load_word(heap, chunk);
        visitor(context, block_at(heap, chunk + HEADER_SIZE), (header & ~3u) - HEADER_SIZE,
                (header & USED) != 0);
        chunk += header & ~3u;
    }
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    return is_lea_sound(heap, plan);
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? first_chunk(plan) + HEADER_SIZE : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t first = first_chunk(plan);
    const uint32_t room = (uint32_t)region_size - (first + HEADER_SIZE);
    const uint32_t top_size = room & ~(plan->alignment - 1);
    for (uint32_t offset = VICTIM; offset < CONTROL_SIZE; offset += 4) {
        store_word(heap, offset, 0);
    }
    set_top(heap, first, top_size);
    store_word(heap, END, first + top_size);
    store_word(heap, FOOTPRINT, first + HEADER_SIZE);
    return heap;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_lea_allocator = {
    .name = "lea",
    .title = "Lea's best fit with a designated victim",
    .alias = "dlmalloc",
    .origin = "Lea, A Memory Allocator, 1996 to 2000, and the comments of malloc.c 2.8",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc and free: one step a bit of the largest chunk's size in each tree "
                          "that is searched or changed, three at most",
            .block_bytes =
                "4 for the header, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit)",
            .layout = "| top | end | footprint | victim | 2 maps | 32 bins | 32 trees | chunk | "
                      "... | top |\n"
                      "a used chunk: | size+U+P | payload ... |\n"
                      "a small free chunk: | size+P | next | previous | ... | size |\n"
                      "a large one: | size+P | next | previous | lower | higher | parent | ... | "
                      "size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "exact sizes, then powers of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "best",
            .order.text = "by size",
            .growth.text = "from the end of what is in use",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_lea_operations,
    .unlocked = &hfit_lea_unlocked,
};
