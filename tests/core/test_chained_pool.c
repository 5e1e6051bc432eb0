/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of partitions: which ones a request takes, compared with an obvious model after every
 * step; what a resize keeps; and what a bad free and a flipped bit lead to (Elsayed and Galal). */
#include "hfit/chained_pool.h"

#include "partition_model.h"

enum { STEPS = 400 };

/* A row of partitions. */
typedef struct row {
    uint32_t items[MOST_TESTED];
    uint32_t count;
} row;

/* The obvious model: free partitions in the order they will be taken, and each live block's, in the
 * order of model.live. */
static row free_row;
static row blocks[MOST_LIVE];

static void take_front(row *from, uint32_t count, row *to) {
    memcpy(to->items + to->count, from->items, count * sizeof(uint32_t));
    to->count += count;
    from->count -= count;
    memmove(from->items, from->items + count, from->count * sizeof(uint32_t));
}

/* Puts what `from` has behind its first `kept` in front of `to`, in order. */
static void give_back(row *from, uint32_t kept, row *to) {
    const uint32_t count = from->count - kept;
    memmove(to->items + count, to->items, to->count * sizeof(uint32_t));
    memcpy(to->items, from->items + kept, count * sizeof(uint32_t));
    to->count += count;
    from->count = kept;
}

/* The partitions that the block's pieces cover are those, in order, and no two pieces touch in
 * order. */
static void compare_block(const model *m, const geometry *g, const live_block *block,
                          const row *expected) {
    size_t size = 0;
    uint32_t i = 0;
    const unsigned char *end = NULL;
    const unsigned char *piece = NULL;
    for (;;) {
        piece =
            hfit_chained_pool_next_piece(m->heap, plan_of(m->plan), block->address, piece, &size);
        if (piece == NULL) {
            break;
        }
        CHECK(piece != end && size % g->size == 0);
        for (end = piece + size; piece < end; piece += g->size) {
            CHECK(i < expected->count && partition_of(m, g, piece) == expected->items[i++]);
        }
        piece = end - size;
    }
    CHECK(i == expected->count);
}

static void step_alloc(model *m, const geometry *g) {
    const size_t size = random_size(g, 6);
    const uint32_t count = partitions_of(g, size);
    CHECK(model_alloc(m, 0, size) == (count <= free_row.count));
    if (count <= free_row.count) {
        blocks[m->live_count - 1].count = 0;
        take_front(&free_row, count, &blocks[m->live_count - 1]);
    }
}

static void step_resize(model *m, const geometry *g) {
    const size_t index = random_below(m->live_count);
    const size_t size = random_size(g, 9);
    row *block = &blocks[index];
    const uint32_t count = partitions_of(g, size);
    const bool is_served = count <= block->count + free_row.count;
    const unsigned char *address = m->live[index].address;
    CHECK(model_resize(m, index, size) == is_served);
    CHECK(m->live[index].address == address);
    if (is_served && count > block->count) {
        take_front(&free_row, count - block->count, block);
    } else if (is_served) {
        give_back(block, count, &free_row);
    }
}

static void step_free(model *m, bool sized) {
    const size_t index = random_below(m->live_count);
    give_back(&blocks[index], 0, &free_row);
    model_free(m, index, sized);
    blocks[index] = blocks[m->live_count];
}

static void random_step(model *m, const geometry *g) {
    const size_t kind = random_below(16);
    if (m->live_count == 0 || (kind < 8 && m->live_count < MOST_LIVE)) {
        step_alloc(m, g);
    } else if (kind < 11) {
        step_resize(m, g);
    } else {
        step_free(m, kind % 2 == 0);
    }
    model_compare(m);
    for (size_t i = 0; i < m->live_count; i++) {
        compare_block(m, g, &m->live[i], &blocks[i]);
    }
}

static test_plan plan_of_pool(uint32_t alignment, uint32_t size, uint32_t count) {
    const hfit_chained_pool_plan pool = {{alignment}, size, count, 0};
    test_plan plan = named_plan("chained_pool", &pool, sizeof pool);
    snprintf(plan.name, sizeof plan.name, "alignment %u, %u partitions of %u", alignment, count,
             size);
    return plan;
}

static model m;
static geometry g;

static void start(const test_plan *plan) {
    check_context = plan->name;
    g = geometry_of(plan);
    model_start(&m, plan, region_of(plan));
    free_row.count = g.count;
    for (uint32_t i = 0; i < g.count; i++) {
        free_row.items[i] = i;
    }
}

static void end(void) {
    misuse_count = 0;
    model_end(&m);
}

TEST(every_chain_is_that_of_the_obvious_model) {
    static const uint32_t sizes[] = {4, 16, 24, 64, 200};
    static const uint32_t counts[] = {1, 33, 150};
    random_state = 1;
    for (size_t i = 0; i < 5 * 3 * 3; i++) {
        const test_plan plan = plan_of_pool(4u << i / 15, sizes[i % 5], counts[i / 5 % 3]);
        start(&plan);
        for (int step = 0; step < STEPS; step++) {
            random_step(&m, &g);
        }
        CHECK(misuse_count == 0);
        end();
    }
}

/* 64 partitions of 64 bytes, every other one free. */
static test_plan start_scattered(void) {
    static test_plan plan;
    plan = plan_of_pool(8, 64, 64);
    start(&plan);
    while (model_alloc(&m, 0, 64)) {
    }
    for (size_t i = m.live_count; i-- > 0;) {
        if (partition_of(&m, &g, m.live[i].address) % 2 == 0) {
            model_free(&m, i, false);
        }
    }
    model_compare(&m);
    return plan;
}

