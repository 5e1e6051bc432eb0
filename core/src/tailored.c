/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap without headers: chunks in granules, their bounds in a map, the free ones in an index.
 * See hfit/tailored.h.
 *
 *   first                                              top            top end = end
 *   +--------+--------+----------+--------+ ... +------+--------------+
 *   | chunk  | chunk  | chunk    | chunk  |     | used | free, in no  |
 *   |        |        |          |        |     |      | class        |
 *   +--------+--------+----------+--------+ ... +------+--------------+
 *
 * The top is what nobody has used last: the free chunk at which `top` points. Where it is used up,
 * `top` tells where it was, and the next free chunk that touches the place is the top again.
 */
#include "hfit/tailored.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_tailored_##operation
#include "src/operations.h"
#include "src/tailored_check.h"

enum { NO_GRANULE = 0 }; /* the control words lie there */

/* A chunk, and how far its free neighbours reach: from == start and to == end where they are used.
 */
typedef struct place {
    uint32_t start;
    uint32_t end;
    uint32_t from;
    uint32_t to;
} place;

static inline void add_to_tally(hfit_heap *heap, uint32_t added) {
    if (HFIT_SAFETY >= 1) {
        store_word(heap, TALLY, load_word(heap, TALLY) + added);
    }
}

/* The granules of a chunk for `size` bytes; 0 if no region could hold it. */
static inline uint32_t granules_for(const hfit_plan *plan, size_t size) {
    uint32_t rounded;
    if (!round_size(size, 0, plan->alignment, &rounded)) {
        return 0;
    }
    const uint32_t granules = rounded >> granule_shift(plan);
    return granules < LEAST_CHUNK ? (uint32_t)LEAST_CHUNK : granules;
}

static inline bool is_out_of_index(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                   uint32_t end) {
    return is_top(heap, start) || index_holds(heap, plan, start, end - start);
}

/* Takes a free chunk out of the index; the top is in none. */
static inline void take_out(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    if (!is_top(heap, start)) {
        index_remove(heap, plan, start, end - start);
    }
}

/* Puts the free granules, marked already, where they belong: to the top, if they hold or touch it,
 * or else into the index. None may be left, of what was the top. */
static inline void put_back(hfit_heap *heap, const hfit_plan *plan, uint32_t from, uint32_t start,
                            uint32_t end) {
    if (from <= load_word(heap, TOP) && load_word(heap, TOP_END) <= end) {
        store_word(heap, TOP, start);
        store_word(heap, TOP_END, end);
    } else if (start != end) {
        index_insert(heap, plan, start, end - start);
    }
}

/* Notes that a chunk was made used. */
static inline void count_used(hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t before = load_word(heap, FOOTPRINT);
    const uint32_t top_size = load_word(heap, TOP_END) - load_word(heap, TOP);
    const uint32_t reached = load_word(heap, CHUNKS_END) - (top_size << granule_shift(plan));
    if (reached > before) {
        store_word(heap, FOOTPRINT, reached);
    }
    add_to_tally(heap, 1 + (reached > before ? reached - before : 0));
}

/* Makes the first `size` granules of a free chunk that is out of the index a used chunk; what is
 * left is free again if it can be a chunk. */
static INLINE_FOR_SPEED void use(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                 uint32_t end, uint32_t size) {
    uint32_t behind = start + size;
    if (end - behind >= LEAST_CHUNK) {
        mark(heap, behind);
    } else {
        behind = end;
        unmark(heap, end - 1);
    }
    put_back(heap, plan, start, behind, end);
    count_used(heap, plan);
}

/* True if requests of `size` granules are cut from the top's end. */
static inline bool is_high(const hfit_plan *plan, uint32_t size) {
    const hfit_tailored_plan *own = (const hfit_tailored_plan *)plan;
    uint32_t class = size;
    if (!has_two_ends(plan)) {
        return false;
    }
    if (size >= 16) {
        const uint32_t log = 31u - (uint32_t)__builtin_clz(size);
        class = 4 * log + (size >> (log - 2) & 3);
        class = class < HFIT_TAILORED_CLASSES ? class : HFIT_TAILORED_CLASSES - 1u;
    }
    return ((class < 32 ? own->high_0 : own->high_1) >> (class & 31) & 1u) != 0;
}

/* Cuts `size` granules from the end of the top. */
static uint32_t use_high(hfit_heap *heap, const hfit_plan *plan, uint32_t top, uint32_t end,
                         uint32_t size) {
    const uint32_t start = end - size;
    if (start - top < LEAST_CHUNK) {
        use(heap, plan, top, end, size);
        return top;
    }
    unmark(heap, end - 1);
    mark(heap, start - 1);
    mark(heap, start);
    store_word(heap, TOP_END, start);
    count_used(heap, plan);
    return start;
}

