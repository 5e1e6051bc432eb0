/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap whose callers hand the size back: see hfit/sized.h. Free chunks are found by address
 * (by_address.h) and by size (by_size.h); what happens to both when memory is used or freed is in
 * chunks.h.
 */
#include "hfit/compiler.h"
#include "hfit/sized.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_sized_##operation
#define HFIT_NEEDS_SIZE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/sized/heap.h"
#include "src/sized/trees.h"
#include "src/sized/by_address.h"
#include "src/sized/by_size.h"
#include "src/sized/live_map.h"
#include "src/sized/chunks.h"
#include "src/sized/check.h"

static FORCE_INLINE bool is_plan_sound(const hfit_plan *plan) {
    const hfit_sized_plan *own = own_plan(plan);
    return is_alignment_allowed(plan->alignment) && (own->ends == 1 || own->ends == 2);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    if (!is_plan_sound(plan)) {
        return 0;
    }
    const uint32_t least = first_chunk(plan) + least_chunk(plan);
    const uint32_t bytes = offset_at(plan, least) + live_map_size(least);
    return (bytes + plan->alignment - 1) & ~(plan->alignment - 1);
}

/* Granules of a heap in a region of so many: as many as leave room for the map behind them. */
static uint32_t fitting_end(const hfit_plan *plan, uint32_t granules) {
    uint32_t end = granules < MOST_GRANULES ? granules : MOST_GRANULES;
    const uint64_t room = (uint64_t)granules << granule_shift(plan);
    while (((uint64_t)end << granule_shift(plan)) + live_map_size(end) > room) {
        end--;
    }
    return end;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan) ||
        region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t end = fitting_end(plan, (uint32_t)region_size >> granule_shift(plan));
    store_word(heap, END, end);
    store_word(heap, TOP, first_chunk(plan));
    if (has_two_ends(plan)) {
        store_word(heap, TOP_END, end);
    } else {
        store_word(heap, FOOTPRINT, offset_at(plan, first_chunk(plan)));
    }
    store_word(heap, FREE, end - first_chunk(plan));
    for (uint32_t root = ADDRESSES; root <= sizes_root(plan, has_two_ends(plan)); root += 4) {
        store_word(heap, root, NOWHERE);
    }
    for (uint32_t word = 0; word < live_map_size(end); word += 4) {
        store_word(heap, offset_at(plan, end) + word, 0);
    }
    return heap;
}

/* Granules of a block; 0 if none has so many. */
static FORCE_INLINE uint32_t granules_for(const hfit_plan *plan, size_t size) {
    uint32_t bytes;
    if (!round_size(size, 0, plan->alignment, &bytes)) {
        return 0;
    }
    const uint32_t granules = bytes >> granule_shift(plan);
    return granules > least_chunk(plan) ? granules : least_chunk(plan);
}

static FORCE_INLINE uint32_t size_number(uint32_t size) {
    if (size < 16) {
        return size;
    }
    const uint32_t log = 31u - hfit_leading_zeros(size);
    return 4 * log + (size >> (log - 2) & 3);
}

static FORCE_INLINE bool is_high(const hfit_plan *plan, uint32_t size) {
    const hfit_sized_plan *own = own_plan(plan);
    const uint32_t number = size_number(size);
    const uint32_t bit = number < 64 ? number : 63u;
    return has_two_ends(plan) && ((bit < 32 ? own->high_0 : own->high_1) >> (bit & 31) & 1u) != 0;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const uint32_t granules = granules_for(plan, size);
    if (granules == 0) {
        return NULL;
    }
    const uint32_t start = take(heap, plan, granules, is_high(plan, granules));
    if (start == NOWHERE) {
        return NULL;
    }
    note_live(heap, plan, start, true);
    return block_at(heap, offset_at(plan, start));
}

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, const void *block) {
    (void)heap, (void)kind, (void)block; /* where HFIT_ON_MISUSE looks at none */
    HFIT_ON_MISUSE(heap, kind, block);
    return false;
}

