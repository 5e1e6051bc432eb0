/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap that counts, over a region that the program hands over: after each step the counts and
 * the free blocks agree with what the program did. Exits with 0, or tells the first line that does
 * not hold.
 */
#include "app_heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #statement);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { SLOTS = 60, STEPS = 4000, LARGEST = 400 };

static _Alignas(APP_HEAP_BASE_ALIGNMENT) unsigned char region[APP_HEAP_BYTES];
static void *live[SLOTS];
static size_t sizes[SLOTS]; /* asked for */
static app_heap_counts expected;

static unsigned random_below(unsigned n) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return (unsigned)((uint64_t)state * n >> 32);
}

static size_t requested(void) {
    size_t sum = 0;
    for (int i = 0; i < SLOTS; i++) {
        sum += live[i] == NULL ? 0 : sizes[i];
    }
    return sum;
}

static void add_if_free(void *context, const void *block, size_t size, bool is_used) {
    size_t *sum = context;
    CHECK((uintptr_t)block >= (uintptr_t)region);
    CHECK((uintptr_t)block + size <= (uintptr_t)region + sizeof region);
    *sum += is_used ? 0 : size;
}

static void check_counts(void) {
    app_heap_counts counts;
    app_heap_free_blocks found;
    size_t free_bytes = 0;
    app_heap_count(&counts);
    app_heap_find_free(&found);
    app_heap_walk(add_if_free, &free_bytes);
    CHECK(counts.allocs == expected.allocs && counts.frees == expected.frees);
    CHECK(counts.refused == expected.refused);
    CHECK(counts.live >= requested() && counts.live <= counts.most_live);
    CHECK(counts.most_live >= expected.most_live);
    expected.most_live = counts.most_live;
    CHECK(found.bytes == free_bytes && found.bytes + counts.live <= sizeof region);
    CHECK((found.count == 0) == (found.bytes == 0));
    CHECK(found.smallest * found.count <= found.bytes);
    CHECK(found.largest * found.count >= found.bytes);
}

/* What a call that takes or resizes came to. */
static void note(int slot, void *block, size_t size) {
    if (block == NULL) {
        expected.refused++;
        return;
    }
    expected.allocs += live[slot] == NULL;
    live[slot] = block;
    sizes[slot] = size;
}

static void take_step(void) {
    const int slot = (int)random_below(SLOTS);
    const size_t size = random_below(50) == 0 ? APP_HEAP_BYTES : 1 + random_below(LARGEST);
    if (live[slot] == NULL) {
        note(slot, random_below(9) == 0 ? app_aligned_alloc(32, size) : app_malloc(size), size);
    } else if (random_below(3) == 0) {
        note(slot, app_realloc(live[slot], size), size);
    } else {
        app_free(live[slot]);
        live[slot] = NULL;
        expected.frees++;
    }
}

int main(void) {
    CHECK(app_malloc(1) == NULL);
    CHECK(!app_heap_init(NULL, APP_HEAP_BYTES) && !app_heap_init(region, 8));
    CHECK(app_heap_init(region, sizeof region));
    for (int i = 0; i < STEPS; i++) {
        take_step();
        check_counts();
    }
    CHECK(expected.refused > 10 && app_heap_check());
    for (int i = 0; i < SLOTS; i++) {
        expected.frees += live[i] != NULL;
        app_free(live[i]);
        live[i] = NULL;
    }
    check_counts();
    app_heap_counts counts;
    app_heap_forget_most_live();
    app_heap_count(&counts);
    CHECK(counts.live == 0 && counts.most_live == 0 && counts.allocs == counts.frees);
    return 0;
}
