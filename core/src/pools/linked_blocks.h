/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free blocks of a run, linked, and the bits that tell which blocks are used.
 *
 *   free list -> | link | ... | -> | link | ... | -> NO_LINK        links lie in the free blocks
 *   used bits    word 0: block 0 is the highest bit, block 31 the lowest; word 1: block 32 ...
 *
 * All that pools do to a list and its bits from safety level 1 on is here, in terms of words of the
 * region alone: what proofs/ proves is this text (docs/evidence/proofs.md).
 */
#ifndef HFIT_POOL_LINKED_BLOCKS_H
#define HFIT_POOL_LINKED_BLOCKS_H

#include "src/size.h"
#include "src/region.h"

/* The blocks of a pool, which lie side by side. */
typedef struct block_run {
    uint32_t base; /* offset of the first block */
    uint32_t count;
    uint32_t bits;  /* offset from which used bits are counted, in bits: */
    uint32_t first; /* place of the first block's */
} block_run;

/* Offset of the word that holds a used bit, and the bit. */
typedef struct used_bit {
    uint32_t word;
    uint32_t mask;
} used_bit;

static FORCE_INLINE used_bit used_bit_of(const block_run *run, uint32_t number) {
    const uint32_t place = run->first + number;
    return (used_bit){run->bits + 4 * (place / 32), 1u << 31 >> place % 32};
}

/* Offset of the block of a run, whose blocks are `size` bytes apart, that has this number. */
static FORCE_INLINE uint32_t offset_in_run(const block_run *run, uint32_t size, uint32_t number) {
    //@ assert number * size == 4 * (number * (size / 4));
    //@ assert number * (size / 4) + 1 <= run->count * (size / 4);
    return run->base + number * size;
}

/* Takes the block that a free list of numbers begins with. `number` is what the word at `list`
 * says. False, and nothing changed, if that is no free block of the run. */
static FORCE_INLINE bool take_linked(hfit_heap *heap, uint32_t list, const block_run *run,
                                     uint32_t size, uint32_t number) {
    if (number >= run->count) {
        return false;
    }
    const used_bit bit = used_bit_of(run, number);
    const uint32_t bits = load_word(heap, bit.word);
    if ((bits & bit.mask) != 0) {
        return false;
    }
    const uint32_t next = load_word(heap, offset_in_run(run, size, number));
    store_word(heap, bit.word, bits ^ bit.mask);
    store_word(heap, list, next);
    return true;
}

/* Puts the block at `offset`, to which `link` leads, on a free list. False, and nothing changed, if
 * its bit says that it is no live block. */
static FORCE_INLINE bool put_linked(hfit_heap *heap, uint32_t list, const used_bit *bit,
                                    uint32_t offset, uint32_t link) {
    const uint32_t bits = load_word(heap, bit->word);
    if ((bits & bit->mask) == 0) {
        return false;
    }
    store_word(heap, bit->word, bits ^ bit->mask);
    store_word(heap, offset, load_word(heap, list));
    store_word(heap, list, link);
    return true;
}

#endif
