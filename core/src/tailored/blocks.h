/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `alloc` and `free` of `tailored` do, for a plan of which the compiler may know all that
 * chooses code.
 */
#ifndef HFIT_TAILORED_BLOCKS_H
#define HFIT_TAILORED_BLOCKS_H

#include "src/size.h"
#include "src/region.h"
#include "src/tailored/heap.h"
#include "src/tailored/bounds.h"
#include "src/tailored/chunks.h"

/* True if requests of `size` granules with this tag are cut from the top's end. */
static FORCE_INLINE bool is_high(const hfit_plan *plan, uint32_t size, uint32_t tag) {
    const hfit_tailored_plan *own = own_plan(plan);
    if (!has_two_ends(plan)) {
        return false;
    }
    if (tag - 1 < own->tags) { /* 0 is no tag */
        return (own->tag_high >> tag & 1u) != 0;
    }
    const uint32_t number = size_number(size);
    const uint32_t bit = number < HFIT_TAILORED_CLASSES ? number : HFIT_TAILORED_CLASSES - 1u;
    return ((bit < 32 ? own->high_0 : own->high_1) >> (bit & 31) & 1u) != 0;
}

/* A request, and where in the program it is made. */
typedef struct request {
    size_t size;
    uint32_t tag; /* 0: not told */
} request;

/* `usable` may be NULL. */
static FORCE_INLINE void *alloc_block(hfit_heap *heap, const hfit_plan *plan, const request *asked,
                                      size_t *usable) {
    place at;
    const uint32_t granules = granules_for(plan, asked->size);
    const bool high = is_high(plan, granules, asked->tag);
    if (granules == 0 || !take(heap, plan, granules, high, &at)) {
        return NULL;
    }
    if (high && is_top(heap, at.start)) {
        at.start = use_high(heap, plan, at.start, at.end, granules);
    } else {
        at.end = use(heap, plan, at.start, at.end, granules);
    }
    if (usable != NULL) {
        *usable = usable_bytes(plan, at.end - at.start);
    }
    return block_at(heap, at.start << granule_shift(plan));
}

/* Returns the bytes that were usable; 0 if the block is NULL or not live. */
static FORCE_INLINE size_t free_block(hfit_heap *heap, const hfit_plan *plan, void *block) {
    place at;
    if (block == NULL || !find_place(heap, plan, block, &at)) {
        return 0;
    }
    release(heap, plan, &at);
    return usable_bytes(plan, at.end - at.start);
}

#endif
