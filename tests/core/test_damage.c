/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One damaged word in a heap of each of core's allocators under each test plan: every word outside
 * the live blocks gets a few other values in turn. Then `check` must say so, or the operations that
 * follow must go as they do in the sound heap.
 */
#include "every_plan.h"
#include "random_number.h"

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

/* A heap and the blocks in use. */
typedef struct worked {
    subject heap;
    void *blocks[SLOTS];
    uint32_t sizes[SLOTS]; /* as they were asked for */
} worked;

typedef struct tally {
    uint64_t found;
    uint64_t harmless;
    uint64_t silent;
} tally;

static unsigned char sound[MOST_BYTES];
static uint64_t expected; /* of the steps that follow, in the sound heap */
static tally all;

/* One request or free at random; what it returned, from the region's start. */
static uint32_t step(worked *s) {
    const uint32_t slot = random_below(SLOTS);
    void **block = &s->blocks[slot];
    if (*block != NULL) {
        free_block(s->heap.from, s->heap.heap, *block, s->sizes[slot]);
        *block = NULL;
        return UINT32_MAX;
    }
    /* Half of them alike, so that free chunks of one size are linked to each other. */
    s->sizes[slot] = random_below(2) == 0 ? 8 + 24 * random_below(3) : random_below(72);
    *block = s->heap.operations->alloc(s->heap.heap, s->heap.plan, s->sizes[slot]);
    return *block == NULL ? UINT32_MAX : (uint32_t)((unsigned char *)*block - region);
}

static uint64_t walk_steps(worked *s, int count) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (int i = 0; i < count; i++) {
        hash = (hash ^ step(s)) * UINT64_C(1099511628211);
    }
    return hash;
}

static bool is_in_block(const worked *s, size_t offset) {
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
static bool is_robust(const worked *s) {
    static const char *const names[] = {"class_pools", "budgeted", "fixed_pool", "chained_pool"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], s->heap.allocator->name) == 0) {
            return true;
        }
    }
    return false;
}

/* One call on a damaged heap, undone again: what is told has changed nothing. */
static void call_damaged(const worked *made, uint32_t number) {
    const subject *s = &made->heap;
    const uint32_t misuses = misuse_count;
    if (number < SLOTS) {
        s->operations->free(s->heap, s->plan, made->blocks[number]);
    } else if (number < 2 * SLOTS) {
        (void)s->operations->usable_size(s->heap, s->plan, made->blocks[number - SLOTS]);
    } else {
        (void)s->operations->alloc(s->heap, s->plan, (size_t)8 * (number - 2 * SLOTS));
    }
    CHECK(misuse_count == misuses || memcmp(region, before, MOST_BYTES) == 0);
    memcpy(region, before, MOST_BYTES);
}

static void damage_word(const worked *made, size_t offset, uint32_t value) {
    worked s = *made;
    memcpy(region, sound, MOST_BYTES);
    memcpy(region + offset, &value, sizeof value);
    memcpy(before, region, MOST_BYTES);
    if (!made->heap.operations->check(made->heap.heap, made->heap.plan)) {
        all.found++;
        for (uint32_t number = 0; is_robust(made) && number < 2 * SLOTS + 12; number++) {
            call_damaged(made, number);
        }
        return;
    }
    random_state = 1;
    const bool is_same = walk_steps(&s, STEPS_AFTER) == expected;
    all.harmless += is_same;
    all.silent += !is_same;
}

static void damage_every_word(const worked *made) {
    for (size_t offset = 0; offset < made->heap.bytes; offset += WORD_STEP) {
        uint32_t word;
        memcpy(&word, sound + offset, sizeof word);
        for (uint32_t number = 0; number < VALUES && !is_in_block(made, offset); number++) {
            const uint32_t value = damaged(word, number, made->heap.bytes);
            if (value != word) {
                damage_word(made, offset, value);
            }
        }
    }
}

static void damage_heap(const test_plan *plan) {
    const uint64_t found = all.found;
    if (plan->allocator->operations->smallest_region(plan_of(plan)) + ROOM > MOST_BYTES) {
        return;
    }
    worked made = {.heap = start(plan, ROOM)};
    random_state = (uint32_t)(plan - plans);
    (void)walk_steps(&made, STEPS_BEFORE);
    memcpy(sound, region, MOST_BYTES);
    worked s = made;
    random_state = 1;
    expected = walk_steps(&s, STEPS_AFTER);
    damage_every_word(&made);
    CHECK(all.found > found);
}

TEST(a_damaged_word_is_found_or_harmless_but_for_one_in_a_thousand) {
    may_invariants_break = true;
    (void)for_each_plan(damage_heap, false);
    printf("%llu found, %llu harmless, %llu silent\n", (unsigned long long)all.found,
           (unsigned long long)all.harmless, (unsigned long long)all.silent);
    CHECK(all.silent * 1000 <= all.found);
}

RUN_TESTS()
