/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions of an allocator, each the lock and the whole-heap check of safety level 2
 * around the work itself, and the tables of both.
 *
 *   hfit_<name>_alloc   lock -> is_heap_sound -> heap_alloc -> unlock
 *                                               guarded_alloc -> heap_alloc, at safety level 3
 *
 * `init` and `smallest_region` touch no heap that exists, and take no lock. Here, and nowhere else,
 * the plan of a build takes the place of the one given (hfit/plan_of_build.h).
 *
 * A source that includes this file first defines HFIT_THIS(operation) as hfit_<name>_##operation,
 * then defines the static functions that src/operations/work.h declares.
 */
#ifndef HFIT_OPERATIONS_H
#define HFIT_OPERATIONS_H

#include "hfit/config.h"
#include "hfit/contract.h"
#include "hfit/plan_of_build.h"

#include "src/region.h"
#include "src/operations/work.h"

/* What the public functions do: the work itself, or that behind canaries and quarantine; and the
 * heap that the work is done on. */
#if HFIT_SAFETY >= 3
#include "src/operations/guarded.h"
#define HFIT_DO(operation) guarded_##operation
#define HFIT_INNER(heap) inner_of(heap)
#else
#define HFIT_DO(operation) heap_##operation
#define HFIT_INNER(heap) (heap)
#endif

/* True but at safety level 2; there, whether the heap's metadata hold, and if not that is told. */
static inline bool is_heap_sound(const hfit_heap *heap, const hfit_plan *plan) {
    if (HFIT_SAFETY != 2 || heap_check(heap, plan)) {
        return true;
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    return false;
}

hfit_heap *HFIT_THIS(init)(void *region, size_t region_size, const hfit_plan *plan) {
    return HFIT_DO(init)(region, region_size, HFIT_PLAN_OF_BUILD(plan));
}

size_t HFIT_THIS(smallest_region)(const hfit_plan *plan) {
    return HFIT_DO(smallest_region)(HFIT_PLAN_OF_BUILD(plan));
}

void *HFIT_THIS(alloc)(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    void *block = is_heap_sound(heap, own) ? HFIT_DO(alloc)(heap, own, size) : NULL;
    HFIT_UNLOCK(heap);
    return block;
}

void HFIT_THIS(free)(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, own)) {
        HFIT_DO(free)(heap, own, block);
    }
    HFIT_UNLOCK(heap);
}

void HFIT_THIS(free_sized)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, own)) {
        HFIT_DO(free_sized)(heap, own, block, size);
    }
    HFIT_UNLOCK(heap);
}

void *HFIT_THIS(resize)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    void *resized = is_heap_sound(heap, own) ? HFIT_DO(resize)(heap, own, block, size) : NULL;
    HFIT_UNLOCK(heap);
    return resized;
}

void *HFIT_THIS(resize_sized)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t old_size,
                              size_t size) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    void *resized =
        is_heap_sound(heap, own) ? HFIT_DO(resize_sized)(heap, own, block, old_size, size) : NULL;
    HFIT_UNLOCK(heap);
    return resized;
}

void *HFIT_THIS(alloc_usable)(hfit_heap *heap, const hfit_plan *plan, size_t size, size_t *usable) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    void *block = NULL;
    *usable = 0;
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, own)) {
        block = HFIT_DO(alloc_usable)(heap, own, size, usable);
    }
    HFIT_UNLOCK(heap);
    return block;
}

size_t HFIT_THIS(free_usable)(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    const size_t usable = is_heap_sound(heap, own) ? HFIT_DO(free_usable)(heap, own, block) : 0;
    HFIT_UNLOCK(heap);
    return usable;
}

void *HFIT_THIS(resize_usable)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size,
                               size_t usable[2]) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    void *resized = NULL;
    usable[0] = usable[1] = 0;
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, own)) {
        resized = HFIT_DO(resize_usable)(heap, own, block, size, usable);
    }
    HFIT_UNLOCK(heap);
    return resized;
}

void *HFIT_THIS(alloc_aligned)(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                               size_t size) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    void *block =
        is_heap_sound(heap, own) ? HFIT_DO(alloc_aligned)(heap, own, alignment, size) : NULL;
    HFIT_UNLOCK(heap);
    return block;
}

size_t HFIT_THIS(usable_size)(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    const size_t size = is_heap_sound(heap, own) ? HFIT_DO(usable_size)(heap, own, block) : 0;
    HFIT_UNLOCK(heap);
    return size;
}

void HFIT_THIS(walk)(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                     void *context) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, own)) {
        HFIT_DO(walk)(heap, own, visitor, context);
    }
    HFIT_UNLOCK(heap);
}

bool HFIT_THIS(check)(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    const bool is_sound = HFIT_DO(check)(heap, own);
    HFIT_UNLOCK(heap);
    return is_sound;
}

size_t HFIT_THIS(footprint)(const hfit_heap *heap, const hfit_plan *plan) {
    const hfit_plan *own = HFIT_PLAN_OF_BUILD(plan);
    HFIT_LOCK(heap);
    const size_t footprint = HFIT_DO(footprint)(heap, own);
    HFIT_UNLOCK(heap);
    return footprint;
}

const hfit_operations HFIT_THIS(operations) = {
    .init = HFIT_THIS(init),
    .alloc = HFIT_THIS(alloc),
    .free = HFIT_THIS(free),
    .free_sized = HFIT_THIS(free_sized),
    .resize = HFIT_THIS(resize),
    .resize_sized = HFIT_THIS(resize_sized),
    .alloc_aligned = HFIT_THIS(alloc_aligned),
    .usable_size = HFIT_THIS(usable_size),
    .walk = HFIT_THIS(walk),
    .check = HFIT_THIS(check),
    .footprint = HFIT_THIS(footprint),
    .smallest_region = HFIT_THIS(smallest_region),
};

/* Where there is neither lock nor check nor guard, the work is the function. */
#if HFIT_HAS_LOCK || HFIT_SAFETY >= 2
#define HFIT_WORK(operation) heap_##operation
#else
#define HFIT_WORK(operation) HFIT_THIS(operation)
#endif

const hfit_operations HFIT_THIS(unlocked) = {
    .init = HFIT_SAFETY >= 3 ? heap_init : HFIT_THIS(init),
    .alloc = HFIT_WORK(alloc),
    .free = HFIT_WORK(free),
    .free_sized = HFIT_WORK(free_sized),
    .resize = HFIT_WORK(resize),
    .resize_sized = HFIT_WORK(resize_sized),
    .alloc_aligned = HFIT_WORK(alloc_aligned),
    .usable_size = HFIT_WORK(usable_size),
    .walk = HFIT_WORK(walk),
    .check = HFIT_WORK(check),
    .footprint = HFIT_WORK(footprint),
    .smallest_region = HFIT_SAFETY >= 3 ? heap_smallest_region : HFIT_THIS(smallest_region),
};

#endif
