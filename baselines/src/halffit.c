/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Half-fit with blocks of powers of two. See baselines/halffit.h.
 *
 *   0     4       8           12     first
 *   +-----+-------+-----------+------+----------+----------+ ...
 *   | map | tiled | footprint | bins | fragment | fragment |
 *   +-----+-------+-----------+------+----------+----------+ ...
 *
 *   used   | next | previous | size | tag | the caller's bytes ...          |
 *   free   | next | previous | size | 0   | next free | previous free | ... |
 *
 * The tag is TAG_USED and the gap before an over-aligned block (shifted_block.h). A bin links the
 * tags' offsets.
 */
#include "baselines/halffit.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_halffit_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#define IS_CODED 0 /* links stand as published */
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/logarithm.h"
#include "src/aligned.h"
#include "src/shifted_block.h"

enum {
    BIN_MAP = 0,   /* bit i: bin i is not empty */
    TILED = 4,     /* bytes of all fragments */
    FOOTPRINT = 8, /* end of the highest used fragment so far */
    BINS = 12,
    BIN_COUNT = 27, /* fragments from 2^5 to 2^31 bytes */
    CONTROL_SIZE = BINS + 4 * BIN_COUNT,
    NEXT = 0,
    PREVIOUS = 4,
    SIZE = 8,
    TAG = 12,
    HEADER_SIZE = 16,
    FRAGMENT_LEAST = 32,
    LOG2_LEAST = 5,
};

static inline uint32_t first_fragment(const hfit_plan *plan) {
    return (CONTROL_SIZE + plan->alignment - 1) & ~(plan->alignment - 1);
}

static inline bool is_used(const hfit_heap *heap, uint32_t fragment) {
    return load_word(heap, fragment + TAG) != 0;
}

/* The bin of a free fragment: every fragment in it has at least the bin's power of two. */
static inline uint32_t bin_of(uint32_t size) {
    return log2_down(size) - LOG2_LEAST;
}

static void insert_fragment(hfit_heap *heap, uint32_t fragment, uint32_t size) {
    const uint32_t bin = bin_of(size);
    list_push(heap, BINS + 4 * bin, fragment + TAG);
    store_word(heap, BIN_MAP, load_word(heap, BIN_MAP) | 1u << bin);
}

static void remove_fragment(hfit_heap *heap, uint32_t fragment, uint32_t size) {
    const uint32_t bin = bin_of(size);
    if (list_remove(heap, BINS + 4 * bin, fragment + TAG)) {
        store_word(heap, BIN_MAP, load_word(heap, BIN_MAP) & ~(1u << bin));
    }
}

/* Makes two fragments neighbours; NO_OFFSET is beyond either end. */
static void link_neighbours(hfit_heap *heap, uint32_t left, uint32_t right) {
    if (left != NO_OFFSET) {
        store_word(heap, left + NEXT, right);
    }
    if (right != NO_OFFSET) {
        store_word(heap, right + PREVIOUS, left);
    }
}

/* Splits what a fragment has beyond `size` bytes off as a free one. */
static void split_off_rest(hfit_heap *heap, uint32_t fragment, uint32_t size) {
    const uint32_t rest = load_word(heap, fragment + SIZE) - size;
    if (rest < FRAGMENT_LEAST) {
        return;
    }
    const uint32_t next = load_word(heap, fragment + NEXT);
    store_word(heap, fragment + SIZE, size);
    store_word(heap, fragment + size + SIZE, rest);
    store_word(heap, fragment + size + TAG, 0);
    link_neighbours(heap, fragment + size, next);
    link_neighbours(heap, fragment, fragment + size);
    insert_fragment(heap, fragment + size, rest);
}

/* Stores the fragment size, a power of two, that serves `size` bytes. False if no region holds it.
 */
static bool fragment_size_for(size_t size, uint32_t *needed) {
    uint32_t sum;
    if (!round_size(size, HEADER_SIZE, FRAGMENT_LEAST, &sum)) {
        return false;
    }
    *needed = UINT32_C(1) << log2_up(sum);
    return true;
}

/* A used fragment of `size` bytes, a power of two; NO_OFFSET if no bin has one for sure. */
static uint32_t take_fragment(hfit_heap *heap, uint32_t size) {
    const uint32_t map = load_word(heap, BIN_MAP);
    const uint32_t enough = map & (~0u << bin_of(size));
    if (enough == 0) {
        return NO_OFFSET;
    }
    const uint32_t bin = hfit_trailing_zeros(enough);
    uint32_t tag;
    if (list_pop(heap, BINS + 4 * bin, &tag)) {
        store_word(heap, BIN_MAP, map & ~(1u << bin));
    }
    const uint32_t fragment = tag - TAG;
    split_off_rest(heap, fragment, size);
    store_word(heap, tag, TAG_USED);
    if (fragment + size > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, fragment + size);
    }
    return fragment;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    (void)plan;
    if (!fragment_size_for(size, &needed)) {
        return NULL;
    }
    const uint32_t fragment = take_fragment(heap, needed);
    return fragment == NO_OFFSET ? NULL : block_at(heap, fragment + HEADER_SIZE);
}

