/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap that is laid out, searched and cut as its plan says: see hfit/tailored.h. Chunks lie in
 * granules; their bounds are in bounds.h, the free ones in index.h, and what
 * happens to both when one is used or freed in chunks.h.
 */
#include "hfit/tailored.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_tailored_##operation
#define HFIT_TAKES_TAGS 1
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/trie.h"
#include "src/tailored/heap.h"
#include "src/tailored/map.h"
#include "src/tailored/headers.h"
#include "src/tailored/pairs.h"
#include "src/tailored/bounds.h"
#include "src/tailored/index.h"
#include "src/tailored/chunks.h"
#include "src/tailored/blocks.h"
#include "src/tailored/layout.h"
#include "src/tailored/check.h"

#if HFIT_HAS_COPIES
/* In a build that serves any plan and may be large: `alloc` and `free` once for each layout of an
 * exact index, with one end and with two. Each is as if built for the one plan, and places every
 * block where the code for any plan does, which is all there is in any other build. */

/* What each copy is called with: a plan of which all that chooses code is constant. */
static FORCE_INLINE hfit_tailored_plan known_plan(const hfit_plan *plan, uint32_t layout,
                                                  uint32_t ends) {
    hfit_tailored_plan known = *own_plan(plan);
    known.layout = layout;
    known.ends = ends;
    known.index = HFIT_TAILORED_EXACT;
    return known;
}

static FORCE_INLINE void *alloc_in(hfit_heap *heap, const hfit_plan *plan, uint32_t layout,
                                   const request *asked, size_t *usable) {
    if (has_two_ends(plan)) {
        const hfit_tailored_plan known = known_plan(plan, layout, 2);
        return alloc_block(heap, &known.common, asked, usable);
    }
    const hfit_tailored_plan known = known_plan(plan, layout, 1);
    return alloc_block(heap, &known.common, asked, usable);
}

static HFIT_FLATTEN void *alloc_request(hfit_heap *heap, const hfit_plan *plan,
                                        const request *asked, size_t *usable) {
    if (is_good_fit(plan)) {
        return alloc_block(heap, plan, asked, usable);
    }
    if (has_headers(plan)) {
        return alloc_in(heap, plan, HFIT_TAILORED_HEADERS, asked, usable);
    }
    return has_pairs(plan) ? alloc_in(heap, plan, HFIT_TAILORED_PAIRS, asked, usable)
                           : alloc_in(heap, plan, HFIT_TAILORED_MAP, asked, usable);
}

static FORCE_INLINE size_t free_in(hfit_heap *heap, const hfit_plan *plan, uint32_t layout,
                                   void *block) {
    if (has_two_ends(plan)) {
        const hfit_tailored_plan known = known_plan(plan, layout, 2);
        return free_block(heap, &known.common, block);
    }
    const hfit_tailored_plan known = known_plan(plan, layout, 1);
    return free_block(heap, &known.common, block);
}

static HFIT_FLATTEN size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (is_good_fit(plan)) {
        return free_block(heap, plan, block);
    }
    if (has_headers(plan)) {
        return free_in(heap, plan, HFIT_TAILORED_HEADERS, block);
    }
    return has_pairs(plan) ? free_in(heap, plan, HFIT_TAILORED_PAIRS, block)
                           : free_in(heap, plan, HFIT_TAILORED_MAP, block);
}

#else

static FORCE_INLINE void *alloc_request(hfit_heap *heap, const hfit_plan *plan,
                                        const request *asked, size_t *usable) {
    return alloc_block(heap, plan, asked, usable);
}

static size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    return free_block(heap, plan, block);
}

#endif

static void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                               size_t *usable) {
    const request asked = {size, 0};
    return alloc_request(heap, plan, &asked, usable);
}

static void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag,
                           size_t *usable) {
    const request asked = {size, tag};
    return alloc_request(heap, plan, &asked, usable);
}

void *hfit_tailored_alloc_at_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                    uint32_t tag, size_t *usable) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    *usable = 0;
    HFIT_LOCK(heap);
    void *block = is_heap_sound(heap, own) ? HFIT_DO(alloc_at)(heap, own, size, tag, usable) : NULL;
    HFIT_UNLOCK(heap);
    return block;
}

void *hfit_tailored_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag) {
    size_t usable;
    return hfit_tailored_alloc_at_usable(heap, plan, size, tag, &usable);
}

/* A chunk has at most one granule more than its request needs, and none where one can be free.
 * Where anything is checked, or headers tell, the size is not asked. */
static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    if (HFIT_SAFETY >= 1 || has_headers(plan) || block == NULL) {
        heap_free(heap, plan, block);
        return;
    }
    place at;
    at.start = (uint32_t)((uintptr_t)block - (uintptr_t)heap) >> granule_shift(plan);
    at.end = at.start + granules_for(plan, size);
    if (!has_pairs(plan)) {
        at.end += !is_marked(heap, map_base(heap), at.end);
    }
    (void)look_around(heap, plan, &at);
    release(heap, plan, &at);
}

