/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of partitions: where a request is placed, under every plan, compared with an obvious model
 * after every step; and what a bad free and a flipped bit lead to (Elsayed and Galal). */
#include "hfit/partition_pool.h"

#include "partition_model.h"

enum { STEPS = 1000 };

static const char *const fits[] = {"first fit", "best fit"};
static const char *const kinds[] = {"list", "bits"};

static test_plan plan_of_pool(uint32_t alignment, uint32_t size, uint32_t count, uint32_t fit,
                              uint32_t metadata) {
    const hfit_partition_pool_plan pool = {{alignment}, size, count, 0, fit, metadata};
    test_plan plan = named_plan("partition_pool", &pool, sizeof pool);
    snprintf(plan.name, sizeof plan.name, "alignment %u, %u partitions of %u, %s, %s", alignment,
             count, size, fits[fit], kinds[metadata]);
    return plan;
}

static bool is_best_fit(const model *m) {
    return ((const hfit_partition_pool_plan *)(const void *)plan_of(m->plan))->fit == 1;
}

/* Which partitions the live blocks take. */
static void mark_used(const model *m, const geometry *g, bool *used) {
    memset(used, 0, g->count);
    for (size_t i = 0; i < m->live_count; i++) {
        const uint32_t first = partition_of(m, g, m->live[i].address);
        for (uint32_t j = 0; j < partitions_of(g, m->live[i].size); j++) {
            CHECK(!used[first + j]);
            used[first + j] = true;
        }
    }
}

/* The end of the free run that begins at `first`. */
static uint32_t run_end(const bool *used, const geometry *g, uint32_t first) {
    while (first < g->count && !used[first]) {
        first++;
    }
    return first;
}

/* Where `length` partitions together must go: in the lowest free run that has an aligned place for
 * them, or in the smallest. */
static uint32_t expected_place(const model *m, const geometry *g, uint32_t length,
                               size_t alignment) {
    static bool used[MOST_TESTED];
    uint32_t best = NOWHERE;
    uint32_t best_run = UINT32_MAX;
    mark_used(m, g, used);
    for (uint32_t start = 0; start < g->count; start = run_end(used, g, start) + 1) {
        const uint32_t end = run_end(used, g, start);
        for (uint32_t place = start; place + length <= end; place++) {
            const uintptr_t address = (uintptr_t)m->region + g->base + (uintptr_t)place * g->size;
            if (address % alignment == 0 && end - start < best_run) {
                best = place;
                best_run = is_best_fit(m) ? end - start : 0;
            }
        }
    }
    return best;
}

static void step_alloc(model *m, const geometry *g) {
    const size_t size = random_size(g, 6);
    const size_t alignment = random_below(3) == 0 ? (size_t)1 << random_below(11) : 0;
    const uint32_t expected =
        expected_place(m, g, partitions_of(g, size), alignment == 0 ? 1 : alignment);
    const bool is_served = model_alloc(m, alignment, size);
    CHECK(is_served == (expected != NOWHERE));
    CHECK(!is_served || partition_of(m, g, m->live[m->live_count - 1].address) == expected);
}

/* Whether the partitions behind a block, up to `length` from its start, are free. */
static bool can_grow(const model *m, const geometry *g, uint32_t first, uint32_t had,
                     uint32_t length) {
    static bool used[MOST_TESTED];
    mark_used(m, g, used);
    return first + length <= g->count && run_end(used, g, first + had) >= first + length;
}

static void step_resize(model *m, const geometry *g) {
    const size_t index = random_below(m->live_count);
    const size_t size = random_size(g, 9);
    const uint32_t first = partition_of(m, g, m->live[index].address);
    const uint32_t had = partitions_of(g, m->live[index].size);
    const uint32_t length = partitions_of(g, size);
    const bool stays = length <= had || can_grow(m, g, first, had, length);
    const uint32_t expected = stays ? first : expected_place(m, g, length, 1);
    CHECK(model_resize(m, index, size) == (expected != NOWHERE));
    CHECK(expected == NOWHERE || partition_of(m, g, m->live[index].address) == expected);
}

static void random_step(model *m, const geometry *g) {
    const size_t kind = random_below(16);
    if (m->live_count == 0 || (kind < 8 && m->live_count < MOST_LIVE)) {
        step_alloc(m, g);
    } else if (kind < 11) {
        step_resize(m, g);
    } else {
        model_free(m, random_below(m->live_count), kind % 2 == 0);
    }
    model_compare(m);
}

static void walk_random_steps(const test_plan *plan) {
    static model m;
    const geometry g = geometry_of(plan);
    check_context = plan->name;
    model_start(&m, plan, region_of(plan));
    for (int i = 0; i < STEPS; i++) {
        random_step(&m, &g);
    }
    CHECK(misuse_count == 0);
    model_end(&m);
}

