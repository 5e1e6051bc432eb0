/* SPDX-License-Identifier: Apache-2.0 */
/* halffit: fragments of powers of two behind 16 bytes, and bins that are sure to do. */
#include "baselines/halffit.h"

#include "subject.h"

static const hfit_plan plan = {8};

static subject halffit(size_t size) {
    return start(&hfit_halffit_operations, &plan, size);
}

TEST(a_request_and_16_bytes_are_rounded_up_to_a_power_of_two) {
    static const size_t cases[][2] = {{1, 32},   {16, 32},   {17, 64},   {48, 64},
                                      {49, 128}, {112, 128}, {113, 256}, {1008, 1024}};
    const subject s = halffit(REGION);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t first = take(s, cases[i][0]);
        CHECK(take(s, cases[i][0]) - first == cases[i][1]);
        CHECK(usable(s, first) == cases[i][1] - 16);
    }
}

/* Blocks that leave fragments of 512 + 256 and of 1024 bytes free, and nothing else. */
static subject two_fragments(size_t *three_quarters, size_t *whole) {
    const size_t first = (size_t)footprint(halffit(REGION));
    const subject s = halffit(first + 512 + 256 + 32 + 1024 + 32);
    *three_quarters = take(s, 512 - 16);
    const size_t other = take(s, 256 - 16);
    CHECK(take(s, 1) == other + 256);
    *whole = take(s, 1024 - 16);
    CHECK(take(s, 1) != NONE);
    CHECK(take(s, 1) == NONE);
    give(s, *three_quarters);
    give(s, other);
    give(s, *whole);
    return s;
}

TEST(a_fragment_that_would_do_is_passed_by_for_one_that_is_sure_to) {
    size_t three_quarters;
    size_t whole;
    const subject s = two_fragments(&three_quarters, &whole);
    CHECK(take(s, 512 - 16) == three_quarters); /* 768 bytes are in the bin from 512 on */
    give(s, three_quarters);
    CHECK(take(s, 513 - 16) == whole); /* 1024 are wanted: 768 would do for the caller */
    CHECK(take(s, 513 - 16) == NONE);
}

TEST(what_a_fragment_has_beyond_its_power_is_split_off) {
    size_t three_quarters;
    size_t whole;
    const subject s = two_fragments(&three_quarters, &whole);
    CHECK(take(s, 512 - 16) == three_quarters);
    CHECK(take(s, 256 - 16) == three_quarters + 512);
}

TEST(the_fragment_freed_last_is_taken_first) {
    const subject s = halffit(REGION);
    const size_t a = take(s, 100);
    CHECK(take(s, 100) != NONE);
    const size_t b = take(s, 100);
    CHECK(take(s, 100) != NONE);
    give(s, a);
    give(s, b);
    CHECK(take(s, 100) == b);
}

TEST(a_freed_fragment_joins_both_neighbours) {
    const subject s = halffit(REGION);
    const size_t a = take(s, 100);
    const size_t b = take(s, 100);
    const size_t c = take(s, 100);
    CHECK(take(s, 100) == c + 128);
    give(s, a);
    give(s, c);
    give(s, b);
    CHECK(take(s, 256 - 16) == a); /* of the 384 bytes that are one fragment now */
    CHECK(take(s, 100) == c);
}

TEST(a_resize_stays_in_its_power_and_moves_to_give_memory_back) {
    const subject s = halffit(REGION);
    const size_t block = take(s, 200);
    CHECK(resize(s, block, 240) == block);
    CHECK(resize(s, block, 113) == block);
    CHECK(resize(s, block, 112) != block);
}

RUN_TESTS()
