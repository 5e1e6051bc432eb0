/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLSF: the index is an array of bins found by two bitmap levels. See hfit/tlsf.h.
 *
 *   16      20          24                        24 + 4 * rows
 *   +-------+-----------+-------------------------+--------------------------------+
 *   | shape | row map   | column map of each row  | bins: rows * 2^second_level    |
 *   +-------+-----------+-------------------------+--------------------------------+
 *
 * A row is a first-level class, a column a second-level one; `shape` holds log2 of the columns and
 * the rows. Row 0 holds the sizes below 2^second_level granules, one exact class each.
 */
#include "hfit/tlsf.h"

#include "hfit/descriptor.h"

#include "src/free_list.h"

#define HFIT_THIS(operation) hfit_tlsf_##operation
#include "src/tiling.h"

enum {
    SHAPE = TILING_INDEX,
    ROW_MAP = SHAPE + 4,
    COLUMN_MAPS = ROW_MAP + 4,
    SHAPE_ROWS_SHIFT = 8, /* shape = rows << 8 | log2 of the columns */
    SMALL_REGION = 16 * 1024,
    MEDIUM_REGION = 256 * 1024,
};

typedef struct size_class {
    uint32_t row;
    uint32_t column;
} size_class;

/* Place of the highest and the lowest set bit; `word` is not 0. */
static inline uint32_t highest_bit(uint32_t word) {
    return 31u - (uint32_t)__builtin_clz(word);
}

static inline uint32_t lowest_bit(uint32_t word) {
    return (uint32_t)__builtin_ctz(word);
}

/* log2 of 4, 8 or 16. */
static inline uint32_t alignment_log2(const hfit_plan *plan) {
    return lowest_bit(plan->alignment);
}

/* Granules of payload a chunk surely has: its size less one granule, which the header shares. */
static inline uint32_t granules_of(const hfit_plan *plan, uint32_t size) {
    return (size >> alignment_log2(plan)) - 1;
}

static inline uint32_t columns_log2(uint32_t shape) {
    return shape & 0xff;
}

static inline uint32_t rows_of(uint32_t shape) {
    return shape >> SHAPE_ROWS_SHIFT;
}

/* log2 of the width of the classes around `granules`; row 0 has width 1, as row 1 has. */
static inline uint32_t class_width_log2(uint32_t granules, uint32_t log2_columns) {
    return highest_bit(granules | 1u << log2_columns) - log2_columns;
}

/* The class that holds chunks of so many granules. No branch on the size: it would be a coin
 * flip. */
static inline size_class class_of(uint32_t granules, uint32_t log2_columns) {
    const uint32_t shift = class_width_log2(granules, log2_columns);
    const uint32_t is_above_row_0 = granules >> shift >> log2_columns;
    return (size_class){shift + is_above_row_0,
                        (granules >> shift) - (is_above_row_0 << log2_columns)};
}

/* Granules rounded up to the lower bound of a class. */
static inline uint32_t round_to_class(uint32_t granules, uint32_t log2_columns) {
    const uint32_t step = 1u << class_width_log2(granules, log2_columns);
    return (granules + step - 1) & ~(step - 1);
}

static inline uint32_t column_map(uint32_t row) {
    return COLUMN_MAPS + 4 * row;
}

static inline uint32_t bin_of(size_class at, uint32_t shape) {
    return COLUMN_MAPS + 4 * (rows_of(shape) + (at.row << columns_log2(shape)) + at.column);
}

static inline void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size) {
    const uint32_t shape = load_word(heap, SHAPE);
    const size_class at = class_of(granules_of(plan, size), columns_log2(shape));
    list_push(heap, bin_of(at, shape), chunk);
    set_flag(heap, column_map(at.row), 1u << at.column);
    set_flag(heap, ROW_MAP, 1u << at.row);
}

/* The bin at `at` is empty now: its bits in both levels say so. */
static void mark_empty(hfit_heap *heap, size_class at) {
    const uint32_t columns = load_word(heap, column_map(at.row)) & ~(1u << at.column);
    store_word(heap, column_map(at.row), columns);
    if (columns == 0) {
        clear_flag(heap, ROW_MAP, 1u << at.row);
    }
}

static inline void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                                uint32_t size) {
    const uint32_t shape = load_word(heap, SHAPE);
    const size_class at = class_of(granules_of(plan, size), columns_log2(shape));
    if (list_remove(heap, bin_of(at, shape), chunk)) {
        mark_empty(heap, at);
    }
}

static inline bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                               uint32_t size) {
    (void)plan;
    (void)size;
    return do_links_hold(heap, chunk, load_word(heap, TILING_FIRST), load_word(heap, TILING_END));
}

/* Moves `at` up to the lowest class, itself included, that has a chunk. False if none has. */
static bool find_class(const hfit_heap *heap, uint32_t shape, size_class *at) {
    if (at->row >= rows_of(shape)) {
        return false;
    }
    uint32_t columns = load_word(heap, column_map(at->row)) & (~0u << at->column);
    if (columns == 0) {
        const uint32_t rows = load_word(heap, ROW_MAP) & (~1u << at->row);
        if (rows == 0) {
            return false;
        }
        at->row = lowest_bit(rows);
        columns = load_word(heap, column_map(at->row));
    }
    at->column = lowest_bit(columns);
    return true;
}

/* A rounded size is the lower bound of its class, so every chunk of that class or above is large
 * enough. */
static inline uint32_t index_take(hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    const uint32_t shape = load_word(heap, SHAPE);
    size_class at = class_of(granules_of(plan, size), columns_log2(shape));
    uint32_t chunk;
    if (!find_class(heap, shape, &at)) {
        return NO_OFFSET;
    }
    if (HFIT_SAFETY >= 1 && !is_takeable(heap, plan, load_word(heap, bin_of(at, shape)), size)) {
        return NO_OFFSET;
    }
    if (list_pop(heap, bin_of(at, shape), &chunk)) {
        mark_empty(heap, at);
    }
    return chunk;
}

