/* SPDX-License-Identifier: Apache-2.0 */
/* byte_pool: the placements of ThreadX's byte pool, computed by hand. */
#include "baselines/byte_pool.h"

#include "subject.h"

static const hfit_plan plan = {4};

static subject byte_pool(size_t size) {
    return start(&hfit_byte_pool_operations, &plan, size);
}

TEST(a_block_has_8_bytes_before_it_and_lies_at_a_multiple_of_4) {
    const subject s = byte_pool(REGION);
    const size_t first = take(s, 1);
    CHECK(first == 24 + 8);
    CHECK(take(s, 5) == first + 12);
    CHECK(take(s, 1) == first + 12 + 16);
}

TEST(a_search_goes_on_from_where_the_last_one_ended) {
    const subject s = byte_pool(REGION);
    const size_t a = take(s, 40);
    const size_t b = take(s, 40);
    CHECK(take(s, 40) == b + 48);
    give(s, b);
    CHECK(take(s, 8) == b); /* at a lower chunk freed since */
    CHECK(take(s, 8) == b + 16);
    give(s, a);
    CHECK(take(s, 40) == a);
}

TEST(what_is_left_is_split_off_from_20_bytes_on) {
    const subject s = byte_pool(REGION);
    const size_t a = take(s, 40);
    CHECK(take(s, 1) == a + 48);
    give(s, a);
    CHECK(take(s, 24) == a && usable(s, a) == 40);
    give(s, a);
    CHECK(take(s, 20) == a && usable(s, a) == 20);
}

TEST(free_neighbours_are_joined_only_by_a_search_that_needs_them) {
    const subject s = byte_pool(REGION);
    const size_t a = take(s, 40);
    const size_t b = take(s, 40);
    CHECK(take(s, 1) == b + 48);
    give(s, a);
    give(s, b);
    CHECK(take(s, 40) == a); /* not joined: the chunk of 48 would else have been split */
    CHECK(take(s, 40) == b);
    give(s, a);
    give(s, b);
    CHECK(take(s, 80) == a && usable(s, a) == 88);
}

TEST(a_refused_request_joins_nothing) {
    const subject s = byte_pool(24 + 2 * 48 + 8);
    const size_t a = take(s, 40);
    const size_t b = take(s, 40);
    CHECK(b == a + 48 && take(s, 1) == NONE);
    give(s, b);
    give(s, a);
    CHECK(take(s, 90) == NONE);
    CHECK(take(s, 40) == a && usable(s, a) == 40);
    CHECK(take(s, 40) == b);
}

RUN_TESTS()