static void for_each_plan(void (*statement)(const test_plan *plan)) {
    static const uint32_t sizes[] = {4, 16, 24, 64, 200};
    static const uint32_t counts[] = {33, 64, 150};
    for (size_t i = 0; i < 5 * 3 * 3 * 4; i++) {
        const test_plan plan =
            plan_of_pool(4u << i / 60, sizes[i % 5], counts[i / 5 % 3], i / 15 % 2, i / 30 % 2);
        statement(&plan);
    }
}

TEST(every_placement_is_that_of_the_obvious_model) {
    random_state = 1;
    for_each_plan(walk_random_steps);
}

/* Both kinds of metadata, first fit, `count` partitions of 64 bytes. */
static void with_both_kinds(uint32_t count, void (*statement)(model *m)) {
    static model m;
    for (uint32_t metadata = 0; metadata < 2; metadata++) {
        const test_plan plan = plan_of_pool(8, 64, count, 0, metadata);
        check_context = plan.name;
        model_start(&m, &plan, region_of(&plan));
        statement(&m);
        misuse_count = 0;
        model_end(&m);
    }
}

/* Blocks of one to four partitions with gaps of all sizes. */
static void make_gaps(model *m) {
    random_state = 7;
    while (model_alloc(m, 0, 1 + random_below(256))) {
    }
    for (size_t i = 0; i < 14; i++) {
        model_free(m, random_below(m->live_count), false);
    }
    model_compare(m);
}

static void tell_free(void *context, const void *block, size_t usable_size, bool is_used) {
    (void)usable_size;
    if (!is_used) {
        const model *m = context;
        check_flips(m, (size_t)((const unsigned char *)block - m->region));
    }
}

static void finds_flips(model *m) {
    const hfit_partition_pool_plan *plan = (const void *)plan_of(m->plan);
    const size_t table = plan->metadata == 0 ? 4 * plan->partitions : 8 * (plan->partitions / 32);
    make_gaps(m);
    for (size_t offset = 0; offset < 20 + table; offset += 4) {
        check_flips(m, offset);
    }
    if (plan->metadata == 0) { /* the links, in the free groups */
        m->plan->allocator->unlocked->walk(m->heap, plan_of(m->plan), tell_free, m);
    }
}

TEST(check_finds_every_flipped_bit_of_the_metadata) {
    with_both_kinds(96, finds_flips);
}

/* Writes a free group's link as a caller may who writes after free. */
static void refuses_damaged_links(model *m) {
    static const uint32_t bad[] = {0, 4, 5, 40, UINT32_MAX - 1};
    for (int i = 0; i < 10; i++) {
        CHECK(model_alloc(m, 0, i == 9 ? 128 : 64));
    }
    unsigned char *last = m->live[9].address;
    unsigned char *freed = m->live[4].address;
    model_free(m, 4, false);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t sound;
        memcpy(&sound, freed, 4);
        memcpy(freed, &bad[i], 4);
        const uint32_t misuses = misuse_count;
        CHECK(!model_alloc(m, 0, 128));
        CHECK(misuse_count == misuses + 1);
        check_refused(m, last);
        memcpy(freed, &sound, 4);
    }
    const uint32_t head = 40;
    memcpy(m->region + 16, &head, 4);
    check_refused(m, last);
    CHECK(!model_alloc(m, 0, 64));
    memcpy(m->region + 16, (const uint32_t[]){4}, 4);
    CHECK(model_alloc(m, 0, 128));
    model_compare(m);
}

TEST(a_damaged_link_is_told_and_nothing_changes) {
    static model m;
    const test_plan plan = plan_of_pool(8, 64, 40, 0, 0);
    model_start(&m, &plan, region_of(&plan));
    refuses_damaged_links(&m);
    misuse_count = 0;
    model_end(&m);
}

/* Writes a word of the table for as long as it takes to see that a block is not freed then. */
static void check_refused_with(const model *m, size_t offset, uint32_t word) {
    uint32_t sound;
    memcpy(&sound, m->region + offset, 4);
    memcpy(m->region + offset, &word, 4);
    check_refused(m, m->live[0].address);
    memcpy(m->region + offset, &sound, 4);
}

TEST(a_group_with_a_hole_or_without_an_end_is_not_freed) {
    static model m;
    const test_plan plan = plan_of_pool(8, 64, 40, 0, 1);
    model_start(&m, &plan, region_of(&plan));
    CHECK(model_alloc(&m, 0, 64 * 36));
    check_refused_with(&m, 20, 0x7fffffff); /* the first used bits: all but one */
    check_refused_with(&m, 28, 0x0000000e); /* the other four: all but one */
    check_refused_with(&m, 32, 0);          /* the last bits of these: none */
    misuse_count = 0;
    model_free(&m, 0, false);
    model_compare(&m);
    model_end(&m);
}

enum { MANY = 3000, SIZE_OF_MANY = 16 };

