/* SPDX-License-Identifier: Apache-2.0 */
/* tailored: the smallest chunk that will do at every step, compared with a list of all chunks;
 * nothing but a live block's address is ever taken for one; no call does more than derived. The
 * source is included so that its loads can be counted. */
#include <stdint.h>

static uint32_t loads;
#define HFIT_ON_LOAD(heap, offset) ((void)(heap), (void)(offset), (void)loads++)
#include "contract_config.h" /* which counts loads by another rule unless this is there */

#include "best_fit_model.h"

#include "src/tailored/tailored.c"

static const hfit_plan *const plan = &settings.common;

static void *alloc_at(hfit_heap *heap, const hfit_plan *whose, size_t size, uint32_t tag) {
    size_t usable = 1;
    if (size % 2 != 0) { /* the form without the usable size */
        return hfit_tailored_alloc_at(heap, whose, size, tag);
    }
    void *block = hfit_tailored_alloc_at_usable(heap, whose, size, tag, &usable);
    CHECK(usable == (block == NULL ? 0 : hfit_tailored_usable_size(heap, whose, block)));
    return block;
}

static const compared tailored = {&hfit_tailored_operations, alloc_at};

static hfit_heap *start_with(hfit_tailored_plan own, size_t region_size) {
    settings = own;
    hfit_heap *heap = hfit_tailored_init(region, region_size, plan);
    CHECK(heap != NULL);
    return heap;
}

static hfit_tailored_plan plan_of(uint32_t alignment, uint32_t layout, uint32_t index,
                                  uint32_t ends, uint32_t high) {
    return (hfit_tailored_plan){
        .common = {alignment},
        .ends = ends,
        .high_0 = high,
        .high_1 = high,
        .layout = layout,
        .index = index,
    };
}

static hfit_heap *start_heap(uint32_t alignment, size_t region_size) {
    return start_with((hfit_tailored_plan){.common = {alignment}, .ends = 1}, region_size);
}

static void compare_with(hfit_tailored_plan own, uint32_t region_size, uint32_t most, int steps) {
    const hfit_heap *heap = start_with(own, region_size);
    compare_steps(&tailored, load_word(heap, CHUNKS_FIRST) * plan->alignment, region_size, most,
                  steps);
}

/* The least alignment of a layout. */
static uint32_t least_of(uint32_t layout) {
    return layout == HFIT_TAILORED_PAIRS ? 8 : 4;
}

/* One or two ends; with two, some classes of lists and of tries are cut from the top's end. */
static void compare_heaps(uint32_t layout, uint32_t index, uint32_t ends, uint32_t hole_limit) {
    for (uint32_t alignment = least_of(layout); alignment <= 16; alignment *= 2) {
        const hfit_tailored_plan own = {{alignment}, ends, 0x0f3a5a5c, 0x5a5a0f0f, layout,
                                        index,       20,   0x3c5a96e1, hole_limit};
        compare_with(own, 48 * 1024, 3000, 40000);       /* full */
        compare_with(own, 256 * 1024, 9000, 10000);      /* not */
        compare_with(own, sizeof region, 4 << 20, 1000); /* long */
    }
}

TEST(every_step_takes_the_smallest_chunk_that_will_do) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 1, 0);
    compare_heaps(HFIT_TAILORED_HEADERS, HFIT_TAILORED_EXACT, 1, 0);
    compare_heaps(HFIT_TAILORED_PAIRS, HFIT_TAILORED_EXACT, 1, 0);
}

TEST(with_two_ends_every_step_takes_the_smallest_of_its_side_then_the_top) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 2, 0);
    compare_heaps(HFIT_TAILORED_HEADERS, HFIT_TAILORED_EXACT, 2, 0);
    compare_heaps(HFIT_TAILORED_PAIRS, HFIT_TAILORED_EXACT, 2, 0);
}

TEST(a_good_fit_takes_the_last_freed_of_its_class_or_of_the_next) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_GOOD_FIT, 1, 0);
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_GOOD_FIT, 2, 0);
    compare_heaps(HFIT_TAILORED_PAIRS, HFIT_TAILORED_GOOD_FIT, 2, 0);
}

/* Sees that an address is refused and nothing changes. */
static void check_refused(hfit_heap *heap, unsigned char *address) {
    const uint32_t misuses = misuse_count;
    hfit_tailored_free(heap, plan, address);
    CHECK(misuse_count == misuses + 1);
    CHECK(hfit_tailored_usable_size(heap, plan, address) == 0);
    CHECK(hfit_tailored_resize(heap, plan, address, 1) == NULL);
    CHECK(misuse_count == misuses + 3);
}

