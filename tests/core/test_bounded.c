/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every sequence of five operations on pools of four blocks, against what is known of each block:
 * a request of any class of sizes, and a free of every address of the region, bad ones included.
 *
 * Classes of sizes and all addresses are enumerated. Where CBMC reads this (it defines
 * __CPROVER), five operations are any, with any size and any address in the region.
 */
#include "hfit/budgeted.h"
#include "hfit/class_pools.h"
#include "hfit/fixed_pool.h"
#include "hfit/pools.h"

#include "contract_config.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 4, STEPS = 5, REGION = 128, SMALL = 8, LARGE = 16 };

/* A heap under test, and the blocks that it may hand out. */
typedef struct subject {
    const hfit_operations *operations;
    const hfit_plan *plan;
    uint32_t places[BLOCKS]; /* offsets */
    uint32_t sizes[BLOCKS];  /* of the blocks, in ascending order */
    uint32_t least[BLOCKS];  /* the smallest request that the block may serve */
} subject;

typedef struct state {
    _Alignas(16) unsigned char region[REGION];
    bool is_live[BLOCKS];
} state;

static uint64_t states;

/* Number of the block at an offset, or BLOCKS. */
static uint32_t block_at_offset(const subject *s, uintptr_t offset) {
    uint32_t i = 0;
    while (i < BLOCKS && s->places[i] != offset) {
        i++;
    }
    return i;
}

static bool is_within_budget(const subject *s, const state *at, size_t size) {
    bool is_one_free = false;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        is_one_free |= !at->is_live[i] && s->least[i] <= size && size <= s->sizes[i];
    }
    return is_one_free;
}

/* Asks for `size` bytes: a block of its class that is not live, where there is one; else NULL and
 * nothing changed. */
static void ask(const subject *s, state *at, size_t size) {
    const state before = *at;
    hfit_heap *heap = (hfit_heap *)(void *)at->region;
    const unsigned char *block = s->operations->alloc(heap, s->plan, size);
    const bool may = is_within_budget(s, at, size == 0 ? 1 : size);
    CHECK((block != NULL) == may);
    if (block == NULL) {
        CHECK(memcmp(&before, at, sizeof before) == 0);
        return;
    }
    const uint32_t number = block_at_offset(s, (uintptr_t)(block - at->region));
    CHECK(number < BLOCKS && !at->is_live[number] && size <= s->sizes[number]);
    at->is_live[number] = true;
    memset(at->region + s->places[number], 0, s->sizes[number]); /* reads as links to block 0 */
}

/* Frees an address: a live block, or nothing changes and it is told. */
static void give(const subject *s, state *at, uint32_t offset) {
    const state before = *at;
    const uint32_t told = misuse_count;
    const uint32_t number = block_at_offset(s, offset);
    s->operations->free((hfit_heap *)(void *)at->region, s->plan, at->region + offset);
    if (number < BLOCKS && at->is_live[number]) {
        CHECK(misuse_count == told);
        at->is_live[number] = false;
        return;
    }
    CHECK(misuse_count == told + 1 && memcmp(&before, at, sizeof before) == 0);
}

#ifdef __CPROVER

bool any_choice(void);
size_t any_size(void);
uint32_t any_offset(void);

static void try_all(const subject *s, const state *from, uint32_t steps) {
    state next = *from;
    for (uint32_t step = 0; step < steps; step++) {
        if (any_choice()) {
            ask(s, &next, any_size());
        } else {
            give(s, &next, any_offset() % (REGION + 1));
        }
    }
}

#else

static void try_all(const subject *s, const state *from, uint32_t steps);

/* One operation and what can follow it. A free that was refused left the state as it was: what can
 * follow it is tried without it. */
static void try_after(const subject *s, const state *from, state *next, uint32_t steps) {
    CHECK(s->operations->check((hfit_heap *)(void *)next->region, s->plan));
    if (memcmp(from, next, sizeof *from) != 0) {
        try_all(s, next, steps - 1);
    }
}

static void try_all(const subject *s, const state *from, uint32_t steps) {
    static const size_t classes[] = {0,         1,      SMALL,    SMALL + 1,        LARGE,
                                     LARGE + 1, REGION, SIZE_MAX, SIZE_MAX - LARGE, SIZE_MAX / 2};
    states++;
    if (steps == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        state next = *from;
        ask(s, &next, classes[i]);
        try_after(s, from, &next, steps);
    }
    for (uint32_t offset = 0; offset <= REGION; offset++) {
        state next = *from;
        give(s, &next, offset);
        try_after(s, from, &next, steps);
    }
}

#endif

/* Begins with all blocks free; their places are as the walk tells them. */
static void begin(void *context, const void *block, size_t usable_size, bool is_used) {
    subject *s = context;
    CHECK(!is_used && usable_size <= UINT32_MAX);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        if (s->sizes[i] == 0) {
            s->places[i] = (uint32_t)((uintptr_t)block % REGION);
            s->sizes[i] = (uint32_t)usable_size;
            return;
        }
    }
    CHECK(false);
}

static void try_heap(const char *name, const hfit_operations *operations, const hfit_plan *plan,
                     const uint32_t *least) {
    static _Alignas(REGION) state first;
    subject s = {operations, plan, {0}, {0}, {0}};
    memset(&first, 0, sizeof first);
    hfit_heap *heap = s.operations->init(first.region, REGION, plan);
    CHECK(heap != NULL);
    s.operations->walk(heap, plan, begin, &s);
    memcpy(s.least, least, sizeof s.least);
    const uint64_t before = states;
    try_all(&s, &first, STEPS);
    printf("%s: %llu sequences\n", name, (unsigned long long)(states - before));
}

TEST(a_fixed_pool_of_four_blocks_keeps_its_promise) {
    static const uint32_t least[BLOCKS] = {1, 1, 1, 1};
    const hfit_fixed_pool_plan plan = {{4}, LARGE, BLOCKS, 0};
    try_heap("fixed_pool", &hfit_fixed_pool_operations, &plan.common, least);
}

static hfit_pools_plan two_pools(hfit_pool *pools) {
    pools[0] = (hfit_pool){.size = SMALL, .count = 2, .is_exact = 1};
    pools[1] = (hfit_pool){.size = LARGE, .count = 2, .is_exact = 1};
    hfit_pools_plan plan = {.common = {4}, .pools = {pools, 2, 0}};
    plan.pools.end = hfit_pools_lay_out(pools, 2, 4);
    return plan;
}

/* A budget is for the sizes that round up to its blocks. */
TEST(budgets_of_two_blocks_each_keep_their_promise) {
    static const uint32_t least[BLOCKS] = {SMALL - 3, SMALL - 3, LARGE - 3, LARGE - 3};
    hfit_pool pools[2];
    uint8_t index[64];
    hfit_pools_plan plan = two_pools(pools);
    CHECK(hfit_budgeted_complete(&plan, index, sizeof index));
    try_heap("budgeted", &hfit_budgeted_operations, &plan.common, least);
}

/* Exact pools are for one size each; a request that none is for takes the next larger block that is
 * free, unless the plan refuses it. */
TEST(exact_class_pools_of_two_blocks_each_keep_their_promise) {
    static const uint32_t least[BLOCKS] = {1, 1, SMALL + 1, SMALL + 1};
    hfit_pool pools[2];
    uint8_t index[64];
    hfit_pools_plan plan = two_pools(pools);
    plan.overflow = HFIT_OVERFLOW_REFUSE;
    CHECK(hfit_class_pools_complete(&plan, index, sizeof index));
    try_heap("class_pools", &hfit_class_pools_operations, &plan.common, least);
}

RUN_TESTS()
