/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See baselines/esp_tlsf.h. The chunks are drawn in src/tiling/tiling.h.
 *
 *   16             20       24    28       56            56 + 4 levels
 *   +--------------+--------+-----+--------+-------------+------------------------------+
 *   | second level | levels | map | unused | map of each | 2^second level heads a level |
 *   +--------------+--------+-----+--------+-------------+------------------------------+
 *
 * It takes as many bytes as espressif's behind multi_heap's heap_t, so that a region holds the same
 * chunks at the same places. With the plan's second level it takes as many as mattconte's
 * control_t, or LVGL's:
 *
 *   16    20            20 + 4 levels
 *   +-----+-------------+------------------------------+
 *   | map | map of each | 2^second level heads a level |
 *   +-----+-------------+------------------------------+
 */
#include "baselines/esp_tlsf.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_esp_tlsf_##operation
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/logarithm.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/chunk.h"
/* The tiling's serves as many bytes as are asked for, and is the last step of this one's. */
#define heap_alloc_usable alloc_exactly
/* And does all but to align beyond the plan. */
#define heap_alloc_aligned alloc_by_plan
#include "src/tiling/tiling.h"
#undef heap_alloc_usable
#undef heap_alloc_aligned

enum {
    SECOND_LEVEL = TILING_INDEX, /* log2 of the lists a level */
    LEVELS = SECOND_LEVEL + 4,
    HEAP_T = 20, /* bytes of multi_heap's */
    MAPS = HEAP_T + 36,
    SMALL_REGION = 16 * 1024,
    MIDDLE_REGION = 256 * 1024,
    MOST_SECOND_LEVEL = 5,
    POWERS = 31, /* mattconte's FL_INDEX_MAX and one */
};

typedef struct shape {
    uint32_t second_level;
    uint32_t levels;
    uint32_t map; /* where bit i: level i has chunks */
    uint32_t maps;
} shape;

static inline bool is_planned(const hfit_plan *plan) {
    return ((const hfit_esp_tlsf_plan *)plan)->second_level != 0;
}

/* Of a plan that is_planned, in a region that ends with the sentinel at `end`. */
static inline shape shape_in(const hfit_plan *plan, uint32_t end) {
    const hfit_esp_tlsf_plan *own = (const hfit_esp_tlsf_plan *)plan;
    const uint32_t held = log2_down(end + WORD_SIZE - 1) + 2; /* above 2^30 they refuse a pool */
    const uint32_t powers = own->by_region == 0 && held < POWERS ? POWERS : held;
    const uint32_t least = own->second_level + 2;
    return (shape){own->second_level, powers > least ? powers - least : 1, TILING_INDEX,
                   TILING_INDEX + 4};
}

/* What follows from the plan, or from the bytes that tlsf_create_with_pool gets of ESP-IDF. */
static shape shape_for(const hfit_plan *plan, uint32_t end) {
    const uint32_t region = end + WORD_SIZE - HEAP_T;
    const uint32_t second_level = 3u + (region > SMALL_REGION) + (region > MIDDLE_REGION);
    const uint32_t powers = log2_down(region) + 1;
    const uint32_t least = second_level + 2;
    return is_planned(plan)
               ? shape_in(plan, end)
               : (shape){second_level, powers > least ? powers - least + 1 : 1, LEVELS + 4, MAPS};
}

static shape shape_of(const hfit_heap *heap, const hfit_plan *plan) {
    return is_planned(plan)
               ? shape_in(plan, load_word(heap, TILING_END))
               : (shape){load_word(heap, SECOND_LEVEL), load_word(heap, LEVELS), LEVELS + 4, MAPS};
}

/* The list for chunks with such a payload: its level above, its place in the level below. */
static uint32_t list_of(shape s, uint32_t payload) {
    if (payload >> (s.second_level + 2) == 0) {
        return payload >> 2;
    }
    const uint32_t log2 = log2_down(payload);
    const uint32_t in_level = payload >> (log2 - s.second_level);
    return ((log2 - s.second_level - 2) << s.second_level) + in_level;
}

/* The payload that the first chunk of any list from this payload's on has at least. */
static uint32_t round_to_class(shape s, uint32_t payload) {
    if (payload >> (s.second_level + 2) == 0) {
        return payload;
    }
    const uint32_t mask = (1u << (log2_down(payload) - s.second_level)) - 1;
    return (payload + mask) & ~mask;
}

static inline uint32_t map_of(shape s, uint32_t list) {
    return s.maps + 4 * (list >> s.second_level);
}

