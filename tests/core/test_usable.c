/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc_usable, free_usable and resize_usable, of every allocator under every test plan: of two
 * heaps alike one is served by them and one by alloc, free and resize, and blocks lie alike and
 * have the bytes that usable_size tells.
 */
#include "../contract/contract_config.h"
#include "../contract/plans.h"

#include "check.h"
#include "random_number.h"

#include <string.h>

enum { ROOM = 4096, STEPS = 200, BLOCKS = 24, LARGEST = 400 };

typedef struct usable_operations {
    const char *name;
    void *(*alloc)(hfit_heap *, const hfit_plan *, size_t, size_t *);
    size_t (*free)(hfit_heap *, const hfit_plan *, void *);
    void *(*resize)(hfit_heap *, const hfit_plan *, void *, size_t, size_t[2]);
} usable_operations;

#define HFIT_ALLOCATOR(name) HFIT_DECLARE_ALLOCATOR(name);
#include "allocators.def"
#include "baselines.def"
#undef HFIT_ALLOCATOR

static const usable_operations all[] = {
#define HFIT_ALLOCATOR(name)                                                                       \
    {#name, hfit_##name##_alloc_usable, hfit_##name##_free_usable, hfit_##name##_resize_usable},
#include "allocators.def"
#include "baselines.def"
#undef HFIT_ALLOCATOR
};

static _Alignas(REGION_ALIGNMENT) unsigned char plain_region[LARGEST_SMALLEST_REGION + ROOM];
static _Alignas(REGION_ALIGNMENT) unsigned char telling_region[sizeof plain_region];
static test_plan plans[MOST_PLANS];

/* Two heaps alike. */
typedef struct twins {
    const test_plan *plan;
    const usable_operations *telling;
    void *plain[BLOCKS];
    void *told[BLOCKS];
} twins;

static const usable_operations *find_operations(const char *name) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

static hfit_heap *plain_heap(void) {
    return (hfit_heap *)(void *)plain_region;
}

static hfit_heap *telling_heap(void) {
    return (hfit_heap *)(void *)telling_region;
}

static size_t size_of(const twins *t, const void *block) {
    return block == NULL
               ? 0
               : t->plan->allocator->operations->usable_size(plain_heap(), plan_of(t->plan), block);
}

static void lie_alike(const twins *t, uint32_t i) {
    CHECK((t->plain[i] == NULL) == (t->told[i] == NULL));
    CHECK(t->plain[i] == NULL || (unsigned char *)t->plain[i] - plain_region ==
                                     (unsigned char *)t->told[i] - telling_region);
}

static void allocate(twins *t, uint32_t i, size_t size) {
    size_t usable = 1;
    t->plain[i] = t->plan->allocator->operations->alloc(plain_heap(), plan_of(t->plan), size);
    t->told[i] = t->telling->alloc(telling_heap(), plan_of(t->plan), size, &usable);
    lie_alike(t, i);
    CHECK(usable == size_of(t, t->plain[i]));
}

static void give_back(twins *t, uint32_t i) {
    const size_t usable = size_of(t, t->plain[i]);
    t->plan->allocator->operations->free(plain_heap(), plan_of(t->plan), t->plain[i]);
    CHECK(t->telling->free(telling_heap(), plan_of(t->plan), t->told[i]) == usable);
    if (is_core(t->plan->allocator) && HFIT_SAFETY >= 1) {
        CHECK(t->telling->free(telling_heap(), plan_of(t->plan), t->told[i]) == 0);
    }
    t->plain[i] = t->told[i] = NULL;
}

static void resize(twins *t, uint32_t i, size_t size) {
    const size_t before = size_of(t, t->plain[i]);
    size_t usable[2] = {1, 1};
    void *plain =
        t->plan->allocator->operations->resize(plain_heap(), plan_of(t->plan), t->plain[i], size);
    void *told = t->telling->resize(telling_heap(), plan_of(t->plan), t->told[i], size, usable);
    CHECK((plain == NULL) == (told == NULL));
    if (plain != NULL) {
        t->plain[i] = plain;
        t->told[i] = told;
        lie_alike(t, i);
    }
    CHECK(usable[0] == before && usable[1] == size_of(t, t->plain[i]));
}

static void run_twins(twins *t) {
    for (int step = 0; step < STEPS; step++) {
        const uint32_t i = random_below(BLOCKS);
        const size_t size = step % 50 == 49 ? SIZE_MAX : random_below(random_below(LARGEST) + 1);
        if (random_below(4) == 0) {
            resize(t, i, size);
        } else if (t->plain[i] == NULL) {
            allocate(t, i, size);
        } else {
            give_back(t, i);
        }
    }
}

TEST(what_is_told_is_the_usable_size_and_nothing_else_differs) {
    const size_t count = make_test_plans(plans);
    size_t tried = 0;
    for (size_t i = 0; i < count; i++) {
        const hfit_operations *operations = plans[i].allocator->operations;
        const size_t bytes = operations->smallest_region(plan_of(&plans[i])) + ROOM;
        twins t = {.plan = &plans[i], .telling = find_operations(plans[i].allocator->name)};
        check_context = plans[i].name;
        if (plans[i].allocator->needs_size || t.telling == NULL) {
            continue;
        }
        CHECK(operations->init(plain_region, bytes, plan_of(&plans[i])) != NULL);
        CHECK(operations->init(telling_region, bytes, plan_of(&plans[i])) != NULL);
        run_twins(&t);
        CHECK(operations->check(telling_heap(), plan_of(&plans[i])));
        tried++;
    }
    CHECK(tried > 2 * sizeof all / sizeof *all);
}

RUN_TESTS()