/* Joins a free fragment that is in no bin with the free one behind it, which is in its bin. */
static void join_with_next(hfit_heap *heap, uint32_t fragment, uint32_t next) {
    const uint32_t more = load_word(heap, next + SIZE);
    remove_fragment(heap, next, more);
    store_word(heap, fragment + SIZE, load_word(heap, fragment + SIZE) + more);
    link_neighbours(heap, fragment, load_word(heap, next + NEXT));
}

static void release_fragment(hfit_heap *heap, uint32_t fragment) {
    const uint32_t next = load_word(heap, fragment + NEXT);
    const uint32_t previous = load_word(heap, fragment + PREVIOUS);
    store_word(heap, fragment + TAG, 0);
    if (next != NO_OFFSET && !is_used(heap, next)) {
        join_with_next(heap, fragment, next);
    }
    if (previous != NO_OFFSET && !is_used(heap, previous)) {
        const uint32_t own = load_word(heap, previous + SIZE);
        remove_fragment(heap, previous, own);
        store_word(heap, previous + SIZE, own + load_word(heap, fragment + SIZE));
        link_neighbours(heap, previous, load_word(heap, fragment + NEXT));
        fragment = previous;
    }
    insert_fragment(heap, fragment, load_word(heap, fragment + SIZE));
}

/* The fragment that a block of the caller's lies in; stores how many bytes are before the block's
 * end. */
static uint32_t fragment_of(const hfit_heap *heap, const void *block, uint32_t *usable) {
    uint32_t tag;
    const uint32_t payload = payload_around(heap, offset_of_block(heap, block), &tag);
    const uint32_t fragment = payload - HEADER_SIZE;
    *usable = load_word(heap, fragment + SIZE) - HEADER_SIZE - (tag & ~(uint32_t)TAG_USED);
    return fragment;
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    uint32_t usable;
    (void)plan;
    if (block != NULL) {
        release_fragment(heap, fragment_of(heap, block, &usable));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* A block stays while it has the power of two that its size asks for, and moves to save memory too;
 * where there is no room to move and it need not, it stays. */
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t usable;
    uint32_t needed;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!fragment_size_for(size, &needed)) {
        return NULL;
    }
    const uint32_t fragment = fragment_of(heap, block, &usable);
    if (size <= usable && needed == load_word(heap, fragment + SIZE)) {
        return block;
    }
    void *moved = move_block(heap, plan, block, usable, size);
    return moved == NULL && size <= usable ? block : moved;
}

static void note_shift(hfit_heap *heap, const hfit_plan *plan, uint32_t payload, uint32_t gap,
                       uint32_t room) {
    (void)plan;
    (void)room;
    store_word(heap, payload - TAG_SIZE, gap | TAG_USED);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    uint32_t usable = 0;
    (void)plan;
    if (block != NULL) {
        (void)fragment_of(heap, block, &usable);
    }
    return usable;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    uint32_t fragment = first_fragment(plan);
    while (fragment != NO_OFFSET) {
        const uint32_t tag = load_word(heap, fragment + TAG);
        const uint32_t before = HEADER_SIZE + (tag & ~(uint32_t)TAG_USED);
        visitor(context, block_at(heap, fragment + before),
                load_word(heap, fragment + SIZE) - before, tag != 0);
        fragment = load_word(heap, fragment + NEXT);
    }
}

/* True if the tag of a fragment of `size` bytes may stand there. */
static bool is_tag_sound(const hfit_heap *heap, uint32_t fragment, uint32_t size) {
    const uint32_t tag = load_word(heap, fragment + TAG);
    const uint32_t gap = tag & ~(uint32_t)TAG_USED;
    if (tag == 0) {
        return true;
    }
    return (tag & TAG_USED) != 0 && is_power_of_two(size) && gap % TAG_SIZE == 0 &&
           gap < size - HEADER_SIZE &&
           (gap == 0 ||
            load_word(heap, fragment + HEADER_SIZE + gap - TAG_SIZE) == (gap | TAG_SHIFTED));
}

/* How many free fragments, and the sum of their offsets, which tells whether two sets of so many
 * are the same ones. */
