/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every function of a generated heap with arguments that break naive allocators, and checks
 * what its header promises. Exits with 0, or tells the first line that does not hold.
 */
#include "generated_calls.h"
#include "app_heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #statement);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { MANY = 64 };

static int locked;
static int locks;
static int misuses;

void lock_taken(void) {
    CHECK(locked == 0);
    locked = 1;
    locks++;
}

void lock_given(void) {
    CHECK(locked == 1);
    locked = 0;
}

/* By -DHFIT_ON_MISUSE=misuse_told. */
void misuse_told(const void *heap, unsigned kind, const void *pointer);

void misuse_told(const void *heap, unsigned kind, const void *pointer) {
    CHECK(heap != NULL && kind <= 2 && pointer != NULL);
    misuses++;
}

/* True if `call` took the lock just once and gave it back. */
#define LOCKS_ONCE(call) (locks = 0, (void)(call), locks == 1 && locked == 0)

/* Many blocks are served, aligned, apart from each other and keep their data. */
static void check_service(void) {
    unsigned char *blocks[MANY];
    for (int i = 0; i < MANY; i++) {
        const size_t size = (size_t)(i * 7 % 120);
        blocks[i] = app_malloc(size);
        CHECK(blocks[i] != NULL && (uintptr_t)blocks[i] % APP_HEAP_ALIGNMENT == 0);
        CHECK(app_usable_size(blocks[i]) >= size);
        memset(blocks[i], i, size);
    }
    for (int i = 0; i < MANY; i++) {
        for (int n = 0; n < i * 7 % 120; n++) {
            CHECK(blocks[i][n] == i);
        }
        app_free(blocks[i]);
    }
    CHECK(app_heap_check());
}

static void check_before_init(void) {
    static int foreign;
    CHECK(app_malloc(1) == NULL);
    CHECK(app_calloc(1, 1) == NULL);
    CHECK(app_realloc(NULL, 1) == NULL);
    CHECK(app_realloc(&foreign, 0) == NULL);
    CHECK(app_aligned_alloc(8, 1) == NULL);
    CHECK(app_usable_size(&foreign) == 0);
    CHECK(!app_heap_check());
    CHECK(app_heap_footprint() == 0);
    app_free(&foreign);
    CHECK(misuses == 0);
}

static void check_refused(size_t size) {
    CHECK(app_malloc(size) == NULL);
    CHECK(app_calloc(size, 1) == NULL);
    CHECK(app_calloc(1, size) == NULL);
    CHECK(app_aligned_alloc(64, size) == NULL);
}

static void check_large_sizes(void) {
    for (size_t i = 0; i < 300; i++) {
        check_refused(SIZE_MAX - i);
        check_refused(PTRDIFF_MAX - i);
        check_refused((size_t)PTRDIFF_MAX + i);
    }
    for (unsigned bit = 17; bit < sizeof(size_t) * 8; bit++) {
        for (size_t i = 0; i < 80; i++) {
            check_refused(((size_t)1 << bit) - 40 + i);
        }
    }
    for (size_t size = APP_HEAP_BYTES - 8192; size < APP_HEAP_BYTES + 4096; size++) {
        void *block = app_malloc(size);
        CHECK(block == NULL || app_usable_size(block) >= size);
        CHECK(block == NULL || size < APP_HEAP_BYTES);
        app_free(block);
    }
}

static void check_products(void) {
    const size_t half = (size_t)1 << (sizeof(size_t) * 4);
    const size_t pairs[][2] = {
        {half, half},          {half + 1, half + 1},
        {SIZE_MAX, 2},         {2, SIZE_MAX},
        {SIZE_MAX / 2 + 1, 2}, {SIZE_MAX / 2 + 2, 2},
        {SIZE_MAX / 3 + 1, 3}, {SIZE_MAX, SIZE_MAX},
        {half * 2, half / 2},  {SIZE_MAX / 16 + 2, 16},
        {half, half + 1},      {SIZE_MAX / 40 + 1, 40},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        CHECK(app_calloc(pairs[i][0], pairs[i][1]) == NULL);
    }
    CHECK(app_calloc(0, SIZE_MAX) != NULL); /* no bytes, served as 1 */
}

static void check_clearing(void) {
    const size_t sizes[] = {1, 40, 64, 100, 1500, 2000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *used = app_malloc(sizes[i]);
        memset(used, 0xa5, sizes[i]);
        app_free(used);
        unsigned char *cleared = app_calloc(1, sizes[i]);
        for (size_t n = 0; n < sizes[i]; n++) {
            CHECK(cleared[n] == 0);
        }
        app_free(cleared);
    }
}

static void check_realloc(void) {
    unsigned char *block = app_realloc(NULL, 40);
    memset(block, 9, 40);
    for (size_t i = 0; i < 20; i++) {
        CHECK(app_realloc(block, SIZE_MAX - 7 * i) == NULL);
        CHECK(app_realloc(block, APP_HEAP_BYTES + i) == NULL);
    }
    block = app_realloc(block, 1000);
    block = app_realloc(block, 20);
    for (int n = 0; n < 20; n++) {
        CHECK(block[n] == 9);
    }
    CHECK(app_realloc(block, 0) == NULL);
    CHECK(app_usable_size(block) == 0); /* it is free now */
    void *smallest = app_realloc(NULL, 0);
    CHECK(smallest != NULL && app_usable_size(smallest) >= 1);
    app_free(smallest);
}