/* Makes a used chunk free and joins it with its free neighbours. */
static INLINE_FOR_SPEED void release(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    if (at->to != at->end) {
        take_out(heap, plan, at->end, at->to);
        unmark(heap, at->end);
    } else {
        mark(heap, at->end - 1);
    }
    if (at->from != at->start) {
        take_out(heap, plan, at->from, at->start);
        unmark_pair(heap, at->start);
    }
    put_back(heap, plan, at->from, at->from, at->to);
    add_to_tally(heap, 0u - 1);
}

/* True if a free chunk of at least `size` granules begins at the entry and may be taken; if not,
 * that is told. */
static inline bool is_takeable(const hfit_heap *heap, const hfit_plan *plan, uint32_t entry,
                               uint32_t size, uint32_t *end) {
    const uint32_t granule = granule_of(plan, entry);
    bool is_free;
    if (((entry + 4) & (plan->alignment - 1)) == 0 && entry < chunks_end(heap) &&
        granule >= load_word(heap, CHUNKS_FIRST) && is_marked(heap, granule)) {
        *end = chunk_end(heap, granule, &is_free);
        if (is_free && *end - granule >= size && index_holds(heap, plan, granule, *end - granule)) {
            return true;
        }
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    return false;
}

/* Takes a free chunk of at least `size` granules out of the index: of its own side of the top, else
 * the top, else of the other side. NO_GRANULE if there is none. */
static inline uint32_t take(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high,
                            uint32_t *end) {
    if (size > chunks_end(heap) >> granule_shift(plan)) {
        return NO_GRANULE; /* its class has no word */
    }
    uint32_t entry = find_best(heap, plan, size, high);
    if (entry == NO_OFFSET) {
        const uint32_t top = load_word(heap, TOP);
        *end = load_word(heap, TOP_END);
        if (*end - top >= size) {
            return top;
        }
        entry = has_two_ends(plan) ? find_best(heap, plan, size, !high) : NO_OFFSET;
    }
    if (entry == NO_OFFSET) {
        return NO_GRANULE;
    }
    const uint32_t granule = granule_of(plan, entry);
    if (HFIT_SAFETY < 1) {
        bool is_free;
        *end = chunk_end(heap, granule, &is_free);
    } else if (!is_takeable(heap, plan, entry, size, end)) {
        return NO_GRANULE;
    }
    index_remove(heap, plan, granule, *end - granule);
    return granule;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t end;
    const uint32_t granules = granules_for(plan, size);
    const bool high = is_high(plan, granules);
    uint32_t start = granules == 0 ? (uint32_t)NO_GRANULE : take(heap, plan, granules, high, &end);
    if (start == NO_GRANULE) {
        return NULL;
    }
    if (high && is_top(heap, start)) {
        start = use_high(heap, plan, start, end, granules);
    } else {
        use(heap, plan, start, end, granules);
    }
    return block_at(heap, start << granule_shift(plan));
}

static inline bool refuse(const hfit_heap *heap, hfit_misuse kind, const void *block) {
    HFIT_ON_MISUSE(heap, kind, block);
    return false;
}

/* Stores where the chunk that `block` is the payload of begins and ends. From safety level 1 on
 * false, told as misuse, if it is not a live block's. */
static inline bool find_used(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                             place *at) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    bool is_free;
    at->start = (uint32_t)distance >> granule_shift(plan);
    if (HFIT_SAFETY >= 1 &&
        (distance >= chunks_end(heap) || (distance & (plan->alignment - 1)) != 0 ||
         at->start < load_word(heap, CHUNKS_FIRST) || !is_marked(heap, at->start))) {
        return refuse(heap, HFIT_MISUSE_FOREIGN, block);
    }
    at->end = chunk_end(heap, at->start, &is_free);
    /* The last granule of a free chunk is marked, too, and looks like a chunk of one. */
    return HFIT_SAFETY < 1 || (!is_free && at->end - at->start >= LEAST_CHUNK) ||
           refuse(heap, HFIT_MISUSE_NOT_LIVE, block);
}