static inline uint32_t bit_of(shape s, uint32_t list) {
    return 1u << (list & ((1u << s.second_level) - 1));
}

static inline uint32_t head_of(shape s, uint32_t list) {
    return s.maps + 4 * (s.levels + list);
}

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const shape s = shape_of(heap, plan);
    const uint32_t list = list_of(s, size - WORD_SIZE);
    if (list_push(heap, head_of(s, list), chunk)) {
        set_flag(heap, map_of(s, list), bit_of(s, list));
        set_flag(heap, s.map, 1u << (list >> s.second_level));
    }
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const shape s = shape_of(heap, plan);
    const uint32_t list = list_of(s, size - WORD_SIZE);
    if (!list_remove(heap, head_of(s, list), chunk)) {
        return;
    }
    clear_flag(heap, map_of(s, list), bit_of(s, list));
    if (load_word(heap, map_of(s, list)) == 0) {
        clear_flag(heap, s.map, 1u << (list >> s.second_level));
    }
}

static bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                        uint32_t end) {
    (void)plan;
    (void)size;
    return do_links_hold(heap, chunk, end);
}

static bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size, uint32_t end,
                       uint32_t *chunk) {
    const shape s = shape_of(heap, plan);
    const uint32_t payload = round_to_class(s, size - WORD_SIZE);
    if (payload >= end || payload < size - WORD_SIZE) {
        return false;
    }
    const uint32_t list = list_of(s, payload);
    uint32_t level = list >> s.second_level;
    uint32_t lists = load_word(heap, map_of(s, list)) & (0u - bit_of(s, list));
    if (lists == 0) {
        const uint32_t above = load_word(heap, s.map) & (~1u << level);
        if (above == 0) {
            return false;
        }
        level = hfit_trailing_zeros(above);
        lists = load_word(heap, s.maps + 4 * level) | 1u << 31; /* none is set if it is damaged */
    }
    const uint32_t head = head_of(s, (level << s.second_level) + hfit_trailing_zeros(lists));
    *chunk = head < end ? sound_offset(load_link(heap, head), end) : NO_OFFSET;
    return true;
}

/* Chunks in a list; more than `most` if one of them is not of this list, or a link does not hold.
 */
static uint32_t count_in_list(const hfit_heap *heap, const hfit_plan *plan, uint32_t list,
                              uint32_t most) {
    const shape s = shape_of(heap, plan);
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t place = head_of(s, list);
    uint32_t chunk = load_link(heap, head_of(s, list));
    uint32_t count = 0;
    for (; chunk != NO_OFFSET && count <= most; count++) {
        if (!is_chunk_offset(heap, plan, chunk, end)) {
            return most + 1;
        }
        const uint32_t word = load_word(heap, chunk);
        const uint32_t size = chunk_size(coded_header(word));
        if ((word & CHUNK_FREE) == 0 || size < CHUNK_LEAST ||
            list_of(s, size - WORD_SIZE) != list ||
            !is_free_chunk_sound(heap, plan, chunk, word, end) ||
            load_previous(heap, chunk) != place) {
            return most + 1;
        }
        place = chunk + LINK_NEXT;
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return count;
}

static uint32_t start_of(const hfit_plan *plan, shape s) {
    return first_chunk(plan, head_of(s, s.levels << s.second_level));
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const shape s = shape_for(plan, load_word(heap, TILING_END));
    const shape stored = shape_of(heap, plan);
    uint32_t levels = 0;
    uint32_t found = 0;
    if (stored.second_level != s.second_level || stored.levels != s.levels ||
        load_word(heap, TILING_FIRST) != start_of(plan, s)) {
        return false;
    }
    for (uint32_t list = 0; list < s.levels << s.second_level; list++) {
        const uint32_t count = count_in_list(heap, plan, list, free_count);
        const uint32_t map = load_word(heap, map_of(s, list));
        if (count > free_count || ((map & bit_of(s, list)) != 0) != (count != 0) ||
            (s.second_level < 5 && map >> (1u << s.second_level) != 0)) {
            return false;
        }
        levels |= (uint32_t)(count != 0) << (list >> s.second_level);
        found += count;
    }
    return load_word(heap, s.map) == levels && found == free_count;
}

static inline bool may_coalesce(const hfit_plan *plan) {
    (void)plan;
    return true;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    (void)plan;
    return WORD_SIZE;
}

static inline uint32_t free_words(const hfit_plan *plan) {
    (void)plan;
    return CHUNK_LEAST;
}

static inline uint32_t least_split(const hfit_plan *plan) {
    (void)plan;
    return 0;
}

static void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                               size_t *usable) {
    const uint32_t needed = smallest_chunk_for(plan, size);
    if (needed == 0 || is_planned(plan)) {
        return needed == 0 ? NULL : alloc_exactly(heap, plan, size, usable);
    }
    const uint32_t payload = round_to_class(shape_of(heap, plan), needed - WORD_SIZE);
    return payload < needed - WORD_SIZE ? NULL : alloc_exactly(heap, plan, payload, usable);
}

