/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions of an allocator, each the lock and the whole-heap check of safety level 2
 * around the work itself, and the tables of both.
 *
 *   hfit_<name>_alloc   lock -> is_heap_sound -> heap_alloc -> unlock
 *
 * A source that includes this file first defines HFIT_THIS(operation) as hfit_<name>_##operation,
 * then defines the static functions declared below, and `init` and `smallest_region`, which touch
 * no heap that exists, as HFIT_THIS(init) and HFIT_THIS(smallest_region).
 */
#ifndef HFIT_OPERATIONS_H
#define HFIT_OPERATIONS_H

#include "hfit/config.h"
#include "hfit/contract.h"

#include "src/region.h"

/* Each as its namesake in hfit_operations. */
static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size);
static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block);
static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);
static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size);
static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block);
static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context);
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan);
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan);

/* For heap_resize: moves a block of `usable` bytes to a new one of `size` bytes. NULL, and nothing
 * moved, if there is none. */
static inline void *move_block(hfit_heap *heap, const hfit_plan *plan, void *block, size_t usable,
                               size_t size) {
    void *moved = heap_alloc(heap, plan, size);
    if (moved != NULL) {
        copy_payload(moved, block, usable < size ? usable : size);
        heap_free(heap, plan, block);
    }
    return moved;
}

/* True below safety level 2; there, whether the heap's metadata hold, and if not that is told. */
static inline bool is_heap_sound(const hfit_heap *heap, const hfit_plan *plan) {
    if (HFIT_SAFETY < 2 || heap_check(heap, plan)) {
        return true;
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    return false;
}

void *HFIT_THIS(alloc)(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    HFIT_LOCK(heap);
    void *block = is_heap_sound(heap, plan) ? heap_alloc(heap, plan, size) : NULL;
    HFIT_UNLOCK(heap);
    return block;
}

void HFIT_THIS(free)(hfit_heap *heap, const hfit_plan *plan, void *block) {
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, plan)) {
        heap_free(heap, plan, block);
    }
    HFIT_UNLOCK(heap);
}

void HFIT_THIS(free_sized)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, plan)) {
        heap_free_sized(heap, plan, block, size);
    }
    HFIT_UNLOCK(heap);
}

void *HFIT_THIS(resize)(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    HFIT_LOCK(heap);
    void *resized = is_heap_sound(heap, plan) ? heap_resize(heap, plan, block, size) : NULL;
    HFIT_UNLOCK(heap);
    return resized;
}

void *HFIT_THIS(alloc_aligned)(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                               size_t size) {
    HFIT_LOCK(heap);
    void *block =
        is_heap_sound(heap, plan) ? heap_alloc_aligned(heap, plan, alignment, size) : NULL;
    HFIT_UNLOCK(heap);
    return block;
}

size_t HFIT_THIS(usable_size)(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    HFIT_LOCK(heap);
    const size_t size = is_heap_sound(heap, plan) ? heap_usable_size(heap, plan, block) : 0;
    HFIT_UNLOCK(heap);
    return size;
}

void HFIT_THIS(walk)(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                     void *context) {
    HFIT_LOCK(heap);
    if (is_heap_sound(heap, plan)) {
        heap_walk(heap, plan, visitor, context);
    }
    HFIT_UNLOCK(heap);
}

bool HFIT_THIS(check)(const hfit_heap *heap, const hfit_plan *plan) {
    HFIT_LOCK(heap);
    const bool is_sound = heap_check(heap, plan);
    HFIT_UNLOCK(heap);
    return is_sound;
}

size_t HFIT_THIS(footprint)(const hfit_heap *heap, const hfit_plan *plan) {
    HFIT_LOCK(heap);
    const size_t footprint = heap_footprint(heap, plan);
    HFIT_UNLOCK(heap);
    return footprint;
}

const hfit_operations HFIT_THIS(operations) = {
    .init = HFIT_THIS(init),
    .alloc = HFIT_THIS(alloc),
    .free = HFIT_THIS(free),
    .free_sized = HFIT_THIS(free_sized),
    .resize = HFIT_THIS(resize),
    .alloc_aligned = HFIT_THIS(alloc_aligned),
    .usable_size = HFIT_THIS(usable_size),
    .walk = HFIT_THIS(walk),
    .check = HFIT_THIS(check),
    .footprint = HFIT_THIS(footprint),
    .smallest_region = HFIT_THIS(smallest_region),
};

const hfit_operations HFIT_THIS(unlocked) = {
    .init = HFIT_THIS(init),
    .alloc = heap_alloc,
    .free = heap_free,
    .free_sized = heap_free_sized,
    .resize = heap_resize,
    .alloc_aligned = heap_alloc_aligned,
    .usable_size = heap_usable_size,
    .walk = heap_walk,
    .check = heap_check,
    .footprint = heap_footprint,
    .smallest_region = HFIT_THIS(smallest_region),
};

#endif
