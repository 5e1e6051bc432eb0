/* SPDX-License-Identifier: Apache-2.0 */
/* Equal buffers: how many there are, which requests they serve and what refuses a bad free. */
#include "hfit/fixed_pool.h"

#include "contract_config.h"

#include "check.h"

#include <string.h>

static _Alignas(4096) unsigned char region[600 * 1024];

static hfit_fixed_pool_plan plan_of(uint32_t size, uint32_t blocks, uint32_t overhead) {
    return (hfit_fixed_pool_plan){{8}, size, blocks, overhead};
}

static uint32_t taken_until_refused(hfit_heap *heap, const hfit_fixed_pool_plan *plan,
                                    size_t size) {
    uint32_t taken = 0;
    while (hfit_fixed_pool_alloc(heap, &plan->common, size) != NULL) {
        taken++;
    }
    return taken;
}

/* Two words and the used bits, rounded up to 8 bytes. */
static size_t control_of(uint32_t blocks) {
    return (8 + 4 * ((blocks + 31) / 32) + 7) / 8 * 8;
}

TEST(it_has_as_many_blocks_as_asked_for_in_its_smallest_region) {
    for (uint32_t blocks = 1; blocks < 140; blocks++) {
        const hfit_fixed_pool_plan plan = plan_of(100, blocks, 0);
        const size_t smallest = hfit_fixed_pool_smallest_region(&plan.common);
        CHECK(smallest == control_of(blocks) + 104 * blocks);
        CHECK(hfit_fixed_pool_init(region, smallest - 1, &plan.common) == NULL);
        hfit_heap *heap = hfit_fixed_pool_init(region, smallest, &plan.common);
        CHECK(hfit_fixed_pool_footprint(heap, &plan.common) == smallest);
        CHECK(taken_until_refused(heap, &plan, 100) == blocks);
    }
}

TEST(left_to_itself_it_has_as_many_blocks_as_the_region_holds) {
    const hfit_fixed_pool_plan any = plan_of(20, 0, 0);
    for (size_t size = 0; size < 3000; size++) {
        uint32_t fit = 0;
        while (size >= control_of(fit + 1) + 24 * (fit + 1)) {
            fit++;
        }
        hfit_heap *heap = hfit_fixed_pool_init(region, size, &any.common);
        CHECK((heap == NULL) == (fit == 0));
        CHECK(heap == NULL || taken_until_refused(heap, &any, 1) == fit);
    }
}

/* Elsayed and Galal, part 2: 272 buffers of 2048 bytes. */
TEST(the_articles_pool_serves_272_requests_of_any_size_up_to_its_blocks) {
    const hfit_fixed_pool_plan plan = plan_of(2048, 272, 0);
    hfit_heap *heap = hfit_fixed_pool_init(region, sizeof region, &plan.common);
    CHECK(hfit_fixed_pool_alloc(heap, &plan.common, 2049) == NULL);
    CHECK(taken_until_refused(heap, &plan, 80) == 272);
}

TEST(overhead_lies_between_blocks_and_is_not_the_callers) {
    const hfit_fixed_pool_plan plan = plan_of(64, 4, 32);
    hfit_heap *heap = hfit_fixed_pool_init(region, sizeof region, &plan.common);
    const char *first = hfit_fixed_pool_alloc(heap, &plan.common, 64);
    CHECK((const char *)hfit_fixed_pool_alloc(heap, &plan.common, 64) == first + 96);
    CHECK(hfit_fixed_pool_usable_size(heap, &plan.common, first) == 64);
    CHECK(hfit_fixed_pool_alloc(heap, &plan.common, 65) == NULL);
}

TEST(a_block_is_resized_in_place_or_not_at_all) {
    const hfit_fixed_pool_plan plan = plan_of(64, 4, 0);
    hfit_heap *heap = hfit_fixed_pool_init(region, sizeof region, &plan.common);
    void *block = hfit_fixed_pool_alloc(heap, &plan.common, 10);
    CHECK(hfit_fixed_pool_resize(heap, &plan.common, block, 64) == block);
    CHECK(hfit_fixed_pool_resize(heap, &plan.common, block, 65) == NULL);
}

TEST(a_resize_of_no_live_block_gives_nothing) {
    const hfit_fixed_pool_plan plan = plan_of(64, 4, 0);
    hfit_heap *heap = hfit_fixed_pool_init(region, sizeof region, &plan.common);
    unsigned char *block = hfit_fixed_pool_alloc(heap, &plan.common, 10);
    void *dead = hfit_fixed_pool_alloc(heap, &plan.common, 10);
    hfit_fixed_pool_free(heap, &plan.common, dead);
    misuse_count = 0;
    for (uint32_t size = 0; size < 70; size += 23) {
        CHECK(hfit_fixed_pool_resize(heap, &plan.common, dead, size) == NULL);
        CHECK(hfit_fixed_pool_resize(heap, &plan.common, block + 8, size) == NULL);
    }
    CHECK(misuse_count == 8);
    CHECK(hfit_fixed_pool_resize(heap, &plan.common, block, 0) == block);
    misuse_count = 0;
}

RUN_TESTS()
