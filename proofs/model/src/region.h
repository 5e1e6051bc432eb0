/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The region as a proof sees it, in place of core/src/region.h: an array with an element for each
 * offset, of which only multiples of 4 are reached, as is proven of every access. Two words of
 * different offsets never overlap then, which is what the array says. The cast from the region's
 * bytes to words, and volatile, stay outside the proof.
 */
#ifndef HFIT_REGION_H
#define HFIT_REGION_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t hfit_heap;

/*@ requires offset % 4 == 0 && \valid_read(heap + offset);
    assigns \nothing;
    ensures \result == heap[offset]; */
static inline uint32_t load_word(const hfit_heap *heap, uint32_t offset) {
    return heap[offset];
}

/*@ requires offset % 4 == 0 && \valid(heap + offset);
    assigns heap[offset];
    ensures heap[offset] == value; */
static inline void store_word(hfit_heap *heap, uint32_t offset, uint32_t value) {
    heap[offset] = value;
}

#endif
