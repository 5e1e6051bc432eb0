/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `sized` promises beyond the contract: what a block takes, which hole serves, what is told of
 * bad frees without metadata, and that no call takes more steps than the bits of a granule's number
 * allow. The source is included for what it keeps to itself.
 */
#include "contract_config.h"

static unsigned steps; /* bodies of loops that were run */
#define HFIT_LOOP_AT_MOST(times) ((void)(times), (void)steps++)

#include "check.h"
#include "random_number.h"

#include "src/sized/sized.c"

#include <stdio.h>
#include <string.h>

enum { REGION = 1 << 18, SLOTS = 3000 };

static _Alignas(4096) unsigned char region[REGION];
static unsigned char before[REGION];

typedef struct subject {
    hfit_sized_plan own;
    const hfit_plan *plan;
    hfit_heap *heap;
    size_t bytes;
    unsigned char *blocks[SLOTS];
    size_t sizes[SLOTS];
} subject;

static subject s;

static void start(hfit_sized_plan own, size_t bytes) {
    memset(&s, 0, sizeof s);
    s.own = own;
    s.plan = &s.own.common;
    s.bytes = bytes;
    memset(region, 0xa5, bytes);
    s.heap = hfit_sized_init(region, bytes, s.plan);
    CHECK(s.heap != NULL);
}

static unsigned char *take_block(size_t size) {
    return hfit_sized_alloc(s.heap, s.plan, size);
}

static void give_block(void *block, size_t size) {
    hfit_sized_free_sized(s.heap, s.plan, block, size);
}

/* ---- Where blocks lie ---- */

TEST(blocks_have_nothing_between_them_or_before) {
    static const size_t sizes[] = {1, 8, 9, 12, 16, 17, 100, 3};
    static const size_t taken[2][8] = {{8, 8, 12, 12, 16, 20, 100, 8},
                                       {8, 8, 16, 16, 16, 24, 104, 8}};
    for (uint32_t a = 0; a < 2; a++) {
        start((hfit_sized_plan){.common = {4u << a}, .ends = 1}, 1024);
        size_t expected = a == 0 ? 28 : 24;
        for (size_t i = 0; i < 8; i++) {
            CHECK(take_block(sizes[i]) == region + expected);
            expected += taken[a][i];
        }
    }
}

/* Frees blocks of these sizes out of a row in which each has a neighbour that stays. */
static void leave_holes(const size_t *sizes, unsigned char **holes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        holes[i] = take_block(sizes[i]);
        CHECK(holes[i] != NULL && take_block(16) != NULL);
    }
    for (size_t i = 0; i < count; i++) {
        give_block(holes[i], sizes[i]);
    }
}

TEST(the_smallest_hole_that_is_large_enough_serves) {
    static const size_t sizes[] = {64, 8, 24, 12, 40, 8, 200, 16};
    unsigned char *holes[8];
    start((hfit_sized_plan){.common = {4}, .ends = 1}, 4096);
    leave_holes(sizes, holes, 8);
    CHECK(take_block(12) == holes[3]);
    CHECK(take_block(8) == holes[1]);
    CHECK(take_block(24) == holes[2]);
    CHECK(take_block(30) == holes[4] + 40 - 32); /* of a hole its end is used */
    CHECK(take_block(20) == holes[0] + 64 - 20); /* and of what is left, 44, no 4 B hole */
}

/* Of holes of a size too small for the tree by size that which is farthest from the top serves. */
TEST(of_small_holes_the_first_serves_low_requests_and_the_last_high_ones) {
    for (uint32_t alignment = 4; alignment <= 8; alignment *= 2) {
        for (size_t size = 8; size <= 12; size += alignment) {
            const size_t sizes[] = {size, size, size, size, size};
            unsigned char *holes[5];
            start((hfit_sized_plan){.common = {alignment}, .ends = 1}, 4096);
            leave_holes(sizes, holes, 5);
            for (size_t i = 0; i < 5; i++) {
                CHECK(take_block(size) == holes[i]);
            }
            start((hfit_sized_plan){.common = {alignment}, .ends = 2, .high_0 = ~0u}, 4096);
            leave_holes(sizes, holes, 5);
            for (size_t i = 0; i < 5; i++) {
                CHECK(take_block(size) == holes[i]); /* the first of them is the last in memory */
            }
            CHECK(holes[0] > holes[1] && hfit_sized_check(s.heap, s.plan));
        }
    }
}

/* Where it hung hangs another one: that one and what hangs from it stay. */
TEST(a_chunk_that_no_link_leads_to_is_not_taken_out) {
    static const size_t sizes[] = {40, 40, 40};
    unsigned char *holes[3];
    start((hfit_sized_plan){.common = {8}, .ends = 1}, 1024);
    leave_holes(sizes, holes, 3);
    const uint32_t granules = 40 / 8;
    const uint32_t chunk = (uint32_t)(holes[1] - region) / 8;
    const uint32_t slot = address_slot(s.heap, s.plan, addresses_root(s.plan, granules), chunk);
    CHECK(raw_link(s.heap, slot) == chunk);
    store_word(s.heap, slot, load_word(s.heap, slot) + 1);
    memcpy(before, region, 1024);
    CHECK(!remove_unlisted(s.heap, s.plan, chunk, granules));
    CHECK(memcmp(before, region, 1024) == 0);
}

