/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block with more alignment than its allocator gives, inside a larger block that cannot be split:
 * the word before it leads back.
 *
 *   | tag | ...  gap bytes ...  | gap+S | the caller's bytes ... |
 *         ^ the larger block's payload  ^ what the caller got
 *
 * Tags are the words just before payloads. The lowest two bits of every tag are TAG_USED and, S,
 * TAG_SHIFTED: set where there is no chunk's tag but the way back to one.
 *
 * A source that includes this file defines the static function declared below.
 */
#ifndef BASELINES_SHIFTED_BLOCK_H
#define BASELINES_SHIFTED_BLOCK_H

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/aligned.h"

enum { TAG_SIZE = 4, TAG_USED = 1, TAG_SHIFTED = 2 };

/* Notes at the larger block, which was asked for with `room` bytes, that the caller's begins `gap`
 * bytes behind `payload`. */
static void note_shift(hfit_heap *heap, const hfit_plan *plan, uint32_t payload, uint32_t gap,
                       uint32_t room);

/* The payload of the chunk that a block of the caller's lies in; stores the chunk's tag. */
static inline uint32_t payload_around(const hfit_heap *heap, uint32_t payload, uint32_t *tag) {
    *tag = load_word(heap, payload - TAG_SIZE);
    if ((*tag & TAG_SHIFTED) != 0) {
        payload -= *tag & ~(uint32_t)(TAG_USED | TAG_SHIFTED);
        *tag = load_word(heap, payload - TAG_SIZE);
    }
    return payload;
}

/* The offset of a block that the caller hands in, which is believed to be this heap's. */
static inline uint32_t offset_of_block(const hfit_heap *heap, const void *block) {
    return (uint32_t)((uintptr_t)block - (uintptr_t)heap);
}

static void *take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size) {
    uint32_t room;
    if (!round_size(size, alignment - plan->alignment, 1, &room)) {
        return NULL;
    }
    const void *block = heap_alloc(heap, plan, room);
    if (block == NULL) {
        return NULL;
    }
    const uint32_t payload = offset_of_block(heap, block);
    const uint32_t gap = alignment_gap(heap, payload, alignment);
    if (gap != 0) {
        note_shift(heap, plan, payload, gap, room);
        store_word(heap, payload + gap - TAG_SIZE, gap | TAG_SHIFTED); /* the way back */
    }
    return block_at(heap, payload + gap);
}

#endif