/* Cuts a used chunk down to `size` granules where what is left can be free. */
static void shrink(hfit_heap *heap, const hfit_plan *plan, const place *at, uint32_t size) {
    HFIT_ASSERT(is_place(at) && size <= at->end - at->start);
    const uint32_t behind = at->start + size;
    const place rest = {behind, at->end, behind, at->to};
    if (rest.to - behind >= least_chunk(plan) && behind != at->end) {
        bounds_cut(heap, plan, at, behind);
        add_to_tally(heap, 1);
        release(heap, plan, &rest);
    }
}

/* Makes a used chunk and its free neighbours one free chunk, out of the index. */
static void join(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    take_out_neighbours(heap, plan, at);
    bounds_join(heap, plan, at);
    add_to_tally(heap, 0u - 1);
}

/* Makes a block longer by its free neighbours, the one before it, too, into which it then slides
 * down. NULL, and nothing changed, if they are not enough. */
static void *grow_down(hfit_heap *heap, const hfit_plan *plan, const place *at, uint32_t granules) {
    const uint32_t shift = granule_shift(plan);
    unsigned char *moved = block_at(heap, at->from << shift);
    if (at->to - at->from < granules) {
        return NULL;
    }
    join(heap, plan, at);
    slide_payload(moved, (size_t)(at->start - at->from) << shift,
                  usable_bytes(plan, at->end - at->start));
    (void)use(heap, plan, at->from, at->to, granules);
    return moved;
}

/* Makes the block at `at` one of `size` bytes. */
static void *resize_at(hfit_heap *heap, const hfit_plan *plan, place *at, size_t size) {
    void *block = block_at(heap, at->start << granule_shift(plan));
    const uint32_t granules = granules_for(plan, size);
    if (granules == 0) {
        return NULL;
    }
    if (granules <= at->end - at->start) {
        shrink(heap, plan, at, granules);
        return block;
    }
    if (granules <= at->to - at->start) {
        at->from = at->start;
        join(heap, plan, at);
        (void)use(heap, plan, at->start, at->to, granules);
        return block;
    }
    const size_t usable = usable_bytes(plan, at->end - at->start);
    void *moved = move_block(heap, plan, block, usable, size);
    return moved != NULL ? moved : grow_down(heap, plan, at, granules);
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    place at;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!find_place(heap, plan, block, &at)) {
        return NULL;
    }
    return resize_at(heap, plan, &at, size);
}

/* Granules from `start` to the first that is aligned: 0, or enough for a free chunk. */
static uint32_t aligning_gap(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                             uint32_t alignment) {
    const uint32_t shift = granule_shift(plan);
    uint32_t gap = alignment_gap(heap, start << shift, alignment) >> shift;
    while (gap != 0 && gap < least_chunk(plan)) {
        gap += alignment >> shift;
    }
    return gap;
}

/* Finds the top, if it holds `size` granules from its first aligned one on: a search for a chunk
 * that does in any case passes by one that just does, and a region that is just large enough has no
 * other. */
static bool find_aligned_top(const hfit_heap *heap, const hfit_plan *plan, uint32_t alignment,
                             uint32_t size, place *at) {
    at->start = load_word(heap, TOP);
    at->end = load_word(heap, TOP_END);
    return at->end - at->start >= size &&
           aligning_gap(heap, plan, at->start, alignment) <= at->end - at->start - size;
}

/* As use, behind `gap` granules, which stay free. */
static void use_behind(hfit_heap *heap, const hfit_plan *plan, const place *at, uint32_t gap,
                       uint32_t size) {
    const place used = {at->start + gap, at->end, at->start + gap, at->end};
    bounds_use_last(heap, plan, at->start, used.start, at->end);
    if (is_top(heap, at->start)) {
        store_word(heap, TOP, at->end);
    }
    index_insert(heap, plan, at->start, gap);
    add_to_tally(heap, 1);
    shrink(heap, plan, &used, size);
    raise_footprint(heap, plan);
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    const uint32_t shift = granule_shift(plan);
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
    const uint32_t largest_gap = (uint32_t)(alignment >> shift) + least_chunk(plan) - 1;
    place at;
    if (!take(heap, plan, granules + largest_gap, is_high(plan, granules, 0), &at) &&
        !find_aligned_top(heap, plan, (uint32_t)alignment, granules, &at)) {
        return NULL;
    }
    const uint32_t gap = aligning_gap(heap, plan, at.start, (uint32_t)alignment);
    if (gap != 0) {
        use_behind(heap, plan, &at, gap, granules);
    } else {
        (void)use(heap, plan, at.start, at.end, granules);
    }
    return block_at(heap, (at.start + gap) << shift);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    place at;
    if (block == NULL || !find_place(heap, plan, block, &at)) {
        return 0;
    }
    return usable_bytes(plan, at.end - at.start);
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t shift = granule_shift(plan);
    const uint32_t end = chunks_end(heap) >> shift;
    uint32_t chunk = load_word(heap, CHUNKS_FIRST);
    while (chunk < end) {
        bool is_free;
        const uint32_t next = chunk_end(heap, plan, chunk, &is_free);
        if (next <= chunk) { /* damaged */
            return;
        }
        visitor(context, block_at(heap, chunk << shift), usable_bytes(plan, next - chunk),
                !is_free);
        chunk = next;
    }
}