/* The least granules of a class, four of which share a power of two from 16 on. */
static size_t class_granules(uint32_t number) {
    return number < 16 ? number : (size_t)(4 + number % 4) << (number / 4 - 2);
}

/* Where the first block of a size lies in a heap whose classes of these bits go to the high end. */
static unsigned char *first_block(uint64_t high, size_t size) {
    start(
        (hfit_sized_plan){
            .common = {4}, .ends = 2, .high_0 = (uint32_t)high, .high_1 = (uint32_t)(high >> 32)},
        REGION);
    return take_block(size);
}

TEST(each_size_class_is_served_from_the_end_that_its_bit_names) {
    for (uint32_t number = 2; number < 64; number++) {
        const uint64_t bit = (uint64_t)1 << number;
        const size_t size = 4 * class_granules(number);
        const unsigned char *low = first_block(0, size);
        const unsigned char *high = first_block(~(uint64_t)0, size);
        CHECK(low != NULL && low < high);
        CHECK(first_block(bit, size) == high && first_block(~bit, size) == low);
    }
}

TEST(a_hole_that_would_leave_four_bytes_is_passed_over) {
    static const size_t sizes[] = {20, 64};
    unsigned char *holes[2];
    start((hfit_sized_plan){.common = {4}, .ends = 1}, 4096);
    leave_holes(sizes, holes, 2);
    CHECK(take_block(16) == holes[1] + 64 - 16);
    CHECK(take_block(20) == holes[0]);
}

TEST(a_hole_above_the_limit_is_left_while_the_top_serves) {
    static const size_t sizes[] = {64, 400};
    unsigned char *holes[2];
    start((hfit_sized_plan){.common = {8}, .ends = 1, .hole_limit = 4}, 1024);
    leave_holes(sizes, holes, 2);
    CHECK(take_block(16) == holes[0] + 64 - 16); /* four times as large */
    CHECK(take_block(48) == holes[0]);
    unsigned char *from_top = take_block(16);
    CHECK(from_top > holes[1] + 400);
    while (from_top > holes[1] + 400) {
        from_top = take_block(16);
    }
    CHECK(from_top == holes[1] + 400 - 16); /* the top had served to its end */
    CHECK(take_block(8) != NULL && hfit_sized_check(s.heap, s.plan));
}

/* ---- What is told of a bad free where the heap keeps nothing of blocks ---- */

static bool was_told(void *block, size_t size) {
    const uint32_t misuses = misuse_count;
    memcpy(before, region, s.bytes);
    give_block(block, size);
    const bool told = misuse_count > misuses;
    CHECK(!told || memcmp(before, region, s.bytes) == 0);
    memcpy(region, before, s.bytes);
    return told;
}

static bool is_used[REGION / 4];

/* Marks the words of what `walk` tells as used. */
static void mark_used(void *context, const void *block, size_t size, bool used) {
    (void)context;
    for (size_t i = 0; used && i < size / 4; i++) {
        is_used[(size_t)((const unsigned char *)block - region) / 4 + i] = true;
    }
}

static bool is_all_used(size_t from, size_t to) {
    for (size_t at = from; at < to; at += 4) {
        if (at >= s.bytes || !is_used[at / 4]) {
            return false;
        }
    }
    return true;
}

static void fill_at_random(uint32_t count, uint32_t most) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = random_below(24);
        if (s.blocks[slot] != NULL) {
            give_block(s.blocks[slot], s.sizes[slot]);
            s.blocks[slot] = NULL;
        } else {
            s.sizes[slot] = random_below(most);
            s.blocks[slot] = take_block(s.sizes[slot]);
        }
    }
}

/* No block lies on both sides of the top, an empty one either. */
static bool may_be_block(size_t from, size_t size) {
    const size_t alignment = s.plan->alignment;
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    const size_t to = from + (rounded < 8 ? 8 : rounded);
    const size_t top = load_word(s.heap, TOP) * alignment;
    return from % alignment == 0 && is_all_used(from, to) && (to <= top || from >= top);
}

/* Every size at every byte address of the region and beyond, on small heaps. */
TEST(a_free_of_anything_that_is_not_all_used_is_told_and_changes_nothing) {
    for (uint32_t seed = 1; seed <= 6; seed++) {
        const uint32_t alignment = 4u << seed % 3;
        random_state = seed;
        start((hfit_sized_plan){.common = {alignment}, .ends = 1 + seed % 2, .high_0 = 0xff00},
              400);
        fill_at_random(200, 40);
        memset(is_used, 0, sizeof is_used);
        hfit_sized_walk(s.heap, s.plan, mark_used, NULL);
        for (size_t from = 0; from <= 404; from++) {
            for (size_t size = 1; size <= 408; size += 3) {
                CHECK(was_told(region + from, size) != may_be_block(from, size));
            }
        }
    }
    CHECK(was_told(region + 200, SIZE_MAX) && was_told(&s, 8));
}

