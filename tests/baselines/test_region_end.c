/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Baselines that say they ignore where the region ends: one run in a large region tells the
 * smallest, and the papers' granularity is a rounding of it.
 */
#include "baselines/granularity.h"
#include "baselines/registry.h"

#include "plans.h"
#include "subject.h"

enum { BLOCKS = 100, STEPS = 4000 };

static test_plan plans[MOST_PLANS];

static uint32_t random_next(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return *state >> 8;
}

/* A seeded run in a region of `size` bytes: its footprint, NONE if a request is refused. Stores a
 * hash of all placements. */
static size_t run(const test_plan *plan, size_t size, uint64_t *hash) {
    const hfit_operations *operations = plan->allocator->operations;
    void *blocks[BLOCKS] = {NULL};
    uint32_t random = 3;
    hfit_heap *heap = operations->init(region, size, plan_of(plan));
    CHECK(heap != NULL);
    *hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < STEPS; i++) {
        void **slot = &blocks[random_next(&random) % BLOCKS];
        const size_t wanted = random_next(&random) % 900;
        if (*slot == NULL) {
            *slot = operations->alloc(heap, plan_of(plan), wanted);
            if (*slot == NULL) {
                return NONE;
            }
            *hash = (*hash ^ (uint64_t)((unsigned char *)*slot - region)) * UINT64_C(1099511628211);
        } else {
            operations->free(heap, plan_of(plan), *slot);
            *slot = NULL;
        }
    }
    return operations->footprint(heap, plan_of(plan));
}

TEST(a_run_fits_in_its_footprint_and_in_nothing_less) {
    const size_t count = make_test_plans(plans);
    size_t tried = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_core(plans[i].allocator) || !plans[i].allocator->ignores_region_end) {
            continue;
        }
        uint64_t in_large;
        uint64_t in_small;
        check_context = plans[i].name;
        const size_t needed = run(&plans[i], REGION, &in_large);
        if (needed == NONE) { /* a step larger than the region leaves it to one size */
            continue;
        }
        CHECK(run(&plans[i], needed, &in_small) == needed);
        CHECK(in_small == in_large);
        CHECK(run(&plans[i], needed - 1, &in_small) == NONE);
        tried++;
    }
    CHECK(tried > 10);
}

TEST(granularity_is_a_rounding_up_to_whole_steps) {
    CHECK(hfit_granular(0, 14) == 0);
    CHECK(hfit_granular(1, 14) == 16384);
    CHECK(hfit_granular(16384, 14) == 16384);
    CHECK(hfit_granular(16385, 14) == 32768);
    CHECK(hfit_granular(12345, 0) == 12345);
    CHECK(hfit_granular(UINT64_C(1) << 32, 31) == UINT64_C(1) << 32);
}

RUN_TESTS()