/* The granule at an address, NOWHERE if no block can begin there. */
static FORCE_INLINE uint32_t granule_of(const hfit_heap *heap, const hfit_plan *plan,
                                        const void *block) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    const uint32_t start = (uint32_t)(distance >> granule_shift(plan));
    if (HFIT_SAFETY < 1) {
        return start;
    }
    return (distance & (plan->alignment - 1)) == 0 && start >= first_chunk(plan) &&
                   distance >> granule_shift(plan) < load_word(heap, END)
               ? start
               : (uint32_t)NOWHERE;
}

/* Where a block of so many bytes lies. False if it cannot lie there. */
static INLINE_FOR_SPEED bool find_place(const hfit_heap *heap, const hfit_plan *plan,
                                        const void *block, size_t size, place *at) {
    const uint32_t granules = granules_for(plan, size);
    at->start = granule_of(heap, plan, block);
    at->end = at->start + granules;
    return HFIT_SAFETY < 1 ||
           (granules != 0 && at->start != NOWHERE &&
            granules <= load_word(heap, END) - at->start) ||
           refuse(heap, HFIT_MISUSE_FOREIGN, block);
}

/* What is free around a live block. False if it cannot be one, or that cannot be. */
static INLINE_FOR_SPEED bool find_neighbours(const hfit_heap *heap, const hfit_plan *plan,
                                             place *at, neighbours *found) {
    const bool is_used = look_around(heap, plan, at, found) &&
                         (!HAS_LIVE_MAP || is_live_block(heap, plan, at->start, at->end));
    const void *block = block_at(heap, offset_at(plan, at->start));
    return HFIT_SAFETY < 1 || ((is_used || refuse(heap, HFIT_MISUSE_NOT_LIVE, block)) &&
                               (is_inside(heap, at) || refuse(heap, HFIT_MISUSE_DAMAGED, block)));
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    place at;
    neighbours found;
    if (block != NULL && find_place(heap, plan, block, size, &at) &&
        find_neighbours(heap, plan, &at, &found)) {
        note_live(heap, plan, at.start, false);
        release(heap, plan, &at, &found);
    }
}

/* Bytes of a live block. What is none is told; without a map nothing tells, and it is 0. */
static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    const uint32_t start = granule_of(heap, plan, block);
    if (!HAS_LIVE_MAP || block == NULL) {
        return 0;
    }
    if (start == NOWHERE || !is_live_at(heap, plan, start)) {
        (void)refuse(heap, start == NOWHERE ? HFIT_MISUSE_FOREIGN : HFIT_MISUSE_NOT_LIVE, block);
        return 0;
    }
    return offset_at(plan, live_end(heap, plan, start) - start);
}

/* Without a map nothing tells how long a block is, and its caller is refused. */
static size_t find_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    if (!HAS_LIVE_MAP) {
        (void)refuse(heap, HFIT_MISUSE_FOREIGN, block);
    }
    return heap_usable_size(heap, plan, block);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const size_t size = block != NULL ? find_size(heap, plan, block) : 0;
    if (size != 0) {
        heap_free_sized(heap, plan, block, size);
    }
}

/* Makes a used place end at `end`: what lies free behind it begins there. */
static void set_end(hfit_heap *heap, const hfit_plan *plan, uint32_t end, const place *at,
                    neighbours *found) {
    remove_after(heap, plan, found);
    if (found->is_top_after) {
        store_word(heap, TOP, end);
        raise_footprint(heap, plan);
    } else if (at->to != end) {
        insert_chunk(heap, plan, end, at->to);
    }
}

/* Makes a block longer by what is free on both sides, and slides it down. NULL, and nothing
 * changed, if that is not enough. */
static void *grow_down(hfit_heap *heap, const hfit_plan *plan, const place *at, neighbours *found,
                       uint32_t size) {
    const uint32_t length = at->end - at->start;
    const uint32_t start = found->is_top_before ? at->to - size : at->from;
    if (at->to - at->from < size || start >= at->start || (size < length && found->is_top_before) ||
        !(found->is_top_before || found->is_top_after ||
          can_be_left(plan, at->to - at->from - size))) {
        return NULL;
    }
    unsigned char *moved = block_at(heap, offset_at(plan, start));
    remove_after(heap, plan, found);
    if (found->before != NOWHERE) {
        remove_chunk(heap, plan, found->before);
    }
    count_free(heap, length - size);
    note_live(heap, plan, at->start, false);
    note_live(heap, plan, start, true);
    slide_payload(moved, offset_at(plan, at->start - start),
                  offset_at(plan, size < length ? size : length));
    if (found->is_top_before) {
        store_word(heap, TOP_END, start);
    } else {
        found->after.chunk = NOWHERE;
        set_end(heap, plan, start + size, at, found);
    }
    return moved;
}

