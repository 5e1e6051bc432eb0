/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans that are no plans: each is sound but for one value, and is refused before anything of it
 * is believed.
 */
#include "every_plan.h"

#include "hfit/budgeted.h"
#include "hfit/class_pools.h"
#include "hfit/first_fit.h"
#include "hfit/fixed_pool.h"
#include "hfit/partition_pool.h"
#include "hfit/segregated_fit.h"
#include "hfit/tailored.h"
#include "hfit/tlsf.h"

#include "check.h"

#include "src/pools/layout.h"

#include <string.h>

enum { POOLS = 3, INDEX = 600 };

static uint8_t table[INDEX];
static const hfit_tlsf_plan shared_plan = {{8}, 0, 2};

static const hfit_pool sound_pools[POOLS] = {
    {.size = 24, .count = 4, .is_exact = 1}, {.size = 64, .count = 4}, {.size = 500, .count = 2}};

typedef struct pooled {
    hfit_pool pools[POOLS];
    hfit_pools_plan plan;
} pooled;

/* Laid out, with a shared heap; not complete. */
static void make_sound(pooled *made) {
    memcpy(made->pools, sound_pools, sizeof sound_pools);
    const uint32_t end = hfit_pools_lay_out(made->pools, POOLS, 8);
    CHECK(end != 0);
    made->plan = (hfit_pools_plan){.common = {8},
                                   .pools = {made->pools, POOLS, end},
                                   .shared = {&hfit_tlsf_unlocked, &shared_plan.common}};
}

static bool completes(pooled *made) {
    return hfit_class_pools_complete(&made->plan, table, INDEX);
}

/* Sound but for one word of the plan or of its pools, which has another value. */
static void check_refused_with(pooled *made, uint32_t *word, uint32_t value) {
    CHECK(*word != value);
    *word = value;
    CHECK(!completes(made));
    make_sound(made);
    CHECK(completes(made));
    make_sound(made);
}

TEST(pools_that_lie_elsewhere_than_they_are_laid_out_are_refused) {
    pooled made;
    make_sound(&made);
    for (uint32_t i = 0; i < POOLS; i++) {
        hfit_pool *pool = &made.pools[i];
        check_refused_with(&made, &pool->base, pool->base + 8);
        check_refused_with(&made, &pool->block_size, pool->block_size + 8);
        check_refused_with(&made, &pool->used_bit, pool->used_bit + 1);
        check_refused_with(&made, &pool->inverse, pool->inverse + 2);
        check_refused_with(&made, &pool->turn, pool->turn + 1);
        check_refused_with(&made, &pool->turn, 32);
        check_refused_with(&made, &pool->count, UINT32_MAX / 4);
    }
    check_refused_with(&made, &made.pools[1].size, 24);
    check_refused_with(&made, &made.pools[0].size, 0);
    check_refused_with(&made, &made.plan.pools.end, made.plan.pools.end + 8);
    check_refused_with(&made, &made.plan.pools.end, 0);
    check_refused_with(&made, &made.plan.pools.count, 5000);
    check_refused_with(&made, &made.plan.common.alignment, 16);
    check_refused_with(&made, &made.plan.common.alignment, 3);
}

TEST(rules_out_of_range_are_refused_and_their_last_value_is_not) {
    pooled made;
    make_sound(&made);
    check_refused_with(&made, &made.plan.search, HFIT_SEARCH_STACK + 1);
    check_refused_with(&made, &made.plan.overflow, HFIT_OVERFLOW_REFUSE + 1);
    made.plan.search = HFIT_SEARCH_STACK;
    made.plan.overflow = HFIT_OVERFLOW_REFUSE;
    CHECK(completes(&made));
}

TEST(half_a_shared_heap_or_one_of_another_alignment_is_refused) {
    static const hfit_tlsf_plan other = {{16}, 0, 2};
    pooled made;
    make_sound(&made);
    made.plan.shared.plan = NULL;
    CHECK(!completes(&made));
    make_sound(&made);
    made.plan.shared.operations = NULL;
    CHECK(!completes(&made));
    make_sound(&made);
    made.plan.shared.plan = &other.common;
    CHECK(!completes(&made));
}