TEST(what_lacks_the_size_is_refused) {
    start((hfit_sized_plan){.common = {8}, .ends = 1}, 400);
    unsigned char *block = take_block(40);
    memcpy(before, region, s.bytes);
    const uint32_t misuses = misuse_count;
    hfit_sized_free(s.heap, s.plan, block);
    CHECK(hfit_sized_resize(s.heap, s.plan, block, 80) == NULL);
    CHECK(misuse_count == misuses + 2 && memcmp(before, region, s.bytes) == 0);
    CHECK(hfit_sized_usable_size(s.heap, s.plan, block) == 0);
}

/* ---- Time ---- */

/* Most loops that a call goes through, each at most once for each bit of a granule's number and
 * five times more (hfit/sized.h). */
typedef struct walks {
    unsigned alloc;
    unsigned free;
    unsigned resize;
} walks;

static walks walks_of(const hfit_sized_plan *own) {
    const bool has_two_small_sizes = own->common.alignment == 4;
    const unsigned alloc = own->ends * (has_two_small_sizes ? 5 : 3) + 5;
    const unsigned free = has_two_small_sizes ? 12 : 10;
    const walks w = {alloc, free, alloc + free + 13};
    return w;
}

static unsigned bits_of(size_t granules) {
    return 32u - (unsigned)__builtin_clz((unsigned)granules);
}

static unsigned worst[3];

static void note_steps(size_t call, unsigned most) {
    worst[call] = steps > worst[call] ? steps : worst[call];
    CHECK(steps <= most);
}

static size_t random_size(uint32_t most) {
    return random_below(3) == 0 ? random_below(20) : random_below(most);
}

static void step(const walks *w, unsigned walk, uint32_t most) {
    const uint32_t slot = random_below(SLOTS);
    const size_t size = random_size(most);
    steps = 0;
    if (s.blocks[slot] == NULL) {
        s.blocks[slot] = take_block(size);
        s.sizes[slot] = size;
        note_steps(0, w->alloc * walk);
    } else if (random_below(4) == 0) {
        void *moved = hfit_sized_resize_sized(s.heap, s.plan, s.blocks[slot], s.sizes[slot], size);
        s.sizes[slot] = moved == NULL ? s.sizes[slot] : size;
        s.blocks[slot] = moved == NULL ? s.blocks[slot] : moved;
        note_steps(2, w->resize * walk);
    } else {
        give_block(s.blocks[slot], s.sizes[slot]);
        s.blocks[slot] = NULL;
        note_steps(1, w->free * walk);
    }
}

TEST(no_call_takes_more_steps_than_its_walks_have_bits) {
    static const size_t bytes[] = {600, 4096, 30000, REGION};
    const uint32_t misuses = misuse_count;
    for (uint32_t i = 0; i < 24; i++) {
        const hfit_sized_plan own = {
            .common = {4u << i % 3}, .ends = 1 + i / 3 % 2, .high_0 = 0xff00, .high_1 = 0x5a5a5a5a};
        start(own, bytes[i / 6]);
        const walks w = walks_of(&own);
        const unsigned walk = bits_of(s.bytes / own.common.alignment) + 5;
        random_state = i + 1;
        memset(worst, 0, sizeof worst);
        for (uint32_t n = 0; n < 20000; n++) {
            step(&w, walk, (uint32_t)s.bytes / 1024 + 60);
        }
        CHECK(hfit_sized_check(s.heap, s.plan) && misuse_count == misuses);
        printf("%6zu bytes, alignment %2u, %u ends: at most %u, %u, %u steps of %u, %u, %u\n",
               s.bytes, own.common.alignment, own.ends, worst[0], worst[1], worst[2],
               w.alloc * walk, w.free * walk, w.resize * walk);
    }
}

/* The whole of a heap that is as long as links reach, and what is beyond them stays unused. */
TEST(a_region_above_the_reach_of_links_is_used_up_to_it) {
    static _Alignas(4096) unsigned char large[(9 << 20)];
    const hfit_sized_plan own = {.common = {4}, .ends = 1};
    hfit_heap *heap = hfit_sized_init(large, sizeof large, &own.common);
    const size_t reach = (size_t)4 * MOST_GRANULES;
    CHECK(hfit_sized_alloc(heap, &own.common, reach) == NULL);
    unsigned char *all = hfit_sized_alloc(heap, &own.common, reach - 28);
    CHECK(all == large + 28 && hfit_sized_alloc(heap, &own.common, 1) == NULL);
    hfit_sized_free_sized(heap, &own.common, all, reach - 28);
    CHECK(hfit_sized_check(heap, &own.common));
}

RUN_TESTS()