typedef struct fragment_set {
    uint32_t count;
    uint32_t sum;
} fragment_set;

/* Adds the fragments of one bin. False if one is not of this bin, or the links do not hold. */
static bool add_bin(const hfit_heap *heap, uint32_t bin, uint32_t end, uint32_t most,
                    fragment_set *set) {
    uint32_t place = BINS + 4 * bin;
    uint32_t tag = load_word(heap, BINS + 4 * bin);
    if (((load_word(heap, BIN_MAP) >> bin) & 1u) != (tag != NO_OFFSET)) {
        return false;
    }
    for (; tag != NO_OFFSET; tag = load_word(heap, tag + LINK_NEXT)) {
        if (tag % TAG_SIZE != 0 || tag < CONTROL_SIZE + TAG || tag > end - HEADER_SIZE ||
            set->count == most || load_word(heap, tag) != 0 ||
            load_word(heap, tag + LINK_PREVIOUS) != place ||
            load_word(heap, tag - TAG + SIZE) >> LOG2_LEAST >> bin != 1) {
            return false;
        }
        set->count++;
        set->sum += tag - TAG;
        place = tag + LINK_NEXT;
    }
    return true;
}

/* Counts the free fragments. False if one is malformed or does not reach to the next. */
static bool add_fragments(const hfit_heap *heap, const hfit_plan *plan, uint32_t end,
                          fragment_set *set) {
    uint32_t fragment = first_fragment(plan);
    uint32_t previous = NO_OFFSET;
    bool after_free = false;
    while (fragment < end) {
        const uint32_t size = load_word(heap, fragment + SIZE);
        const uint32_t next = fragment + size == end ? NO_OFFSET : fragment + size;
        const bool is_free = !is_used(heap, fragment);
        if (size < FRAGMENT_LEAST || size % FRAGMENT_LEAST != 0 || size > end - fragment ||
            load_word(heap, fragment + NEXT) != next ||
            load_word(heap, fragment + PREVIOUS) != previous || (after_free && is_free) ||
            !is_tag_sound(heap, fragment, size)) {
            return false;
        }
        set->count += is_free;
        set->sum += is_free ? fragment : 0;
        after_free = is_free;
        previous = fragment;
        fragment += size;
    }
    return true;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = first_fragment(plan) + load_word(heap, TILED);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    fragment_set tagged = {0, 0};
    fragment_set binned = {0, 0};
    if (footprint < first_fragment(plan) || footprint > end ||
        load_word(heap, BIN_MAP) >> BIN_COUNT != 0 || !add_fragments(heap, plan, end, &tagged)) {
        return false;
    }
    for (uint32_t bin = 0; bin < BIN_COUNT; bin++) {
        if (!add_bin(heap, bin, end, tagged.count, &binned)) {
            return false;
        }
    }
    return binned.count == tagged.count && binned.sum == tagged.sum;
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? first_fragment(plan) + FRAGMENT_LEAST : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t first = first_fragment(plan);
    const uint32_t tiled = ((uint32_t)region_size - first) & ~(uint32_t)(FRAGMENT_LEAST - 1);
    for (uint32_t offset = BINS; offset < CONTROL_SIZE; offset += 4) {
        store_word(heap, offset, NO_OFFSET);
    }
    store_word(heap, BIN_MAP, 0);
    store_word(heap, TILED, tiled);
    store_word(heap, FOOTPRINT, first);
    link_neighbours(heap, NO_OFFSET, first);
    link_neighbours(heap, first, NO_OFFSET);
    store_word(heap, first + SIZE, tiled);
    store_word(heap, first + TAG, 0);
    insert_fragment(heap, first, tiled);
    return heap;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_halffit_allocator = {
    .name = "halffit",
    .title = "half-fit, blocks of powers of two",
    .origin = "Ogasawara 1995; Kirienko, o1heap 2.2, readme, sections Theory and Implementation",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc and free: constant; one map lookup, at most one split or two "
                          "joins",
            .block_bytes = "16 for the header, then rounded up to a power of two; at least 32",
            .fragmentation = "2 M (1 + ceil(log2 n)) for M live bytes and a largest request of n "
                             "units (Ogasawara 1995, as in o1heap's readme)",
            .layout = "| map | tiled | footprint | 27 bins | fragment | fragment | ... |\n"
                      "a used fragment: | next | previous | size | tag | payload ... |\n"
                      "a free fragment: | next | previous | size | 0 | next free | previous free | "
                      "... |",
        },
    .axes =
        {
            .block_sizes.text = "powers of two",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "by power of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_POWERS,
    .operations = &hfit_halffit_operations,
    .unlocked = &hfit_halffit_unlocked,
};