/* One of two heaps over as many partitions, told apart by their metadata. */
typedef struct twin {
    hfit_partition_pool_plan plan;
    hfit_heap *heap;
    unsigned char *first; /* of partition 0 */
    _Alignas(64) unsigned char region[MANY * (SIZE_OF_MANY + 4) + 256];
    void *blocks[MANY];
} twin;

static void twin_start(twin *t, uint32_t fit, uint32_t metadata) {
    t->plan = (hfit_partition_pool_plan){{8}, SIZE_OF_MANY, MANY, 0, fit, metadata};
    const size_t size = hfit_partition_pool_smallest_region(&t->plan.common);
    CHECK(size <= sizeof t->region);
    t->heap = hfit_partition_pool_init(t->region, size, &t->plan.common);
    t->first = t->region + size - MANY * SIZE_OF_MANY;
}

static uint32_t twin_alloc(twin *t, size_t index, size_t size) {
    unsigned char *block = hfit_partition_pool_alloc(t->heap, &t->plan.common, size);
    t->blocks[index] = block;
    return block == NULL ? NOWHERE : (uint32_t)(block - t->first) / SIZE_OF_MANY;
}

/* Runs that go over several words of bits among them, whole ones too. */
static size_t size_for_twins(void) {
    return 1 + random_below((size_t)SIZE_OF_MANY << random_below(9));
}

static void place_in_twins(uint32_t fit) {
    static twin list, bits;
    static size_t live[MANY];
    size_t count = 0;
    twin_start(&list, fit, 0);
    twin_start(&bits, fit, 1);
    for (size_t i = 0; i < MANY; i++) {
        list.blocks[i] = bits.blocks[i] = NULL;
        live[i] = i;
    }
    for (int step = 0; step < 40000; step++) {
        if (count < MANY && random_below(64) < 33) {
            const size_t size = size_for_twins();
            const uint32_t place = twin_alloc(&list, live[count], size);
            CHECK(twin_alloc(&bits, live[count], size) == place);
            count += place != NOWHERE;
        } else if (count > 0) {
            const size_t chosen = random_below(count--);
            const size_t index = live[chosen];
            hfit_partition_pool_free(list.heap, &list.plan.common, list.blocks[index]);
            hfit_partition_pool_free(bits.heap, &bits.plan.common, bits.blocks[index]);
            live[chosen] = live[count];
            live[count] = index;
        }
    }
    CHECK(hfit_partition_pool_check(bits.heap, &bits.plan.common));
}

TEST(bits_place_as_a_list_does_among_many_partitions) {
    random_state = 3;
    place_in_twins(0);
    place_in_twins(1);
}

/* Behind the last record lie the blocks' own bytes. */
TEST(a_group_that_ends_with_the_partitions_loads_no_record_behind_them) {
    static const hfit_partition_pool_plan plan = {{8}, 64, 40, 0, 0, 0};
    static _Alignas(64) unsigned char region[64 * 40 + 256];
    hfit_heap *heap = hfit_partition_pool_init(region, sizeof region, &plan.common);
    CHECK(hfit_partition_pool_alloc(heap, &plan.common, 64) != NULL);
    void *last = hfit_partition_pool_alloc(heap, &plan.common, 64 * 39);
    CHECK(last != NULL);
    const uint64_t first_left = loads_left;
    CHECK(hfit_partition_pool_usable_size(heap, &plan.common, last) == 64 * 39);
    CHECK(hfit_partition_pool_alloc(heap, &plan.common, 64 * 40) == NULL);
    const uint64_t second_left = loads_left;
    CHECK(hfit_partition_pool_resize(heap, &plan.common, last, 64 * 40) == NULL);
    CHECK(second_left - loads_left == first_left - second_left);
}

TEST(a_region_gets_as_many_partitions_as_it_holds) {
    static _Alignas(64) unsigned char region[4096];
    for (size_t size = 256; size <= sizeof region; size += 8) {
        for (uint32_t metadata = 0; metadata < 2; metadata++) {
            const hfit_partition_pool_plan plan = {{8}, 16, 0, 0, 0, metadata};
            hfit_heap *heap = hfit_partition_pool_init(region, size, &plan.common);
            uint32_t count = 0;
            while (hfit_partition_pool_alloc(heap, &plan.common, 16) != NULL) {
                count++;
            }
            const hfit_partition_pool_plan held = {{8}, 16, count, 0, 0, metadata};
            const hfit_partition_pool_plan more = {{8}, 16, count + 1, 0, 0, metadata};
            CHECK(hfit_partition_pool_smallest_region(&held.common) <= size);
            CHECK(hfit_partition_pool_smallest_region(&more.common) > size);
        }
    }
}

TEST(the_largest_pool_of_figure_8_has_1088_bytes_of_control) {
    const hfit_partition_pool_plan largest = {{8}, 4096, 4096, 0, 0, 1};
    CHECK(hfit_partition_pool_smallest_region(&largest.common) == 4096 * 4096 + 1088);
}

RUN_TESTS()