TEST(pools_without_their_list_are_refused) {
    pooled made;
    make_sound(&made);
    made.plan.pools.items = NULL;
    CHECK(!completes(&made));
    CHECK(!hfit_budgeted_complete(&made.plan, table, INDEX));
}

/* An index costs an entry for each size up to the largest pool's. */
TEST(an_index_is_made_if_there_is_room_for_each_of_its_entries) {
    pooled made;
    make_sound(&made);
    made.plan.search = HFIT_SEARCH_STACK;
    CHECK(hfit_class_pools_complete(&made.plan, table, 501) && made.plan.index.entries == 501);
    CHECK(hfit_class_pools_complete(&made.plan, table, 500) && made.plan.index.entries == 0);
}

TEST(more_pools_than_an_entry_can_name_have_no_index) {
    static hfit_pool many[257];
    static uint8_t room[HFIT_LARGEST_POOL_INDEX + 2];
    for (uint32_t i = 0; i < 257; i++) {
        many[i] = (hfit_pool){.size = i + 1, .count = 1};
    }
    for (uint32_t count = 256; count <= 257; count++) {
        hfit_pools_plan plan = {.common = {8}, .search = HFIT_SEARCH_STACK};
        plan.pools = (hfit_pool_list){many, count, hfit_pools_lay_out(many, count, 8)};
        CHECK(hfit_class_pools_complete(&plan, room, sizeof room));
        CHECK(plan.index.entries == (count == 256 ? 257 : 0));
    }
    for (uint32_t size = HFIT_LARGEST_POOL_INDEX - 1; size <= HFIT_LARGEST_POOL_INDEX; size++) {
        hfit_pool one = {.size = size, .count = 1};
        hfit_pools_plan plan = {.common = {8}, .search = HFIT_SEARCH_STACK};
        plan.pools = (hfit_pool_list){&one, 1, hfit_pools_lay_out(&one, 1, 8)};
        CHECK(hfit_class_pools_complete(&plan, room, sizeof room));
        CHECK(plan.index.entries == (size < HFIT_LARGEST_POOL_INDEX ? size + 1 : 0));
    }
}

/* Sealed anew, as by who knows how: what the seal cannot tell is looked at all the same. */
static bool is_believed(hfit_pools_plan *plan) {
    plan->seal = seal_of(plan);
    return hfit_class_pools_smallest_region(&plan->common) != 0;
}

TEST(an_index_of_class_pools_that_misleads_is_refused_though_it_is_sealed) {
    pooled made;
    make_sound(&made);
    made.plan.search = HFIT_SEARCH_STACK;
    CHECK(completes(&made) && made.plan.index.entries == 501 && is_believed(&made.plan));
    const struct { uint32_t entry, pool; } wrong[] = {{24, POOLS}, {500, 1}, {100, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const uint8_t right = table[wrong[i].entry];
        table[wrong[i].entry] = (uint8_t)wrong[i].pool;
        CHECK(!is_believed(&made.plan));
        table[wrong[i].entry] = right;
        CHECK(is_believed(&made.plan));
    }
    hfit_pools_plan bad[] = {made.plan, made.plan, made.plan, made.plan};
    bad[0].index.entries = 500;
    bad[1].search = HFIT_SEARCH_FIRST_FIT;
    bad[2].index.own = 1;
    bad[3].overflow = HFIT_OVERFLOW_REFUSE;
    bad[3].index.own = 502;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!is_believed(&bad[i]));
    }
    made.plan.index.table = NULL; /* which the size alone tells: nothing is read there */
    CHECK(hfit_class_pools_smallest_region(&made.plan.common) == 0);
}

