/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pools make of damaged words: of a free list, a count, and the word that tells of the shared
 * heap. A call that meets one tells it and changes nothing; `check` finds each.
 *
 *   lists | shared mark | bits | blocks | shared heap
 */
#include "hfit/class_pools.h"
#include "hfit/descriptor.h"
#include "hfit/fixed_pool.h"
#include "hfit/tlsf.h"

#include "contract_config.h"

#include "check.h"

#include <string.h>

enum { REGION = 4096, BLOCKS = 4, POOLS = 2, SMALL = 24, LARGE = 40 };

static _Alignas(4096) unsigned char region[REGION];
static unsigned char before[REGION];
static const hfit_tlsf_plan shared_plan = {{8}, 0, 2};
static hfit_pool pools[POOLS];
static uint8_t table[LARGE + 1];

typedef struct subject {
    hfit_pools_plan plan;
    hfit_heap *heap;
    unsigned char *live; /* the small pool's first block */
} subject;

static subject s;

static void *take_block(size_t size) {
    return hfit_class_pools_alloc(s.heap, &s.plan.common, size);
}

static void give_block(void *block) {
    hfit_class_pools_free(s.heap, &s.plan.common, block);
}

static bool is_sound(void) {
    return hfit_class_pools_check(s.heap, &s.plan.common);
}

static void make_heap(uint32_t search, uint32_t overflow, size_t bytes) {
    pools[0] = (hfit_pool){.size = SMALL, .count = BLOCKS, .is_exact = 1};
    pools[1] = (hfit_pool){.size = LARGE, .count = BLOCKS, .is_exact = 1};
    s.plan = (hfit_pools_plan){.common = {8},
                               .pools = {pools, POOLS, hfit_pools_lay_out(pools, POOLS, 8)},
                               .search = search,
                               .overflow = overflow,
                               .shared = {&hfit_tlsf_unlocked, &shared_plan.common}};
    CHECK(hfit_class_pools_complete(&s.plan, table, sizeof table));
    memset(region, 0, sizeof region);
    s.heap = hfit_class_pools_init(region, bytes, &s.plan.common);
    CHECK(s.heap != NULL);
}

/* Each pool has one live block. */
static void start(uint32_t search) {
    make_heap(search, HFIT_OVERFLOW_SHARED, REGION);
    s.live = take_block(SMALL);
    CHECK(s.live != NULL && take_block(LARGE) != NULL && is_sound());
}

static uint32_t offset_of(const void *block) {
    return (uint32_t)((const unsigned char *)block - region);
}

static uint32_t *word_at(uint32_t offset) {
    return (uint32_t *)(void *)(region + offset);
}

static void remember(void) {
    memcpy(before, region, REGION);
}

/* Of a call since remember(). */
static bool is_told_and_nothing_changed(uint32_t misuses) {
    return misuse_count == misuses + 1 && misuse_kind == HFIT_MISUSE_DAMAGED &&
           memcmp(region, before, REGION) == 0;
}

static void check_refuses_alloc(size_t size) {
    const uint32_t misuses = misuse_count;
    remember();
    CHECK(take_block(size) == NULL);
    CHECK(is_told_and_nothing_changed(misuses));
}

/* A list leads to a free block of its own pool, or nothing is taken. */
TEST(a_list_that_leads_elsewhere_serves_nothing) {
    start(HFIT_SEARCH_STACK);
    uint32_t *list = word_at(0);
    const uint32_t right = *list;
    const uint32_t wrong[] = {0,      /* the number of a live block */
                              BLOCKS, /* behind the last */
                              offset_of(s.live + SMALL), s.plan.pools.end, UINT32_MAX - 1};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        *list = wrong[i];
        check_refuses_alloc(SMALL);
        CHECK(!is_sound());
    }
    *list = right;
    CHECK(is_sound() && take_block(SMALL) != NULL);
}

/* Writes a link into the free block on top of a pool, which is found and never followed. */
static void check_link_is_refused(const hfit_operations *operations, const hfit_plan *plan,
                                  uint32_t link) {
    hfit_heap *heap = operations->init(region, REGION, plan);
    void *top = operations->alloc(heap, plan, SMALL);
    CHECK(operations->alloc(heap, plan, SMALL) != NULL);
    operations->free(heap, plan, top);
    memcpy(top, &link, sizeof link);
    CHECK(!operations->check(heap, plan));
    CHECK(operations->alloc(heap, plan, SMALL) == top);
    remember();
    const uint32_t misuses = misuse_count;
    CHECK(operations->alloc(heap, plan, SMALL) == NULL);
    CHECK(is_told_and_nothing_changed(misuses));
}