/* Tries every address of the region but those of live blocks. */
static void check_all_refused(hfit_heap *heap, const uint32_t *starts, size_t region_size) {
    static bool is_live[4096];
    static unsigned char before[4096];
    memset(is_live, false, sizeof is_live);
    for (size_t i = 0; i < BLOCKS; i++) {
        is_live[starts[i]] = true;
    }
    memcpy(before, region, region_size);
    for (uint32_t i = 1; i < region_size; i++) {
        if (!is_live[i]) {
            check_refused(heap, region + i);
        }
    }
    CHECK(memcmp(before, region, region_size) == 0);
    misuse_count = 0;
}

TEST(a_chunk_beyond_the_limit_is_left_while_the_top_serves) {
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 1, 1);
    compare_heaps(HFIT_TAILORED_HEADERS, HFIT_TAILORED_EXACT, 2, 3);
    compare_heaps(HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 1, HFIT_TAILORED_MOST_LIMIT);
}

TEST(the_highest_tag_and_limit_are_taken) {
    hfit_tailored_plan own = plan_of(8, HFIT_TAILORED_MAP, HFIT_TAILORED_EXACT, 2, 0);
    own.tags = HFIT_TAILORED_TAGS;
    own.hole_limit = HFIT_TAILORED_MOST_LIMIT;
    CHECK(hfit_tailored_smallest_region(&own.common) != 0);
    const hfit_heap *heap = start_with(own, 4096);
    CHECK(hfit_tailored_check(heap, plan));
}

/* Used blocks hold what free chunks and control words hold: no byte of a block is believed. */
static void check_blocks_are_not_believed(uint32_t layout) {
    for (uint32_t alignment = least_of(layout); alignment <= 16; alignment *= 2) {
        uint32_t starts[BLOCKS] = {0};
        hfit_heap *heap = start_with(plan_of(alignment, layout, 0, 1, 0), 4096);
        random_state = alignment;
        for (int i = 0; i < 4000; i++) {
            uint32_t *start = &starts[random_below(BLOCKS)];
            *start = do_step(&tailored, random_step(i < 2000 ? 200 : 1500), *start);
            if (*start != 0) {
                const size_t usable = hfit_tailored_usable_size(heap, plan, region + *start);
                const uint32_t from = random_below((uint32_t)(4096 - usable));
                memmove(region + *start, region + from, usable);
            }
            if (i % 200 == 0) {
                check_all_refused(heap, starts, 4096);
            }
        }
        CHECK(hfit_tailored_check(heap, plan));
    }
}

TEST(only_live_addresses_are_taken_whatever_blocks_hold) {
    check_blocks_are_not_believed(HFIT_TAILORED_MAP);
    check_blocks_are_not_believed(HFIT_TAILORED_PAIRS);
}

static int told_of(hfit_heap *heap, unsigned char *address) {
    misuse_kind = -1;
    hfit_tailored_free(heap, plan, address);
    misuse_count = 0;
    return misuse_kind;
}

TEST(what_is_inside_a_block_is_foreign_and_what_was_one_not_live) {
    hfit_heap *heap = start_heap(8, 4096);
    unsigned char *block = hfit_tailored_alloc(heap, plan, 160);
    CHECK(hfit_tailored_alloc(heap, plan, 8) != NULL);
    CHECK(told_of(heap, block + 8) == HFIT_MISUSE_FOREIGN);
    CHECK(told_of(heap, block + 80) == HFIT_MISUSE_FOREIGN);
    hfit_tailored_free(heap, plan, block);
    CHECK(told_of(heap, block) == HFIT_MISUSE_NOT_LIVE);
}

/* The list's next chunk would be looked for at whatever the bad head leads to. */
TEST(a_mark_before_the_first_chunk_is_found_wherever_it_lies) {
    const hfit_tailored_plan own = plan_of(8, HFIT_TAILORED_PAIRS, 0, 1, 0);
    unsigned char sound[1280];
    size_t tried = 0;
    for (size_t size = 256; size <= sizeof sound; size += 8) {
        hfit_heap *heap = start_with(own, size);
        const uint32_t first = load_word(heap, CHUNKS_FIRST);
        map_layout layout;
        CHECK(lay_out(plan, load_word(heap, CHUNKS_END) >> granule_shift(plan), &layout) == first);
        for (uint32_t granule = layout.first & ~63u; granule + 1 < first; granule++, tried++) {
            memcpy(sound, region, size);
            begin_at(heap, granule, USED_BEGINS);
            CHECK(!hfit_tailored_check(heap, plan));
            memcpy(region, sound, size);
        }
        CHECK(hfit_tailored_check(heap, plan));
    }
    CHECK(tried > 1000);
}

