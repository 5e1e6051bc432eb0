/* SPDX-License-Identifier: Apache-2.0 */
/* block_runs: the placements of umm_malloc in blocks of 8 bytes, computed by hand. */
#include "baselines/block_runs.h"

#include "subject.h"

enum { FIRST = 12 + 8 + 4, LARGE = 512 * 1024 }; /* the payload of block 1 */

static const hfit_block_runs_plan plan = {{4}, 8, 0};
static const hfit_block_runs_plan first_fit = {{4}, 8, 1};

static subject umm(size_t size) {
    return start(&hfit_block_runs_operations, &plan.common, size);
}

TEST(a_request_and_4_bytes_take_whole_blocks) {
    const subject s = umm(REGION);
    CHECK(take(s, 4) == FIRST);
    CHECK(take(s, 5) == FIRST + 8);
    CHECK(take(s, 12) == FIRST + 24);
    CHECK(take(s, 13) == FIRST + 40);
    CHECK(take(s, 1) == FIRST + 64);
}

/* Free runs of 5, 2 and 2 blocks, the last freed first on the list, each before a used block. */
static void take_holes(subject s, size_t *holes) {
    static const size_t sizes[] = {36, 12, 12};
    for (size_t i = 0; i < 3; i++) {
        holes[i] = take(s, sizes[i]);
        CHECK(take(s, 1) != NONE);
    }
    for (size_t i = 0; i < 3; i++) {
        give(s, holes[i]);
    }
}

TEST(the_smallest_run_serves_and_among_equals_the_last_freed) {
    size_t holes[3];
    subject s = umm(REGION);
    take_holes(s, holes);
    CHECK(take(s, 12) == holes[2]);
    CHECK(take(s, 12) == holes[1]);
    CHECK(take(s, 12) == holes[0]);
    s = start(&hfit_block_runs_operations, &first_fit.common, REGION);
    take_holes(s, holes);
    CHECK(take(s, 20) == holes[0]);
}

TEST(what_is_left_keeps_its_place_on_the_list) {
    size_t holes[3];
    const subject s = umm(REGION);
    take_holes(s, holes);
    CHECK(take(s, 20) == holes[0]); /* 3 of the 5 blocks: three runs of 2 are free now */
    CHECK(take(s, 12) == holes[2]);
    CHECK(take(s, 12) == holes[1]);
    CHECK(take(s, 12) == holes[0] + 24);
}

TEST(a_freed_run_joins_both_neighbours) {
    const subject s = umm(REGION);
    const size_t a = take(s, 20);
    const size_t b = take(s, 20);
    const size_t c = take(s, 20);
    CHECK(take(s, 1) != NONE);
    give(s, a);
    give(s, c);
    give(s, b);
    CHECK(take(s, 68) == a);
}

/* Runs: `before` blocks free, 3 used, `behind` blocks free, 1 used. */
static size_t between_holes(subject s, size_t before, size_t behind) {
    const size_t a = take(s, 8 * before - 4);
    const size_t block = take(s, 20);
    const size_t c = take(s, 8 * behind - 4);
    CHECK(take(s, 1) != NONE);
    give(s, a);
    give(s, c);
    return block;
}

TEST(a_resize_takes_what_is_behind_if_that_is_just_right) {
    const subject s = umm(REGION);
    const size_t block = between_holes(s, 4, 2);
    CHECK(resize(s, block, 36) == block && usable(s, block) == 36);
}

TEST(else_what_is_before_and_both_if_neither_will_do) {
    subject s = umm(REGION);
    size_t block = between_holes(s, 4, 3);
    CHECK(resize(s, block, 36) == block - 32 && usable(s, block - 32) == 36);
    CHECK(take(s, 36) == block + 8); /* 2 blocks that were left, joined with the 3 behind */
    s = umm(REGION);
    block = between_holes(s, 2, 2);
    CHECK(resize(s, block, 52) == block - 16 && usable(s, block - 16) == 52);
}

TEST(no_heap_has_more_than_32768_blocks) {
    static _Alignas(16) unsigned char large[LARGE];
    const hfit_operations *operations = &hfit_block_runs_operations;
    hfit_heap *heap = operations->init(large, LARGE, &plan.common);
    CHECK(operations->alloc(heap, &plan.common, 8 * (32768 - 2)) == NULL);
    const unsigned char *block = operations->alloc(heap, &plan.common, 8 * (32768 - 2) - 4);
    CHECK(block == large + FIRST);
    CHECK(operations->alloc(heap, &plan.common, 1) == NULL);
}

RUN_TESTS()
