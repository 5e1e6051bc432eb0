/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One damaged word in a heap of each of core's allocators under each test plan: every word outside
 * the live blocks gets a few other values in turn. Then `check` must say so, or the operations that
 * follow must go as they do in the sound heap.
 */
#include "../contract/contract_config.h"
#include "../contract/plans.h"

#include "check.h"
#include "random_number.h"

#include <string.h>

enum {
    ROOM = 400,
    MOST_BYTES = 2048,
    SLOTS = 12,
    STEPS_BEFORE = 60,
    STEPS_AFTER = 400,
    VALUES = 8
};

/* Under sanitizers on 64 bits every other word: all are damaged on 32, and without sanitizers. */
#ifdef __SANITIZE_ADDRESS__
enum { WORD_STEP = sizeof(void *) == 8 ? 8 : 4 };
#else
enum { WORD_STEP = 4 };
#endif

typedef struct subject {
    const test_plan *plan;
    const hfit_operations *operations;
    hfit_heap *heap;
    size_t bytes; /* of the region */
    void *blocks[SLOTS];
    uint32_t sizes[SLOTS]; /* as they were asked for */
} subject;

typedef struct tally {
    uint64_t found;
    uint64_t harmless;
    uint64_t silent;
} tally;

static _Alignas(REGION_ALIGNMENT) unsigned char region[MOST_BYTES];
static unsigned char sound[MOST_BYTES];
static test_plan plans[MOST_PLANS];
static size_t plan_count;

/* One request or free at random; what it returned, from the region's start. */
static uint32_t step(subject *s) {
    const uint32_t slot = random_below(SLOTS);
    void **block = &s->blocks[slot];
    if (*block != NULL) {
        free_block(s->plan, s->heap, *block, s->sizes[slot]);
        *block = NULL;
        return UINT32_MAX;
    }
    /* Half of them alike, so that free chunks of one size are linked to each other. */
    s->sizes[slot] = random_below(2) == 0 ? 8 + 24 * random_below(3) : random_below(72);
    *block = s->operations->alloc(s->heap, plan_of(s->plan), s->sizes[slot]);
    return *block == NULL ? UINT32_MAX : (uint32_t)((unsigned char *)*block - region);
}

static uint64_t walk_steps(subject *s, int count) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (int i = 0; i < count; i++) {
        hash = (hash ^ step(s)) * UINT64_C(1099511628211);
    }
    return hash;
}

/* False for plans that need more than the region. */
static bool make_heap(subject *s, const test_plan *plan, uint32_t seed) {
    const hfit_operations *operations = plan->allocator->operations;
    *s = (subject){.plan = plan, .operations = operations};
    s->bytes = operations->smallest_region(plan_of(plan)) + ROOM;
    if (s->bytes > MOST_BYTES) {
        return false;
    }
    memset(region, 0, MOST_BYTES);
    random_state = seed;
    s->heap = operations->init(region, s->bytes, plan_of(plan));
    CHECK(s->heap != NULL);
    (void)walk_steps(s, STEPS_BEFORE);
    memcpy(sound, region, MOST_BYTES);
    return true;
}

static bool is_in_block(const subject *s, size_t offset) {
    for (size_t i = 0; i < SLOTS; i++) {
        const size_t start = (size_t)((unsigned char *)s->blocks[i] - region);
        if (s->blocks[i] != NULL && offset + 4 > start && offset < start + s->sizes[i]) {
            return true;
        }
    }
    return false;
}

/* What the word becomes: one of a few values that a check may take for sound. */
static uint32_t damaged(uint32_t word, uint32_t number, size_t bytes) {
    uint32_t other;
    memcpy(&other, sound + 4 * random_below((uint32_t)bytes / 4), sizeof other);
    const uint32_t values[VALUES] = {0,         UINT32_MAX,     word + 1,       word - 4,
                                     word + 16, word ^ 1u << 3, word ^ 1u << 9, other};
    return values[number];
}

/* Those whose words all lie before their blocks and that believe none unseen. The others may read
 * far outside their region once a word is damaged: from level 2 on they check before. */
static bool is_robust(const subject *s) {
    static const char *const names[] = {"class_pools", "budgeted", "fixed_pool", "chained_pool"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], s->plan->allocator->name) == 0) {
            return true;
        }
    }
    return false;
}

/* One call on a damaged heap, undone again: what is told has changed nothing. */
static void call_damaged(const subject *made, const unsigned char *before, uint32_t number) {
    const hfit_plan *plan = plan_of(made->plan);
    const uint32_t misuses = misuse_count;
    if (number < SLOTS) {
        made->operations->free(made->heap, plan, made->blocks[number]);
    } else if (number < 2 * SLOTS) {
        (void)made->operations->usable_size(made->heap, plan, made->blocks[number - SLOTS]);
    } else {
        (void)made->operations->alloc(made->heap, plan, (size_t)8 * (number - 2 * SLOTS));
    }
    CHECK(misuse_count == misuses || memcmp(region, before, MOST_BYTES) == 0);
    memcpy(region, before, MOST_BYTES);
}

static void damage_word(const subject *made, size_t offset, uint32_t value, tally *t) {
    static unsigned char before[MOST_BYTES];
    subject s = *made;
    memcpy(region, sound, MOST_BYTES);
    memcpy(region + offset, &value, sizeof value);
    memcpy(before, region, MOST_BYTES);
    if (!made->operations->check(made->heap, plan_of(made->plan))) {
        t->found++;
        for (uint32_t number = 0; is_robust(made) && number < 2 * SLOTS + 12; number++) {
            call_damaged(made, before, number);
        }
        return;
    }
    random_state = 1;
    const uint64_t got = walk_steps(&s, STEPS_AFTER);
    s = *made;
    memcpy(region, sound, MOST_BYTES);
    random_state = 1;
    const bool is_same = walk_steps(&s, STEPS_AFTER) == got;
    t->harmless += is_same;
    t->silent += !is_same;
}

static void damage_every_word(const subject *made, tally *t) {
    for (size_t offset = 0; offset < made->bytes; offset += WORD_STEP) {
        uint32_t word;
        memcpy(&word, sound + offset, sizeof word);
        for (uint32_t number = 0; number < VALUES && !is_in_block(made, offset); number++) {
            const uint32_t value = damaged(word, number, made->bytes);
            if (value != word) {
                damage_word(made, offset, value, t);
            }
        }
    }
}

static void a_damaged_word_is_found_or_harmless_but_for_one_in_a_thousand(void) {
    tally all = {0, 0, 0};
    may_invariants_break = true;
    for (size_t i = 0; i < plan_count && is_core(plans[i].allocator); i++) {
        const uint64_t found = all.found;
        subject made;
        check_context = plans[i].name;
        if (make_heap(&made, &plans[i], (uint32_t)i)) {
            damage_every_word(&made, &all);
            CHECK(all.found > found);
        }
    }
    printf("%llu found, %llu harmless, %llu silent\n", (unsigned long long)all.found,
           (unsigned long long)all.harmless, (unsigned long long)all.silent);
    CHECK(all.silent * 1000 <= all.found);
}

int main(void) {
    plan_count = make_test_plans(plans);
    RUN(a_damaged_word_is_found_or_harmless_but_for_one_in_a_thousand);
    return report_passed();
}
