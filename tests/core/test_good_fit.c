/* SPDX-License-Identifier: Apache-2.0 */
/* good_fit: which chunk serves, in which order, and that the top is what is taken last. */
#include "hfit/good_fit.h"

#include "check.h"

#include <string.h>

static _Alignas(4096) unsigned char region[64 * 1024];
static const hfit_good_fit_plan plan_4 = {{4}};
static const hfit_good_fit_plan plan_8 = {{8}};

static hfit_heap *heap;
static const hfit_plan *plan;

static void start(const hfit_good_fit_plan *own, size_t size) {
    plan = &own->common;
    heap = hfit_good_fit_init(region, size, plan);
    CHECK(heap != NULL);
}

static unsigned char *take(size_t size) {
    unsigned char *block = hfit_good_fit_alloc(heap, plan, size);
    CHECK(block != NULL && hfit_good_fit_check(heap, plan));
    return block;
}

/* A block of so many bytes that is freed behind a small one, which keeps it apart. */
static unsigned char *hole(size_t size) {
    unsigned char *block = take(size);
    (void)take(1);
    hfit_good_fit_free(heap, plan, block);
    CHECK(hfit_good_fit_check(heap, plan));
    return block;
}

TEST(a_hole_serves_before_the_top) {
    start(&plan_8, sizeof region);
    unsigned char *freed = hole(2000);
    CHECK(take(100) == freed);
    CHECK(take(100) == freed + 104);
}

TEST(the_second_of_its_class_serves_and_no_third) {
    start(&plan_4, sizeof region);
    const size_t sizes[] = {276, 272, 256}; /* of one class, that from 256 to 316 B */
    unsigned char *blocks[3];
    for (size_t i = 0; i < 3; i++) {
        blocks[i] = take(sizes[i]);
        (void)take(1);
    }
    for (size_t i = 0; i < 3; i++) {
        hfit_good_fit_free(heap, plan, blocks[i]); /* the last one becomes the first */
    }
    CHECK(take(276) > blocks[2]);
    CHECK(take(272) == blocks[1]);
    CHECK(take(276) == blocks[0]);
}

TEST(the_next_class_that_has_any_serves) {
    start(&plan_8, sizeof region);
    unsigned char *far = take(9000);
    (void)take(1);
    unsigned char *near = hole(700);
    hfit_good_fit_free(heap, plan, far);
    CHECK(take(500) == near);
    CHECK(take(500) == far);
}

TEST(what_is_freed_before_the_top_joins_it) {
    start(&plan_4, 1024);
    unsigned char *first = take(40);
    unsigned char *second = take(40);
    hfit_good_fit_free(heap, plan, first);
    hfit_good_fit_free(heap, plan, second);
    const size_t most = 1024 - (size_t)(first - region);
    CHECK(hfit_good_fit_alloc(heap, plan, most + 1) == NULL);
    CHECK(hfit_good_fit_alloc(heap, plan, most) == first);
}

TEST(the_footprint_is_the_highest_top) {
    start(&plan_8, 4096);
    const size_t before = hfit_good_fit_footprint(heap, plan);
    unsigned char *block = take(1000);
    hfit_good_fit_free(heap, plan, block);
    CHECK(hfit_good_fit_footprint(heap, plan) == before + 1008);
    (void)take(8);
    CHECK(hfit_good_fit_footprint(heap, plan) == before + 1008);
}

/* An aligned request or a longer block takes of the top what it needs, not more. */
TEST(no_more_of_the_top_is_in_use_than_was_asked_for) {
    start(&plan_8, 8192);
    unsigned char *block = take(100);
    block = hfit_good_fit_resize(heap, plan, block, 1000);
    CHECK(hfit_good_fit_footprint(heap, plan) == (size_t)(block - region) + 1004);
    unsigned char *aligned = hfit_good_fit_alloc_aligned(heap, plan, 256, 100);
    CHECK(((uintptr_t)aligned & 255) == 0 && hfit_good_fit_check(heap, plan));
    CHECK(hfit_good_fit_footprint(heap, plan) == (size_t)(aligned - region) + 100);
}

TEST(a_block_slides_down_where_nothing_else_is_free) {
    start(&plan_8, 1024);
    unsigned char *before = take(200);
    unsigned char *block = take(100);
    memset(block, 0x5a, 100);
    while (hfit_good_fit_alloc(heap, plan, 8) != NULL) {
    }
    hfit_good_fit_free(heap, plan, before);
    CHECK(hfit_good_fit_resize(heap, plan, block, 300) == before);
    CHECK(before[0] == 0x5a && before[99] == 0x5a && hfit_good_fit_check(heap, plan));
}

TEST(control_words_grow_with_the_region_only) {
    CHECK(hfit_good_fit_smallest_region(&plan_4.common) <= 128);
    start(&plan_4, 1024);
    unsigned char *small = take(1);
    start(&plan_4, 64 * 1024);
    CHECK(take(1) - small == 4 * 4 * 6);
}

/* Of a size whose chunk would be as long as the region, or a little longer, there is a class, too.
 */
TEST(a_request_of_about_the_regions_size_is_refused) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        const hfit_good_fit_plan own = {{alignment}};
        const size_t least = hfit_good_fit_smallest_region(&own.common);
        for (size_t size = least; size < least + 600; size++) {
            start(&own, size);
            for (size_t asked = size - 40; asked < size + 40; asked++) {
                CHECK(hfit_good_fit_alloc(heap, plan, asked) == NULL);
                CHECK(hfit_good_fit_alloc_aligned(heap, plan, 32, asked) == NULL);
            }
            CHECK(hfit_good_fit_check(heap, plan));
        }
    }
}

RUN_TESTS()
