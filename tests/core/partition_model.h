/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of partition pools share: plans made by hand, the geometry of a heap as arithmetic
 * tells it, and statements about bad frees and flipped bits. Bytes are the contract suite's model's
 * business.
 */
#ifndef PARTITION_MODEL_H
#define PARTITION_MODEL_H

#include "../contract/model.h"
#include "../contract/split_mix.h"

#include "check.h"
#include "contract_config.h"

#include <string.h>

enum { MOST_TESTED = 256 }; /* partitions of a heap under test */

#define NOWHERE UINT32_MAX

typedef struct geometry {
    size_t size; /* bytes of a partition */
    uint32_t count;
    size_t base; /* offset of partition 0 */
} geometry;

/* Up to `most` partitions, and often a border. */
static inline size_t random_size(const geometry *g, size_t most) {
    const size_t partitions = random_below(most);
    return random_below(3) == 0 ? partitions * g->size + random_below(2)
                                : partitions * g->size + random_below(g->size) + 1;
}

/* A plan of the registered allocator of that name. */
static inline test_plan named_plan(const char *name, const void *bytes, size_t size) {
    test_plan plan;
    size_t count;
    const hfit_allocator *const *all = hfit_allocators(&count);
    memset(&plan, 0, sizeof plan);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i]->name, name) == 0) {
            plan.allocator = all[i];
        }
    }
    CHECK(plan.allocator != NULL && plan.allocator->plan_size == size && size <= PLAN_BYTES);
    memcpy(plan.bytes, bytes, size);
    return plan;
}

static inline size_t region_of(const test_plan *plan) {
    return plan->allocator->operations->smallest_region(plan_of(plan));
}

/* Of a plan that says how many partitions there are; plans of both pools begin alike. */
static inline geometry geometry_of(const test_plan *plan) {
    uint32_t words[3];
    memcpy(words, plan->bytes, sizeof words);
    const size_t size = (words[1] + words[0] - 1) / words[0] * words[0];
    CHECK(words[2] > 0 && words[2] <= MOST_TESTED);
    return (geometry){size, words[2], region_of(plan) - words[2] * size};
}

static inline uint32_t partitions_of(const geometry *g, size_t size) {
    return size == 0 ? 1 : (uint32_t)((size + g->size - 1) / g->size);
}

/* The partition that an address begins. */
static inline uint32_t partition_of(const model *m, const geometry *g, const void *address) {
    const size_t distance = (size_t)((const unsigned char *)address - m->region) - g->base;
    CHECK(distance % g->size == 0);
    return (uint32_t)(distance / g->size);
}

/* Frees, resizes and asks for the size of what cannot be freed: told each time, and nothing
 * changes. */
static inline void check_refused(const model *m, void *block) {
    static unsigned char before[LARGEST_REGION];
    const hfit_plan *plan = plan_of(m->plan);
    const uint32_t misuses = misuse_count;
    memcpy(before, m->region, m->region_size);
    m->operations->free(m->heap, plan, block);
    m->operations->free_sized(m->heap, plan, block, 64);
    CHECK(m->operations->resize(m->heap, plan, block, 8) == NULL);
    CHECK(misuse_count == misuses + 3);
    CHECK(memcmp(before, m->region, m->region_size) == 0);
}

/* Flips each bit of the word at an offset: the check tells. */
static inline void check_flips(const model *m, size_t offset) {
    uint32_t word;
    memcpy(&word, m->region + offset, 4);
    for (unsigned bit = 0; bit < 32; bit++) {
        const uint32_t flipped = word ^ (uint32_t)1 << bit;
        memcpy(m->region + offset, &flipped, 4);
        CHECK(!m->operations->check(m->heap, plan_of(m->plan)));
    }
    memcpy(m->region + offset, &word, 4);
    CHECK(m->operations->check(m->heap, plan_of(m->plan)));
}

#endif
