/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pools that grow make of damaged words: of the list of chunks, a chunk's own word, a free
 * list, a count, and the word that tells of the shared heap. A call that meets one tells it and
 * changes nothing; `check` finds each.
 *
 *   lists | shared | bits | blocks | chunks: count, offsets | shared heap: ... code bits blocks ...
 */
#include "hfit/class_pools.h"
#include "hfit/descriptor.h"
#include "hfit/tlsf.h"

#include "contract_config.h"

#include "check.h"

#include <string.h>

enum { REGION = 4096, GROWTH = 4, STEPS = 3, POOLS = 2, SMALL = 24, LARGE = 40, CHUNK_HEADER = 8 };

static _Alignas(4096) unsigned char region[REGION];
static unsigned char before[REGION];
static const hfit_tlsf_plan shared_plan = {{8}, 0, 2};
static hfit_pool pools[POOLS];
static uint8_t table[LARGE + 1];

typedef struct subject {
    hfit_pools_plan plan;
    hfit_heap *heap;
    unsigned char *first;  /* of the pools' own blocks */
    unsigned char *inside; /* the first block of the small pool's chunk */
    unsigned char *other;  /* the first of the large pool's */
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
    pools[0] = (hfit_pool){.size = SMALL, .count = 1, .is_exact = 1};
    pools[1] = (hfit_pool){.size = LARGE, .count = 1, .is_exact = 1};
    s.plan = (hfit_pools_plan){.common = {8},
                               .pools = {pools, POOLS, hfit_pools_lay_out(pools, POOLS, 8)},
                               .search = search,
                               .overflow = overflow,
                               .growth = GROWTH,
                               .growth_steps = STEPS,
                               .shared = {&hfit_tlsf_unlocked, &shared_plan.common}};
    CHECK(hfit_class_pools_complete(&s.plan, table, sizeof table));
    memset(region, 0, sizeof region);
    s.heap = hfit_class_pools_init(region, bytes, &s.plan.common);
    CHECK(s.heap != NULL);
}

/* Each pool has a chunk, of which one block is live. */
static void start(uint32_t search) {
    make_heap(search, HFIT_OVERFLOW_SHARED, REGION);
    s.first = take_block(SMALL);
    s.inside = take_block(SMALL);
    CHECK(s.first != NULL && s.inside > region + s.plan.pools.end);
    CHECK(take_block(LARGE) != NULL);
    s.other = take_block(LARGE);
    CHECK(s.other > s.inside + GROWTH * SMALL && is_sound());
}

static uint32_t offset_of(const void *block) {
    return (uint32_t)((const unsigned char *)block - region);
}

static uint32_t *word_at(uint32_t offset) {
    return (uint32_t *)(void *)(region + offset);
}

/* The word that says which pool a chunk is of. */
static uint32_t *code_of(const void *first_block) {
    return word_at(offset_of(first_block) - CHUNK_HEADER);
}

static uint32_t *chunk_entry(uint32_t number) {
    return word_at(s.plan.pools.end + 4 + 4 * number);
}

static uint32_t code_for(uint32_t pool) {
    return ~pool << 16 | pool;
}

static void remember(void) {
    memcpy(before, region, REGION);
}

/* Of a call since remember(). */
static bool is_told_and_nothing_changed(uint32_t misuses) {
    return misuse_count == misuses + 1 && misuse_kind == HFIT_MISUSE_DAMAGED &&
           memcmp(region, before, REGION) == 0;
}

static void check_refuses_free(void *block) {
    const uint32_t misuses = misuse_count;
    remember();
    give_block(block);
    CHECK(is_told_and_nothing_changed(misuses));
}

static void check_refuses_alloc(size_t size) {
    const uint32_t misuses = misuse_count;
    remember();
    CHECK(take_block(size) == NULL);
    CHECK(is_told_and_nothing_changed(misuses));
}

static void count_blocks(void *context, const void *block, size_t usable_size, bool is_used) {
    (void)block, (void)usable_size, (void)is_used;
    ++*(uint32_t *)context;
}

static uint32_t blocks_walked(void) {
    uint32_t blocks = 0;
    hfit_class_pools_walk(s.heap, &s.plan.common, count_blocks, &blocks);
    return blocks;
}

static void a_chunk_whose_word_names_no_pool_is_told_by_free_and_left_out_by_walk(void) {
    for (uint32_t search = HFIT_SEARCH_FIRST_FIT; search <= HFIT_SEARCH_STACK; search++) {
        start(search);
        const uint32_t codes[] = {code_for(POOLS), code_for(0) ^ 1u << 20, 0};
        const uint32_t right = *code_of(s.inside);
        const uint32_t blocks = blocks_walked();
        CHECK(right == code_for(0));
        for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
            *code_of(s.inside) = codes[i];
            check_refuses_free(s.inside);
            CHECK(!is_sound());
            CHECK(blocks_walked() == blocks - GROWTH);
        }
        check_refuses_alloc(SMALL); /* whose free blocks all lie in that chunk */
        *code_of(s.inside) = right;
        CHECK(is_sound());
    }
}

