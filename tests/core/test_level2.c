/* SPDX-License-Identifier: Apache-2.0 */
/* Safety level 2: on a heap whose metadata do not hold every call tells it, gives nothing and
 * changes nothing. Of each of core's allocators under each test plan. */
#include "../contract/contract_config.h"
#include "../contract/plans.h"

#include "check.h"

#include <string.h>

enum { ROOM = 1024, BLOCKS = 6, SIZE = 40 };

static _Alignas(REGION_ALIGNMENT) unsigned char region[LARGEST_SMALLEST_REGION + ROOM];
static unsigned char before[sizeof region];
static test_plan plans[MOST_PLANS];

/* Flips a bit of the first word where check finds it; false if there is none. */
static bool damage(const test_plan *plan, const hfit_heap *heap, size_t bytes) {
    for (size_t offset = 0; offset + 4 <= bytes; offset += 4) {
        region[offset + 1] ^= 4;
        if (!plan->allocator->operations->check(heap, plan_of(plan))) {
            return true;
        }
        region[offset + 1] ^= 4;
    }
    return false;
}

static void call_all(const test_plan *plan, hfit_heap *heap, void *block) {
    const hfit_operations *operations = plan->allocator->operations;
    const uint32_t misuses = misuse_count;
    CHECK(operations->alloc(heap, plan_of(plan), SIZE) == NULL);
    CHECK(operations->alloc_aligned(heap, plan_of(plan), 8, SIZE) == NULL);
    CHECK(operations->usable_size(heap, plan_of(plan), block) == 0);
    CHECK(resize_block(plan, heap, block, SIZE, 8) == NULL);
    operations->free_sized(heap, plan_of(plan), block, SIZE);
    free_block(plan, heap, block, SIZE);
    CHECK(misuse_count == misuses + 6 && misuse_kind == HFIT_MISUSE_DAMAGED);
}

TEST(on_a_damaged_heap_every_call_tells_it_and_gives_and_changes_nothing) {
    const size_t count = make_test_plans(plans);
    size_t tried = 0;
    size_t i = 0;
    for (; i < count && is_core(plans[i].allocator); i++) {
        const hfit_operations *operations = plans[i].allocator->operations;
        const size_t bytes = operations->smallest_region(plan_of(&plans[i])) + ROOM;
        check_context = plans[i].name;
        memset(region, 0, sizeof region);
        hfit_heap *heap = operations->init(region, bytes, plan_of(&plans[i]));
        void *blocks[BLOCKS];
        for (size_t b = 0; b < BLOCKS; b++) {
            blocks[b] = operations->alloc(heap, plan_of(&plans[i]), SIZE);
        }
        if (blocks[0] != NULL && damage(&plans[i], heap, bytes)) {
            memcpy(before, region, sizeof region);
            call_all(&plans[i], heap, blocks[0]);
            CHECK(memcmp(region, before, sizeof region) == 0);
            tried++;
        }
    }
    CHECK(tried > i / 2);
}

RUN_TESTS()
