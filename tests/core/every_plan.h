/* SPDX-License-Identifier: Apache-2.0 */
/* A heap under every test plan in turn, in one region. */
#ifndef EVERY_PLAN_H
#define EVERY_PLAN_H

#include "../contract/contract_config.h"
#include "../contract/plans.h"

#include "check.h"

#include <string.h>

static test_plan plans[MOST_PLANS];
static _Alignas(REGION_ALIGNMENT) unsigned char region[LARGEST_REGION];
static unsigned char before[LARGEST_REGION]; /* the same at an earlier time */

typedef struct subject {
    const test_plan *from;
    const hfit_allocator *allocator;
    const hfit_operations *operations;
    const hfit_plan *plan;
    hfit_heap *heap;
    size_t bytes; /* of the region */
} subject;

/* A heap in a region of zeros, so many bytes beyond the plan's smallest. */
static inline subject start(const test_plan *from, size_t room) {
    subject s = {from, from->allocator, from->allocator->operations, plan_of(from), NULL, room};
    s.bytes += s.operations->smallest_region(s.plan);
    CHECK(s.bytes <= LARGEST_REGION);
    memset(region, 0, sizeof region);
    misuse_count = 0;
    s.heap = s.operations->init(region, s.bytes, s.plan);
    CHECK(s.heap != NULL);
    return s;
}

/* Those of core's allocators, which come first, or all. */
static inline size_t for_each_plan(void (*statement)(const test_plan *plan), bool with_baselines) {
    const size_t count = make_test_plans(plans);
    size_t i = 0;
    for (; i < count && (with_baselines || is_core(plans[i].allocator)); i++) {
        check_context = plans[i].name;
        statement(&plans[i]);
    }
    return i;
}

static inline void remember(void) {
    memcpy(before, region, sizeof region);
}

static inline bool is_unchanged(void) {
    return memcmp(before, region, sizeof region) == 0;
}

#endif
