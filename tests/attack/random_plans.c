/* SPDX-License-Identifier: Apache-2.0 */
/* See random_plans.h. */
#include "attack/random_plans.h"

#include "hfit/descriptor.h"

#include <stdio.h>
#include <string.h>

static const hfit_allocator *draw_allocator(byte_source *source) {
    size_t count;
    const hfit_allocator *const *all = hfit_allocators(&count);
    return all[draw_below(source, (uint32_t)count)];
}

/* From the lowest value on: the smaller the likelier. */
static uint32_t draw_in_range(const hfit_tunable *tunable, byte_source *source) {
    const uint32_t bits = draw_below(source, 1 + draw_below(source, 33));
    const uint32_t above = bits == 0 ? 0 : draw_below(source, UINT32_MAX) >> (32 - bits);
    const uint32_t span = tunable->highest - tunable->lowest;
    return above <= span ? tunable->lowest + above : tunable->highest;
}

static uint32_t draw_scalar(const hfit_tunable *tunable, byte_source *source) {
    switch (draw_below(source, 8)) {
    case 0:
        return tunable->lowest;
    case 1:
        return tunable->highest;
    case 2:
    case 3:
        return tunable->standard;
    default:
        return draw_in_range(tunable, source);
    }
}

static void draw_scalars(test_plan *plan, byte_source *source) {
    for (uint32_t i = 1; i < plan->allocator->tunable_count; i++) { /* the first is the alignment */
        const hfit_tunable *tunable = &plan->allocator->tunables[i];
        if (tunable->kind == HFIT_SCALAR) {
            const uint32_t value = draw_scalar(tunable, source);
            memcpy((char *)plan->bytes + tunable->offset, &value, sizeof value);
        }
    }
}

static void draw_pools(test_plan *plan, byte_source *source) {
    hfit_pools_plan *pools = (hfit_pools_plan *)(void *)plan->bytes;
    const uint32_t count = draw_below(source, TEST_POOLS + 1);
    uint32_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        size += 1 + draw_below(source, draw_below(source, 4) == 0 ? 300 : 40);
        plan->pools[i] = (hfit_pool){
            .size = size, .count = draw_below(source, 12), .is_exact = draw_below(source, 2)};
    }
    if (count != 0) {
        pools->pools = (hfit_pool_list){
            plan->pools, count, hfit_pools_lay_out(plan->pools, count, pools->common.alignment)};
    }
}

/* A heap behind the pools, or none. */
static void draw_shared(random_plan *plan, byte_source *source) {
    const hfit_tunable *link = tunable_of_kind(plan->own.allocator, HFIT_SHARED);
    const hfit_allocator *behind = draw_allocator(source);
    if (link == NULL || !can_be_shared(behind)) {
        return;
    }
    plan->shared.allocator = behind;
    memcpy(plan->shared.bytes, &plan_of(&plan->own)->alignment, sizeof(uint32_t));
    draw_scalars(&plan->shared, source);
    const hfit_shared shared = {behind->unlocked, plan_of(&plan->shared)};
    memcpy((char *)plan->own.bytes + link->offset, &shared, sizeof shared);
}

/* Makes a sound plan one that `init` must refuse, or another sound one. */
static void maim(test_plan *plan, byte_source *source) {
    const hfit_tunable *tunable =
        &plan->allocator->tunables[draw_below(source, plan->allocator->tunable_count)];
    const uint32_t value = draw_in_range(&(hfit_tunable){.highest = UINT32_MAX}, source);
    if (tunable->kind == HFIT_SCALAR) {
        memcpy((char *)plan->bytes + tunable->offset, &value, sizeof value);
    }
}

void draw_plan(random_plan *plan, const hfit_allocator *allocator, byte_source *source) {
    memset(plan, 0, sizeof *plan);
    plan->own.allocator = allocator == NULL ? draw_allocator(source) : allocator;
    const uint32_t alignment = 4u << draw_below(source, 3);
    memcpy(plan->own.bytes, &alignment, sizeof alignment);
    draw_scalars(&plan->own, source);
    if (tunable_of_kind(plan->own.allocator, HFIT_POOLS) != NULL) {
        draw_pools(&plan->own, source);
        draw_shared(plan, source);
    }
    const bool is_maimed_early = draw_below(source, 64) == 1;
    const bool is_maimed_late = draw_below(source, 64) == 1;
    if (is_maimed_early) {
        maim(&plan->own, source);
    }
    if (plan->own.allocator->complete != NULL) {
        (void)plan->own.allocator->complete((hfit_pools_plan *)(void *)plan->own.bytes,
                                            plan->own.index, TEST_INDEX);
    }
    if (is_maimed_late) {
        maim(&plan->own, source);
    }
    snprintf(plan->own.name, sizeof plan->own.name, "%s, alignment %u", plan->own.allocator->name,
             alignment);
}