TEST(a_plan_is_refused_once_any_entry_of_its_index_has_changed) {
    pooled made;
    make_sound(&made);
    made.plan.search = HFIT_SEARCH_STACK;
    CHECK(completes(&made) && made.plan.index.entries == 501);
    for (uint32_t entry = 0; entry < made.plan.index.entries; entry++) {
        table[entry]++;
        CHECK(hfit_class_pools_init(region, sizeof region, &made.plan.common) == NULL);
        table[entry]--;
    }
    CHECK(hfit_class_pools_init(region, sizeof region, &made.plan.common) != NULL);
}

TEST(an_index_without_a_pool_is_refused) {
    hfit_pools_plan none = {.common = {8}, .search = HFIT_SEARCH_STACK};
    CHECK(hfit_class_pools_complete(&none, table, INDEX));
    none.index.table = table;
    none.index.entries = 25;
    CHECK(!is_believed(&none));
}

TEST(an_index_of_budgets_that_misleads_is_refused_though_it_is_sealed) {
    hfit_pool budgets[] = {{.size = 24, .count = 1, .is_exact = 1},
                           {.size = 100, .count = 2, .is_exact = 1}};
    const uint32_t end = hfit_pools_lay_out(budgets, 2, 8);
    hfit_pools_plan plan = {.common = {8}, .pools = {budgets, 2, end}};
    CHECK(hfit_budgeted_complete(&plan, table, INDEX) && plan.index.table != NULL);
    for (uint32_t entry = 0; entry < plan.index.entries; entry++) {
        const uint8_t right = table[entry];
        table[entry] = 2;
        plan.seal = seal_of(&plan);
        CHECK(hfit_budgeted_smallest_region(&plan.common) == 0);
        table[entry] = right;
    }
    for (uint32_t entry = 0; entry < plan.index.entries; entry++) {
        table[entry] = (uint8_t)(1 - table[entry]);
    }
    plan.seal = seal_of(&plan);
    CHECK(hfit_budgeted_smallest_region(&plan.common) == 0);
}

TEST(more_blocks_than_an_eighth_of_the_most_bytes_are_refused) {
    hfit_pool pool = {.size = 4, .count = HFIT_LARGEST_BLOCK / 8};
    CHECK(hfit_pools_lay_out(&pool, 1, 4) > 4 * pool.count);
    pool.count++;
    CHECK(hfit_pools_lay_out(&pool, 1, 4) == 0);
}

TEST(a_last_pool_that_ends_beyond_the_largest_block_is_refused) {
    hfit_pool pools[] = {{.size = 24, .count = 1}, {.size = 1 << 30, .count = 1}};
    hfit_pools_plan plan = {.common = {8}};
    plan.pools = (hfit_pool_list){pools, 2, hfit_pools_lay_out(pools, 2, 8)};
    CHECK(hfit_class_pools_complete(&plan, table, INDEX));
    pools[1].count = 2; /* the bits of two blocks more lie in the same word */
    CHECK(!hfit_class_pools_complete(&plan, table, INDEX));
}

TEST(sizes_and_counts_that_cannot_be_laid_out_are_refused) {
    hfit_pool one[] = {{.size = 24, .count = 4}, {.size = 64, .count = 4}};
    CHECK(hfit_pools_lay_out(one, 2, 8) != 0);
    CHECK(hfit_pools_lay_out(one, 2, 0) == 0);
    CHECK(hfit_pools_lay_out(one, 2, 3) == 0);
    CHECK(hfit_pools_lay_out(one, 2, 32) == 0);
    CHECK(hfit_pools_lay_out(one, 4097, 8) == 0);
    one[1].size = 24;
    CHECK(hfit_pools_lay_out(one, 2, 8) == 0);
    one[1].size = UINT32_MAX;
    CHECK(hfit_pools_lay_out(one, 2, 8) == 0);
    one[1] = (hfit_pool){.size = 64, .count = UINT32_MAX};
    CHECK(hfit_pools_lay_out(one, 2, 8) == 0);
    one[0].size = 0;
    CHECK(hfit_pools_lay_out(one, 1, 8) == 0);
}

static void check_refused(const hfit_operations *operations, const void *plan) {
    CHECK(operations->smallest_region(plan) == 0);
    CHECK(operations->init(region, sizeof region, plan) == NULL);
}

