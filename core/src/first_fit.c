/* SPDX-License-Identifier: Apache-2.0 */
/* First fit: the index is one free list, searched from its front. See hfit/first_fit.h. */
#include "hfit/first_fit.h"

#include "hfit/descriptor.h"

#include "src/free_list.h"

#define HFIT_THIS(operation) hfit_first_fit_##operation
#include "src/tiling.h"

enum {
    LIST_HEAD = TILING_INDEX,
    CONTROL_SIZE = LIST_HEAD + 4,
};

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    (void)plan;
    (void)size;
    list_push(heap, LIST_HEAD, chunk);
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    (void)plan;
    (void)size;
    (void)list_remove(heap, LIST_HEAD, chunk);
}

static uint32_t index_take(hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    (void)plan;
    uint32_t chunk = load_word(heap, LIST_HEAD);
    while (chunk != NO_OFFSET && chunk_size(load_word(heap, chunk)) < size) {
        chunk = load_word(heap, chunk + LINK_NEXT);
    }
    if (chunk != NO_OFFSET) {
        (void)list_remove(heap, LIST_HEAD, chunk);
    }
    return chunk;
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    (void)plan;
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t previous = NO_OFFSET;
    uint32_t chunk = load_word(heap, LIST_HEAD);
    for (; chunk != NO_OFFSET && free_count > 0; free_count--) {
        if (chunk >= end || (load_word(heap, chunk) & CHUNK_FREE) == 0 ||
            load_word(heap, chunk + LINK_PREVIOUS) != previous) {
            return false;
        }
        previous = chunk;
        chunk = load_word(heap, chunk + LINK_NEXT);
    }
    return chunk == NO_OFFSET && free_count == 0;
}

static uint32_t index_round(const hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    (void)heap;
    (void)plan;
    return size;
}

static inline bool may_coalesce(const hfit_plan *plan) {
    return ((const hfit_first_fit_plan *)plan)->coalesce != 0;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    (void)plan;
    return WORD_SIZE;
}

static inline uint32_t least_split(const hfit_plan *plan) {
    (void)plan;
    return 0;
}

size_t hfit_first_fit_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? smallest_tiling(plan, CONTROL_SIZE) : 0;
}

hfit_heap *hfit_first_fit_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) ||
        region_size < hfit_first_fit_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    store_word(heap, LIST_HEAD, NO_OFFSET);
    tile_region(heap, plan, region_size, CONTROL_SIZE);
    return heap;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"coalesce", "1: join a freed chunk with its free neighbours; 0: never.", HFIT_SCALAR,
     offsetof(hfit_first_fit_plan, coalesce), 0, 1, 1},
};

const hfit_allocator hfit_first_fit_allocator = {
    .name = "first_fit",
    .title = "first fit, one free list",
    .origin = "Cebeci 2019, sections 2 and 3.1",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_first_fit_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: one step a free chunk passed over, so linear in the free chunks; "
                          "free: constant",
            .block_bytes =
                "4 for the header, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "M (1 + ceil(log2 n)) for M live bytes and a largest request of n "
                             "units (Robson 1977, bound for first fit)",
            .layout = "| first | end | footprint | list head | chunk | chunk | ... | sentinel |\n"
                      "a used chunk: | size+F | payload ... |\n"
                      "a free chunk: | size+F | next | previous | ... | size |",
        },
    .operations = &hfit_first_fit_operations,
    .unlocked = &hfit_first_fit_unlocked,
};
