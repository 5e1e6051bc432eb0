/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of two, never split or joined: kingsley, and test1 and test2 of the DJGPP contest. */
#include "baselines/kingsley.h"
#include "papers/djgpp_test1.h"
#include "papers/djgpp_test2.h"

#include "subject.h"

static const hfit_kingsley_plan pages = {{8}, 12};
static const hfit_kingsley_plan block_by_block = {{8}, 0};
static const hfit_djgpp_test2_plan test2_pages = {{8}, 12};

static subject kingsley(const hfit_kingsley_plan *plan, size_t size) {
    return start(&hfit_kingsley_operations, &plan->common, size);
}

TEST(kingsley_rounds_a_request_and_its_header_up_to_a_power_of_two) {
    static const size_t cases[][2] = {{1, 16},  {8, 16},    {9, 32},      {24, 32},
                                      {25, 64}, {100, 128}, {1016, 1024}, {1017, 2048}};
    const subject s = kingsley(&block_by_block, REGION);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t first = take(s, cases[i][0]);
        CHECK(take(s, cases[i][0]) - first == cases[i][1]);
        CHECK(usable(s, first) == cases[i][1] - 8);
    }
}

TEST(test1_adds_its_header_to_a_power_of_two) {
    static const hfit_plan words = {4};
    const subject s = start(&hfit_djgpp_test1_operations, &words, REGION);
    for (size_t power = 8; power <= 16384; power *= 2) {
        const size_t first = take(s, power);
        CHECK(take(s, power / 2 + 1) - first == power + 4);
        CHECK(usable(s, first) == power);
    }
}

TEST(test2_has_a_header_of_one_word_inside_the_power) {
    const subject s = start(&hfit_djgpp_test2_operations, &test2_pages.common, REGION);
    const size_t first = take(s, 28);
    CHECK(take(s, 28) - first == 32);
    CHECK(usable(s, first) == 28);
    const size_t larger = take(s, 29);
    CHECK(usable(s, larger) == 60);
}

TEST(a_page_is_cut_into_blocks_and_the_lowest_is_taken_first) {
    const subject s = kingsley(&pages, REGION);
    const size_t first = take(s, 500);
    for (size_t i = 1; i < 8; i++) {
        CHECK(take(s, 500) == first + 512 * i);
    }
    const size_t other = take(s, 5000);
    CHECK(other == first + 4096);
    CHECK(take(s, 500) == other + 8192); /* a page of its own size, whatever is larger than one */
}

TEST(a_footprint_ends_with_the_highest_block_not_with_the_page) {
    const subject s = kingsley(&pages, REGION);
    const size_t empty = footprint(s);
    CHECK(take(s, 500) != NONE);
    CHECK(footprint(s) == empty + 512);
    CHECK(word_at(0) == empty + 4096); /* the break */
}

TEST(the_last_page_of_a_region_is_what_is_left_of_it) {
    const size_t empty = footprint(kingsley(&pages, REGION));
    const subject s = kingsley(&pages, empty + 4096 + 1000);
    for (size_t i = 0; i < 8 + 1; i++) {
        CHECK(take(s, 500) != NONE);
    }
    CHECK(take(s, 500) == NONE);
}

TEST(memory_of_one_power_never_serves_another) {
    const size_t empty = footprint(kingsley(&pages, REGION));
    const subject s = kingsley(&pages, empty + 4096);
    const size_t block = take(s, 500);
    give(s, block);
    CHECK(take(s, 100) == NONE);
    CHECK(take(s, 1000) == NONE);
    CHECK(take(s, 500) == block);
}

TEST(the_block_freed_last_is_taken_first) {
    const subject s = kingsley(&pages, REGION);
    const size_t first = take(s, 40);
    const size_t second = take(s, 40);
    give(s, second);
    give(s, first);
    CHECK(take(s, 40) == first);
    CHECK(take(s, 40) == second);
}

TEST(a_resize_stays_within_its_power_and_moves_out_of_it) {
    const subject s = kingsley(&pages, REGION);
    const size_t block = take(s, 40);
    CHECK(resize(s, block, 56) == block);
    CHECK(resize(s, block, 25) == block);
    const size_t moved = resize(s, block, 57);
    CHECK(moved != block && usable(s, moved) == 120);
    CHECK(take(s, 40) == block);
}

TEST(a_shrinking_resize_that_finds_no_room_stays) {
    const size_t empty = footprint(kingsley(&block_by_block, REGION));
    const subject s = kingsley(&block_by_block, empty + 128);
    const size_t block = take(s, 100);
    CHECK(resize(s, block, 1) == block);
    CHECK(usable(s, block) == 120);
}

TEST(an_over_aligned_block_leads_back_to_its_own) {
    const subject s = kingsley(&pages, REGION);
    const size_t plain = take(s, 400);
    unsigned char *block = s.operations->alloc_aligned(s.heap, s.plan, 256, 100);
    CHECK((uintptr_t)block % 256 == 0);
    const size_t at = (size_t)(block - region);
    CHECK(at > plain && usable(s, at) >= 100 && usable(s, at) < 504);
    give(s, at);
    CHECK(take(s, 400) == plain + 512); /* room for 100 bytes at any of 256 places takes 512 */
}

RUN_TESTS()
