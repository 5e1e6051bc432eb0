/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of one pool: their numbers, used bits and free list.
 *
 *   free list -> | link | ... | -> | link | ... | -> NO_OFFSET      links lie in the free blocks
 *   used bits    word 0: block 0 is the highest bit, block 31 the lowest; word 1: block 32 ...
 *
 * All blocks are on the free list from the start, in ascending order, so taking one is always the
 * same few steps. Used bits lie outside the blocks. At safety level 0 they are neither read nor
 * written where a free list tells what is free; the layout is the same.
 */
#ifndef HFIT_POOL_BLOCKS_H
#define HFIT_POOL_BLOCKS_H

#include "src/pool_layout.h"

/* No block's offset: what a free list led to is no free block of the pool. From safety level 1 on.
 */
#define DAMAGED_LINK 1u

static inline bool is_offset(uint32_t taken) {
    return taken != NO_OFFSET && (HFIT_SAFETY < 1 || taken != DAMAGED_LINK);
}

/* Number of the block of `pool` at `offset`; the pool's count or more if none begins there. */
static inline uint32_t block_number(const hfit_pool *pool, uint32_t offset) {
    return rotate_right((offset - pool->base) * pool->inverse, pool->turn);
}

/* Offset of the word that holds a used bit, and the bit. */
typedef struct used_bit {
    uint32_t word;
    uint32_t mask;
} used_bit;

static inline used_bit used_bit_of(const hfit_pool *pool, uint32_t number) {
    const uint32_t place = pool->used_bit + number;
    return (used_bit){4 * (place / 32), 1u << 31 >> place % 32};
}

static inline bool is_bit_set(const hfit_heap *heap, used_bit bit) {
    return (load_word(heap, bit.word) & bit.mask) != 0;
}

static inline void flip_bit(hfit_heap *heap, used_bit bit) {
    store_word(heap, bit.word, load_word(heap, bit.word) ^ bit.mask);
}

/* Puts `count` blocks from `offset` on, `size` bytes apart, on the free list at `link`, which holds
 * none. */
static inline void thread_blocks(hfit_heap *heap, uint32_t link, uint32_t offset, uint32_t size,
                                 uint32_t count) {
    for (; count > 0; count--) {
        store_word(heap, link, offset);
        link = offset;
        offset += size;
    }
    store_word(heap, link, NO_OFFSET);
}

static inline void push_block(hfit_heap *heap, uint32_t list, uint32_t offset) {
    store_word(heap, offset, load_word(heap, list));
    store_word(heap, list, offset);
}

static inline void unlink_first(hfit_heap *heap, uint32_t list, uint32_t offset) {
    store_word(heap, list, load_word(heap, offset));
}

#endif