static void *heap_resize_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t old_size,
                               size_t size) {
    place at;
    neighbours found;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const uint32_t granules = granules_for(plan, size);
    if (granules == 0 || !find_place(heap, plan, block, old_size, &at) ||
        !find_neighbours(heap, plan, &at, &found)) {
        return NULL;
    }
    if (granules == at.end - at.start) {
        return block;
    }
    if (granules <= at.to - at.start &&
        (found.is_top_after || can_be_left(plan, at.to - at.start - granules))) {
        count_free(heap, at.end - at.start - granules);
        set_end(heap, plan, at.start + granules, &at, &found);
        return block;
    }
    void *moved = heap_alloc(heap, plan, size);
    if (moved != NULL) {
        copy_payload(moved, block, old_size < size ? old_size : size);
        heap_free_sized(heap, plan, block, old_size);
        return moved;
    }
    return grow_down(heap, plan, &at, &found, granules);
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const size_t old_size = block != NULL ? find_size(heap, plan, block) : 0;
    return block == NULL || old_size != 0 ? heap_resize_sized(heap, plan, block, old_size, size)
                                          : NULL;
}

/* Granules from `start` to the first that is aligned, if what they leave can be a chunk or is none.
 */
static uint32_t aligning_gap(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                             uint32_t alignment) {
    const uint32_t shift = granule_shift(plan);
    uint32_t gap = alignment_gap(heap, offset_at(plan, start), alignment) >> shift;
    while (gap != 0 && gap < least_chunk(plan)) {
        HFIT_LOOP_AT_MOST(1);
        gap += alignment >> shift;
    }
    return gap;
}

/* Frees granules that are in use. */
static void give_back(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    place at = {start, end, start, end};
    neighbours found;
    if (start != end && look_around(heap, plan, &at, &found) && is_inside(heap, &at)) {
        release(heap, plan, &at, &found);
    }
}

/* The top alone, where it holds the block from its first aligned granule on: a region that is just
 * large enough has nothing else. */
static uint32_t take_aligned_top(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment,
                                 uint32_t size) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t room = top_end(heap, plan) - top;
    const uint32_t gap = aligning_gap(heap, plan, top, alignment);
    if (room < size || gap > room - size) {
        return NOWHERE;
    }
    count_free(heap, 0 - (gap + size));
    return cut_top(heap, plan, gap + size, false);
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    if (alignment <= plan->alignment) {
        return heap_alloc(heap, plan, size);
    }
    const uint32_t granules = granules_for(plan, size);
    if (granules == 0) {
        return NULL;
    }
    const uint32_t wanted =
        granules + ((uint32_t)alignment >> granule_shift(plan)) + least_chunk(plan) - 1;
    uint32_t end = wanted;
    uint32_t start = take(heap, plan, wanted, is_high(plan, granules));
    if (start == NOWHERE) {
        start = take_aligned_top(heap, plan, (uint32_t)alignment, granules);
        if (start == NOWHERE) {
            return NULL;
        }
        end = aligning_gap(heap, plan, start, (uint32_t)alignment) + granules;
    }
    const uint32_t block = start + aligning_gap(heap, plan, start, (uint32_t)alignment);
    note_live(heap, plan, block, true);
    give_back(heap, plan, start, block);
    give_back(heap, plan, block + granules, start + end);
    return block_at(heap, offset_at(plan, block));
}

/* Tells of the live blocks in a place. Without a map nothing says where they end, and it tells of
 * all as of one. */
