/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of one pool: their numbers, used bits and free list (src/pools/linked_blocks.h).
 *
 * All blocks are on the free list from the start, in ascending order, so taking one is always the
 * same few steps. Used bits lie outside the blocks. At safety level 0 they are neither read nor
 * written where a free list tells what is free; the layout is the same.
 *
 * A link leads to a block by its number, which is checked by one compare and leads to the used bit;
 * at safety level 0, where there is nothing to check, by its offset.
 */
#ifndef HFIT_POOL_BLOCKS_H
#define HFIT_POOL_BLOCKS_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/pools/layout.h"
#include "src/pools/linked_blocks.h"

static inline block_run own_run(const hfit_pool *pool) {
    return (block_run){pool->base, pool->count, 0, pool->used_bit};
}

/* Ends a free list. */
#define NO_LINK (HFIT_SAFETY >= 1 ? UINT32_MAX : NO_OFFSET)

static inline uint32_t link_to(uint32_t number, uint32_t offset) {
    return HFIT_SAFETY >= 1 ? number : offset;
}

/* Number of the block of a run at `offset`; the run's count or more if none begins there. */
static inline uint32_t block_number(const hfit_pool *pool, uint32_t base, uint32_t offset) {
    return rotate_right((offset - base) * pool->inverse, pool->turn);
}

/* These take a pointer, since compilers turn the copy of a struct into a call of memcpy. */
static FORCE_INLINE bool is_bit_set(const hfit_heap *heap, const used_bit *bit) {
    return (load_word(heap, bit->word) & bit->mask) != 0;
}

static inline void flip_bit(hfit_heap *heap, const used_bit *bit) {
    store_word(heap, bit->word, load_word(heap, bit->word) ^ bit->mask);
}

/* True if the block of a run of this number is used. */
static inline bool is_number_used(const hfit_heap *heap, const block_run *run, uint32_t number) {
    const used_bit bit = used_bit_of(run, number);
    return is_bit_set(heap, &bit);
}

/* Number of the first block of a run whose used bit is clear, or its count. One load for up to 32
 * blocks. */
static inline uint32_t first_unused(const hfit_heap *heap, const block_run *run) {
    uint32_t number = 0;
    while (number < run->count) {
        const used_bit bit = used_bit_of(run, number);
        const uint32_t unused = ~load_word(heap, bit.word) & (bit.mask * 2 - 1);
        if (unused != 0) {
            number += hfit_leading_zeros(unused) - hfit_leading_zeros(bit.mask);
            return number < run->count ? number : run->count;
        }
        number += 32u - (run->first + number) % 32;
    }
    return run->count;
}

/* Puts the blocks of a run, `size` bytes apart, on a free list that holds none. */
static inline void thread_blocks(hfit_heap *heap, uint32_t list, const block_run *run,
                                 uint32_t size) {
    uint32_t word = list;
    uint32_t offset = run->base;
    for (uint32_t number = 0; number < run->count; number++) {
        store_word(heap, word, link_to(number, offset));
        word = offset;
        offset += size;
    }
    store_word(heap, word, NO_LINK);
}

static inline void unlink_first(hfit_heap *heap, uint32_t list, uint32_t offset) {
    store_word(heap, list, load_word(heap, offset));
}

/* A block of a pool. */
typedef struct block_place {
    const hfit_pool *pool;
    uint32_t offset;
    uint32_t link; /* what leads to it */
    used_bit bit;
} block_place;

/* Stores the place of the block at `offset`, if one of this run begins there. */
static FORCE_INLINE bool find_in_run(const hfit_pool *pool, const block_run *run, uint32_t offset,
                                     block_place *place) {
    const uint32_t number = block_number(pool, run->base, offset);
    place->pool = pool;
    place->offset = offset;
    place->link = link_to(number, offset);
    place->bit = used_bit_of(run, number);
    return number < run->count;
}

/* Stores the place of the block of a run that has this number. */
static FORCE_INLINE void place_in_run(const hfit_pool *pool, const block_run *run, uint32_t number,
                                      block_place *place) {
    HFIT_ASSERT(number < run->count);
    place->pool = pool;
    place->offset = offset_in_run(run, pool->block_size, number);
    place->link = link_to(number, place->offset);
    place->bit = used_bit_of(run, number);
}

/* What taking a block from a pool came to. */
enum taking { TAKEN, NONE_LEFT, DAMAGED };

/* Takes the first block of a pool's free list and stores its offset. Else nothing is changed:
 * NONE_LEFT where the list has ended, DAMAGED where it leads to no free block. Who calls goes
 * another way for each, so that the longest of one is not added to the other's
 * (docs/evidence/worst-case.md). */
static FORCE_INLINE enum taking take_own(hfit_heap *heap, const hfit_pool *pool, uint32_t list,
                                         uint32_t *offset) {
    const uint32_t link = load_word(heap, list);
    if (HFIT_SAFETY >= 1) {
        const block_run own = own_run(pool);
        *offset = offset_in_run(&own, pool->block_size, link);
        return HFIT_LIKELY(take_linked(heap, list, &own, pool->block_size, link)) ? TAKEN
               : link == NO_LINK                                                  ? NONE_LEFT
                                                                                  : DAMAGED;
    }
    *offset = link;
    if (link == NO_LINK) {
        return NONE_LEFT;
    }
    unlink_first(heap, list, link);
    return TAKEN;
}

#endif