TEST(a_link_is_followed_only_to_a_free_block_of_its_pool) {
    static const uint32_t links[] = {
        0 /* itself */, 1 /* used */, BLOCKS,     BLOCKS + 1, 16, 16 + SMALL,
        16 + LARGE,     0x80000000,   0x80000001, 0x80000002, 64, UINT32_MAX - 1};
    const hfit_fixed_pool_plan fixed = {{8}, SMALL, BLOCKS, 0};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        make_heap(HFIT_SEARCH_STACK, HFIT_OVERFLOW_LARGER, REGION);
        check_link_is_refused(&hfit_class_pools_operations, &s.plan.common, links[i]);
        check_link_is_refused(&hfit_fixed_pool_operations, &fixed.common, links[i]);
    }
}

TEST(a_block_that_says_to_be_the_last_free_one_is_found) {
    start(HFIT_SEARCH_STACK);
    *word_at(offset_of(s.live + SMALL)) = UINT32_MAX; /* its pool has two more */
    CHECK(!is_sound());
}

TEST(a_count_above_the_free_blocks_serves_no_more_than_there_are) {
    start(HFIT_SEARCH_FIRST_FIT);
    CHECK(*word_at(0) == BLOCKS - 1);
    *word_at(0) += 1;
    CHECK(!is_sound());
    for (uint32_t i = 1; i < BLOCKS; i++) {
        CHECK(take_block(SMALL) != NULL);
    }
    check_refuses_alloc(SMALL);
}

TEST(a_shared_block_does_not_move_into_a_damaged_pool) {
    start(HFIT_SEARCH_STACK);
    unsigned char *shared = take_block(200);
    *word_at(0) = 0; /* the number of a live block */
    const uint32_t misuses = misuse_count;
    remember();
    CHECK(hfit_class_pools_resize(s.heap, &s.plan.common, shared, SMALL) == NULL);
    CHECK(is_told_and_nothing_changed(misuses));
}

static void check_is_found_with(uint32_t *word, uint32_t value) {
    const uint32_t right = *word;
    CHECK(value != right);
    *word = value;
    CHECK(!is_sound());
    *word = right;
    CHECK(is_sound());
}

TEST(a_mark_that_denies_the_shared_heap_is_found_unless_it_says_none) {
    start(HFIT_SEARCH_STACK);
    unsigned char *shared = take_block(200);
    check_is_found_with(word_at(4 * POOLS), 1);
    check_is_found_with(word_at(4 * POOLS), *word_at(4 * POOLS) ^ 1);
    *word_at(4 * POOLS) = 0;
    const uint32_t misuses = misuse_count;
    give_block(shared);
    CHECK(misuse_count == misuses + 1 && misuse_kind == HFIT_MISUSE_FOREIGN);
}

TEST(pools_with_no_room_for_a_shared_heap_serve_their_own_blocks_alone) {
    for (uint32_t search = HFIT_SEARCH_FIRST_FIT; search <= HFIT_SEARCH_STACK; search++) {
        make_heap(search, HFIT_OVERFLOW_SHARED, s.plan.pools.end);
        for (uint32_t i = 0; i < BLOCKS; i++) {
            CHECK(take_block(SMALL) != NULL && take_block(LARGE) != NULL);
        }
        CHECK(take_block(SMALL) == NULL && take_block(LARGE) == NULL && take_block(200) == NULL);
        CHECK(is_sound());
    }
}

TEST(where_the_pools_refuse_a_shared_block_does_not_move_into_a_full_one) {
    make_heap(HFIT_SEARCH_STACK, HFIT_OVERFLOW_REFUSE, REGION);
    unsigned char *shared = take_block(200);
    while (take_block(SMALL) != NULL) {
    }
    remember();
    CHECK(hfit_class_pools_resize(s.heap, &s.plan.common, shared, SMALL) == NULL);
    CHECK(memcmp(region, before, REGION) == 0);
    CHECK(hfit_class_pools_resize(s.heap, &s.plan.common, shared, 100) == shared);
}

RUN_TESTS()
