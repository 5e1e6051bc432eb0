/* SPDX-License-Identifier: Apache-2.0 */
/* Safety level 3 with a source of randomness: what can no longer be foretold. */
#include "check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The source that core is handed: each call another number, or the same ones again. */
static uint32_t random_number;
static uint32_t next_number(void) {
    random_number = random_number * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return random_number ^ random_number >> 16;
}

static uint32_t misuse_count;

#define HFIT_SAFETY 3
#define HFIT_QUARANTINE 8
#define HFIT_RANDOM(heap) ((void)(heap), next_number())
#define HFIT_ON_MISUSE(heap, kind, pointer)                                                        \
    ((void)(heap), (void)(kind), (void)(pointer), (void)misuse_count++)
#include "src/tiling/tlsf.c"

enum { REGION = 4096, BLOCKS = 24 };

static const hfit_tlsf_plan plan = {.common = {.alignment = 8}, .probes = 2};
static _Alignas(16) unsigned char region[REGION];

static hfit_heap *make_heap(uint32_t seed) {
    random_number = seed;
    misuse_count = 0;
    return hfit_tlsf_init(region, REGION, &plan.common);
}

/* Frees as many blocks as were taken, in order, and tells in which order they left: by the order in
 * which tlsf, which hands out the one freed last, gives them back. */
static void find_order(uint32_t seed, uint32_t *order) {
    hfit_heap *heap = make_heap(seed);
    void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = hfit_tlsf_alloc(heap, &plan.common, 40);
        (void)hfit_tlsf_alloc(heap, &plan.common, 16); /* keeps it apart from the next */
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        hfit_tlsf_free(heap, &plan.common, blocks[i]);
    }
    CHECK(hfit_tlsf_check(heap, &plan.common));
    for (size_t i = 0; i < BLOCKS - HFIT_QUARANTINE; i++) {
        const unsigned char *block = hfit_tlsf_alloc(heap, &plan.common, 40);
        order[i] = (uint32_t)(block - region);
    }
    CHECK(misuse_count == 0);
}

TEST(freed_blocks_come_back_in_an_order_of_their_own) {
    uint32_t one[BLOCKS] = {0};
    uint32_t same[BLOCKS] = {0};
    uint32_t other[BLOCKS] = {0};
    find_order(1, one);
    find_order(1, same);
    find_order(2, other);
    CHECK(memcmp(one, same, sizeof one) == 0);
    CHECK(memcmp(one, other, sizeof one) != 0);
}

TEST(each_heap_has_canaries_of_its_own) {
    unsigned char canaries[2][8];
    for (uint32_t seed = 0; seed < 2; seed++) {
        hfit_heap *heap = make_heap(seed);
        const unsigned char *block = hfit_tlsf_alloc(heap, &plan.common, 40);
        memcpy(canaries[seed], block + 40, sizeof canaries[seed]);
    }
    CHECK(memcmp(canaries[0], canaries[1], sizeof canaries[0]) != 0);
}

RUN_TESTS()
