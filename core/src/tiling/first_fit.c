/* SPDX-License-Identifier: Apache-2.0 */
/* First fit: the index is one free list, searched from its front, or none. See hfit/first_fit.h. */
#include "hfit/first_fit.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_first_fit_##operation
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/chunk.h"
#include "src/tiling/tiling.h"
#include "src/tiling/fit_list.h"

enum {
    LIST_HEAD = TILING_INDEX,
    CONTROL_SIZE = LIST_HEAD + 4,
};

static inline const hfit_first_fit_plan *own(const hfit_plan *plan) {
    return (const hfit_first_fit_plan *)plan;
}

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    (void)size;
    if (own(plan)->list == HFIT_FIRST_FIT_LIFO) {
        list_push(heap, LIST_HEAD, chunk);
    } else if (own(plan)->list == HFIT_FIRST_FIT_BY_ADDRESS) {
        list_insert_by_address(heap, LIST_HEAD, chunk);
    }
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    (void)size;
    if (own(plan)->list != HFIT_FIRST_FIT_IMPLICIT) {
        (void)list_remove(heap, LIST_HEAD, chunk);
    }
}

static bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                        uint32_t end) {
    (void)size;
    return own(plan)->list == HFIT_FIRST_FIT_IMPLICIT || do_links_hold(heap, chunk, end);
}

/* The first free chunk of at least `size` bytes, by walking all chunks; NO_OFFSET if there is none.
 * At safety level 1 also a damaged chunk, for take_chunk to tell. */
static uint32_t search_implicit(const hfit_heap *heap, uint32_t size, uint32_t end) {
    uint32_t chunk = load_word(heap, TILING_FIRST);
    while (chunk < end) {
        const uint32_t header = load_header(heap, chunk);
        const uint32_t length = chunk_size(header);
        const bool is_damaged = HFIT_SAFETY >= 1 && (length == 0 || length > end - chunk);
        if (is_damaged || ((header & CHUNK_FREE) != 0 && length >= size)) {
            return chunk;
        }
        chunk += length;
    }
    return NO_OFFSET;
}

static bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size, uint32_t end,
                       uint32_t *chunk) {
    if (own(plan)->list != HFIT_FIRST_FIT_IMPLICIT) {
        return list_search(heap, LIST_HEAD, size, end, chunk);
    }
    *chunk = search_implicit(heap, size, end);
    return *chunk != NO_OFFSET;
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    if (load_word(heap, TILING_FIRST) != first_chunk(plan, CONTROL_SIZE)) {
        return false;
    }
    if (own(plan)->list == HFIT_FIRST_FIT_IMPLICIT) {
        return load_link(heap, LIST_HEAD) == NO_OFFSET;
    }
    const size_range any = {smallest_chunk(plan), UINT32_MAX};
    return count_list(heap, plan, LIST_HEAD, any, free_count) == free_count;
}

static inline bool may_coalesce(const hfit_plan *plan) {
    return own(plan)->coalesce != 0;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    return own(plan)->header_size;
}

/* Without links a free chunk has its header word and the size again. */
static inline uint32_t free_words(const hfit_plan *plan) {
    return own(plan)->list == HFIT_FIRST_FIT_IMPLICIT ? 8u : (uint32_t)CHUNK_LEAST;
}

static inline uint32_t least_split(const hfit_plan *plan) {
    return own(plan)->least_split;
}

static void add_free_size(void *context, const void *block, size_t usable_size, bool is_used) {
    (void)block;
    if (!is_used) {
        add_size(context, (uint32_t)usable_size);
    }
}

size_t hfit_first_fit_free_sizes(const hfit_heap *heap, const hfit_plan *plan, uint32_t *sizes,
                                 size_t most) {
    size_array array = {sizes, most, 0};
    HFIT_LOCK(heap);
    if (own(plan)->list == HFIT_FIRST_FIT_IMPLICIT) {
        heap_walk(HFIT_INNER(heap), plan, add_free_size, &array);
    } else {
        add_listed_sizes(HFIT_INNER(heap), plan, LIST_HEAD, &array);
    }
    HFIT_UNLOCK(heap);
    return array.count;
}