/* As find_used, with the free neighbours, whose words are checked. */
static inline bool find_place(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                              place *at) {
    bool is_free;
    if (!find_used(heap, plan, block, at)) {
        return false;
    }
    at->to = chunk_end(heap, at->end, &is_free);
    at->to = is_free ? at->to : at->end;
    at->from = at->start;
    if (is_marked(heap, at->start - 1)) {
        at->from = previous_mark(heap, at->start - LEAST_CHUNK);
    }
    return HFIT_SAFETY < 1 ||
           ((at->to == at->end || is_out_of_index(heap, plan, at->end, at->to)) &&
            (at->from == at->start || is_out_of_index(heap, plan, at->from, at->start))) ||
           refuse(heap, HFIT_MISUSE_DAMAGED, block);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    place at;
    if (block != NULL && find_place(heap, plan, block, &at)) {
        release(heap, plan, &at);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the map tells */
    heap_free(heap, plan, block);
}

/* Cuts a used chunk down to `size` granules where what is left can be free. */
static void shrink(hfit_heap *heap, const hfit_plan *plan, const place *at, uint32_t size) {
    const uint32_t behind = at->start + size;
    const place rest = {behind, at->end, behind, at->to};
    if (rest.to - behind >= LEAST_CHUNK && behind != at->end) {
        mark(heap, behind);
        add_to_tally(heap, 1);
        release(heap, plan, &rest);
    }
}

/* Makes a used chunk and its free neighbours one free chunk, out of the index: behind it, and with
 * `both` before it, too. */
static void join(hfit_heap *heap, const hfit_plan *plan, const place *at, bool both) {
    if (at->to != at->end) {
        take_out(heap, plan, at->end, at->to);
        unmark(heap, at->end);
    } else {
        mark(heap, at->end - 1);
    }
    if (both && at->from != at->start) {
        take_out(heap, plan, at->from, at->start);
        unmark_pair(heap, at->start);
    }
    add_to_tally(heap, 0u - 1);
}

/* Copies payload down by `distance` bytes, in pieces that do not overlap. */
static void slide(unsigned char *to, size_t distance, size_t bytes) {
    while (bytes > 0) {
        const size_t piece = bytes < distance ? bytes : distance;
        copy_payload(to, to + distance, piece);
        to += piece;
        bytes -= piece;
    }
}

/* Makes a block longer by its free neighbours, the one before it, too, into which it then slides
 * down. NULL, and nothing changed, if they are not enough. */
static void *grow_down(hfit_heap *heap, const hfit_plan *plan, const place *at, uint32_t granules) {
    const uint32_t shift = granule_shift(plan);
    unsigned char *moved = block_at(heap, at->from << shift);
    if (at->to - at->from < granules) {
        return NULL;
    }
    join(heap, plan, at, true);
    slide(moved, (size_t)(at->start - at->from) << shift, (size_t)(at->end - at->start) << shift);
    use(heap, plan, at->from, at->to, granules);
    return moved;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    place at;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    const uint32_t granules = granules_for(plan, size);
    if (granules == 0 || !find_place(heap, plan, block, &at)) {
        return NULL;
    }
    if (granules <= at.end - at.start) {
        shrink(heap, plan, &at, granules);
        return block;
    }
    if (granules <= at.to - at.start) {
        join(heap, plan, &at, false);
        use(heap, plan, at.start, at.to, granules);
        return block;
    }
    const size_t usable = (size_t)(at.end - at.start) << granule_shift(plan);
    void *moved = move_block(heap, plan, block, usable, size);
    return moved != NULL ? moved : grow_down(heap, plan, &at, granules);
}

/* Granules from `start` to the first that is aligned: 0, or enough for a free chunk. */
static uint32_t aligning_gap(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                             uint32_t alignment) {
    const uint32_t shift = granule_shift(plan);
    const uint32_t gap = alignment_gap(heap, start << shift, alignment) >> shift;
    return gap == 1 ? gap + (alignment >> shift) : gap;
}

/* The top, if it holds `size` granules from its first aligned one on: a search for a chunk that
 * does in any case passes by one that just does, and a region that is just large enough has no
 * other. */
static uint32_t aligned_top(const hfit_heap *heap, const hfit_plan *plan, uint32_t alignment,
                            uint32_t size, uint32_t *end) {
    const uint32_t top = load_word(heap, TOP);
    *end = load_word(heap, TOP_END);
    return *end - top >= size && aligning_gap(heap, plan, top, alignment) <= *end - top - size
               ? top
               : (uint32_t)NO_GRANULE;
}

/* Leaves the first `gap` granules of a free chunk that is out of the index free. */
static void cut_gap(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t gap) {
    mark(heap, start + gap - 1);
    mark(heap, start + gap);
    if (is_top(heap, start)) {
        store_word(heap, TOP, start + gap);
    }
    index_insert(heap, plan, start, gap);
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    uint32_t end;
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
    const uint32_t largest_gap = (uint32_t)(alignment >> granule_shift(plan)) + 1;
    uint32_t start = take(heap, plan, granules + largest_gap, is_high(plan, granules), &end);
    if (start == NO_GRANULE) {
        start = aligned_top(heap, plan, (uint32_t)alignment, granules, &end);
    }
    if (start == NO_GRANULE) {
        return NULL;
    }
    const uint32_t gap = aligning_gap(heap, plan, start, (uint32_t)alignment);
    if (gap != 0) {
        cut_gap(heap, plan, start, gap);
    }
    use(heap, plan, start + gap, end, granules);
    return block_at(heap, (start + gap) << granule_shift(plan));
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    place at;
    if (block == NULL || !find_used(heap, plan, block, &at)) {
        return 0;
    }
    return (size_t)(at.end - at.start) << granule_shift(plan);
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t shift = granule_shift(plan);
    const uint32_t end = chunks_end(heap) >> shift;
    uint32_t chunk = load_word(heap, CHUNKS_FIRST);
    while (chunk < end) {
        bool is_free;
        const uint32_t next = chunk_end(heap, chunk, &is_free);
        visitor(context, block_at(heap, chunk << shift), (size_t)(next - chunk) << shift, !is_free);
        chunk = next;
    }
}

/* With two ends both are in use. */
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    return has_two_ends(plan) ? chunks_end(heap) : load_word(heap, FOOTPRINT);
}

