/* SPDX-License-Identifier: Apache-2.0 */
/* test3 of the DJGPP contest: quarters of powers of two, and a break that comes down. */
#include "papers/djgpp_test3.h"

#include "subject.h"

static const hfit_plan plan = {4};

static subject test3(size_t size) {
    return start(&hfit_djgpp_test3_operations, &plan, size);
}

TEST(a_request_is_rounded_up_to_a_quarter_of_its_power_of_two) {
    static const size_t cases[][2] = {{64, 64},   {65, 80},     {80, 80},     {81, 96},
                                      {97, 112},  {112, 112},   {113, 128},   {129, 160},
                                      {528, 640}, {4096, 4096}, {8193, 10240}};
    const subject s = test3(REGION);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(usable(s, take(s, cases[i][0])) == cases[i][1]);
    }
}

TEST(the_header_lies_outside_the_class) {
    const subject s = test3(REGION);
    const size_t first = take(s, 1024);
    CHECK(take(s, 1024) - first == 1024 + 4);
}

TEST(a_block_freed_at_the_break_serves_any_class) {
    const subject s = test3(REGION);
    const size_t block = take(s, 1024);
    give(s, block);
    CHECK(take(s, 100) == block);
}

TEST(a_block_freed_below_another_serves_its_own_class_alone) {
    const subject s = test3(REGION);
    const size_t below = take(s, 1024);
    const size_t top = take(s, 1024);
    give(s, below);
    CHECK(take(s, 100) > top);
    CHECK(take(s, 1000) == below);
}

TEST(freeing_the_top_lowers_the_break_by_that_block_alone) {
    const subject s = test3(REGION);
    const size_t below = take(s, 1024);
    const size_t top = take(s, 1024);
    give(s, below);
    give(s, top);
    CHECK(take(s, 2000) == top);
}

RUN_TESTS()