/* A list leads to a free block of its own pool, or nothing is taken. */
static void a_list_that_leads_elsewhere_serves_nothing(void) {
    start(HFIT_SEARCH_STACK);
    uint32_t *list = word_at(0);
    const uint32_t right = *list;
    const uint32_t wrong[] = {offset_of(s.inside),          /* a live block */
                              offset_of(s.inside) + 8,      /* none begins there */
                              offset_of(s.other) + LARGE,   /* another pool's */
                              offset_of(s.other) + 8 * 100, /* behind all chunks */
                              s.plan.pools.end,             /* before them */
                              0};                           /* the number of a live own block */
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        *list = wrong[i];
        check_refuses_alloc(SMALL);
        CHECK(!is_sound());
    }
    *list = right;
    CHECK(is_sound() && take_block(SMALL) != NULL);
}

static void a_block_that_says_to_be_the_last_free_one_is_found(void) {
    start(HFIT_SEARCH_STACK);
    *word_at(*word_at(0)) = UINT32_MAX; /* its pool has two more */
    CHECK(!is_sound());
}

static void a_count_above_the_free_blocks_serves_no_more_than_there_are(void) {
    start(HFIT_SEARCH_FIRST_FIT);
    CHECK(*word_at(0) == GROWTH - 1);
    *word_at(0) += 1;
    CHECK(!is_sound());
    for (uint32_t i = 1; i < GROWTH; i++) {
        CHECK(take_block(SMALL) != NULL);
    }
    check_refuses_alloc(SMALL);
}

static void a_shared_block_does_not_move_into_a_damaged_pool(void) {
    start(HFIT_SEARCH_STACK);
    unsigned char *shared = take_block(200);
    *word_at(0) = offset_of(s.inside);
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

static void a_list_of_chunks_that_is_not_in_order_or_leads_to_none_is_found(void) {
    start(HFIT_SEARCH_STACK);
    unsigned char *freed = take_block(300);
    unsigned char *small = take_block(64);
    CHECK(take_block(64) != NULL); /* so that what is freed is no part of the top */
    give_block(freed);
    const uint32_t last = *chunk_entry(1);
    check_is_found_with(word_at(s.plan.pools.end), STEPS + 1);
    check_is_found_with(word_at(s.plan.pools.end), 1);
    check_is_found_with(chunk_entry(1), *chunk_entry(0));
    check_is_found_with(chunk_entry(1), last + 2);
    check_is_found_with(chunk_entry(1), offset_of(freed)); /* not live */
    check_is_found_with(chunk_entry(2), last);             /* behind the last */
    *word_at(offset_of(small)) = code_for(1);              /* forged, but too small for a chunk */
    check_is_found_with(chunk_entry(1), offset_of(small));
}

static void chunks_without_a_shared_heap_are_found(void) {
    start(HFIT_SEARCH_STACK);
    check_is_found_with(word_at(4 * POOLS), 0);
    check_is_found_with(word_at(4 * POOLS), 1);
}

static void pools_with_no_room_for_a_shared_heap_do_not_grow(void) {
    for (uint32_t search = HFIT_SEARCH_FIRST_FIT; search <= HFIT_SEARCH_STACK; search++) {
        make_heap(search, HFIT_OVERFLOW_SHARED, s.plan.pools.end + 4 + 4 * STEPS);
        CHECK(take_block(SMALL) != NULL && take_block(SMALL) == NULL);
        CHECK(take_block(LARGE) != NULL && take_block(200) == NULL && is_sound());
    }
}

static void where_the_pools_refuse_a_shared_block_does_not_move_into_a_full_one(void) {
    make_heap(HFIT_SEARCH_STACK, HFIT_OVERFLOW_REFUSE, REGION);
    unsigned char *shared = take_block(200);
    while (take_block(SMALL) != NULL) {
    }
    remember();
    CHECK(hfit_class_pools_resize(s.heap, &s.plan.common, shared, SMALL) == NULL);
    CHECK(memcmp(region, before, REGION) == 0);
    CHECK(hfit_class_pools_resize(s.heap, &s.plan.common, shared, 100) == shared);
}

int main(void) {
    RUN(a_chunk_whose_word_names_no_pool_is_told_by_free_and_left_out_by_walk);
    RUN(a_list_that_leads_elsewhere_serves_nothing);
    RUN(a_block_that_says_to_be_the_last_free_one_is_found);
    RUN(a_count_above_the_free_blocks_serves_no_more_than_there_are);
    RUN(a_shared_block_does_not_move_into_a_damaged_pool);
    RUN(a_list_of_chunks_that_is_not_in_order_or_leads_to_none_is_found);
    RUN(chunks_without_a_shared_heap_are_found);
    RUN(pools_with_no_room_for_a_shared_heap_do_not_grow);
    RUN(where_the_pools_refuse_a_shared_block_does_not_move_into_a_full_one);
    return report_passed();
}