static bool is_plan_sound(const hfit_plan *plan) {
    const uint32_t ends = ((const hfit_tailored_plan *)plan)->ends;
    return is_alignment_allowed(plan->alignment) && (ends == 1 || ends == 2);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    map_layout layout;
    uint32_t end = 1;
    if (!is_plan_sound(plan)) {
        return 0;
    }
    while (lay_out(plan, end, &layout) + LEAST_CHUNK > end) {
        end++;
    }
    return (size_t)end << granule_shift(plan);
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    map_layout layout;
    const uint32_t end = (uint32_t)region_size >> granule_shift(plan);
    const uint32_t first = end == 0 ? 0 : lay_out(plan, end, &layout);
    if (end == 0 || first + LEAST_CHUNK > end) {
        return NULL;
    }
    const uint32_t footprint = first << granule_shift(plan);
    store_word(heap, CHUNKS_END, end << granule_shift(plan));
    store_word(heap, CHUNKS_FIRST, first);
    store_word(heap, FOOTPRINT, footprint);
    store_word(heap, TALLY, footprint);
    store_word(heap, TOP, first);
    store_word(heap, TOP_END, end);
    for (uint32_t offset = CLASS_MAP; offset < layout.start; offset += 4) {
        store_word(heap, offset, 0);
    }
    init_map(heap, &layout, first);
    mark(heap, end - 1);
    mark(heap, end);
    mark(heap, end + LEAST_CHUNK);
    return heap;
}

/* Unless the plan says otherwise chunks of 16 granules and more are cut from the top's end. */
static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"ends",
     "1: chunks are cut from the top's beginning; 2: those of high_0 and high_1 from its end.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, ends), 1, 2, 1},
    {"high_0",
     "A bit for each size class cut from the end: bit n for n alignments below 16, then four bits "
     "for each power of two.",
     HFIT_SCALAR, offsetof(hfit_tailored_plan, high_0), 0, ~0u, 0xffff0000},
    {"high_1", "As high_0, for chunks of 256 alignments and more.", HFIT_SCALAR,
     offsetof(hfit_tailored_plan, high_1), 0, ~0u, ~0u},
};

const hfit_allocator hfit_tailored_allocator = {
    .name = "tailored",
    .title = "exact best fit without headers",
    .origin = "best fit of Lea 2005 (dlmalloc 2.8) over a map of chunk bounds of our own",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_tailored_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: two walks in tries to find, one to take, one to put back what is "
                          "split off; free: one to take each neighbour, one to put back; a walk is "
                          "at most log2 of the largest chunk in granules steps; a chunk's end is "
                          "found in two words for each level of the map, log32 of the granules",
            .block_bytes =
                "none: rounded up to the alignment, two alignments at least; the map has "
                "a bit for each alignment of the region",
            .fragmentation = "about M (n - 2) for M live bytes and a largest request of n units "
                             "(Robson 1977, bound for best fit)",
            .layout = "| levels | end | first | footprint | tally | top | top end | class map | "
                      "classes\n"
                      "| map, 1 bit a granule | chunk | ... | top |\n"
                      "a used chunk: | payload ... |\n"
                      "a free chunk: | next | previous | lower | higher | slot | size | ... |",
        },
    .operations = &hfit_tailored_operations,
    .unlocked = &hfit_tailored_unlocked,
};
