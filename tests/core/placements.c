/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints where every registered allocator puts the blocks of a seeded run, as one hash a plan.
 *
 * Built for 32 and for 64 bits the output must be the same: metadata are offsets, so a heap has one
 * layout.
 */
#include "plans.h"

#include "check.h"

#include <inttypes.h>

enum { BLOCKS = 100, STEPS = 4000, REGION = 48 * 1024 };

static test_plan plans[MOST_PLANS];
static _Alignas(4096) unsigned char region[REGION];

static uint64_t hash_step(uint64_t hash, const void *block) {
    const uint32_t offset =
        block == NULL ? UINT32_MAX : (uint32_t)((const unsigned char *)block - region);
    return (hash ^ offset) * UINT64_C(1099511628211);
}

/* A fixed mix of allocations, aligned ones, resizes and frees over BLOCKS slots. */
static uint64_t placements_of(const test_plan *plan) {
    const hfit_operations *operations = plan->allocator->operations;
    void *blocks[BLOCKS] = {NULL};
    size_t sizes[BLOCKS];
    uint64_t hash = UINT64_C(14695981039346656037);
    uint32_t random = 1;
    hfit_heap *heap = operations->init(region, sizeof region, plan_of(plan));
    CHECK(heap != NULL);
    for (int i = 0; i < STEPS; i++) {
        random = random * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
        const size_t at = (random >> 8) % BLOCKS;
        void **slot = &blocks[at];
        const size_t size = (random >> 16) % 700;
        if (*slot == NULL) {
            *slot = size % 9 == 0 ? operations->alloc_aligned(heap, plan_of(plan), 64, size)
                                  : operations->alloc(heap, plan_of(plan), size);
            hash = hash_step(hash, *slot);
            sizes[at] = size;
        } else if (size % 4 == 0) {
            void *moved = resize_block(plan, heap, *slot, sizes[at], size);
            hash = hash_step(hash, moved);
            sizes[at] = moved == NULL ? sizes[at] : size;
            *slot = moved == NULL ? *slot : moved;
        } else {
            free_block(plan, heap, *slot, sizes[at]);
            *slot = NULL;
        }
    }
    return hash;
}

int main(void) {
    const size_t count = make_test_plans(plans);
    for (size_t i = 0; i < count; i++) {
        printf("%016" PRIx64 " %zu %s\n", placements_of(&plans[i]),
               plans[i].allocator->operations->smallest_region(plan_of(&plans[i])), plans[i].name);
    }
    return 0;
}