static void check_alignments(void) {
    const size_t wrong[] = {0, 3, 5, 7, 12, 24, SIZE_MAX, SIZE_MAX / 2};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(app_aligned_alloc(wrong[i], 8) == NULL);
    }
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void *block = app_aligned_alloc(alignment, 100);
        CHECK(block != NULL && (uintptr_t)block % alignment == 0);
        app_free(block);
        for (size_t i = 0; i < 300; i++) {
            CHECK(app_aligned_alloc(alignment, SIZE_MAX - i) == NULL);
        }
    }
    for (unsigned bit = 17; bit < sizeof(size_t) * 8; bit++) {
        (void)app_aligned_alloc((size_t)1 << bit, 8);
    }
}

static void check_bad_frees(void) {
    static int foreign;
    char *first = app_malloc(40);
    void *apart = app_malloc(40); /* the frees below join nothing */
    char *second = app_malloc(200);
    void *behind = app_malloc(200);
    memset(second, 0, 200);
    misuses = 0;
    app_free(NULL);
    CHECK(misuses == 0);
    app_free(&foreign);
    app_free(first + 1);
    app_free(second + 1);
    app_free(first);
    app_free(first);
    CHECK(misuses == 4);
    app_free(second);
    app_free(second);
    CHECK(misuses == 5);
    CHECK(app_heap_check());
    app_free(apart);
    app_free(behind);
}

/* ---- Wrong calls on a heap after random ones: each is told and changes nothing. ---- */

enum { SLOTS = 40, TURNS = 1500, MOST_SEEN = 300, LARGEST = 260 };

static unsigned char *live[SLOTS];
static unsigned char *seen[MOST_SEEN]; /* addresses that were handed out */
static int seen_count;

static unsigned random_below(unsigned n) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return (unsigned)((uint64_t)state * n >> 32);
}

static int is_live(const unsigned char *address) {
    for (int i = 0; i < SLOTS; i++) {
        if (live[i] == address) {
            return 1;
        }
    }
    return 0;
}

/* Between the first and the last block that there was; the control words lie before it. */
static uint32_t hash_of_blocks(void) {
    unsigned char *first = seen[0];
    unsigned char *last = seen[0];
    uint32_t hash = 2166136261u;
    for (int i = 1; i < seen_count; i++) {
        first = seen[i] < first ? seen[i] : first;
        last = seen[i] > last ? seen[i] : last;
    }
    for (const unsigned char *at = first; at < last; at++) {
        hash = (hash ^ *at) * 16777619u;
    }
    return hash;
}

static void check_wrong_call(unsigned char *address) {
    const uint32_t before = hash_of_blocks();
    misuses = 0;
    app_free(address);
    CHECK(app_realloc(address, 0) == NULL);
    CHECK(app_realloc(address, random_below(LARGEST)) == NULL);
    CHECK(misuses == 3);
    CHECK(app_usable_size(address) == 0);
    CHECK(hash_of_blocks() == before);
}

static void take_turn(void) {
    unsigned char **block = &live[random_below(SLOTS)];
    if (*block != NULL) {
        app_free(*block);
        *block = NULL;
        return;
    }
    const size_t size = random_below(LARGEST);
    *block = random_below(8) == 0 ? app_aligned_alloc(32, size) : app_malloc(size);
    CHECK(*block != NULL);
    if (random_below(2) == 0) {
        memset(*block, 0xa5, size);
    }
    if (seen_count < MOST_SEEN) {
        seen[seen_count++] = *block;
    }
}

static void check_wrong_calls(void) {
    for (int turn = 0; turn < TURNS; turn++) {
        take_turn();
        unsigned char *dead = seen[random_below((unsigned)seen_count)];
        if (!is_live(dead)) {
            check_wrong_call(dead);
        }
        unsigned char *inside = live[random_below(SLOTS)];
        if (inside != NULL && app_usable_size(inside) > 8) {
            check_wrong_call(inside + 4 * (1 + random_below(2)));
            check_wrong_call(inside + 1);
        }
    }
    CHECK(app_heap_check());
    for (int i = 0; i < SLOTS; i++) {
        app_free(live[i]);
        live[i] = NULL;
    }
}

static void check_locks(void) {
    void *block = app_malloc(40);
    CHECK(LOCKS_ONCE(app_heap_init()));
    CHECK(LOCKS_ONCE(block = app_malloc(40)));
    CHECK(LOCKS_ONCE(app_malloc(SIZE_MAX)));
    CHECK(LOCKS_ONCE(app_usable_size(block)));
    CHECK(LOCKS_ONCE(block = app_realloc(block, 80)));
    CHECK(LOCKS_ONCE(app_realloc(block, SIZE_MAX)));
    CHECK(LOCKS_ONCE(app_realloc(block, 0)));
    CHECK(LOCKS_ONCE(app_realloc(NULL, 0)));
    CHECK(LOCKS_ONCE(app_calloc(2, 3)));
    CHECK(LOCKS_ONCE(app_calloc(2, SIZE_MAX)));
    CHECK(LOCKS_ONCE(app_aligned_alloc(64, 8)));
    CHECK(LOCKS_ONCE(app_aligned_alloc(3, 8)));
    CHECK(LOCKS_ONCE(app_free(NULL)));
    CHECK(LOCKS_ONCE(app_free(block)));
    CHECK(LOCKS_ONCE(app_heap_check()));
    CHECK(LOCKS_ONCE(app_heap_footprint()));
}

int main(void) {
    check_before_init();
    CHECK(app_heap_init());
    check_service();
    void (*const checks[])(void) = {check_large_sizes, check_products,   check_clearing,
                                    check_realloc,     check_alignments, check_bad_frees,
                                    check_wrong_calls, check_locks};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        checks[i]();
        CHECK(app_heap_footprint() <= APP_HEAP_BYTES);
        check_service();
        CHECK(app_heap_init()); /* empty again */
        check_service();
    }
    return 0;
}
