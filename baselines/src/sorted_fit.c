/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted fit: the index is a list a power of two, or one, each from its smallest chunk to its
 * largest or by address. See baselines/sorted_fit.h.
 *
 *   16          20                        148
 *   +-----------+-------------------------+-------
 *   | class map | heads of classes 0 to 31 | chunks
 *   +-----------+-------------------------+-------
 */
#include "baselines/sorted_fit.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_sorted_fit_##operation
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/logarithm.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/chunk.h"
/* A resize and an aligned request of its own, below; the usual ones serve where neighbours stay
 * apart. */
static void *tiling_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);
static void *tiling_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                  size_t size);
#define heap_resize tiling_resize
#define heap_alloc_aligned tiling_alloc_aligned
#include "src/tiling/tiling.h"
#undef heap_alloc_aligned
#undef heap_resize
#include "src/tiling/fit_list.h"

enum {
    CLASS_MAP = TILING_INDEX,
    CLASSES = CLASS_MAP + 4,
    CLASS_COUNT = 32,
    CONTROL_SIZE = CLASSES + 4 * CLASS_COUNT,
};

static inline const hfit_sorted_fit_plan *own(const hfit_plan *plan) {
    return (const hfit_sorted_fit_plan *)plan;
}

static inline uint32_t class_of(const hfit_plan *plan, uint32_t size) {
    return own(plan)->lists == 0 ? 0 : log2_down(size);
}

static inline uint32_t head_of(uint32_t class) {
    return CLASSES + 4 * class;
}

/* The first chunk of a class's list with at least `size` bytes, and the link that leads there.
 * Where links lead out of the heap, or form a ring, the search ends there. */
static uint32_t search_class(const hfit_heap *heap, uint32_t class, uint32_t size,
                             uint32_t *place) {
    const uint32_t end = load_word(heap, TILING_END);
    uint32_t chunk = load_link(heap, head_of(class));
    *place = head_of(class);
    for (uint32_t steps = end / CHUNK_LEAST; chunk != NO_OFFSET && steps > 0; steps--) {
        if (sound_offset(chunk, end) == NO_OFFSET ||
            chunk_size(coded_header(load_word(heap, chunk))) >= size) {
            break;
        }
        *place = chunk + LINK_NEXT;
        chunk = load_link_field(heap, chunk, LINK_NEXT);
    }
    return chunk;
}

static void insert_by_size(hfit_heap *heap, uint32_t class, uint32_t chunk, uint32_t size) {
    uint32_t place;
    uint32_t next = search_class(heap, class, size, &place);
    if (HFIT_SAFETY >= 1 && !does_link_hold(heap, place, next, load_word(heap, TILING_END))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        next = NO_OFFSET;
    }
    store_link_field(heap, chunk, LINK_NEXT, next);
    store_previous(heap, chunk, place);
    store_link(heap, place, chunk);
    if (next != NO_OFFSET) {
        store_previous(heap, next, chunk + LINK_NEXT);
    }
}

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t class = class_of(plan, size);
    if (own(plan)->by_address != 0) {
        list_insert_by_address(heap, head_of(class), chunk);
    } else {
        insert_by_size(heap, class, chunk, size);
    }
    set_flag(heap, CLASS_MAP, 1u << class);
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t class = class_of(plan, size);
    if (list_remove(heap, head_of(class), chunk)) {
        clear_flag(heap, CLASS_MAP, 1u << class);
    }
}

static bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size,
                        uint32_t end) {
    (void)plan, (void)size;
    return do_links_hold(heap, chunk, end);
}

static bool index_find(const hfit_heap *heap, const hfit_plan *plan, uint32_t size, uint32_t end,
                       uint32_t *chunk) {
    uint32_t place;
    const uint32_t class = class_of(plan, size);
    const uint32_t larger = load_word(heap, CLASS_MAP) & ~((2u << class) - 1);
    *chunk = search_class(heap, class, size, &place);
    if (*chunk == NO_OFFSET) {
        if (larger == 0) {
            return false;
        }
        *chunk = load_link(heap, head_of(log2_down(larger & (0u - larger))));
    }
    *chunk = sound_offset(*chunk, end);
    return true;
}

static bool index_check(const hfit_heap *heap, const hfit_plan *plan, uint32_t free_count) {
    const uint32_t map = load_word(heap, CLASS_MAP);
    uint32_t left = free_count;
    if (load_word(heap, TILING_FIRST) != first_chunk(plan, CONTROL_SIZE)) {
        return false;
    }
    for (uint32_t class = 0; class < CLASS_COUNT; class ++) {
        const size_range powers = {1u << class, (2u << class) - 1};
        const size_range any = {smallest_chunk(plan), UINT32_MAX};
        const size_range sizes = own(plan)->lists == 0 ? any : powers;
        const bool is_empty = load_link(heap, head_of(class)) == NO_OFFSET;
        const uint32_t count = count_list(heap, plan, head_of(class), sizes, left);
        if (count > left || is_empty != ((map >> class & 1) == 0)) {
            return false;
        }
        left -= count;
    }
    return left == 0;
}

