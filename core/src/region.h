/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A region seen from inside: words of metadata at offsets from its start, and addresses of blocks.
 *
 * Every load and store of metadata goes through load_word and store_word, so the host build can
 * count them.
 */
#ifndef HFIT_REGION_H
#define HFIT_REGION_H

#include "hfit/compiler.h"
#include "hfit/config.h"
#include "hfit/contract.h"
#include "hfit/payload.h"

#include "src/size.h"

/* Offset 0 is the heap's own first word, never a block or a chunk, so it can stand for "none". */
#define NO_OFFSET 0u

/* Where a build does not ask for few bytes, some code is there twice that need not be. What is
 * loaded and stored is the same. */
#if HFIT_IS_FOR_SIZE
#define INLINE_FOR_SPEED inline
#define CALL_FOR_SIZE HFIT_NOT_INLINE
#else
#define INLINE_FOR_SPEED FORCE_INLINE
#define CALL_FOR_SIZE FORCE_INLINE
#endif

/* Metadata share memory with payloads of any type. Volatile, so that a target makes just the
 * accesses that the host counts: the compiler neither merges nor drops any. */
typedef volatile uint32_t HFIT_MAY_ALIAS metadata_word;

enum { MOST_FIELDS = 8 };

typedef struct HFIT_MAY_ALIAS metadata_words {
    metadata_word at[MOST_FIELDS];
} metadata_words;

static inline uint32_t load_word(const hfit_heap *heap, uint32_t offset) {
    HFIT_ON_LOAD(heap, offset);
    return *(const metadata_word *)(const void *)((const unsigned char *)heap + offset);
}

static inline void store_word(hfit_heap *heap, uint32_t offset, uint32_t value) {
    HFIT_ON_STORE(heap, offset);
    *(metadata_word *)(void *)((unsigned char *)heap + offset) = value;
}

/* A word of what begins at `start`, such as a chunk, where `field` is constant. As an element of an
 * array it needs no sum of its own: a compiler that keeps volatile accesses as they are folds none.
 */
static inline uint32_t load_field(const hfit_heap *heap, uint32_t start, uint32_t field) {
    HFIT_ASSERT(field % 4 == 0 && field / 4 < MOST_FIELDS);
    HFIT_ON_LOAD(heap, start + field);
    return ((const metadata_words *)(const void *)((const unsigned char *)heap + start))
        ->at[field / 4];
}

static inline void store_field(hfit_heap *heap, uint32_t start, uint32_t field, uint32_t value) {
    HFIT_ASSERT(field % 4 == 0 && field / 4 < MOST_FIELDS);
    HFIT_ON_STORE(heap, start + field);
    ((metadata_words *)(void *)((unsigned char *)heap + start))->at[field / 4] = value;
}

static inline void *block_at(const hfit_heap *heap, uint32_t offset) {
    return (unsigned char *)(uintptr_t)heap + offset;
}

/* The offset of an address, or NO_OFFSET if it lies outside the first `end` bytes of the region. */
static inline uint32_t offset_of(const hfit_heap *heap, const void *block, uint32_t end) {
    const uintptr_t distance = (uintptr_t)block - (uintptr_t)heap;
    return distance < end ? (uint32_t)distance : NO_OFFSET;
}

/* Bytes to add to `offset` so that its address is a multiple of `alignment`, a power of two. */
static inline uint32_t alignment_gap(const hfit_heap *heap, uint32_t offset, uint32_t alignment) {
    HFIT_ASSERT(is_power_of_two(alignment));
    return (uint32_t)(0u - ((uintptr_t)heap + offset)) & (alignment - 1);
}

/* True if `offset` is a multiple of 4 below `end`. Low bits that are not 0 are moved to the top:
 * that suffices up to 1 GiB, beyond which a host of 64 bits looks at them again. One of 32 bits may
 * pass an offset there that is no multiple. */
static inline bool is_word_below(uint32_t offset, uint32_t end) {
    const bool is_word = UINTPTR_MAX == UINT32_MAX || offset % 4 == 0;
    return is_word && (offset | offset << 30) < end;
}

static FORCE_INLINE bool is_alignment_allowed(uint32_t alignment) {
    return alignment >= 4 && alignment <= 16 && is_power_of_two(alignment);
}

/* True if a heap of the plan's alignment may be laid out in this region. Two shifts, since size_t
 * may have 32 bits. */
static FORCE_INLINE bool is_region_usable(const void *region, size_t size, const hfit_plan *plan) {
    return region != NULL && plan != NULL && is_alignment_allowed(plan->alignment) &&
           ((uintptr_t)region & (plan->alignment - 1)) == 0 && (size >> 16) >> 16 == 0;
}

/* Copies payload on behalf of `resize`, and counts it. */
static inline void copy_payload(void *to, const void *from, size_t bytes) {
    HFIT_ON_PAYLOAD(bytes);
    HFIT_COPY(to, from, bytes);
}

/* Copies payload down by `distance` bytes, in pieces that do not overlap. At safety level 3 nothing
 * is left of it where it was. */
static inline void slide_payload(unsigned char *to, size_t distance, size_t bytes) {
    HFIT_ASSERT(distance != 0); /* or it never ends */
    while (bytes > 0) {
        const size_t piece = bytes < distance ? bytes : distance;
        copy_payload(to, to + distance, piece);
        to += piece;
        bytes -= piece;
    }
    if (HFIT_SAFETY >= 3) {
        HFIT_ON_PAYLOAD(distance);
        HFIT_CLEAR(to, distance);
    }
}

#endif
