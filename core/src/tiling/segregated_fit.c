/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segregated fit: the index is a list a small chunk size and one for the rest. See
 * hfit/segregated_fit.h.
 *
 *   16     20                              20 + 4 * exact_lists
 *   +-----+-------------------------------+--------------+
 *   | map | heads of the exact lists      | general list |
 *   +-----+-------------------------------+--------------+
 */
#include "hfit/compiler.h"
#include "hfit/segregated_fit.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_segregated_fit_##operation
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
    MAP = TILING_INDEX,
    HEADS = MAP + 4,
    MOST_EXACT_LISTS = 32, /* bits of the map */
};

_Static_assert(MOST_EXACT_LISTS <= 32, "each exact list has a bit");
_Static_assert(1 << (2 + (4 >> 3)) == 4 && 1 << (2 + (8 >> 3)) == 8 && 1 << (2 + (16 >> 3)) == 16,
               "log2 of each alignment, as list_for has it");

static inline const hfit_segregated_fit_plan *own(const hfit_plan *plan) {
    return (const hfit_segregated_fit_plan *)plan;
}

static inline uint32_t head_of(uint32_t list) {
    return HEADS + 4 * list;
}

static uint32_t control_size(const hfit_plan *plan) {
    return head_of(own(plan)->exact_lists) + 4;
}

/* The chunk size of an exact list; of the general list, the least on it. */
static inline uint32_t least_on(const hfit_plan *plan, uint32_t list) {
    return smallest_chunk(plan) + list * plan->alignment;
}

/* The list that chunks of `size` bytes are on. */
static inline uint32_t list_for(const hfit_plan *plan, uint32_t size) {
    HFIT_ASSERT(size >= smallest_chunk(plan));
    const uint32_t alignment_log2 = 2 + (plan->alignment >> 3); /* of 4, 8 or 16 */
    const uint32_t list = (size - smallest_chunk(plan)) >> alignment_log2;
    return list < own(plan)->exact_lists ? list : own(plan)->exact_lists;
}

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t list = list_for(plan, size);
    if (list < own(plan)->exact_lists) {
        list_push(heap, head_of(list), chunk);
        set_flag(heap, MAP, 1u << list);
    } else if (own(plan)->general_order != 0) {
        list_insert_by_address(heap, head_of(list), chunk);
    } else {
        list_push(heap, head_of(list), chunk);
    }
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t list = list_for(plan, size);
    if (list_remove(heap, head_of(list), chunk) && list < own(plan)->exact_lists) {
        clear_flag(heap, MAP, 1u << list);
    }
}

static bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                        uint32_t end) {
    (void)plan;
    (void)size;
    return do_links_hold(heap, chunk, end);
}

/* Stores the first chunk of the first exact list from `list` on that has one; false if none has. */
static bool find_exact(const hfit_heap *heap, uint32_t list, uint32_t end, uint32_t *chunk) {
    const uint32_t lists = load_word(heap, MAP) & (~0u << list);
    if (lists == 0) {
        return false;
    }
    *chunk = sound_offset(load_link(heap, head_of(hfit_trailing_zeros(lists))), end);
    return true;
}

/* A request of an exact size is served by any chunk of the general list, so that search ends at its
 * first. */
static bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size, uint32_t end,
                       uint32_t *chunk) {
    const uint32_t general = own(plan)->exact_lists;
    const uint32_t list = list_for(plan, size);
    const bool is_exact = list < general;
    const bool is_exact_first =
        is_exact && (own(plan)->upward != 0 || load_link(heap, head_of(list)) != NO_OFFSET);
    if (is_exact_first && find_exact(heap, list, end, chunk)) {
        return true;
    }
    return list_search(heap, head_of(general), size, end, chunk) ||
           (is_exact && !is_exact_first && find_exact(heap, list, end, chunk));
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t general = own(plan)->exact_lists;
    uint32_t lists = 0;
    uint32_t found = 0;
    for (uint32_t list = 0; list <= general; list++) {
        const uint32_t least = least_on(plan, list);
        const size_range sizes = {least, list < general ? least : UINT32_MAX};
        const uint32_t count = count_list(heap, plan, head_of(list), sizes, free_count);
        if (count > free_count) {
            return false;
        }
        lists |= list < general && count != 0 ? 1u << list : 0;
        found += count;
    }
    return found == free_count && load_word(heap, MAP) == lists &&
           load_word(heap, TILING_FIRST) == first_chunk(plan, control_size(plan));
}