/* A chunk is searched with room for the alignment and for a free chunk before it, rounded up to the
 * alignment and then to a class. */
static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    uint32_t payload;
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2 ||
        alignment <= plan->alignment) {
        return alloc_by_plan(heap, plan, alignment, size);
    }
    const uint32_t needed = smallest_chunk_for(plan, size);
    const uint32_t end = load_word(heap, TILING_END);
    tiling_chunk chunk = {0, 0};
    if (needed == 0 ||
        !round_size(needed - WORD_SIZE, (uint32_t)alignment + CHUNK_LEAST, (uint32_t)alignment,
                    &payload) ||
        !index_find(heap, plan, payload + WORD_SIZE, end, &chunk.offset)) {
        return NULL;
    }
    const uint32_t gap = aligning_gap(heap, plan, chunk.offset, (uint32_t)alignment);
    if (!take_chunk(heap, plan, &chunk, gap + needed, end)) {
        return NULL;
    }
    cut_front(heap, plan, &chunk, gap);
    (void)use_chunk(heap, plan, &chunk, needed);
    return block_at(heap, chunk.offset + header_size(plan));
}

/* The control block grows with the region, so the answer is the first size that holds its own; with
 * by_region the first that holds one more level, since from there on each does. */
static size_t heap_smallest_region(const hfit_plan *plan) {
    const hfit_esp_tlsf_plan *own = (const hfit_esp_tlsf_plan *)plan;
    if (!is_alignment_allowed(plan->alignment) || own->second_level > MOST_SECOND_LEVEL ||
        own->by_region > 1) {
        return 0;
    }
    uint32_t end = sentinel_of(plan, smallest_tiling(plan, MAPS));
    while (start_of(plan, shape_for(plan, end << own->by_region)) + CHUNK_LEAST > end) {
        end += plan->alignment;
    }
    return end + WORD_SIZE;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t end = sentinel_of(plan, region_size);
    const shape s = shape_for(plan, end);
    const uint32_t first = start_of(plan, s);
    if (first + CHUNK_LEAST > end) {
        return NULL;
    }
    for (uint32_t offset = s.map; offset < first; offset += 4) {
        store_word(heap, offset, 0);
    }
    for (uint32_t offset = head_of(s, 0); offset < first; offset += 4) {
        store_link(heap, offset, NO_OFFSET);
    }
    if (s.map > LEVELS) {
        store_word(heap, SECOND_LEVEL, s.second_level);
        store_word(heap, LEVELS, s.levels);
    }
    tile_region(heap, plan, first, end);
    return heap;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"second_level",
     "log2 of the lists in each power of two, in any region, 1 to 5; 0: 3 to 5 by the region, and "
     "blocks of whole classes.",
     HFIT_SCALAR, offsetof(hfit_esp_tlsf_plan, second_level), 0, MOST_SECOND_LEVEL, 0, HFIT_CHOICE},
    {"by_region", "1: lists for powers of two up to the region's alone, where second_level is set.",
     HFIT_SCALAR, offsetof(hfit_esp_tlsf_plan, by_region), 0, 1, 0, HFIT_CHOICE},
};

const hfit_allocator hfit_esp_tlsf_allocator = {
    .name = "esp_tlsf",
    .title = "two-level segregated fit, blocks of whole classes",
    .origin = "espressif/tlsf, branch idf at ba64d19; mattconte/tlsf at deff9ab",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_esp_tlsf_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "constant; alloc: two maps, one split; free: two joins",
            .block_bytes = "rounded up to a class, 1/8 to 1/32 of a power of two, and 4; at least "
                           "16 a chunk",
            .fragmentation = "M + (k + 1) c for k live chunks of M bytes, each of a whole class; "
                             "c: the largest request and a class more",
            .layout = "| first | end | footprint | tally | shape | map | maps | heads |\n"
                      "| chunk | chunk | ... | sentinel |\n"
                      "a used chunk: | size+F | payload ... |\n"
                      "a free chunk: | size+F | next | previous | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "by part of a power of two",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "by part of a power of two",
            .pool_fit.text = "least class that surely fits",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_esp_tlsf_operations,
    .unlocked = &hfit_esp_tlsf_unlocked,
};
