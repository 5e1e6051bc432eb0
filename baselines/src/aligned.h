/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for aligned blocks, alike in all baselines: within the plan's alignment an ordinary one,
 * beyond it one for the includer.
 *
 * A larger block than asked for has an address in it that is aligned. What lies before that is
 * freed where chunks can be cut (cut_chunk.h), and else stays with the block (shifted_block.h).
 */
#ifndef BASELINES_ALIGNED_H
#define BASELINES_ALIGNED_H

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"

/* A block at a multiple of `alignment`, which is above the plan's; NULL if there is none. */
static void *take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size);

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    return alignment <= plan->alignment ? heap_alloc(heap, plan, size)
                                        : take_aligned(heap, plan, (uint32_t)alignment, size);
}

#endif