TEST(a_list_that_leads_astray_is_told_and_followed_no_further) {
    static unsigned char before[4096];
    hfit_tailored_plan own = {.common = {8}, .ends = 1, .index = HFIT_TAILORED_GOOD_FIT};
    hfit_heap *heap = start_with(own, sizeof before);
    unsigned char *block = hfit_tailored_alloc(heap, plan, 160);
    CHECK(block != NULL && hfit_tailored_alloc(heap, plan, 8) != NULL);
    hfit_tailored_free(heap, plan, block);
    const uint32_t head = word_of(plan, class_of(plan, 160 / 8), false);
    const uint32_t first = load_link(heap, head);
    CHECK(first == entry_of(plan, (uint32_t)(block - region) / 8));
    for (uint32_t off = 1; off < 8; off++) {
        store_link(heap, head, first + off);
        memcpy(before, region, sizeof before);
        CHECK(hfit_tailored_alloc(heap, plan, 160) == NULL);
        CHECK(misuse_count == 1 && misuse_kind == HFIT_MISUSE_DAMAGED);
        CHECK(memcmp(before, region, sizeof before) == 0);
        misuse_count = 0;
    }
    store_link(heap, head, first);
    CHECK(hfit_tailored_alloc(heap, plan, 160) == block);
}

/* A block at each end of the region's blocks but few granules in between: the rest is 0. */
TEST(a_block_grows_to_either_side_where_nothing_else_will_do) {
    hfit_heap *heap = start_heap(8, 4096);
    unsigned char *before = hfit_tailored_alloc(heap, plan, 1000);
    unsigned char *block = hfit_tailored_alloc(heap, plan, 1000);
    unsigned char *behind = hfit_tailored_alloc(heap, plan, 800);
    unsigned char *last = hfit_tailored_alloc(heap, plan, 900);
    CHECK(before != NULL && last != NULL);
    for (size_t i = 0; i < 1000; i++) {
        block[i] = (unsigned char)(i * 7);
    }
    hfit_tailored_free(heap, plan, before);
    CHECK(hfit_tailored_resize(heap, plan, block, 2001) == NULL);
    hfit_tailored_free(heap, plan, behind);
    CHECK(hfit_tailored_resize(heap, plan, block, 1800) == block);
    CHECK(hfit_tailored_resize(heap, plan, block, 2800) == before);
    for (size_t i = 0; i < 1000; i++) {
        CHECK(before[i] == (unsigned char)(i * 7));
    }
    CHECK(hfit_tailored_check(heap, plan));
    CHECK(hfit_tailored_usable_size(heap, plan, before) == 2800);
}

TEST(an_aligned_block_may_take_the_regions_last_byte) {
    hfit_heap *heap = start_heap(8, 4096);
    const size_t first = hfit_tailored_footprint(heap, plan);
    CHECK(first < 256 && 256 - first >= 16);
    CHECK(hfit_tailored_alloc_aligned(heap, plan, 256, 4096 - 256 + 1) == NULL);
    CHECK(hfit_tailored_alloc_aligned(heap, plan, 256, 4096 - 256) == region + 256);
    CHECK(hfit_tailored_footprint(heap, plan) == 4096);
}

/* ---- The bound of decision 12. ---- */

typedef struct bound {
    uint32_t alloc;
    uint32_t free;
    uint32_t resize;
} bound;

/* Loads that a call may take where chunks have at most `largest` granules. */
static bound bound_for(uint32_t largest) {
    const bool is_exact = settings.index == HFIT_TAILORED_EXACT;
    static const uint32_t searches[] = {11, 6, 14}; /* by layout */
    static const uint32_t markings[] = {3, 2, 5};
    const uint32_t walk = is_exact ? 6 * (32u - (uint32_t)__builtin_clz(largest)) : 0;
    const uint32_t search = searches[settings.layout];
    const uint32_t marking = markings[settings.layout];
    bound b;
    b.alloc = (2 * settings.ends + 2) * walk + search + 2 * marking + (is_exact ? 50 : 70);
    b.free = 3 * walk + 3 * search + 4 * marking + 60;
    b.resize = b.alloc + b.free + 3 * search + 30;
    return b;
}

