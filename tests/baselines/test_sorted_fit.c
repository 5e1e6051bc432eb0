/* SPDX-License-Identifier: Apache-2.0 */
/* sorted_fit: the placements of NuttX's mm and of FreeRTOS's heap_2, computed by hand. */
#include "baselines/sorted_fit.h"

#include "subject.h"

static const hfit_sorted_fit_plan nuttx = {{8}, 1, 1, 4, 16};
static const hfit_sorted_fit_plan heap_2 = {{8}, 0, 0, 8, 17};

static subject start_nuttx(void) {
    return start(&hfit_sorted_fit_operations, &nuttx.common, REGION);
}

static subject start_heap_2(void) {
    return start(&hfit_sorted_fit_operations, &heap_2.common, REGION);
}

/* Used blocks of these sizes, one behind the other, each followed by one of 1 byte. */
static void take_apart(subject s, const size_t *sizes, size_t count, size_t *blocks) {
    for (size_t i = 0; i < count; i++) {
        blocks[i] = take(s, sizes[i]);
        CHECK(take(s, 1) != NONE);
    }
}

TEST(a_chunk_has_its_header_and_16_bytes_at_least) {
    const subject s = start_nuttx();
    const size_t first = take(s, 1);
    CHECK(take(s, 12) == first + 16);
    CHECK(take(s, 13) == first + 32);
    CHECK(take(s, 1) == first + 56);
    const subject t = start_heap_2();
    const size_t of_heap_2 = take(t, 8);
    CHECK(take(t, 9) == of_heap_2 + 16);
    CHECK(take(t, 1) == of_heap_2 + 40);
}

TEST(the_smallest_chunk_that_fits_serves_and_among_equals_the_last_freed) {
    static const size_t sizes[] = {200, 100, 60, 100};
    size_t blocks[4];
    for (size_t i = 0; i < 2; i++) {
        const subject s = i == 0 ? start_nuttx() : start_heap_2();
        take_apart(s, sizes, 4, blocks);
        give(s, blocks[1]);
        give(s, blocks[0]);
        give(s, blocks[3]);
        give(s, blocks[2]);
        CHECK(take(s, 90) == blocks[3]);
        CHECK(take(s, 90) == blocks[1]);
        CHECK(take(s, 90) == blocks[0]);
        CHECK(take(s, 50) == blocks[2]);
    }
}

TEST(what_is_left_is_split_off_from_16_bytes_in_nuttx_and_24_in_heap_2) {
    static const size_t size = 100;
    size_t block;
    subject s = start_nuttx(); /* a chunk of 104 */
    take_apart(s, &size, 1, &block);
    give(s, block);
    CHECK(take(s, 92) == block && usable(s, block) == 100);
    give(s, block);
    CHECK(take(s, 84) == block && usable(s, block) == 84);
    s = start_heap_2(); /* a chunk of 112 */
    take_apart(s, &size, 1, &block);
    give(s, block);
    CHECK(take(s, 88) == block && usable(s, block) == 104);
    give(s, block);
    CHECK(take(s, 80) == block && usable(s, block) == 80);
}

TEST(heap_2_never_joins_neighbours) {
    const subject s = start_heap_2();
    const size_t a = take(s, 100);
    const size_t b = take(s, 100);
    CHECK(take(s, 1) != NONE);
    give(s, a);
    give(s, b);
    CHECK(take(s, 150) > b);
    CHECK(take(s, 100) == b);
}

TEST(nuttx_joins_neighbours_at_once) {
    const subject s = start_nuttx();
    const size_t a = take(s, 100);
    const size_t b = take(s, 100);
    CHECK(take(s, 1) != NONE);
    give(s, a);
    give(s, b);
    CHECK(take(s, 150) == a);
}

/* Chunks: 48 free, 64 used, `behind` free, 16 used. */
static size_t between_holes(subject s, size_t behind) {
    const size_t before = take(s, 44);
    const size_t block = take(s, 60);
    const size_t after = take(s, behind);
    CHECK(block == before + 48 && after == block + 64 && take(s, 1) != NONE);
    give(s, before);
    give(s, after);
    return block;
}

TEST(a_block_grows_first_into_the_smaller_neighbour) {
    subject s = start_nuttx();
    size_t block = between_holes(s, 76); /* 80: the one before is smaller, 24 of it are left */
    CHECK(resize(s, block, 84) == block - 24 && usable(s, block - 24) == 84);
    CHECK(take(s, 20) == block - 48);
    s = start_nuttx();
    block = between_holes(s, 76); /* all 48 before, and 32 of the 80 behind */
    CHECK(resize(s, block, 140) == block - 48 && usable(s, block - 48) == 140);
    CHECK(take(s, 40) == block + 96);
    s = start_nuttx();
    block = between_holes(s, 36); /* 40: the one behind is not larger than the one before */
    CHECK(resize(s, block, 76) == block && usable(s, block) == 76);
    s = start_nuttx();
    block = between_holes(s, 36); /* 40 behind and 32 before: what is left is a chunk */
    CHECK(resize(s, block, 130) == block - 32 && usable(s, block - 32) == 132);
}

TEST(what_a_smaller_block_leaves_joins_the_free_chunk_behind) {
    subject s = start_nuttx();
    size_t block = between_holes(s, 36);
    CHECK(resize(s, block, 52) == block && usable(s, block) == 52);
    s = start_nuttx();
    block = take(s, 60);
    CHECK(take(s, 1) == block + 64);
    CHECK(resize(s, block, 52) == block && usable(s, block) == 60); /* 8 bytes are no chunk */
    CHECK(resize(s, block, 44) == block && usable(s, block) == 44);
}

RUN_TESTS()