static void walk_used(const hfit_heap *heap, const hfit_plan *plan, const place *at,
                      hfit_visitor visitor, void *context) {
    for (uint32_t start = at->start; start < at->end;) {
        const uint32_t next = HAS_LIVE_MAP ? next_live(heap, plan, start + 1, at->end) : at->end;
        visitor(context, block_at(heap, offset_at(plan, start)), offset_at(plan, next - start),
                true);
        start = next;
    }
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t first = first_chunk(plan);
    place used = {first, first, first, first}; /* all members: see check.h */
    while (used.start < load_word(heap, END)) {
        const place rest = next_free(heap, plan, used.start);
        if (rest.end <= used.start) { /* damaged */
            return;
        }
        used.end = rest.start;
        walk_used(heap, plan, &used, visitor, context);
        if (rest.end > rest.start) {
            visitor(context, block_at(heap, offset_at(plan, rest.start)),
                    offset_at(plan, rest.end - rest.start), false);
        }
        used.start = rest.end;
    }
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    return has_two_ends(plan) ? offset_at(plan, load_word(heap, END)) : load_word(heap, FOOTPRINT);
}

/* With two ends nothing tells how far both have come; a limit on holes asks whether the top serves.
 */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const uint32_t first = offset_at(plan, first_chunk(plan));
    reach->most = load_word(heap, FOOTPRINT) - first;
    reach->room = offset_at(plan, load_word(heap, END)) - first;
    reach->chunk = 0;
    return !has_two_ends(plan) && own_plan(plan)->hole_limit == 0;
}

/* Where a granule has 4 B, a hole that is one larger than a request does not serve it. */
static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    holes->header = 0;
    holes->smallest_chunk = plan->alignment;
    holes->spare = 0;
    holes->class_log2 = 0;
    holes->is_by_address = false;
    return least_chunk(plan) == 1;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"ends",
     "1: chunks are cut from the top's beginning; 2: those of high_0 and high_1 from its end.",
     HFIT_SCALAR, offsetof(hfit_sized_plan, ends), 1, 2, 1, HFIT_CHOICE},
    {"high_0",
     "A bit for each size class cut from the end: bit n for n granules below 16, then four bits "
     "for each power of two.",
     HFIT_SCALAR, offsetof(hfit_sized_plan, high_0), 0, ~0u, 0xffff0000, HFIT_AMOUNT},
    {"high_1", "As high_0, for chunks of 256 granules and more.", HFIT_SCALAR,
     offsetof(hfit_sized_plan, high_1), 0, ~0u, ~0u, HFIT_AMOUNT},
    {"hole_limit",
     "Holes of more than so many times a request are left while the top serves; 0: none are.",
     HFIT_SCALAR, offsetof(hfit_sized_plan, hole_limit), 0, 65536, 0, HFIT_SWITCH},
};

const hfit_allocator hfit_sized_allocator = {
    .name = "sized",
    .title = "best fit without header or map, for callers that know sizes",
    .origin = "ours: bitwise trees of Lea 2005 (dlmalloc 2.8), by address and by size, in free "
              "chunks alone",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_sized_plan),
    .ignores_region_end = false,
    .reach = reach_of,
    .needs_size = true,
    .account =
        {
            .worst_case = "b: bits of the region's length in alignments; alloc: at most 8 loops of "
                          "b + 5 steps, with two ends 11, free: 10, resize: both and 13; at "
                          "alignment 4 alloc 10 and 15, free 12",
            .block_bytes = "none: rounded up to the alignment, 8 at least; no hole of 4 is left. "
                           "Of a region at most 2^21 - 1 times the alignment is used, 8 MiB at 4",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit)",
            .layout = "| end | top | footprint or top end | free | trees | chunk | ... | top |\n"
                      "a used chunk: | payload ... |\n"
                      "a free chunk: | lower, size | higher, size |\n"
                      "of 16 B and more: ... | smaller, next | larger, next | ... |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit.text = "best",
            .order.text = "by size",
            .growth = {.tunable = "ends",
                       .texts = {NULL, "from the end of what is in use", "from both ends"}},
        },
    .grid = {{"ends", {1, 2}, 2}, {"hole_limit", {0, 8}, 2}},
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_sized_operations,
    .unlocked = &hfit_sized_unlocked,
};