static inline bool may_coalesce(const hfit_plan *plan) {
    return own(plan)->coalesce != 0;
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

/* Bytes taken from the free chunks before and behind a block that grows. */
typedef struct taken_bytes {
    uint32_t previous;
    uint32_t next;
} taken_bytes;

/* All of a free chunk if what is left of it could be none. */
static uint32_t take_from(const hfit_plan *plan, uint32_t size, uint32_t needed) {
    return needed != 0 && !is_worth_splitting(plan, size - needed) ? size : needed;
}

/* How to grow by `needed` bytes, which both together have: from the smaller first. */
static taken_bytes share_growth(const hfit_plan *plan, taken_bytes sizes, uint32_t needed) {
    const bool is_previous_first = sizes.next > sizes.previous;
    const uint32_t first = is_previous_first ? sizes.previous : sizes.next;
    const uint32_t of_first = needed < first ? needed : first;
    const uint32_t previous = is_previous_first ? of_first : needed - of_first;
    const taken_bytes taken = {take_from(plan, sizes.previous, previous),
                               take_from(plan, sizes.next, needed - previous)};
    return taken;
}

/* Sets where a used chunk ends, before `free_end`: the end of the free chunk behind it, which is
 * out of the index, or the chunk's own. */
static void set_end(hfit_heap *heap, const hfit_plan *plan, tiling_chunk used, uint32_t free_end) {
    const uint32_t end = used.offset + chunk_size(used.header);
    store_word(heap, used.offset, used.header);
    if (end != free_end) {
        put_free_chunk(heap, plan, end, (free_end - end) | CHUNK_FREE);
    } else {
        store_word(heap, end, put_after_used(plan, load_word(heap, end)));
    }
    add_to_tally(heap, raise_footprint(heap, end));
}

static void *grow_both_ways(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk,
                            taken_bytes sizes, uint32_t needed) {
    const uint32_t size = chunk_size(chunk->header);
    const taken_bytes taken = share_growth(plan, sizes, needed - size);
    const uint32_t left = sizes.previous - taken.previous;
    tiling_chunk grown = {chunk->offset - taken.previous,
                          chunk->header + taken.previous + taken.next};
    if (taken.next != 0) {
        index_remove(heap, plan, chunk->offset + size, sizes.next);
    }
    if (taken.previous != 0) {
        index_remove(heap, plan, chunk->offset - sizes.previous, sizes.previous);
        slide_payload(block_at(heap, grown.offset + header_size(plan)), taken.previous,
                      size - header_size(plan));
        grown.header &= ~(uint32_t)(left == 0 ? AFTER_FREE : 0);
        if (left != 0) {
            put_free_chunk(heap, plan, grown.offset - left, left | CHUNK_FREE);
        }
    }
    if (taken.next != 0) {
        set_end(heap, plan, grown, chunk->offset + size + sizes.next);
    } else {
        store_word(heap, grown.offset, grown.header);
    }
    return block_at(heap, grown.offset + header_size(plan));
}

/* Cuts a used chunk down to `needed` bytes; what is cut off joins a free chunk behind it, however
 * little it is, or is split off if it can be a chunk. */
static void shrink_before(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk,
                          uint32_t needed) {
    const uint32_t next = chunk->offset + chunk_size(chunk->header);
    const uint32_t next_size = free_size(plan, chunk->next_word);
    const tiling_chunk used = {chunk->offset, chunk->header - chunk_size(chunk->header) + needed};
    if ((chunk->next_word & CHUNK_FREE) == 0) {
        shrink_chunk(heap, plan, *chunk, needed);
        return;
    }
    index_remove(heap, plan, next, next_size);
    set_end(heap, plan, used, next + next_size);
}

/* Cuts `gap` bytes, if any, off the front of a used chunk: a free one. */
static void cut_used_front(hfit_heap *heap, const hfit_plan *plan, used_chunk *chunk,
                           uint32_t gap) {
    if (gap != 0) {
        put_free_chunk(heap, plan, chunk->offset, gap | CHUNK_FREE | (chunk->header & AFTER_FREE));
        chunk->offset += gap;
        chunk->header = (chunk_size(chunk->header) - gap) | AFTER_FREE;
        store_word(heap, chunk->offset, chunk->header);
    }
}

/* A block that is larger by twice the alignment, whose ends before and behind the aligned one go
 * back. */
static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    const uint32_t smallest = smallest_chunk(plan);
    const size_t least = smallest - header_size(plan);
    const size_t asked = size < least ? least : size;
    uint32_t room;
    used_chunk chunk;
    if (!may_coalesce(plan) || !is_power_of_two(alignment) || alignment <= plan->alignment) {
        return tiling_alloc_aligned(heap, plan, alignment, size);
    }
    if (alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    /* At least a power of two that a free chunk fits in: the original's is 16. */
    const uint32_t fitting = 2u << log2_down(smallest - 1);
    const uint32_t step = alignment < fitting ? fitting : (uint32_t)alignment;
    if (!round_sum(asked, 2 * step, plan->alignment, &room)) {
        return NULL;
    }
    void *block = heap_alloc(heap, plan, room);
    if (block == NULL || !find_changeable_chunk(heap, plan, block, &chunk)) {
        return NULL;
    }
    cut_used_front(heap, plan, &chunk, aligning_gap(heap, plan, chunk.offset, step));
    const uint32_t needed = smallest_chunk_for(plan, asked);
    if (needed < chunk_size(chunk.header)) {
        shrink_before(heap, plan, &chunk, needed);
    }
    return block_at(heap, chunk.offset + header_size(plan));
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    used_chunk chunk;
    const uint32_t needed = smallest_chunk_for(plan, size);
    if (block == NULL || !may_coalesce(plan) || needed == 0) {
        return tiling_resize(heap, plan, block, size);
    }
    if (!find_changeable_chunk(heap, plan, block, &chunk)) {
        return NULL;
    }
    const uint32_t now = chunk_size(chunk.header);
    const bool has_next = (chunk.next_word & CHUNK_FREE) != 0;
    const bool has_previous = (chunk.header & AFTER_FREE) != 0;
    const taken_bytes sizes = {
        has_previous ? free_size(plan, load_word(heap, chunk.offset - WORD_SIZE)) : 0,
        has_next ? free_size(plan, chunk.next_word) : 0};
    if (now < needed && needed - now <= sizes.previous + sizes.next) {
        return grow_both_ways(heap, plan, &chunk, sizes, needed);
    }
    if (now > needed) {
        shrink_before(heap, plan, &chunk, needed);
        return block;
    }
    return tiling_resize(heap, plan, block, size);
}

static bool is_plan_sound(const hfit_plan *plan) {
    const hfit_sorted_fit_plan *p = own(plan);
    return is_alignment_allowed(plan->alignment) && p->coalesce <= 1 && p->lists <= 1 &&
           p->by_address <= 1 && is_header_size_allowed(p->header_size) &&
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
    store_word(heap, CLASS_MAP, 0);
    store_word(heap, TILING_END, sentinel_of(plan, region_size));
    for (uint32_t class = 0; class < CLASS_COUNT; class ++) {
        store_link(heap, head_of(class), NO_OFFSET);
    }
    tile_region(heap, plan, first_chunk(plan, CONTROL_SIZE), sentinel_of(plan, region_size));
    return heap;
}

/* By address the chunk that the region's end cuts is tried last. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const uint32_t first = load_word(heap, TILING_FIRST);
    const uint32_t smallest = smallest_chunk(plan);
    reach->most = load_word(heap, TILING_FOOTPRINT) - WORD_SIZE - first;
    reach->room = load_word(heap, TILING_END) - first;
    reach->chunk = smallest < least_split(plan) ? least_split(plan) : smallest;
    return own(plan)->by_address != 0 && own(plan)->lists == 0;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"coalesce", "1: join a freed chunk with its free neighbours; 0: never.", HFIT_SCALAR,
     offsetof(hfit_sorted_fit_plan, coalesce), 0, 1, 1, HFIT_CHOICE},
    {"lists", "Free lists: 1 a list a power of two, 0 one of all sizes.", HFIT_SCALAR,
     offsetof(hfit_sorted_fit_plan, lists), 0, 1, 1, HFIT_CHOICE},
    HFIT_HEADER_SIZE_TUNABLE(hfit_sorted_fit_plan),
    HFIT_LEAST_SPLIT_TUNABLE(hfit_sorted_fit_plan),
    {"by_address", "Order of a free list: 0 by size, 1 by address.", HFIT_SCALAR,
     offsetof(hfit_sorted_fit_plan, by_address), 0, 1, 0, HFIT_CHOICE},
};

const hfit_allocator hfit_sorted_fit_allocator = {
    .name = "sorted_fit",
    .title = "best fit, free lists sorted by size",
    .origin = "NuttX 4ebc8a72, mm/mm_heap; FreeRTOS kernel 4269c69, heap_2; lwIP 3d896ba, mem.c",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_sorted_fit_plan),
    .ignores_region_end = false,
    .reach = reach_of,
    .account =
        {
            .worst_case = "alloc and free: one step a smaller chunk of the same list, so linear in "
                          "the free chunks",
            .block_bytes = "header_size, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "best fit: about M n for M live bytes and a largest request of n "
                             "units, by address M (1 + ceil(log2 n)) (Robson 1977). Without "
                             "coalescing none: the heap wears down",
            .layout = "| first | end | footprint | tally | class map | list heads | chunk | ... | "
                      "sentinel |\n"
                      "a used chunk: | size+F | ... header_size | payload ... |\n"
                      "a free chunk: | size+F | next | previous | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing = {.tunable = "coalesce", .texts = {"never", "at once"}},
            .pools = {.tunable = "lists", .texts = {"one", "by power of two"}},
            .pool_fit.text = "next larger that has one",
            .block_fit = {.tunable = "by_address", .texts = {"best", "first"}},
            .order = {.tunable = "by_address",
                      .texts = {"by size, last freed first", "by address"}},
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .address_order = "by_address",
    .operations = &hfit_sorted_fit_operations,
    .unlocked = &hfit_sorted_fit_unlocked,
};