static inline uint32_t index_round(const hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    const uint32_t shape = load_word(heap, SHAPE);
    const uint32_t granules = round_to_class(granules_of(plan, size), columns_log2(shape));
    return (granules + 1) << alignment_log2(plan);
}

/* Chunks in one bin, or UINT32_MAX if one of them is not a free chunk of this class or the links do
 * not hold. At most `most` + 1 chunks are looked at, so a ring of links ends. */
static uint32_t count_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t shape,
                          size_class at, uint32_t most) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t previous = bin_of(at, shape) - LINK_NEXT;
    uint32_t chunk = load_word(heap, bin_of(at, shape));
    uint32_t count = 0;
    for (; chunk != NO_OFFSET && count <= most; count++) {
        if (chunk >= end) {
            return UINT32_MAX;
        }
        const uint32_t header = load_word(heap, chunk);
        const size_class own = class_of(granules_of(plan, chunk_size(header)), columns_log2(shape));
        if ((header & CHUNK_FREE) == 0 || own.row != at.row || own.column != at.column ||
            load_word(heap, chunk + LINK_PREVIOUS) != previous) {
            return UINT32_MAX;
        }
        previous = chunk;
        chunk = load_word(heap, chunk + LINK_NEXT);
    }
    return count;
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t shape = load_word(heap, SHAPE);
    uint32_t found = 0;
    for (uint32_t row = 0; row < rows_of(shape); row++) {
        const uint32_t columns = load_word(heap, column_map(row));
        if (((load_word(heap, ROW_MAP) >> row) & 1u) != (columns != 0)) {
            return false;
        }
        for (uint32_t column = 0; column >> columns_log2(shape) == 0; column++) {
            const uint32_t count =
                count_bin(heap, plan, shape, (size_class){row, column}, free_count);
            if (count > free_count || ((columns >> column) & 1u) != (count != 0)) {
                return false;
            }
            found += count;
        }
    }
    return found == free_count;
}

static inline bool may_coalesce(const hfit_plan *plan) {
    (void)plan;
    return true;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    (void)plan;
    return WORD_SIZE;
}

static inline uint32_t least_split(const hfit_plan *plan) {
    (void)plan;
    return 0;
}

/* The shape for a region: as many rows as its largest chunk can reach. Few columns keep the control
 * block of a small region small; many keep the rounding of a large one small. The steps are those
 * of espressif's TLSF. */
static uint32_t shape_for(const hfit_plan *plan, size_t region_size) {
    uint32_t log2_columns = ((const hfit_tlsf_plan *)plan)->second_level;
    if (log2_columns == 0) {
        log2_columns = region_size <= SMALL_REGION ? 3 : region_size <= MEDIUM_REGION ? 4 : 5;
    }
    const uint32_t granules = (uint32_t)region_size >> alignment_log2(plan);
    const size_class largest = class_of(granules, log2_columns);
    return (largest.row + 1) << SHAPE_ROWS_SHIFT | log2_columns;
}

static uint32_t control_size(uint32_t shape) {
    return COLUMN_MAPS + 4 * (rows_of(shape) + (rows_of(shape) << columns_log2(shape)));
}

static bool is_plan_sound(const hfit_plan *plan) {
    const uint32_t second_level = ((const hfit_tlsf_plan *)plan)->second_level;
    return is_alignment_allowed(plan->alignment) &&
           (second_level == 0 || (second_level >= 2 && second_level <= 5));
}

/* The control block grows with the region, so the answer is the first size that holds its own. */
size_t hfit_tlsf_smallest_region(const hfit_plan *plan) {
    if (!is_plan_sound(plan)) {
        return 0;
    }
    size_t size = smallest_tiling(plan, COLUMN_MAPS);
    while (size < smallest_tiling(plan, control_size(shape_for(plan, size)))) {
        size += plan->alignment;
    }
    return size;
}

hfit_heap *hfit_tlsf_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan)) {
        return NULL;
    }
    const uint32_t shape = shape_for(plan, region_size);
    const uint32_t control = control_size(shape);
    if (region_size < smallest_tiling(plan, control)) {
        return NULL;
    }
    hfit_heap *heap = region;
    store_word(heap, SHAPE, shape);
    for (uint32_t offset = ROW_MAP; offset < control; offset += 4) {
        store_word(heap, offset, 0);
    }
    tile_region(heap, plan, region_size, control);
    return heap;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"second_level",
     "log2 of the size classes in each power of two, 2 to 5; 0: 3 up to 16 KiB, 4 up to 256 KiB, "
     "5 above.",
     HFIT_SCALAR, offsetof(hfit_tlsf_plan, second_level), 0, 5, 0},
};

const hfit_allocator hfit_tlsf_allocator = {
    .name = "tlsf",
    .title = "two-level segregated fit",
    .origin = "Masmano et al. 2004, as the shared heap of Lee and Yi 2008",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_tlsf_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc and free: constant; two map lookups, one list operation, at most "
                          "one split or two joins",
            .block_bytes = "4 for the header, then rounded up to the alignment and to a size "
                           "class; at least 16 a chunk",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit)",
            .layout = "| first | end | footprint | shape | row map | column maps | bins | chunk | "
                      "... | sentinel |\n"
                      "a used chunk: | size+F | payload ... |\n"
                      "a free chunk: | size+F | next | previous | ... | size |",
        },
    .operations = &hfit_tlsf_operations,
    .unlocked = &hfit_tlsf_unlocked,
};
