/* SPDX-License-Identifier: Apache-2.0 */
/* Plans from descriptors. See plans.h. */
#include "plans.h"

#include "check.h"

#if WITH_BASELINES
#include "baselines/registry.h"
#include "papers/registry.h"
#endif

#include <string.h>

static const uint32_t alignments[] = {4, 8, 16};

static const hfit_pool mixed_pools[TEST_POOLS] = {
    {.size = 40, .count = 6, .is_exact = 1},
    {.size = 64, .count = 3},
    {.size = 100, .count = 0},
    {.size = 128, .count = 5},
    {.size = 200, .count = 4, .is_exact = 1},
    {.size = 512, .count = 2},
};

/* Shared heaps need plans that outlive the test plans; a standard one of each alignment will do. */
static test_plan shared_plans[MOST_SHARED][3];

static void set_scalar(test_plan *plan, const hfit_tunable *tunable, uint32_t value) {
    memcpy((char *)plan->bytes + tunable->offset, &value, sizeof value);
}

/* The plan that says nothing but its alignment. */
static void make_standard(test_plan *plan, const hfit_allocator *allocator, uint32_t alignment) {
    CHECK(allocator->plan_size <= PLAN_BYTES);
    memset(plan, 0, sizeof *plan);
    plan->allocator = allocator;
    for (uint32_t i = 0; i < allocator->tunable_count; i++) {
        if (allocator->tunables[i].kind == HFIT_SCALAR) {
            set_scalar(plan, &allocator->tunables[i], allocator->tunables[i].standard);
        }
    }
    memcpy(plan->bytes, &alignment, sizeof alignment); /* the first member of every plan */
    snprintf(plan->name, sizeof plan->name, "%s alignment=%u", allocator->name, alignment);
}

/* Sets a scalar of a standard plan, and says so in its name. */
static void name_scalar(test_plan *plan, const hfit_tunable *tunable, uint32_t value) {
    const size_t length = strlen(plan->name);
    set_scalar(plan, tunable, value);
    snprintf(plan->name + length, sizeof plan->name - length, " %s=%u", tunable->name, value);
}

/* Keeps a plan whose heap can be made in the tests' regions. */
static size_t keep_if_sound(test_plan *plans, size_t count) {
    static size_t sound;
    test_plan *plan = &plans[count];
    CHECK(count + 1 < MOST_PLANS);
    if (plan->allocator->complete != NULL) {
        (void)plan->allocator->complete((hfit_pools_plan *)(void *)plan->bytes, plan->index,
                                        TEST_INDEX);
    }
    const size_t smallest = plan->allocator->operations->smallest_region(plan_of(plan));
    if (smallest == 0 || smallest > LARGEST_SMALLEST_REGION) {
        return count;
    }
    return IS_PLAN_WANTED(sound++) ? count + 1 : count;
}

/* How many values the scalar may have, if there are two, or three of which each is code of its own;
 * else 1. */
static uint32_t few_values(const hfit_tunable *tunable) {
    const uint32_t above = tunable->highest - tunable->lowest;
    const uint32_t most = tunable->effect == HFIT_CHOICE ? 2 : 1;
    return tunable->kind == HFIT_SCALAR && above <= most ? above + 1 : 1;
}

static size_t add_scalar_plans(test_plan *plans, size_t count, const hfit_allocator *allocator,
                               uint32_t alignment) {
    for (uint32_t i = 1; i < allocator->tunable_count; i++) {
        const hfit_tunable *tunable = &allocator->tunables[i];
        const uint32_t values[] = {tunable->lowest, tunable->highest, tunable->lowest + 1};
        const size_t tried = few_values(tunable) == 3 ? 3 : 2;
        for (size_t v = 0; tunable->kind == HFIT_SCALAR && v < tried; v++) {
            if (values[v] != tunable->standard) {
                test_plan *plan = &plans[count];
                make_standard(plan, allocator, alignment);
                name_scalar(plan, tunable, values[v]);
                count = keep_if_sound(plans, count);
            }
        }
    }
    return count;
}

/* Sets the scalars of few values of a standard plan as the digits of `values` say; how many are not
 * standard. */
static uint32_t set_switches(test_plan *plan, uint32_t values) {
    uint32_t changed = 0;
    for (uint32_t i = 1; i < plan->allocator->tunable_count; i++) {
        const hfit_tunable *tunable = &plan->allocator->tunables[i];
        if (few_values(tunable) > 1) {
            const uint32_t value = tunable->lowest + values % few_values(tunable);
            values /= few_values(tunable);
            if (value != tunable->standard) {
                name_scalar(plan, tunable, value);
                changed++;
            }
        }
    }
    return changed;
}

/* How many settings the scalars of few values have together. */
static uint32_t count_settings(const hfit_allocator *allocator) {
    uint32_t settings = 1;
    for (uint32_t i = 1; i < allocator->tunable_count; i++) {
        settings *= few_values(&allocator->tunables[i]);
    }
    return settings;
}

/* Every setting of the scalars of few values that add_scalar_plans does not make, of several at
 * once. */
static size_t add_switched_plans(test_plan *plans, size_t count, const hfit_allocator *allocator,
                                 uint32_t alignment) {
    for (uint32_t values = 0; values < count_settings(allocator); values++) {
        make_standard(&plans[count], allocator, alignment);
        if (set_switches(&plans[count], values) >= 2) {
            count = keep_if_sound(plans, count);
        }
    }
    return count;
}

/* For allocators that take tags: all tags known, half of the bits set in every other word, with the
 * first scalar of few values at its second one, with the first two, and with all at their last. */
