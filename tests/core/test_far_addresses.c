/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses far from the region whose low bits are those of a live block: 4 GiB above it, or any
 * multiple of that, so that an offset cut to 32 bits leads to the block. No call takes one for it.
 */
#include "../contract/contract_config.h"
#include "../contract/plans.h"

#include "check.h"

#include <string.h>

enum { ROOM = 2048, SIZE = 40 };

static _Alignas(REGION_ALIGNMENT) unsigned char region[LARGEST_SMALLEST_REGION + ROOM];
static unsigned char before[sizeof region];
static test_plan plans[MOST_PLANS];

#if UINTPTR_MAX > UINT32_MAX
static const uintptr_t distances[] = {(uintptr_t)1 << 32, (uintptr_t)3 << 32, (uintptr_t)1 << 63,
                                      (uintptr_t)0 - ((uintptr_t)1 << 32)};
#else
static const uintptr_t distances[] = {(uintptr_t)1 << 31, (uintptr_t)1 << 30};
#endif

/* Each call of the contract that takes a block, unless this allocator has none. */
static void call_all(const test_plan *plan, hfit_heap *heap, void *far) {
    const hfit_operations *operations = plan->allocator->operations;
    const uint32_t misuses = misuse_count;
    const bool knows = knows_sizes(plan->allocator);
    operations->free_sized(heap, plan_of(plan), far, SIZE);
    free_block(plan, heap, far, SIZE);
    CHECK(resize_block(plan, heap, far, SIZE, 2 * SIZE) == NULL);
    CHECK(misuse_count == misuses + 3);
    CHECK(operations->usable_size(heap, plan_of(plan), far) == 0);
    CHECK(misuse_count == misuses + 3 + knows);
}

TEST(an_address_with_the_low_bits_of_a_live_block_is_told_and_changes_nothing) {
    const size_t count = make_test_plans(plans);
    size_t tried = 0, of_core = 0;
    for (size_t i = 0; i < count && is_core(plans[i].allocator); i++) {
        const hfit_operations *operations = plans[i].allocator->operations;
        const size_t bytes = operations->smallest_region(plan_of(&plans[i])) + ROOM;
        check_context = plans[i].name;
        memset(region, 0xa5, sizeof region);
        hfit_heap *heap = operations->init(region, bytes, plan_of(&plans[i]));
        CHECK(heap != NULL);
        of_core++;
        const unsigned char *block = operations->alloc(heap, plan_of(&plans[i]), SIZE);
        memcpy(before, region, sizeof region);
        for (size_t d = 0; block != NULL && d < sizeof distances / sizeof distances[0]; d++) {
            call_all(&plans[i], heap, (void *)((uintptr_t)block + distances[d]));
            CHECK(memcmp(region, before, sizeof region) == 0);
            tried++;
        }
    }
    CHECK(tried > 4 * of_core / 3);
}

RUN_TESTS()
