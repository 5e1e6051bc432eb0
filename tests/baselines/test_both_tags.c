/* SPDX-License-Identifier: Apache-2.0 */
/* test4, test5 and test6 of the DJGPP contest: tags at both ends, lists by powers of two, a slop.
 */
#include "papers/djgpp_test4.h"
#include "papers/djgpp_test5.h"
#include "papers/djgpp_test6.h"

#include "subject.h"

static const hfit_djgpp_test4_plan pieces4 = {{8}, 14};
static const hfit_djgpp_test5_plan pieces5 = {{8}, 14};
static const hfit_plan exactly = {8};

static subject test4(size_t size) {
    return start(&hfit_djgpp_test4_operations, &pieces4.common, size);
}

static subject test6(void) {
    return start(&hfit_djgpp_test6_operations, &exactly, REGION);
}

TEST(a_chunk_has_8_bytes_of_tags) {
    const subject s = test4(REGION);
    const size_t first = take(s, 40);
    CHECK(take(s, 40) - first == 40 + 8);
}

TEST(test4_asks_for_storage_of_a_fixed_size) {
    const subject s = test4(REGION);
    const size_t before = word_at(0);
    CHECK(take(s, 40) != NONE);
    CHECK(word_at(0) == before + 16384);
    CHECK(take(s, 40) != NONE);
    CHECK(word_at(0) == before + 16384);
    CHECK(take(s, 20000) != NONE); /* a multiple of it for more */
    CHECK(word_at(0) == before + 16384 + 32768);
}

TEST(new_storage_joins_the_free_memory_before_it) {
    const subject s = test4(REGION);
    const size_t first = take(s, 40);
    CHECK(take(s, 20000) == first + 40 + 8);
}

TEST(the_last_piece_of_a_region_is_what_is_left_of_it) {
    const subject s = test4(20000);
    const size_t first = take(s, 8000);
    CHECK(take(s, 8000) == first + 8008);
    CHECK(take(s, 3000) != NONE);
    CHECK(take(s, 3000) == NONE);
}

TEST(the_block_split_last_is_tried_before_the_lists) {
    const subject s = test4(REGION);
    const size_t small = take(s, 100);
    const size_t large = take(s, 1000);
    CHECK(take(s, 8) != NONE);
    give(s, small);
    CHECK(take(s, 100) > large); /* from the rest of the piece, though a list has just the chunk */
}

TEST(a_list_is_first_fit_last_in_first_out) {
    const subject s = test4(20000);
    const size_t a = take(s, 600);
    CHECK(take(s, 8) != NONE);
    const size_t b = take(s, 700);
    CHECK(take(s, 8) != NONE);
    while (take(s, 2000) != NONE) {
    }
    while (take(s, 8) != NONE) {
    }
    give(s, b);
    give(s, a);
    CHECK(take(s, 650) == b);
    CHECK(take(s, 600) == a);
}

TEST(a_freed_chunk_joins_both_neighbours) {
    const subject s = test4(REGION);
    const size_t a = take(s, 100);
    const size_t b = take(s, 100);
    const size_t c = take(s, 100);
    CHECK(take(s, 20000) != NONE); /* uses the rest of the piece up to the next */
    while (take(s, 100) < 30000) {
    }
    give(s, a);
    give(s, c);
    give(s, b);
    size_t block = take(s, 3 * 108 - 8);
    while (block != a && block != NONE) {
        block = take(s, 3 * 108 - 8);
    }
    CHECK(block == a);
}

static uint32_t random_next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return *state >> 8;
}

/* A seeded run's placements, each from the heap's first block. */
static void place(subject s, size_t *offsets, size_t count) {
    size_t blocks[64] = {NONE};
    const size_t empty = footprint(s);
    uint32_t random = 7;
    for (size_t i = 0; i < count; i++) {
        size_t *slot = &blocks[random_next(&random) % 64];
        const size_t size = random_next(&random) % 3000;
        if (*slot == NONE) {
            *slot = take(s, size);
        } else {
            give(s, *slot);
            *slot = NONE;
        }
        offsets[i] = *slot == NONE ? NONE : *slot - empty;
    }
}

TEST(test5_places_every_block_as_test4_does) {
    enum { STEPS = 5000 };
    static size_t by_test4[STEPS];
    static size_t by_test5[STEPS];
    place(test4(REGION - 8), by_test4, STEPS);
    place(start(&hfit_djgpp_test5_operations, &pieces5.common, REGION), by_test5, STEPS);
    for (size_t i = 0; i < STEPS; i++) {
        CHECK(by_test4[i] == by_test5[i]);
    }
}

TEST(test6_asks_for_the_block_and_16_bytes) {
    const subject s = test6();
    const size_t before = word_at(0);
    CHECK(take(s, 40) != NONE);
    CHECK(word_at(0) == before + 40 + 16);
    CHECK(take(s, 200) != NONE);
    CHECK(word_at(0) == before + 40 + 200 + 32);
}

TEST(test6_takes_a_close_fit_before_the_slop) {
    const subject s = test6();
    const size_t large = take(s, 2000);
    CHECK(take(s, 8) != NONE);
    const size_t close = take(s, 600);
    CHECK(take(s, 8) != NONE);
    give(s, large);
    const size_t first_half = take(s, 1000);
    CHECK(first_half == large); /* and the other half is the slop */
    give(s, close);
    CHECK(take(s, 600) == close);
    give(s, close);
    CHECK(take(s, 480) == large + usable(s, large) + 8); /* 608 is a quarter too large for it */
}

TEST(test6_splits_off_64_bytes_or_more) {
    const subject s = test6();
    const size_t block = take(s, 1000); /* 1008 with the lone tag that it absorbed */
    CHECK(take(s, 8) != NONE);
    give(s, block);
    CHECK(take(s, 1008 - 56) == block);
    CHECK(usable(s, block) == 1008);
    give(s, block);
    CHECK(take(s, 1008 - 64) == block);
    CHECK(usable(s, block) == 1008 - 64);
}

TEST(a_resize_stays_while_half_the_chunk_is_filled) {
    const subject s = test4(REGION);
    const size_t block = take(s, 1000);
    CHECK(resize(s, block, 500) == block);
    CHECK(usable(s, block) == 1000);
    CHECK(resize(s, block, 400) != block);
}

RUN_TESTS()
