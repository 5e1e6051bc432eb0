/* SPDX-License-Identifier: Apache-2.0 */
/* Class pools and budgets: which pool serves which request (Mamagkakis et al., section 4; Lee and
 * Yi, figure 2). */
#include "hfit/budgeted.h"
#include "hfit/class_pools.h"
#include "hfit/descriptor.h"
#include "hfit/tlsf.h"

#include "contract_config.h"

#include "check.h"

#include <string.h>

extern const hfit_allocator hfit_class_pools_allocator;
extern const hfit_allocator hfit_budgeted_allocator;

static _Alignas(4096) unsigned char region[64 * 1024];

static const hfit_tlsf_plan shared_plan = {{8}, 0, 2};

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

static uint8_t index_table[HFIT_LARGEST_POOL_INDEX];

static hfit_pools_plan plan_of(hfit_pool *pools, uint32_t count, bool with_shared) {
    const uint32_t end = hfit_pools_lay_out(pools, count, 8);
    CHECK(end != 0);
    hfit_pools_plan plan = {.common = {8}, .pools = {pools, count, end}};
    if (with_shared) {
        plan.shared = (hfit_shared){&hfit_tlsf_unlocked, &shared_plan.common};
    }
    return plan;
}

static hfit_heap *budgeted_heap(hfit_pools_plan *plan) {
    CHECK(hfit_budgeted_complete(plan, index_table, sizeof index_table));
    hfit_heap *heap = hfit_budgeted_init(region, sizeof region, &plan->common);
    CHECK(heap != NULL);
    return heap;
}

/* The paper's pools with linked free blocks and an index. */
static hfit_pools_plan stack_plan(bool with_shared, uint32_t overflow) {
    hfit_pools_plan plan = plan_of(wireless, 7, with_shared);
    plan.search = HFIT_SEARCH_STACK;
    plan.overflow = overflow;
    CHECK(hfit_class_pools_complete(&plan, index_table, sizeof index_table));
    CHECK(plan.index.entries == 1501);
    return plan;
}

static hfit_heap *class_heap(hfit_pools_plan *plan) {
    CHECK(hfit_class_pools_complete(plan, index_table, sizeof index_table));
    hfit_heap *heap = hfit_class_pools_init(region, sizeof region, &plan->common);
    CHECK(heap != NULL);
    return heap;
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
    hfit_pools_plan plan = plan_of(wireless, 7, true);
    hfit_heap *heap = class_heap(&plan);
    const void *block = hfit_class_pools_alloc(heap, &plan.common, size);
    CHECK(block != NULL);
    return pool_size_of(&plan, block);
}

TEST(special_sizes_fit_exactly_and_others_take_the_first_pool_that_holds_them) {
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

TEST(without_pools_one_word_lies_before_the_shared_heap) {
    static const hfit_tlsf_plan shared = {{4}, 0, 2};
    hfit_pools_plan plan = {.common = {4}, .shared = {&hfit_tlsf_unlocked, &shared.common}};
    CHECK(hfit_class_pools_complete(&plan, index_table, sizeof index_table));
    CHECK(hfit_class_pools_smallest_region(&plan.common) == 4);
    CHECK(hfit_class_pools_init(region, sizeof region, &plan.common) != NULL);
}

TEST(an_empty_pool_overflows_into_the_next_larger_one) {
    static const uint32_t order[] = {512, 512, 1024, 1024, 1500, 1500, 0};
    hfit_pools_plan plan = plan_of(wireless, 7, true);
    hfit_heap *heap = class_heap(&plan);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        CHECK(pool_size_of(&plan, hfit_class_pools_alloc(heap, &plan.common, 300)) == order[i]);
    }
}

TEST(without_a_shared_heap_a_request_beyond_all_pools_is_refused) {
    hfit_pools_plan plan = plan_of(wireless, 7, false);
    CHECK(hfit_class_pools_complete(&plan, NULL, 0));
    const size_t smallest = hfit_class_pools_smallest_region(&plan.common);
    hfit_heap *heap = hfit_class_pools_init(region, smallest, &plan.common);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 1501) == NULL);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 1500) != NULL);
    CHECK(hfit_class_pools_footprint(heap, &plan.common) == smallest);
}

