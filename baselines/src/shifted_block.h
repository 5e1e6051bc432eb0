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
 */
#ifndef BASELINES_SHIFTED_BLOCK_H
#define BASELINES_SHIFTED_BLOCK_H

#include "src/size.h"
#include "src/region.h"

enum { TAG_SIZE = 4, TAG_USED = 1, TAG_SHIFTED = 2 };

/* Stores the request that is sure to hold `size` bytes at a multiple of `alignment`, which is above
 * the plan's. False if there is no such. */
static inline bool room_to_shift(const hfit_plan *plan, size_t alignment, size_t size,
                                 uint32_t *room) {
    return is_power_of_two(alignment) && alignment <= HFIT_LARGEST_BLOCK / 2 &&
           round_size(size, (uint32_t)alignment - plan->alignment, 1, room);
}

/* Writes the way back from `gap` bytes behind `payload`. */
static inline uint32_t shift_payload(hfit_heap *heap, uint32_t payload, uint32_t gap) {
    store_word(heap, payload + gap - TAG_SIZE, gap | TAG_SHIFTED);
    return payload + gap;
}

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

#endif