#define CHECK_REFUSED(allocator, ...)                                                              \
    do {                                                                                           \
        static const hfit_##allocator##_plan bad[] = {__VA_ARGS__};                                \
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {                                  \
            check_refused(&hfit_##allocator##_operations, &bad[i]);                                \
        }                                                                                          \
    } while (0)

/* Each in its range, but not together. */
TEST(values_that_do_not_go_together_are_refused) {
    CHECK_REFUSED(first_fit, {{8}, 1, 0, 0, 0}, {{8}, 1, 0, 6, 0});
    CHECK_REFUSED(segregated_fit, {{8}, 16, 0, 0, 6, 0});
    CHECK_REFUSED(tailored, {.common = {4}, .ends = 1, .layout = HFIT_TAILORED_PAIRS},
                  {.common = {8}, /* behind which good_fit is the good fit */
                   .ends = 1,
                   .layout = HFIT_TAILORED_HEADERS,
                   .index = HFIT_TAILORED_GOOD_FIT});
    CHECK_REFUSED(fixed_pool, {{8}, 1 << 20, 1 << 12, 0}, {{8}, 8, 1, UINT32_MAX});
    CHECK_REFUSED(partition_pool, {{8}, 1 << 20, 1 << 12, 0, 0, 0}, {{8}, 64, 1, UINT32_MAX, 0, 0},
                  {{8}, 1 << 24, 200, 0, 0, 0});
}

/* Sets a scalar of a plan for as long as it takes to see that it is refused. */
static void check_refused_with_scalar(test_plan *plan, const hfit_tunable *tunable,
                                      uint32_t value) {
    char *word = (char *)plan->bytes + tunable->offset;
    uint32_t sound;
    memcpy(&sound, word, sizeof sound);
    memcpy(word, &value, sizeof value);
    check_refused(plan->allocator->operations, plan_of(plan));
    memcpy(word, &sound, sizeof sound);
}

/* Values above the highest that are taken: any number of probes or times has a meaning. */
static bool may_be_above(const test_plan *plan, const hfit_tunable *tunable) {
    return strcmp(tunable->name, "probes") == 0 ||
           (strcmp(tunable->name, "hole_limit") == 0 && plan->allocator->needs_size);
}

TEST(a_scalar_beyond_its_range_is_refused) {
    const size_t count = make_test_plans(plans);
    for (size_t i = 0; i < count && is_core(plans[i].allocator); i++) {
        check_context = plans[i].name;
        for (uint32_t k = 1; k < plans[i].allocator->tunable_count; k++) {
            const hfit_tunable *tunable = &plans[i].allocator->tunables[k];
            const bool is_scalar = tunable->kind == HFIT_SCALAR;
            if (is_scalar && tunable->lowest > 0) {
                check_refused_with_scalar(&plans[i], tunable, 0);
            }
            if (is_scalar && tunable->highest != UINT32_MAX && !may_be_above(&plans[i], tunable)) {
                check_refused_with_scalar(&plans[i], tunable, tunable->highest + 1);
                check_refused_with_scalar(&plans[i], tunable, UINT32_MAX);
            }
        }
    }
}

/* The alignment is the first word of every plan. */
TEST(no_heap_is_made_without_a_plan_or_with_an_alignment_that_is_none) {
    static const uint32_t alignments[] = {0, 1, 2, 3, 6, 12, 24, 32, 64, 0x80000000};
    const size_t count = make_test_plans(plans);
    for (size_t i = 0; i < count && is_core(plans[i].allocator); i++) {
        const hfit_operations *operations = plans[i].allocator->operations;
        check_context = plans[i].name;
        CHECK(operations->init(region, sizeof region, NULL) == NULL);
        for (size_t k = 0; k < sizeof alignments / sizeof alignments[0]; k++) {
            memcpy(plans[i].bytes, &alignments[k], sizeof alignments[k]);
            check_refused(operations, plan_of(&plans[i]));
        }
    }
}

RUN_TESTS()