static inline bool may_coalesce(const hfit_plan *plan) {
    (void)plan;
    return true;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    return own(plan)->header_size;
}

static inline uint32_t free_words(const hfit_plan *plan) {
    (void)plan;
    return CHUNK_LEAST;
}

static inline uint32_t least_split(const hfit_plan *plan) {
    return own(plan)->least_split;
}

size_t hfit_segregated_fit_free_sizes(const hfit_heap *heap, const hfit_plan *plan, uint32_t *sizes,
                                      size_t most) {
    size_array array = {sizes, most, 0};
    HFIT_LOCK(heap);
    for (uint32_t list = 0; list <= own(plan)->exact_lists; list++) {
        add_listed_sizes(HFIT_INNER(heap), plan, head_of(list), &array);
    }
    HFIT_UNLOCK(heap);
    return array.count;
}

static bool is_plan_sound(const hfit_plan *plan) {
    const hfit_segregated_fit_plan *p = own(plan);
    return is_alignment_allowed(plan->alignment) && p->exact_lists >= 1 &&
           p->exact_lists <= MOST_EXACT_LISTS && p->upward <= 1 && p->general_order <= 1 &&
           is_header_size_allowed(p->header_size) && p->least_split <= LARGEST_LEAST_SPLIT;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_plan_sound(plan) ? smallest_tiling(plan, control_size(plan)) : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan) ||
        region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    store_word(heap, MAP, 0);
    for (uint32_t list = 0; list <= own(plan)->exact_lists; list++) {
        store_link(heap, head_of(list), NO_OFFSET);
    }
    tile_region(heap, plan, first_chunk(plan, control_size(plan)), sentinel_of(plan, region_size));
    return heap;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    tiling_holes(plan, holes);
    return true;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"exact_lists", "Lists of one chunk size each, from the smallest up in steps of the alignment.",
     HFIT_SCALAR, offsetof(hfit_segregated_fit_plan, exact_lists), 1, MOST_EXACT_LISTS, 16,
     HFIT_AMOUNT},
    {"upward",
     "Where a request whose exact list is empty is searched: 0 general list, larger exact lists; "
     "1 larger exact lists, general list.",
     HFIT_SCALAR, offsetof(hfit_segregated_fit_plan, upward), 0, 1, 0, HFIT_CHOICE},
    {"general_order", "Of the list of all larger chunks: 0 last freed first, 1 by address.",
     HFIT_SCALAR, offsetof(hfit_segregated_fit_plan, general_order), 0, 1, 0, HFIT_CHOICE},
    HFIT_HEADER_SIZE_TUNABLE(hfit_segregated_fit_plan),
    HFIT_LEAST_SPLIT_TUNABLE(hfit_segregated_fit_plan),
};

const hfit_allocator hfit_segregated_fit_allocator = {
    .name = "segregated_fit",
    .title = "segregated fit, exact lists and one general list",
    .origin = "Cebeci 2019, section 3",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_segregated_fit_plan),
    .ignores_region_end = false,
    .free_sizes = hfit_segregated_fit_free_sizes,
    .account =
        {
            .worst_case = "alloc: constant where an exact list serves, else one step a chunk of "
                          "the general list passed over; free: constant (general_order 1: linear "
                          "in the general list)",
            .block_bytes = "header_size, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "M n for M live bytes and a largest request of n units: when one is "
                             "refused every hole is below n and has a live neighbour",
            .layout =
                "| first | end | footprint | tally | map | exact list heads | general list head |\n"
                "| chunk | chunk | ... | sentinel |\n"
                "a used chunk: | size+F | ... header_size | payload ... |\n"
                "a free chunk: | size+F | next | previous | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "exact sizes and one general",
            .pool_fit = {.tunable = "upward",
                         .texts = {"exact, general, larger exact", "exact, larger exact, general"}},
            .block_fit.text = "first",
            .order = {.tunable = "general_order", .texts = {"last freed first", "by address"}},
            .growth.text = "the whole region is free at first",
        },
    .grid = {{"exact_lists", {16, 32}, 2}, {"upward", {0, 1}, 2}, {"general_order", {0, 1}, 2}},
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_segregated_fit_operations,
    .unlocked = &hfit_segregated_fit_unlocked,
};
