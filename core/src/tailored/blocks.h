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

static FORCE_INLINE void *alloc_block(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                      uint32_t tag) {
    place at;
    const uint32_t granules = granules_for(plan, size);
    const bool high = is_high(plan, granules, tag);
    if (granules == 0 || !take(heap, plan, granules, high, &at)) {
        return NULL;
    }
    if (high && is_top(heap, at.start)) {
        at.start = use_high(heap, plan, at.start, at.end, granules);
    } else {
        use(heap, plan, at.start, at.end, granules);
    }
    return block_at(heap, at.start << granule_shift(plan));
}

static FORCE_INLINE void free_block(hfit_heap *heap, const hfit_plan *plan, void *block) {
    place at;
    if (block != NULL && find_place(heap, plan, block, &at)) {
        release(heap, plan, &at);
    }
}

#endif
