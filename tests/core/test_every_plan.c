/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of each allocator under every test plan, and what only some safety levels promise:
 *
 *   0, 1, 3   what alloc_usable, free_usable and resize_usable tell is the usable size, and a free
 *             with the size does what one without does
 *   1         an address far away whose low bits are those of a live block is told as foreign
 *   2         on a heap whose metadata do not hold every call tells it, gives and changes nothing
 */
#include "every_plan.h"
#include "random_number.h"

#if HFIT_SAFETY == 0
#include "hfit/budgeted.h"
#include "hfit/class_pools.h"
#endif

enum { ROOM = 4096, STEPS = 200, BLOCKS = 24, LARGEST = 400, SIZE = 40 };

/* Each call that takes a block or asks for one. */
static inline uint32_t calls_told(const subject *s, void *block) {
    const uint32_t misuses = misuse_count;
    s->operations->free_sized(s->heap, s->plan, block, SIZE);
    free_block(s->from, s->heap, block, SIZE);
    CHECK(resize_block(s->from, s->heap, block, SIZE, 2 * SIZE) == NULL);
    CHECK(s->operations->usable_size(s->heap, s->plan, block) == 0);
    CHECK(is_unchanged());
    return misuse_count - misuses;
}

static size_t tried;

#if HFIT_SAFETY == 1

#if UINTPTR_MAX > UINT32_MAX
static const uintptr_t distances[] = {(uintptr_t)1 << 32, (uintptr_t)3 << 32, (uintptr_t)1 << 63,
                                      (uintptr_t)0 - ((uintptr_t)1 << 32)};
#else
static const uintptr_t distances[] = {(uintptr_t)1 << 31, (uintptr_t)1 << 30};
#endif

/* So that an offset cut to 32 bits leads to the block. */
static void try_far_addresses(const test_plan *plan) {
    const subject s = start(plan, ROOM);
    const unsigned char *block = s.operations->alloc(s.heap, s.plan, SIZE);
    remember();
    for (size_t d = 0; block != NULL && d < sizeof distances / sizeof distances[0]; d++) {
        const uint32_t told = calls_told(&s, (void *)((uintptr_t)block + distances[d]));
        CHECK(told == 3u + knows_sizes(s.allocator));
        tried++;
    }
}

TEST(an_address_with_the_low_bits_of_a_live_block_is_told_and_changes_nothing) {
    tried = 0;
    CHECK(for_each_plan(try_far_addresses, false) < tried);
}

#endif

#if HFIT_SAFETY == 2

/* Flips a bit of the first word where check finds it; false if there is none. */
static bool damage(const subject *s) {
    for (size_t offset = 0; offset + 4 <= s->bytes; offset += 4) {
        region[offset + 1] ^= 4;
        if (!s->operations->check(s->heap, s->plan)) {
            return true;
        }
        region[offset + 1] ^= 4;
    }
    return false;
}

static void try_damaged_heap(const test_plan *plan) {
    const subject s = start(plan, ROOM);
    void *block = s.operations->alloc(s.heap, s.plan, SIZE);
    for (size_t i = 1; i < 6; i++) {
        (void)s.operations->alloc(s.heap, s.plan, SIZE);
    }
    if (block != NULL && damage(&s)) {
        remember();
        CHECK(s.operations->alloc(s.heap, s.plan, SIZE) == NULL);
        CHECK(s.operations->alloc_aligned(s.heap, s.plan, 8, SIZE) == NULL);
        CHECK(misuse_count == 2 && calls_told(&s, block) == 4);
        CHECK(misuse_kind == HFIT_MISUSE_DAMAGED);
        tried++;
    }
}

TEST(on_a_damaged_heap_every_call_tells_it_and_gives_and_changes_nothing) {
    tried = 0;
    CHECK(for_each_plan(try_damaged_heap, false) < 2 * tried);
}

#else

typedef struct usable_operations {
    const char *name;
    void *(*alloc)(hfit_heap *, const hfit_plan *, size_t, size_t *);
    size_t (*free)(hfit_heap *, const hfit_plan *, void *);
    void *(*resize)(hfit_heap *, const hfit_plan *, void *, size_t, size_t[2]);
} usable_operations;

#define HFIT_ALLOCATOR(name) HFIT_DECLARE_ALLOCATOR(name);
#include "allocators.def"
#if WITH_BASELINES
#include "baselines.def"
#endif
#undef HFIT_ALLOCATOR