typedef struct free_told {
    size_t count;
    size_t bytes;
} free_told;

static void tell_free(void *context, const void *block, size_t usable_size, bool is_used) {
    free_told *told = context;
    (void)block;
    told->count += !is_used;
    told->bytes += is_used ? 0 : usable_size;
}

TEST(a_walk_tells_of_scattered_free_memory_as_one_block) {
    free_told told = {0, 0};
    (void)start_scattered();
    m.operations->walk(m.heap, plan_of(m.plan), tell_free, &told);
    CHECK(told.count == 1 && told.bytes == (size_t)32 * 64);
    end();
}

TEST(every_piece_is_aligned_or_the_request_refused) {
    const test_plan plan = plan_of_pool(8, 64, 64);
    start(&plan);
    for (size_t alignment = 1; alignment <= 64; alignment *= 2) {
        CHECK(model_alloc(&m, alignment, 200));
    }
    CHECK(!model_alloc(&m, 128, 200)); /* every other partition is not so aligned */
    model_compare(&m);
    end();
}

TEST(pieces_are_told_of_a_live_block_alone) {
    const test_plan plan = plan_of_pool(8, 64, 40);
    size_t size;
    start(&plan);
    CHECK(model_alloc(&m, 0, 64 * 3) && model_alloc(&m, 0, 64));
    unsigned char *first = m.live[0].address;
    CHECK(hfit_chained_pool_next_piece(m.heap, plan_of(&plan), first + 64, NULL, &size) == NULL);
    CHECK(hfit_chained_pool_next_piece(m.heap, plan_of(&plan), first, first + 1, &size) == NULL);
    unsigned char *second = m.live[1].address;
    model_free(&m, 1, false);
    CHECK(hfit_chained_pool_next_piece(m.heap, plan_of(&plan), first, second, &size) == NULL);
    model_free(&m, 0, false);
    const uint32_t misuses = misuse_count;
    CHECK(hfit_chained_pool_next_piece(m.heap, plan_of(&plan), first, NULL, &size) == NULL);
    CHECK(hfit_chained_pool_next_piece(m.heap, plan_of(&plan), first, first, &size) == NULL);
    CHECK(misuse_count == misuses + 2);
    end();
}

/* Blocks of one to four partitions, 14 of them freed again; some partitions never touched. */
static void make_chains(void) {
    random_state = 7;
    for (size_t i = 0; i < 30; i++) {
        CHECK(model_alloc(&m, 0, 1 + random_below(256)));
    }
    for (size_t i = 0; i < 14; i++) {
        model_free(&m, random_below(m.live_count), false);
    }
    CHECK(model_alloc(&m, 0, 64 * 5));
    model_compare(&m);
}

TEST(check_finds_every_flipped_bit_of_the_metadata) {
    const test_plan plan = plan_of_pool(8, 64, 120);
    start(&plan);
    make_chains();
    const size_t touched = (m.operations->footprint(m.heap, plan_of(&plan)) - g.base) / g.size;
    CHECK(touched < g.count);
    for (size_t offset = 0; offset < 24 + 4 * touched; offset += 4) {
        check_flips(&m, offset);
    }
    end();
}

/* A link of a block's chain, and one of the free list's, that lead astray. */
TEST(a_damaged_chain_is_told_and_nothing_changes) {
    static const uint32_t links[] = {0, 1, 4, 39, 1000, UINT32_MAX >> 3};
    const test_plan plan = plan_of_pool(8, 64, 40);
    start(&plan);
    CHECK(model_alloc(&m, 0, 64 * 3) && model_alloc(&m, 0, 64 * 3) && model_alloc(&m, 0, 64));
    unsigned char *used = m.live[0].address; /* partitions 0 to 2; 3 to 5 are freed */
    model_free(&m, 1, false);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        const uint32_t bad_used = links[i] << 2 | 1u;
        const uint32_t bad_free = links[i] << 2;
        uint32_t sound[2];
        memcpy(sound, m.region + 24 + 4, 4); /* partition 1's word */
        memcpy(m.region + 24 + 4, &bad_used, 4);
        check_refused(&m, used);
        memcpy(m.region + 24 + 4, sound, 4);
        memcpy(sound, m.region + 24 + 4 * 4, 4); /* partition 4's */
        memcpy(m.region + 24 + 4 * 4, &bad_free, 4);
        CHECK(!m.operations->check(m.heap, plan_of(&plan)));
        const uint32_t misuses = misuse_count;
        CHECK(links[i] == 4 || (!model_alloc(&m, 0, 64 * 3) && misuse_count == misuses + 1));
        memcpy(m.region + 24 + 4 * 4, sound, 4);
    }
    CHECK(model_alloc(&m, 0, 64 * 3));
    model_compare(&m);
    end();
}

/* The word of the block's last partition, as if the chain went on at a free one. */
TEST(a_piece_that_leads_to_a_free_partition_is_told) {
    const test_plan plan = plan_of_pool(8, 64, 40);
    const uint32_t bad = 4u << 2 | 1u;
    size_t size;
    start(&plan);
    CHECK(model_alloc(&m, 0, 64 * 3) && model_alloc(&m, 0, 64 * 3) && model_alloc(&m, 0, 64));
    unsigned char *used = m.live[0].address; /* partitions 0 to 2; 3 to 5 are freed */
    model_free(&m, 1, false);
    memcpy(m.region + 24 + 4 * 2, &bad, 4);
    CHECK(hfit_chained_pool_next_piece(m.heap, plan_of(&plan), used, used, &size) == NULL);
    CHECK(misuse_count == 1 && misuse_kind == HFIT_MISUSE_DAMAGED);
    misuse_count = 0;
}

RUN_TESTS()