static uint32_t worst_loads;

static void check_loads(uint32_t most) {
    CHECK(loads <= most);
    worst_loads = loads > worst_loads ? loads : worst_loads;
    loads = 0;
}

/* Thousands of holes of all sizes, then calls that search, fill, move and join them. */
static void check_all_loads(hfit_tailored_plan own) {
    enum { COUNT = 5000, LARGEST = 4096 };
    static unsigned char *blocks[2 * COUNT];
    hfit_heap *heap = start_with(own, sizeof region);
    const bound shorter = bound_for(LARGEST / 8);
    const bound longest = bound_for(sizeof region / 8);
    random_state = 1;
    for (size_t i = 0; i < 2 * COUNT; i++) {
        blocks[i] = hfit_tailored_alloc(heap, plan, i % 2 == 0 ? random_below(LARGEST) : 1);
        CHECK(blocks[i] != NULL);
    }
    loads = 0;
    worst_loads = 0;
    for (size_t i = 0; i < 2 * COUNT; i += 2) {
        hfit_tailored_free(heap, plan, blocks[i]);
        check_loads(shorter.free);
    }
    for (size_t i = 0; i < COUNT / 2; i++) {
        blocks[2 * i] = hfit_tailored_alloc(heap, plan, random_below(LARGEST));
        CHECK(blocks[2 * i] != NULL);
        check_loads(shorter.alloc);
    }
    CHECK(worst_loads > shorter.alloc / 5); /* the bound is no idle one */
    for (size_t i = 0; i < COUNT / 2; i++) {
        blocks[2 * i] = hfit_tailored_resize(heap, plan, blocks[2 * i], random_below(LARGEST));
        CHECK(blocks[2 * i] != NULL);
        check_loads(shorter.resize);
    }
    for (size_t i = 1; i < 2 * COUNT; i += 2) {
        hfit_tailored_free(heap, plan, blocks[i]);
        check_loads(longest.free);
    }
}

TEST(no_call_takes_more_loads_than_derived) {
    for (uint32_t ends = 1; ends <= 2; ends++) {
        for (uint32_t layout = 0; layout <= HFIT_TAILORED_PAIRS; layout++) {
            const uint32_t high = 0xf0f0f0f0; /* classes of either end in turn */
            check_all_loads(plan_of(8, layout, HFIT_TAILORED_EXACT, ends, high));
            if (layout != HFIT_TAILORED_HEADERS) {
                check_all_loads(plan_of(8, layout, HFIT_TAILORED_GOOD_FIT, ends, high));
            }
        }
    }
}

TEST(control_words_scale_with_the_region) {
    static const size_t regions[][2] = {{512, 88}, {4096, 152}, {16384, 352}, {1 << 20, 16256}};
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const hfit_heap *heap = start_heap(8, regions[i][0]);
        CHECK(hfit_tailored_footprint(heap, plan) == regions[i][1]);
    }
}

/* Of alignment 4, two ends, a map and good fit that is 248 bytes; at 256 a power of two more needs
 * more words of the index than the region gives. */
TEST(every_region_from_the_smallest_on_is_taken) {
    for (uint32_t number = 0; number < 3 * 3 * 2 * 2; number++) {
        settings = plan_of(4u << number % 3, number / 3 % 3, number / 9 % 2, 1 + number / 18, 0);
        if (plan->alignment < least_of(settings.layout) ||
            (settings.layout == HFIT_TAILORED_HEADERS && settings.index != HFIT_TAILORED_EXACT)) {
            CHECK(hfit_tailored_smallest_region(plan) == 0);
            continue;
        }
        const size_t smallest = hfit_tailored_smallest_region(plan);
        CHECK(hfit_tailored_init(region, smallest - 1, plan) == NULL);
        for (size_t size = smallest; size < smallest + 2048; size++) {
            hfit_heap *heap = hfit_tailored_init(region, size, plan);
            CHECK(heap != NULL && hfit_tailored_check(heap, plan));
            CHECK(hfit_tailored_alloc(heap, plan, 1) != NULL);
        }
    }
}

RUN_TESTS()
