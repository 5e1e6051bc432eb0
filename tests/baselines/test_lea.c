/* SPDX-License-Identifier: Apache-2.0 */
/* lea: exact bins, best fit in trees, the designated victim, the top last. */
#include "baselines/lea.h"

#include "subject.h"

static const hfit_plan plan = {8};

static subject lea(void) {
    return start(&hfit_lea_operations, &plan, REGION);
}

/* A free chunk for requests of `size` bytes between used ones. */
static size_t free_chunk(subject s, size_t size) {
    const size_t block = take(s, size);
    CHECK(take(s, 8) != NONE);
    give(s, block);
    return block;
}

/* So many free chunks; each is kept used until all are there, so that none serves another. */
static void free_chunks(subject s, const size_t *sizes, size_t *blocks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        blocks[i] = take(s, sizes[i]);
        CHECK(take(s, 8) != NONE);
    }
    for (size_t i = 0; i < count; i++) {
        give(s, blocks[i]);
    }
}

TEST(a_chunk_has_4_bytes_of_tag_and_16_at_least) {
    const subject s = lea();
    const size_t first = take(s, 1);
    const size_t second = take(s, 12);
    const size_t third = take(s, 13);
    CHECK(second - first == 16);
    CHECK(third - second == 16);
    CHECK(take(s, 1) - third == 24);
}

TEST(a_small_request_takes_its_own_size_last_in_first_out) {
    static const size_t sizes[] = {100, 100, 92, 108};
    size_t blocks[4];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 4);
    CHECK(take(s, 100) == blocks[1]);
    CHECK(take(s, 100) == blocks[0]);
}

TEST(a_small_request_takes_the_next_size_which_is_too_little_to_split) {
    const subject s = lea();
    const size_t block = free_chunk(s, 108);
    CHECK(take(s, 100) == block);
    CHECK(usable(s, block) == 108);
}

TEST(the_rest_of_a_chunk_split_for_a_small_request_serves_the_next) {
    static const size_t sizes[] = {200, 220};
    size_t blocks[2];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 2);
    CHECK(take(s, 40) == blocks[0]);
    CHECK(take(s, 20) == blocks[0] + 48); /* the victim, before a whole chunk is split */
    CHECK(take(s, 20) == blocks[0] + 48 + 24);
}

TEST(a_bin_of_the_exact_size_goes_before_the_victim) {
    static const size_t sizes[] = {20, 200};
    size_t blocks[2];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 2);
    CHECK(take(s, 40) == blocks[1]);
    CHECK(take(s, 20) == blocks[0]);
}

TEST(a_victim_that_is_too_small_goes_to_its_bin) {
    static const size_t sizes[] = {100, 200};
    size_t blocks[2];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 2);
    CHECK(take(s, 60) == blocks[0]);       /* leaves a victim of 40 bytes */
    CHECK(take(s, 100) == blocks[1]);      /* leaves another, of 104 */
    CHECK(take(s, 36) == blocks[0] + 64);  /* exact, from its bin */
    CHECK(take(s, 50) == blocks[1] + 104); /* the victim now */
}

TEST(a_small_request_splits_the_smallest_large_chunk) {
    static const size_t sizes[] = {900, 300, 500};
    size_t blocks[3];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 3);
    CHECK(take(s, 100) == blocks[1]);
    CHECK(take(s, 100) == blocks[1] + 104);
}

TEST(a_large_request_leaves_its_rest_to_the_bins) {
    static const size_t sizes[] = {200, 1000};
    size_t blocks[2];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 2);
    CHECK(take(s, 900) == blocks[1]); /* leaves 104 bytes behind it, in their bin */
    CHECK(take(s, 40) == blocks[1] + 904);
    CHECK(take(s, 40) == blocks[1] + 904 + 48);
}

TEST(a_large_request_takes_the_victim_if_nothing_fits_better) {
    static const size_t sizes[] = {2000, 1800};
    size_t blocks[2];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 2);
    CHECK(take(s, 100) == blocks[1]); /* the smaller: the victim has 1704 bytes */
    CHECK(take(s, 1000) == blocks[1] + 104);
    CHECK(take(s, 1000) == blocks[0]);
}

TEST(a_large_request_takes_the_best_fit_and_of_equals_the_oldest) {
    static const size_t sizes[] = {5000, 3100, 3000, 4000, 3000, 2900};
    size_t blocks[6];
    const subject s = lea();
    free_chunks(s, sizes, blocks, 6);
    CHECK(take(s, 3000) == blocks[2]);
    CHECK(take(s, 2950) == blocks[4]);
    CHECK(take(s, 2950) == blocks[1]);
    CHECK(take(s, 2950) == blocks[3]);
    CHECK(take(s, 2950) == blocks[0]);
}

enum { MANY = 60 };

/* Index of the block with the least usable size from `size` on, MANY if there is none. */
static size_t best_of(const size_t *usable_sizes, const size_t *blocks, size_t size) {
    size_t best = MANY;
    for (size_t i = 0; i < MANY; i++) {
        if (blocks[i] != NONE && usable_sizes[i] >= size &&
            (best == MANY || usable_sizes[i] < usable_sizes[best])) {
            best = i;
        }
    }
    return best;
}

/* Sizes all over the trees, several of them equal, all different from their rests. */
TEST(the_trees_give_the_best_fit_of_any_set) {
    size_t sizes[MANY];
    size_t usable_sizes[MANY];
    size_t blocks[MANY];
    uint32_t random = 1;
    const subject s = lea();
    for (size_t i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
        sizes[i] = 260 + (random >> 8) % 4000 / 24 * 24;
    }
    free_chunks(s, sizes, blocks, MANY);
    for (size_t i = 0; i < MANY; i++) {
        usable_sizes[i] = usable(s, blocks[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        const size_t wanted = 260 + (random >> 8) % 4000;
        const size_t best = best_of(usable_sizes, blocks, wanted);
        const size_t got = take(s, wanted);
        if (best == MANY) {
            CHECK(got > blocks[MANY - 1]); /* the top */
            continue;
        }
        bool is_one_of_its_size = false;
        for (size_t j = 0; j < MANY; j++) {
            if (blocks[j] == got && usable_sizes[j] == usable_sizes[best]) {
                is_one_of_its_size = true;
                blocks[j] = NONE;
            }
        }
        CHECK(is_one_of_its_size);
        (void)resize(s, got, usable_sizes[best]); /* so that no rest is left to later requests */
    }
}

TEST(the_top_is_used_last) {
    const subject s = lea();
    const size_t block = free_chunk(s, 5000);
    const size_t before = footprint(s);
    CHECK(take(s, 10) == block);
    CHECK(take(s, 4000) == block + 16);
    CHECK(footprint(s) == before);
    CHECK(take(s, 4000) > block + 5000);
    CHECK(footprint(s) == before + 4008);
}

TEST(what_is_freed_before_the_top_joins_it) {
    const subject s = lea();
    const size_t first = take(s, 100);
    const size_t second = take(s, 100);
    give(s, first);
    give(s, second);
    CHECK(take(s, 5000) == first);
}

TEST(a_block_grows_into_the_top_and_into_a_free_neighbour) {
    const subject s = lea();
    const size_t block = take(s, 100);
    CHECK(resize(s, block, 1000) == block);
    const size_t next = take(s, 500);
    CHECK(take(s, 8) != NONE);
    give(s, next);
    CHECK(resize(s, block, 1400) == block);
    CHECK(resize(s, block, 1600) != block);
}

RUN_TESTS()