/* Takes the whole pool of 64 and one more, frees three and tells which one is taken next. */
static size_t taken_after_three_frees(uint32_t search) {
    static hfit_pool pool[] = {{.size = 64, .count = 40}};
    hfit_pools_plan plan = plan_of(pool, 1, false);
    plan.search = search;
    hfit_heap *heap = class_heap(&plan);
    void *blocks[40];
    for (size_t i = 0; i < 40; i++) {
        blocks[i] = hfit_class_pools_alloc(heap, &plan.common, 64);
        CHECK((unsigned char *)blocks[i] == region + pool[0].base + 64 * i);
    }
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 64) == NULL);
    hfit_class_pools_free(heap, &plan.common, blocks[35]);
    hfit_class_pools_free(heap, &plan.common, blocks[3]);
    hfit_class_pools_free(heap, &plan.common, blocks[17]);
    const unsigned char *taken = hfit_class_pools_alloc(heap, &plan.common, 64);
    CHECK(hfit_class_pools_check(heap, &plan.common));
    return ((size_t)(taken - region) - pool[0].base) / 64;
}

TEST(first_fit_takes_the_lowest_free_block_and_a_stack_the_one_freed_last) {
    CHECK(taken_after_three_frees(HFIT_SEARCH_FIRST_FIT) == 3);
    CHECK(taken_after_three_frees(HFIT_SEARCH_STACK) == 17);
}

/* The bits of the second pool begin in the middle of a word. */
TEST(first_fit_passes_over_whole_words_of_used_bits) {
    static hfit_pool pool[] = {{.size = 16, .count = 5}, {.size = 64, .count = 100}};
    hfit_pools_plan plan = plan_of(pool, 2, false);
    hfit_heap *heap = class_heap(&plan);
    for (size_t i = 0; i < 100; i++) {
        CHECK(hfit_class_pools_alloc(heap, &plan.common, 64) == region + pool[1].base + 64 * i);
    }
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 64) == NULL);
}

TEST(an_overflow_policy_tells_where_a_request_goes_whose_pool_is_empty) {
    static const uint32_t next[] = {512, 0, UINT32_MAX}; /* by policy; UINT32_MAX: refused */
    for (uint32_t overflow = HFIT_OVERFLOW_LARGER; overflow <= HFIT_OVERFLOW_REFUSE; overflow++) {
        hfit_pools_plan plan = stack_plan(true, overflow);
        hfit_heap *heap = class_heap(&plan);
        CHECK(pool_size_of(&plan, hfit_class_pools_alloc(heap, &plan.common, 200)) == 256);
        CHECK(pool_size_of(&plan, hfit_class_pools_alloc(heap, &plan.common, 200)) == 256);
        const void *block = hfit_class_pools_alloc(heap, &plan.common, 200);
        CHECK((block == NULL ? UINT32_MAX : pool_size_of(&plan, block)) == next[overflow]);
        CHECK(pool_size_of(&plan, hfit_class_pools_alloc(heap, &plan.common, 1501)) == 0);
    }
}

/* What free_sized relies on at safety level 0. */
TEST(a_heap_that_refuses_keeps_each_size_in_its_own_pool) {
    hfit_pools_plan plan = stack_plan(true, HFIT_OVERFLOW_REFUSE);
    hfit_heap *heap = class_heap(&plan);
    void *large = hfit_class_pools_alloc(heap, &plan.common, 1500);
    void *huge = hfit_class_pools_alloc(heap, &plan.common, 3000);
    for (int i = 0; i < 2; i++) {
        CHECK(hfit_class_pools_alloc(heap, &plan.common, 40) != NULL);
    }
    CHECK(hfit_class_pools_resize(heap, &plan.common, large, 40) == NULL);
    CHECK(hfit_class_pools_resize(heap, &plan.common, huge, 40) == NULL);
    CHECK(hfit_class_pools_resize(heap, &plan.common, huge, 2000) != NULL);
    CHECK(hfit_class_pools_check(heap, &plan.common));
}

/* Of every block size a number is compared with a division, at and around each boundary. */
TEST(a_blocks_number_is_below_the_count_just_where_a_block_begins) {
    for (uint32_t size = 1; size < 3000; size++) {
        hfit_pool pool = {.size = size, .count = 9};
        CHECK(hfit_pools_lay_out(&pool, 1, 4) != 0);
        const uint32_t block_size = (size + 3) & ~3u;
        for (uint32_t distance = 0; distance < 11 * block_size; distance++) {
            const uint32_t from_base = distance - block_size;
            const uint32_t product = from_base * pool.inverse;
            const uint32_t number = product >> pool.turn | product << (-pool.turn & 31);
            const bool begins = distance >= block_size && from_base % block_size == 0 &&
                                from_base / block_size < pool.count;
            CHECK((number < pool.count) == begins);
            CHECK(!begins || number == from_base / block_size);
        }
    }
}

