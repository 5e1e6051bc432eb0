/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a pool's list, used bits and blocks lie, for the contracts (linked_blocks.c) and for the
 * numbers of a plan (heapfit.generate.proof_numbers), which need no lemma.
 */
#include "src/pools/linked_blocks.h"

/*@
predicate bit(integer word, integer i) = (word & (0x80000000 >> i)) != 0;
logic integer place_of(block_run *run, integer number) = run->first + number;
logic integer word_of(integer place) = 4 * (place / 32);
logic integer mask_of(integer place) = 0x80000000 >> (place % 32);
predicate used(uint32_t *heap, integer place) = bit(heap[word_of(place)], place % 32);
logic integer block_of(block_run *run, integer size, integer number) =
    run->base + 4 * (number * (size / 4));
logic integer end_of(block_run *run, integer size) = run->base + 4 * (run->count * (size / 4));

// As src/pools/layout.h and fixed_pool lay pools out.
predicate laid_out(integer list, block_run *run, integer size) =
    list % 4 == 0 && run->base % 4 == 0 && run->bits == 0 && size % 4 == 0 && 4 <= size &&
    0 <= list && 1 <= run->count <= 0x3fffffff && run->first <= 0x7fffffff &&
    list < word_of(run->first) && word_of(run->first + run->count - 1) < run->base &&
    end_of(run, size) <= 0xffffffff;
*/
