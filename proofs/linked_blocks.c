/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What core/src/pools/linked_blocks.h does, for every number, size and place of blocks: contracts
 * that Frama-C's WP proves of the shipped text (scripts/prove.py). There is no axiom: each lemma is
 * a goal, proven from those before it.
 *
 *   list < words of used bits < base, blocks of `size` bytes, end
 *
 * take_linked succeeds just where the list names a number below the count whose used bit is clear;
 * then that bit is set and no other changed, and the list says what the block's first word said.
 * put_linked succeeds just where the used bit is set; then that bit is cleared and no other
 * changed, and the block is the list's first. What is refused changes nothing.
 */
#include "layout.h"

/*@
lemma times_four: \forall integer i, q, s; s == 4 * q ==> i * s == 4 * (i * q);
lemma whole_words: \forall integer s; s % 4 == 0 ==> 4 * (s / 4) == s;
lemma next_times: \forall integer i, s; (i + 1) * s == i * s + s;
lemma times_grows: \forall integer i, n, s; 0 <= i < n && 0 < s ==> 0 <= i * s < n * s;
lemma times_order: \forall integer a, b, s; 0 <= a <= b && 0 < s ==> a * s <= b * s;
lemma next_grows:
    \forall integer i, n, s; 0 <= i && i + 1 <= n && 0 < s ==> (i + 1) * s <= n * s;
lemma times_fits: \forall integer i, n, s; 0 <= i < n && 0 < s ==> i * s + s <= n * s;

lemma bit_flipped: \forall uint32_t w; \forall integer i, j; 0 <= i < 32 && 0 <= j < 32 ==>
    (bit((uint32_t)(w ^ (0x80000000 >> i)), j) <==> ((i == j) ^^ bit(w, j)));

lemma offset_fits: \forall integer base, i, n, s;
    s % 4 == 0 && 4 <= s && 0 <= i < n && 0 <= base && base + 4 * (n * (s / 4)) <= 0xffffffff ==>
    0 <= i * s == 4 * (i * (s / 4)) && base + i * s <= 0xffffffff && i * s <= 0xffffffff;
lemma word_grows: \forall integer a, b; 0 <= a <= b ==> word_of(a) <= word_of(b);
lemma block_fits: \forall integer i, n, s;
    0 <= i < n && 4 <= s ==> 0 <= i * (s / 4) && i * (s / 4) + 1 <= n * (s / 4);
lemma bits_inside{L}: \forall integer list, size, number, block_run *run;
    laid_out(list, run, size) && 0 <= number < run->count ==>
    list < word_of(place_of(run, number)) < run->base;
lemma block_inside{L}: \forall integer size, number, block_run *run;
    0 <= number < run->count && 4 <= size ==>
    run->base <= block_of(run, size, number) <= end_of(run, size) - 4;
lemma block_aligned{L}: \forall integer size, number, block_run *run;
    run->base % 4 == 0 ==> block_of(run, size, number) % 4 == 0;
lemma blocks_apart{L}: \forall integer size, i, j, block_run *run;
    4 <= size && 0 <= i < j ==> block_of(run, size, i) < block_of(run, size, j);
lemma list_inside{L}: \forall integer list, size, block_run *run;
    laid_out(list, run, size) ==> list < run->base < end_of(run, size);
lemma word_aligned: \forall integer a; word_of(a) % 4 == 0;
*/

/*@ requires \valid_read(run) && run->bits == 0 && run->first + number <= 0xffffffff;
    assigns \nothing;
    ensures \result.word == word_of(place_of(run, number));
    ensures \result.mask == mask_of(place_of(run, number)); */
static used_bit used_bit_of(const block_run *run, uint32_t number);

/*@ requires \valid_read(run) && number < run->count && 4 <= size && size % 4 == 0;
    requires end_of(run, size) <= 0xffffffff;
    assigns \nothing;
    ensures \result == block_of(run, size, number); */
static uint32_t offset_in_run(const block_run *run, uint32_t size, uint32_t number);

/*@ requires \valid_read(run) && \valid(heap + (0 .. end_of(run, size) - 1));
    requires \separated(run, heap + (0 .. end_of(run, size) - 1));
    requires laid_out(list, run, size) && number == heap[list];
    assigns heap[list], heap[word_of(place_of(run, number))];
    behavior refused:
      assumes number >= run->count || used(heap, place_of(run, number));
      assigns \nothing;
      ensures !\result;
    behavior taken:
      assumes number < run->count && !used(heap, place_of(run, number));
      ensures \result;
      ensures heap[list] == \old(heap[block_of(run, size, number)]);
      ensures heap[\old(word_of(place_of(run, number)))] ==
              (uint32_t)(\old(heap[word_of(place_of(run, number))]) ^
                         mask_of(\old(place_of(run, number)))); */
static bool take_linked(hfit_heap *heap, uint32_t list, const block_run *run, uint32_t size,
                        uint32_t number);

/*@ requires \valid_read(bit) && \valid(heap + (0 .. offset));
    requires \separated(bit, heap + (0 .. offset));
    requires bit->word % 4 == 0 && list % 4 == 0 && offset % 4 == 0;
    requires list < bit->word < offset;
    assigns heap[list], heap[bit->word], heap[offset];
    behavior refused:
      assumes (heap[bit->word] & bit->mask) == 0;
      assigns \nothing;
      ensures !\result;
    behavior put:
      assumes (heap[bit->word] & bit->mask) != 0;
      ensures \result;
      ensures heap[list] == link;
      ensures heap[offset] == \old(heap[list]);
      ensures heap[\old(bit->word)] == (uint32_t)(\old(heap[bit->word]) ^ \old(bit->mask)); */
static bool put_linked(hfit_heap *heap, uint32_t list, const used_bit *bit, uint32_t offset,
                       uint32_t link);