TEST(an_index_names_the_pool_that_the_rule_begins_with) {
    hfit_pools_plan plan = stack_plan(false, HFIT_OVERFLOW_LARGER);
    for (uint32_t size = 1; size < plan.index.entries; size++) {
        CHECK(plan.index.table[size] ==
              hfit_class_pools_allocator.next_pool(&plan, size, HFIT_NO_POOL));
    }
    CHECK(plan.index.table[0] == plan.index.table[1]);
    CHECK(hfit_class_pools_allocator.next_pool(&plan, 1501, HFIT_NO_POOL) == HFIT_NO_POOL);
}

enum { MANY_POOLS = 400 };

/* Pools of `count` sizes with a step that grows, so that no simple formula finds them. */
static void make_budgets(hfit_pool *pools, uint32_t count) {
    uint32_t size = 16;
    for (uint32_t i = 0; i < count; i++) {
        pools[i] = (hfit_pool){.size = size, .count = 1, .is_exact = 1};
        size += 8 + 8 * (i * 2654435761u % 97);
    }
}

TEST(a_budget_is_found_alike_with_and_without_index) {
    static hfit_pool pools[MANY_POOLS];
    static const uint32_t counts[] = {1, 2, 3, 4, 16, 60, 254, MANY_POOLS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        make_budgets(pools, counts[i]);
        hfit_pools_plan plain = plan_of(pools, counts[i], false);
        hfit_pools_plan indexed = plain;
        CHECK(hfit_budgeted_complete(&plain, NULL, 0) && plain.index.entries == 0);
        CHECK(hfit_budgeted_complete(&indexed, index_table, sizeof index_table));
        const uint32_t entries = indexed.index.entries;
        CHECK(counts[i] > 60 || entries != 0);
        CHECK(counts[i] < 255 || entries == 0); /* an entry is a byte */
        CHECK(hfit_budgeted_smallest_region(&indexed.common) == plain.pools.end);
        for (uint32_t size = 1; size < pools[counts[i] - 1].size + 20; size++) {
            CHECK(hfit_budgeted_allocator.next_pool(&plain, size, HFIT_NO_POOL) ==
                  hfit_budgeted_allocator.next_pool(&indexed, size, HFIT_NO_POOL));
        }
    }
}

TEST(four_budgets_need_a_table_of_few_bytes) {
    static hfit_pool pools[] = {{.size = 528, .count = 1, .is_exact = 1},
                                {.size = 1024, .count = 1, .is_exact = 1},
                                {.size = 80176, .count = 1, .is_exact = 1},
                                {.size = 131072, .count = 1, .is_exact = 1}};
    hfit_pools_plan plan = plan_of(pools, 4, false);
    CHECK(hfit_budgeted_complete(&plan, index_table, 16));
    CHECK(plan.index.entries >= 4 && plan.index.entries <= 16);
}

/* Of an even multiplier the product has nothing of a size's highest bit: sizes that differ by it
 * alone would meet in each table, however large. */
TEST(an_index_multiplies_by_an_odd_number_or_shifts) {
    static hfit_pool pools[60];
    uint32_t odd = 0;
    for (uint32_t count = 2; count <= 60; count++) {
        make_budgets(pools, count);
        hfit_pools_plan plan = plan_of(pools, count, false);
        CHECK(hfit_budgeted_complete(&plan, index_table, sizeof index_table));
        const uint32_t multiplier = plan.index.multiplier;
        CHECK(multiplier % 2 == 1 || (multiplier & (multiplier - 1)) == 0);
        odd += multiplier % 2;
    }
    CHECK(odd > 30);
}

TEST(a_resize_leaves_the_old_pool_and_enters_the_new_one) {
    hfit_pools_plan plan = stack_plan(false, HFIT_OVERFLOW_LARGER);
    hfit_heap *heap = class_heap(&plan);
    char *block = hfit_class_pools_alloc(heap, &plan.common, 1500);
    memcpy(block, "kept", 5);
    char *small = hfit_class_pools_resize(heap, &plan.common, block, 40);
    CHECK(pool_size_of(&plan, small) == 40 && strcmp(small, "kept") == 0);
    CHECK(hfit_class_pools_resize(heap, &plan.common, small, 40) == small);
    CHECK(hfit_class_pools_alloc(heap, &plan.common, 1500) == block);
}

TEST(a_budget_serves_just_its_size_and_never_a_smaller_one) {
    hfit_pools_plan plan = plan_of(budgets, 2, true);
    hfit_heap *heap = budgeted_heap(&plan);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 24)) == 24);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 24)) == 0);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 32)) == 0);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 100)) == 100);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 97)) == 100);
    CHECK(pool_size_of(&plan, hfit_budgeted_alloc(heap, &plan.common, 96)) == 0);
}

