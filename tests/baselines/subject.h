/* SPDX-License-Identifier: Apache-2.0 */
/* A heap under test in a region of its own, and blocks as offsets from the region's start. */
#ifndef BASELINES_TESTS_SUBJECT_H
#define BASELINES_TESTS_SUBJECT_H

#include "hfit/contract.h"

#include "check.h"

#include <string.h>

enum { NONE = 0, REGION = 256 * 1024 };

typedef struct subject {
    const hfit_operations *operations;
    const hfit_plan *plan;
    hfit_heap *heap;
} subject;

static _Alignas(4096) unsigned char region[REGION];

static inline subject start(const hfit_operations *operations, const hfit_plan *plan, size_t size) {
    CHECK(size <= REGION);
    hfit_heap *heap = operations->init(region, size, plan);
    CHECK(heap != NULL);
    return (subject){operations, plan, heap};
}

/* The offset of a new block, NONE if the request is refused. */
static inline size_t take(subject s, size_t size) {
    const unsigned char *block = s.operations->alloc(s.heap, s.plan, size);
    CHECK(s.operations->check(s.heap, s.plan));
    return block == NULL ? NONE : (size_t)(block - region);
}

static inline void give(subject s, size_t block) {
    s.operations->free(s.heap, s.plan, region + block);
    CHECK(s.operations->check(s.heap, s.plan));
}

static inline size_t resize(subject s, size_t block, size_t size) {
    const unsigned char *moved = s.operations->resize(s.heap, s.plan, region + block, size);
    CHECK(s.operations->check(s.heap, s.plan));
    return moved == NULL ? NONE : (size_t)(moved - region);
}

static inline size_t usable(subject s, size_t block) {
    return s.operations->usable_size(s.heap, s.plan, region + block);
}

static inline size_t footprint(subject s) {
    return s.operations->footprint(s.heap, s.plan);
}

/* A word of the heap's metadata. */
static inline size_t word_at(size_t offset) {
    uint32_t word;
    memcpy(&word, region + offset, sizeof word);
    return word;
}

#endif