/* With two ends both are in use. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    return has_two_ends(plan) ? chunks_end(heap) : load_word(heap, FOOTPRINT);
}

/* A limit on holes asks whether the top serves. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const uint32_t first = load_word(heap, CHUNKS_FIRST) << granule_shift(plan);
    reach->most = load_word(heap, FOOTPRINT) - first;
    reach->room = chunks_end(heap) - first;
    reach->chunk = least_chunk(plan) << granule_shift(plan);
    return own_plan(plan)->hole_limit == 0;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    const uint32_t smallest = least_chunk(plan) << granule_shift(plan);
    holes->header = header_size(plan);
    holes->smallest_chunk = smallest;
    holes->spare = smallest - plan->alignment;
    holes->class_log2 = 0;
    holes->is_by_address = false;
    return !is_good_fit(plan);
}

/* Unless the plan says otherwise chunks of 16 granules and more are cut from the top's end. */
static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"ends",
     "1: chunks are cut from the top's beginning; 2: those of high_0 and high_1 from its end.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, ends), 1, 2, 1, HFIT_CHOICE},
    {"high_0",
     "A bit for each size class cut from the end: bit n for n alignments below 16, then four bits "
     "for each power of two.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, high_0), 0, ~0u, 0xffff0000, HFIT_AMOUNT},
    {"high_1", "As high_0, for chunks of 256 alignments and more.", HFIT_SCALAR,
     offsetof(hfit_tailored_plan, high_1), 0, ~0u, ~0u, HFIT_AMOUNT},
    {"tags", "How many tags of call sites are known; requests with others are placed by size.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, tags), 0, HFIT_TAILORED_TAGS, 0, HFIT_SWITCH},
    {"tag_high", "A bit for each known tag from 1 on whose requests are cut from the end.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, tag_high), 0, ~0u, 0, HFIT_AMOUNT},
    {"layout",
     "Where the bounds of chunks are: 0: in a map, 1 bit an alignment; 1: in a header of 4 B; 2: "
     "in "
     "a map, 3 bits for two alignments, of 8 B at least.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, layout), 0, HFIT_TAILORED_PAIRS, 0, HFIT_CHOICE},
    {"index",
     "0: exact best fit, in time of log2 of the region; 1: good fit, in constant time, four "
     "classes "
     "for each power of two from 16 alignments on.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, index), 0, HFIT_TAILORED_GOOD_FIT, 0, HFIT_CHOICE},
    {"hole_limit",
     "Free chunks of more than so many times a request are left while the top serves; 0: none is "
     "too large.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, hole_limit), 0, HFIT_TAILORED_MOST_LIMIT, 0,
     HFIT_SWITCH},
};

const hfit_allocator hfit_tailored_allocator = {
    .name = "tailored",
    .title = "exact or good fit, without headers or with",
    .origin = "best fit of Lea 2005 (dlmalloc 2.8) over a map of chunk bounds of our own; good fit "
              "of Masmano et al. 2004",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_tailored_plan),
    .ignores_region_end = false,
    .reach = reach_of,
    .alloc_at = hfit_tailored_alloc_at,
    .account =
        {
            .worst_case =
                "index 0: alloc: two walks in tries to find, one to take, one to put back "
                "what is split off; free: one to take each neighbour, one to put back; a "
                "walk is at most log2 of the largest chunk in granules steps. Index 1: "
                "constant. A chunk's end is found in three words of the map in layout 0, in nine "
                "in layout 2",
            .block_bytes =
                "layout 0: none: rounded up to the alignment, two alignments at least; the map has "
                "a bit for each alignment of the region. Layout 1: 4 for the header, then rounded "
                "up; at least 16 a chunk. Layout 2: none: rounded up to the alignment; the map has "
                "3 bits for two alignments of the region",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit)",
            .layout =
                "| end | first | footprint | tally | top | top end | map at | class map | "
                "classes\n"
                "| map, 1 or 1.5 bits a granule | chunk | ... | top |\n"
                "a used chunk: | size+F, layout 1 | payload ... |\n"
                "a free chunk: | size+F, layout 1 | next | previous | size | lower | higher | "
                "slot | ... |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "exact sizes, then powers of two",
            .pool_fit.text = "next larger that has one",
            .block_fit = {.tunable = "index", .texts = {"best", "good"}},
            .order.text = "by size",
            .growth = {.tunable = "ends",
                       .texts = {NULL, "from the end of what is in use", "from both ends"}},
        },
    .grid = {{"layout", {0, 1}, 2}, {"index", {0, 1}, 2}, {"ends", {1, 2}, 2}},
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_tailored_operations,
    .unlocked = &hfit_tailored_unlocked,
};
