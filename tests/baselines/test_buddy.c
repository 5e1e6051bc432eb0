/* SPDX-License-Identifier: Apache-2.0 */
/* buddy: halves and their buddies, and a byte of state an atom. */
#include "baselines/buddy.h"

#include "subject.h"

static const hfit_plan plan = {8};

static subject buddy(size_t size) {
    return start(&hfit_buddy_operations, &plan, size);
}

/* The region of a heap of so many atoms of 8 bytes: 128 bytes of control, a byte an atom. */
static size_t region_of(size_t atoms) {
    return 128 + (atoms + 7) / 8 * 8 + 8 * atoms;
}

TEST(a_request_is_rounded_up_to_a_power_of_two_and_nothing_is_added) {
    static const size_t cases[][2] = {{1, 8},   {8, 8},     {9, 16},    {16, 16},
                                      {17, 32}, {100, 128}, {128, 128}, {1025, 2048}};
    const subject s = buddy(REGION);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(usable(s, take(s, cases[i][0])) == cases[i][1]);
    }
}

TEST(a_full_heap_holds_its_region_less_a_ninth_and_the_control) {
    const subject s = buddy(region_of(1024));
    for (size_t i = 0; i < 1024; i++) {
        CHECK(take(s, 8) != NONE);
    }
    CHECK(take(s, 1) == NONE);
    CHECK(footprint(s) == region_of(1024));
}

TEST(the_lower_half_is_taken_and_the_upper_stays_free) {
    const subject s = buddy(region_of(1024));
    const size_t first = take(s, 8);
    CHECK(take(s, 8) == first + 8);
    CHECK(take(s, 16) == first + 16);
    CHECK(take(s, 4096) == first + 4096);
    CHECK(take(s, 4096) == NONE);
}

TEST(a_block_joins_its_buddy_and_no_other_neighbour) {
    const subject s = buddy(region_of(1024));
    const size_t quarter[4] = {take(s, 2048), take(s, 2048), take(s, 2048), take(s, 2048)};
    give(s, quarter[1]);
    give(s, quarter[2]);
    CHECK(take(s, 4096) == NONE); /* together, but not the halves of one block */
    give(s, quarter[3]);
    CHECK(take(s, 4096) == quarter[2]);
    give(s, quarter[2]);
    give(s, quarter[0]);
    CHECK(take(s, 8192) == quarter[0]);
}

TEST(a_region_is_cut_into_blocks_of_falling_powers) {
    const subject s = buddy(region_of(512 + 64 + 2));
    const size_t first = take(s, 4096);
    CHECK(take(s, 512) == first + 4096);
    CHECK(take(s, 16) == first + 4096 + 512);
    CHECK(take(s, 1) == NONE);
}

TEST(the_block_freed_last_is_taken_first) {
    const subject s = buddy(region_of(1024));
    const size_t a = take(s, 64);
    CHECK(take(s, 64) != NONE);
    const size_t b = take(s, 64);
    CHECK(take(s, 64) != NONE);
    give(s, b);
    give(s, a);
    CHECK(take(s, 64) == a);
    CHECK(take(s, 64) == b);
}

TEST(an_over_aligned_block_leads_back_to_its_own) {
    const subject s = buddy(region_of(1024));
    const size_t first = take(s, 8192);
    give(s, first);
    unsigned char *block = s.operations->alloc_aligned(s.heap, s.plan, 4096, 8);
    CHECK(block != NULL && (uintptr_t)block % 4096 == 0);
    CHECK(s.operations->check(s.heap, s.plan));
    give(s, (size_t)(block - region));
    CHECK(take(s, 8192) == first);
}

RUN_TESTS()
