/* SPDX-License-Identifier: Apache-2.0 */
/* Class pools and budgets: which pool serves which request (Mamagkakis et al., section 4; Lee and
 * Yi, figure 2). */
#include "hfit/budgeted.h"
#include "hfit/class_pools.h"
#include "hfit/tlsf.h"

#include "check.h"

#include <string.h>

static _Alignas(4096) unsigned char region[64 * 1024];

static const hfit_tlsf_plan shared_plan = {{8}, 0};

/* The paper's seven pools, figure 2, with few blocks. */
static hfit_pool wireless[] = {
    {.size = 40, .count = 2, .is_exact = 1},
    {.size = 64, .count = 2},
    {.size = 128, .count = 2},
    {.size = 256, .count = 2},
    {.size = 512, .count = 2},
    {.size = 1024, .count = 2},
    {.size = 1500, .count = 2, .is_exact = 1},
};

static hfit_pool budgets[] = {{.size = 24, .count = 1, .is_exact = 1},
                              {.size = 100, .count = 2, .is_exact = 1}};

static hfit_pools_plan plan_of(hfit_pool *pools, uint32_t count, bool with_shared) {
    const uint32_t end = hfit_pools_lay_out(pools, count, 8);
    CHECK(end != 0);
    hfit_pools_plan plan = {.common = {8}, .pools = {pools, count, end}};
    if (with_shared) {
        plan.shared = (hfit_shared){&hfit_tlsf_unlocked, &shared_plan.common};
    }
    return plan;
}

/* The size of the pool that a block lies in; 0: behind all pools. */
static uint32_t pool_size_of(const hfit_pools_plan *plan, const void *block) {
    const uint32_t offset = (uint32_t)((const unsigned char *)block - region);
    for (uint32_t i = 0; i < plan->pools.count; i++) {
        const hfit_pool *pool = &plan->pools.items[i];
        if (offset >= pool->base && offset < pool->base + pool->count * ((pool->size + 7) & ~7u)) {
            return pool->size;
        }
    }
    return 0;
}

static uint32_t served_by(size_t size) {
    const hfit_pools_plan plan = plan_of(wireless, 7, true);
    hfit_heap *heap = hfit_class_pools_init(region, sizeof region, &plan.common);
    const void *block = hfit_class_pools_alloc(heap, &plan.common, size);
    CHECK(block != NULL);
    return pool_size_of(&plan, block);
}

static void special_sizes_fit_exactly_and_others_take_the_first_pool_that_holds_them(void) {
    CHECK(served_by(40) == 40);
    CHECK(served_by(39) == 64);
    CHECK(served_by(1) == 64);
    CHECK(served_by(41) == 64);
    CHECK(served_by(1000) == 1024);
    CHECK(served_by(1024) == 1024);
    CHECK(served_by(1200) == 1500);
    CHECK(served_by(1500) == 1500);
    CHECK(served_by(1501) == 0);
}

static void an_empty_pool_overflows_into_the_next_larger_one(void) {
    static const uint32_t order[] = {512, 512, 1024, 1024, 1500, 1500, 0};
    const hfit_pools_plan plan = plan_of(wireless, 7, true);
    hfit_heap *heap = hfit_class_pools_init(region, sizeof region, &plan.common);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        CHECK(pool_size_of(&plan, hfit_class_pools_alloc(heap, &plan.common, 300)) == order[i]);
    }
}

static void without_a_shared_heap_a_request_beyond_all_pools_is_refused(void) {
    const hfit_pools_plan plan = plan_of(wireless, 7, false);
    const size_t smallest = hfit_class_pools_smallest_region(&plan.common);
    hfit_heap *heap = hfit_class_pools_init(region, smallest, &plan.common);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 1501) == NULL);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 1500) != NULL);
    CHECK(hfit_class_pools_footprint(heap, &plan.common) == smallest);
}

static void a_block_freed_into_its_pool_is_taken_next(void) {
    const hfit_pools_plan plan = plan_of(wireless, 7, false);
    hfit_heap *heap = hfit_class_pools_init(region, sizeof region, &plan.common);
    void *first = hfit_class_pools_alloc(heap, &plan.common, 40);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 40) != NULL);
    hfit_class_pools_free(heap, &plan.common, first);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 40) == first);
}

static void a_resize_leaves_the_old_pool_and_enters_the_new_one(void) {
    const hfit_pools_plan plan = plan_of(wireless, 7, false);
    hfit_heap *heap = hfit_class_pools_init(region, sizeof region, &plan.common);
    char *block = hfit_class_pools_alloc(heap, &plan.common, 1500);
    memcpy(block, "kept", 5);
    char *small = hfit_class_pools_resize(heap, &plan.common, block, 40);
    CHECK(pool_size_of(&plan, small) == 40 && strcmp(small, "kept") == 0);
    CHECK(hfit_class_pools_resize(heap, &plan.common, small, 40) == small);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 1500) == block);
}

static void a_budget_serves_just_its_size_and_never_a_smaller_one(void) {
    const hfit_pools_plan plan = plan_of(budgets, 2, true);
    hfit_heap *heap = hfit_budgeted_init(region, sizeof region, &plan.common);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 24)) == 24);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 24)) == 0);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 32)) == 0);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 100)) == 100);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 97)) == 100);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 96)) == 0);
}

static void a_shared_block_resized_to_a_budgets_size_moves_into_it(void) {
    const hfit_pools_plan plan = plan_of(budgets, 2, true);
    hfit_heap *heap = hfit_budgeted_init(region, sizeof region, &plan.common);
    char *block = hfit_budgeted_alloc(heap, &plan.common, 60);
    memcpy(block, "kept", 5);
    char *moved = hfit_budgeted_resize(heap, &plan.common, block, 100);
    CHECK(pool_size_of(&plan, moved) == 100 && strcmp(moved, "kept") == 0);
    CHECK(hfit_budgeted_check(heap, &plan.common));
}

static void plans_that_contradict_themselves_are_refused(void) {
    hfit_pool twice[] = {{.size = 20, .count = 1, .is_exact = 1},
                         {.size = 24, .count = 1, .is_exact = 1}};
    const hfit_pools_plan one_block_size = plan_of(twice, 2, false);
    CHECK(hfit_budgeted_smallest_region(&one_block_size.common) == 0);
    CHECK(hfit_class_pools_smallest_region(&one_block_size.common) != 0);
    hfit_pools_plan moved_base = plan_of(budgets, 2, false);
    budgets[1].base += 8;
    CHECK(hfit_budgeted_init(region, sizeof region, &moved_base.common) == NULL);
    hfit_pool descending[] = {{.size = 64, .count = 1}, {.size = 24, .count = 1}};
    CHECK(hfit_pools_lay_out(descending, 2, 8) == 0);
    hfit_pool huge[] = {{.size = 0x40000000, .count = 4}};
    CHECK(hfit_pools_lay_out(huge, 1, 8) == 0);
}

int main(void) {
    RUN(special_sizes_fit_exactly_and_others_take_the_first_pool_that_holds_them);
    RUN(an_empty_pool_overflows_into_the_next_larger_one);
    RUN(without_a_shared_heap_a_request_beyond_all_pools_is_refused);
    RUN(a_block_freed_into_its_pool_is_taken_next);
    RUN(a_resize_leaves_the_old_pool_and_enters_the_new_one);
    RUN(a_budget_serves_just_its_size_and_never_a_smaller_one);
    RUN(a_shared_block_resized_to_a_budgets_size_moves_into_it);
    RUN(plans_that_contradict_themselves_are_refused);
    return report_passed();
}