static bool is_plan_sound(const hfit_plan *plan) {
    const hfit_first_fit_plan *p = own(plan);
    return is_alignment_allowed(plan->alignment) && p->coalesce <= 1 &&
           p->list <= HFIT_FIRST_FIT_IMPLICIT && is_header_size_allowed(p->header_size) &&
           p->least_split <= LARGEST_LEAST_SPLIT;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_plan_sound(plan) ? smallest_tiling(plan, CONTROL_SIZE) : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan) ||
        region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    store_link(heap, LIST_HEAD, NO_OFFSET);
    tile_region(heap, plan, first_chunk(plan, CONTROL_SIZE), sentinel_of(plan, region_size));
    return heap;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    tiling_holes(plan, holes);
    holes->is_by_address = own(plan)->list != HFIT_FIRST_FIT_LIFO;
    return own(plan)->coalesce != 0;
}

/* By address the chunk that the region's end cuts is tried last. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const uint32_t first = load_word(heap, TILING_FIRST);
    const uint32_t smallest = smallest_chunk(plan);
    reach->most = load_word(heap, TILING_FOOTPRINT) - WORD_SIZE - first;
    reach->room = load_word(heap, TILING_END) - first;
    reach->chunk = smallest < least_split(plan) ? least_split(plan) : smallest;
    return own(plan)->list != HFIT_FIRST_FIT_LIFO;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"coalesce", "1: join a freed chunk with its free neighbours; 0: never.", HFIT_SCALAR,
     offsetof(hfit_first_fit_plan, coalesce), 0, 1, 1, HFIT_CHOICE},
    {"list",
     "Order in which free chunks are searched: 0 last freed first, 1 by address, 2 by address "
     "through all chunks, without links.",
     HFIT_SCALAR, offsetof(hfit_first_fit_plan, list), HFIT_FIRST_FIT_LIFO, HFIT_FIRST_FIT_IMPLICIT,
     HFIT_FIRST_FIT_LIFO, HFIT_CHOICE},
    HFIT_HEADER_SIZE_TUNABLE(hfit_first_fit_plan),
    HFIT_LEAST_SPLIT_TUNABLE(hfit_first_fit_plan),
};

const hfit_allocator hfit_first_fit_allocator = {
    .name = "first_fit",
    .title = "first fit, one free list",
    .origin = "Cebeci 2019, sections 2 and 3.1",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_first_fit_plan),
    .ignores_region_end = false,
    .reach = reach_of,
    .free_sizes = hfit_first_fit_free_sizes,
    .account =
        {
            .worst_case = "alloc: one step a free chunk passed over, so linear in the free chunks "
                          "(list 2: in all chunks); free: constant (list 1: linear in the free "
                          "chunks)",
            .block_bytes = "header_size, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "M n for M live bytes and a largest request of n units: when one is "
                             "refused every hole is below n and has a live neighbour. By address "
                             "M (1 + ceil(log2 n)) (Robson 1977, bound for first fit). Without "
                             "coalescing none: the heap wears down",
            .layout =
                "| first | end | footprint | tally | list head | chunk | chunk | ... | sentinel |\n"
                "a used chunk: | size+F | ... header_size | payload ... |\n"
                "a free chunk: | size+F | next | previous | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing = {.tunable = "coalesce", .texts = {"never", "at once"}},
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit.text = "first",
            .order = {.tunable = "list", .texts = {"last freed first", "by address", "by address"}},
            .growth.text = "the whole region is free at first",
        },
    .grid = {{"list", {0, 1, 2}, 3}, {"coalesce", {0, 1}, 2}},
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .address_order = "list",
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_first_fit_operations,
    .unlocked = &hfit_first_fit_unlocked,
};