TEST(a_shared_block_resized_to_a_budgets_size_moves_into_it) {
    hfit_pools_plan plan = plan_of(budgets, 2, true);
    hfit_heap *heap = budgeted_heap(&plan);
    char *block = hfit_budgeted_alloc(heap, &plan.common, 60);
    memcpy(block, "kept", 5);
    char *moved = hfit_budgeted_resize(heap, &plan.common, block, 100);
    CHECK(pool_size_of(&plan, moved) == 100 && strcmp(moved, "kept") == 0);
    CHECK(hfit_budgeted_check(heap, &plan.common));
}

TEST(plans_that_contradict_themselves_are_refused) {
    hfit_pool twice[] = {{.size = 20, .count = 1, .is_exact = 1},
                         {.size = 24, .count = 1, .is_exact = 1}};
    hfit_pools_plan one_block_size = plan_of(twice, 2, false);
    CHECK(!hfit_budgeted_complete(&one_block_size, NULL, 0));
    CHECK(hfit_budgeted_init(region, sizeof region, &one_block_size.common) == NULL);
    CHECK(hfit_class_pools_complete(&one_block_size, NULL, 0));
    hfit_pools_plan unaligned = plan_of(budgets, 2, false);
    for (unaligned.common.alignment = 0; unaligned.common.alignment < 3;
         unaligned.common.alignment++) {
        CHECK(!hfit_budgeted_complete(&unaligned, index_table, sizeof index_table));
    }
    hfit_pool descending[] = {{.size = 64, .count = 1}, {.size = 24, .count = 1}};
    CHECK(hfit_pools_lay_out(descending, 2, 8) == 0);
    hfit_pool huge[] = {{.size = 0x40000000, .count = 4}};
    CHECK(hfit_pools_lay_out(huge, 1, 8) == 0);
}

static bool is_taken(const hfit_pools_plan *plan) {
    return hfit_class_pools_init(region, sizeof region, &plan->common) != NULL;
}

TEST(a_plan_that_was_changed_after_it_was_sealed_is_not_taken) {
    hfit_pools_plan plan = stack_plan(false, HFIT_OVERFLOW_LARGER);
    CHECK(is_taken(&plan));
    uint32_t *const words[] = {&wireless[3].base, &wireless[6].inverse, &wireless[0].count,
                               &plan.pools.end,   &plan.search,         &plan.overflow,
                               &plan.index.own,   &plan.seal,           &plan.index.shift,
                               &plan.pools.count, &plan.index.entries,  &wireless[0].used_bit};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        for (uint32_t bit = 1; bit != 0; bit *= 2) {
            *words[i] ^= bit;
            CHECK(!is_taken(&plan));
            *words[i] ^= bit;
        }
    }
    index_table[100] ^= 1;
    CHECK(!is_taken(&plan));
    index_table[100] ^= 1;
    CHECK(is_taken(&plan));
}

TEST(a_changed_plan_of_budgets_is_not_taken_either) {
    hfit_pools_plan plan = plan_of(budgets, 2, true);
    CHECK(hfit_budgeted_complete(&plan, index_table, 16));
    CHECK(hfit_budgeted_init(region, sizeof region, &plan.common) != NULL);
    uint32_t *const words[] = {&plan.pools.count, &plan.index.entries, &plan.index.shift,
                               &plan.index.multiplier};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        for (uint32_t bit = 1; bit != 0; bit *= 2) {
            *words[i] ^= bit;
            CHECK(hfit_budgeted_init(region, sizeof region, &plan.common) == NULL);
            CHECK(hfit_budgeted_smallest_region(&plan.common) == 0);
            *words[i] ^= bit;
        }
    }
}

TEST(a_resize_of_a_bad_pointer_takes_nothing) {
    hfit_pools_plan plan = stack_plan(true, HFIT_OVERFLOW_LARGER);
    hfit_heap *heap = class_heap(&plan);
    static unsigned char before[sizeof region];
    char *pooled = hfit_class_pools_alloc(heap, &plan.common, 40);
    uint32_t *block = hfit_class_pools_alloc(heap, &plan.common, 3000);
    CHECK(pool_size_of(&plan, block) == 0);
    for (size_t i = 0; i < 3000 / sizeof *block; i++) {
        block[i] = 32; /* as the header of a used chunk of 32 bytes */
    }
    block[23] = 16 | 3; /* a free chunk behind it, which is none */
    memcpy(before, region, sizeof region);
    const uint32_t misuses = misuse_count;
    CHECK(hfit_class_pools_resize(heap, &plan.common, &block[16], 40) == NULL);
    CHECK(hfit_class_pools_resize(heap, &plan.common, &block[16], 0) == NULL);
    CHECK(hfit_class_pools_resize(heap, &plan.common, pooled + 8, 0) == NULL);
    CHECK(misuse_count == misuses + 3 && memcmp(before, region, sizeof region) == 0);
}

RUN_TESTS()