static const usable_operations all[] = {
#define HFIT_ALLOCATOR(name)                                                                       \
    {#name, hfit_##name##_alloc_usable, hfit_##name##_free_usable, hfit_##name##_resize_usable},
#include "allocators.def"
#if WITH_BASELINES
#include "baselines.def"
#endif
#undef HFIT_ALLOCATOR
};

/* One of two heaps alike, which is served by these and the other by alloc, free, half of them with
 * the size, and resize. */
static _Alignas(REGION_ALIGNMENT) unsigned char other[LARGEST_REGION];
static hfit_heap *const telling = (hfit_heap *)(void *)other;

static const usable_operations *find_operations(const char *name) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

/* A block of the other heap, and the size that was requested last. */
typedef struct twin {
    unsigned char *block;
    size_t size;
} twin;

static size_t size_of(const subject *s, const void *block) {
    return block == NULL ? 0 : s->operations->usable_size(s->heap, s->plan, block);
}

/* Where a block of the other heap lies in this one. */
static void *twin_of(unsigned char *block) {
    return block == NULL ? NULL : region + (block - other);
}

static void step(const subject *s, const usable_operations *o, twin *told, size_t size) {
    unsigned char *block = twin_of(told->block);
    const size_t had = size_of(s, block);
    size_t usable[2] = {1, 1};
    if (random_below(4) == 0) {
        unsigned char *moved = o->resize(telling, s->plan, told->block, size, usable);
        CHECK(s->operations->resize(s->heap, s->plan, block, size) == twin_of(moved));
        *told = moved == NULL ? *told : (twin){moved, size};
        CHECK(usable[0] == had && usable[1] == size_of(s, twin_of(told->block)));
    } else if (told->block == NULL) {
        *told = (twin){o->alloc(telling, s->plan, size, &usable[0]), size};
        CHECK(s->operations->alloc(s->heap, s->plan, size) == twin_of(told->block));
        CHECK(usable[0] == size_of(s, twin_of(told->block)));
    } else {
        if (random_below(2) == 0) {
            s->operations->free(s->heap, s->plan, block);
        } else {
            s->operations->free_sized(s->heap, s->plan, block, told->size);
        }
        CHECK(o->free(telling, s->plan, told->block) == had);
        CHECK(!is_core(s->allocator) || HFIT_SAFETY == 0 ||
              o->free(telling, s->plan, told->block) == 0);
        told->block = NULL;
    }
}

static void compare_twins(const test_plan *plan) {
    const usable_operations *o = find_operations(plan->allocator->name);
    twin told[BLOCKS] = {{NULL, 0}};
    if (plan->allocator->needs_size || o == NULL) {
        return;
    }
    const subject s = start(plan, ROOM);
    memset(other, 0, sizeof other);
    CHECK(s.operations->init(other, s.bytes, s.plan) == telling);
    for (int i = 0; i < STEPS; i++) {
        const size_t size = i % 50 == 49 ? SIZE_MAX : random_below(random_below(LARGEST) + 1);
        step(&s, o, &told[random_below(BLOCKS)], size);
    }
    CHECK(s.operations->check(telling, s.plan));
    tried++;
}

TEST(what_is_told_is_the_usable_size_and_nothing_else_differs) {
    tried = 0;
    (void)for_each_plan(compare_twins, true);
    CHECK(tried > 2 * sizeof all / sizeof *all);
}

#endif

#if HFIT_SAFETY == 0

/* A plan is believed as it stands, so that `init` costs no walk over it. */
TEST(a_plan_is_served_whose_seal_does_not_hold) {
    for (uint8_t is_exact = 0; is_exact < 2; is_exact++) {
        hfit_pool pools[] = {{.size = 8, .count = 4, .is_exact = is_exact},
                             {.size = 32, .count = 4, .is_exact = is_exact}};
        hfit_pools_plan plan = {.common = {8},
                                .pools = {pools, 2, hfit_pools_lay_out(pools, 2, 8)}};
        const usable_operations *o = find_operations(is_exact ? "budgeted" : "class_pools");
        CHECK(is_exact ? hfit_budgeted_complete(&plan, NULL, 0)
                       : hfit_class_pools_complete(&plan, NULL, 0));
        plan.seal ^= 1;
        size_t usable;
        CHECK((is_exact ? hfit_budgeted_init : hfit_class_pools_init)(region, 1024, &plan.common));
        CHECK(o->alloc((hfit_heap *)(void *)region, &plan.common, 32, &usable) != NULL);
    }
}

/* The size leads to the list of free blocks, and the address to nothing. */
TEST(blocks_freed_with_their_size_are_served_again_the_last_one_first) {
    static uint8_t table[HFIT_LARGEST_POOL_INDEX];
    const usable_operations *o = find_operations("class_pools");
    hfit_pool pools[] = {{.size = 40, .count = 2}, {.size = 200, .count = 2}};
    hfit_pools_plan plan = {.common = {8},
                            .pools = {pools, 2, hfit_pools_lay_out(pools, 2, 8)},
                            .search = HFIT_SEARCH_STACK,
                            .overflow = HFIT_OVERFLOW_REFUSE};
    CHECK(hfit_class_pools_complete(&plan, table, sizeof table) && plan.index.own != 0);
    hfit_heap *heap = hfit_class_pools_init(region, 1024, &plan.common);
    size_t usable;
    void *first = o->alloc(heap, &plan.common, 40, &usable);
    void *last = o->alloc(heap, &plan.common, 40, &usable);
    void *larger = o->alloc(heap, &plan.common, 200, &usable);
    hfit_class_pools_free_sized(heap, &plan.common, first, 40);
    hfit_class_pools_free_sized(heap, &plan.common, larger, 200);
    hfit_class_pools_free_sized(heap, &plan.common, last, 40);
    CHECK(o->alloc(heap, &plan.common, 150, &usable) == larger);
    CHECK(o->alloc(heap, &plan.common, 40, &usable) == last);
    CHECK(o->alloc(heap, &plan.common, 40, &usable) == first);
}

#endif

RUN_TESTS()