static size_t add_tagged_plans(test_plan *plans, size_t count, const hfit_allocator *allocator,
                               uint32_t alignment) {
    const uint32_t switches[] = {1, 3, count_settings(allocator) - 1};
    for (size_t s = 0; allocator->alloc_at != NULL && s < 3; s++) {
        make_standard(&plans[count], allocator, alignment);
        (void)set_switches(&plans[count], switches[s]);
        for (uint32_t i = 1; i < allocator->tunable_count; i++) {
            const hfit_tunable *tunable = &allocator->tunables[i];
            if (few_values(tunable) == 1) {
                name_scalar(&plans[count], tunable,
                            tunable->highest == ~0u ? 0x5a5a5a5a : tunable->highest);
            }
        }
        count = keep_if_sound(plans, count);
    }
    return count;
}

/* Fills in the pools of a plan, and the index if the allocator makes one. */
static void set_pools(test_plan *plan, bool all_exact) {
    hfit_pools_plan *pools = (hfit_pools_plan *)(void *)plan->bytes;
    memcpy(plan->pools, mixed_pools, sizeof mixed_pools);
    for (uint32_t i = 0; i < TEST_POOLS; i++) {
        plan->pools[i].is_exact |= all_exact;
    }
    const hfit_pool_list list = {
        plan->pools, TEST_POOLS,
        hfit_pools_lay_out(plan->pools, TEST_POOLS, pools->common.alignment)};
    CHECK(list.end != 0);
    pools->pools = list;
}

/* Gives a plan that has its scalars pools, of which `all_exact` are exact, in front of `shared` or
 * of nothing. */
static size_t add_pools(test_plan *plans, size_t count, const test_plan *shared, bool all_exact) {
    test_plan *plan = &plans[count];
    const hfit_tunable *behind = tunable_of_kind(plan->allocator, HFIT_SHARED);
    const size_t length = strlen(plan->name);
    set_pools(plan, all_exact);
    if (shared != NULL) {
        const hfit_shared link = {shared->allocator->unlocked, plan_of(shared)};
        memcpy((char *)plan->bytes + behind->offset, &link, sizeof link);
    }
    snprintf(plan->name + length, sizeof plan->name - length, " %s pools, shared=%s",
             all_exact ? "exact" : "mixed", shared == NULL ? "none" : shared->allocator->name);
    return keep_if_sound(plans, count);
}

/* Standard plans with pools: in front of nothing, and of every allocator that can be shared. */
static size_t add_pool_plans(test_plan *plans, size_t count, const hfit_allocator *allocator,
                             size_t a) {
    const bool is_shared = tunable_of_kind(allocator, HFIT_SHARED) != NULL;
    size_t allocators;
    const hfit_allocator *const *all = hfit_allocators(&allocators);
    for (int all_exact = 0; all_exact < 2; all_exact++) {
        make_standard(&plans[count], allocator, alignments[a]);
        count = add_pools(plans, count, NULL, all_exact);
        for (size_t i = 0; is_shared && i < allocators && i < MOST_SHARED; i++) {
            if (can_be_shared(all[i])) {
                make_standard(&shared_plans[i][a], all[i], alignments[a]);
                make_standard(&plans[count], allocator, alignments[a]);
                count = add_pools(plans, count, &shared_plans[i][a], all_exact);
            }
        }
    }
    return count;
}

/* Each scalar at its extremes and one above its lowest, with pools in front of a shared heap.
 * Called after add_pool_plans. */
static size_t add_scalar_pool_plans(test_plan *plans, size_t count, const hfit_allocator *allocator,
                                    size_t a) {
    const bool is_shared = tunable_of_kind(allocator, HFIT_SHARED) != NULL;
    for (uint32_t i = 1; i < allocator->tunable_count; i++) {
        const hfit_tunable *tunable = &allocator->tunables[i];
        const uint32_t values[] = {tunable->lowest, tunable->lowest + 1, tunable->highest};
        for (size_t v = 0; tunable->kind == HFIT_SCALAR && v < 3; v++) {
            if (values[v] != tunable->standard && (v < 2 || values[v] > values[1])) {
                make_standard(&plans[count], allocator, alignments[a]);
                name_scalar(&plans[count], tunable, values[v]);
                count = add_pools(plans, count, is_shared ? &shared_plans[0][a] : NULL, v == 1);
            }
        }
    }
    return count;
}

bool is_core(const hfit_allocator *allocator) {
    size_t allocators;
    const hfit_allocator *const *all = hfit_allocators(&allocators);
    for (size_t i = 0; i < allocators; i++) {
        if (all[i] == allocator) {
            return true;
        }
    }
    return false;
}

static size_t add_plans(test_plan *plans, size_t count, const hfit_allocator *allocator) {
    for (size_t a = 0; a < sizeof alignments / sizeof alignments[0]; a++) {
        make_standard(&plans[count], allocator, alignments[a]);
        count = keep_if_sound(plans, count);
        count = add_scalar_plans(plans, count, allocator, alignments[a]);
        count = add_switched_plans(plans, count, allocator, alignments[a]);
        count = add_tagged_plans(plans, count, allocator, alignments[a]);
        if (tunable_of_kind(allocator, HFIT_POOLS) != NULL) {
            count = add_pool_plans(plans, count, allocator, a);
            count = add_scalar_pool_plans(plans, count, allocator, a);
        }
    }
    return count;
}

static const hfit_allocator *const *(*const registries[])(size_t *) = {
    hfit_allocators,
#if WITH_BASELINES
    hfit_baselines,
    hfit_papers,
#endif
};

size_t make_test_plans(test_plan *plans) {
    size_t count = 0;
    for (size_t r = 0; r < sizeof registries / sizeof registries[0]; r++) {
        size_t allocators;
        const hfit_allocator *const *all = registries[r](&allocators);
        for (size_t i = 0; i < allocators; i++) {
            count = add_plans(plans, count, all[i]);
        }
    }
    return count;
}
