/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a build that serves any plan and may be large: `alloc` and `free` once for each layout of an
 * exact index, with one end and with two. Each is as if built for the one plan, and places every
 * block where the code for any plan does, which is all there is in any other build.
 */
#ifndef HFIT_TAILORED_COPIES_H
#define HFIT_TAILORED_COPIES_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/tailored/heap.h"
#include "src/tailored/blocks.h"

#if HFIT_HAS_COPIES

/* What each copy is called with: a plan of which all that chooses code is constant. */
static FORCE_INLINE hfit_tailored_plan known_plan(const hfit_plan *plan, uint32_t layout,
                                                  uint32_t ends) {
    hfit_tailored_plan known = *own_plan(plan);
    known.layout = layout;
    known.ends = ends;
    known.index = HFIT_TAILORED_EXACT;
    return known;
}

static FORCE_INLINE void *alloc_in(hfit_heap *heap, const hfit_plan *plan, uint32_t layout,
                                   size_t size, uint32_t tag) {
    if (has_two_ends(plan)) {
        const hfit_tailored_plan known = known_plan(plan, layout, 2);
        return alloc_block(heap, &known.common, size, tag);
    }
    const hfit_tailored_plan known = known_plan(plan, layout, 1);
    return alloc_block(heap, &known.common, size, tag);
}

static HFIT_FLATTEN void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                        uint32_t tag) {
    if (is_good_fit(plan)) {
        return alloc_block(heap, plan, size, tag);
    }
    if (has_headers(plan)) {
        return alloc_in(heap, plan, HFIT_TAILORED_HEADERS, size, tag);
    }
    return has_pairs(plan) ? alloc_in(heap, plan, HFIT_TAILORED_PAIRS, size, tag)
                           : alloc_in(heap, plan, HFIT_TAILORED_MAP, size, tag);
}

static FORCE_INLINE void free_in(hfit_heap *heap, const hfit_plan *plan, uint32_t layout,
                                 void *block) {
    if (has_two_ends(plan)) {
        const hfit_tailored_plan known = known_plan(plan, layout, 2);
        free_block(heap, &known.common, block);
    } else {
        const hfit_tailored_plan known = known_plan(plan, layout, 1);
        free_block(heap, &known.common, block);
    }
}

static HFIT_FLATTEN void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    if (is_good_fit(plan)) {
        free_block(heap, plan, block);
    } else if (has_headers(plan)) {
        free_in(heap, plan, HFIT_TAILORED_HEADERS, block);
    } else if (has_pairs(plan)) {
        free_in(heap, plan, HFIT_TAILORED_PAIRS, block);
    } else {
        free_in(heap, plan, HFIT_TAILORED_MAP, block);
    }
}

#else

static FORCE_INLINE void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                        uint32_t tag) {
    return alloc_block(heap, plan, size, tag);
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    free_block(heap, plan, block);
}

#endif

#endif
