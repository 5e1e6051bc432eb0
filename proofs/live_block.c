/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that writes any word to a block it holds leaves the list and the bits in order. In a file
 * of its own since its lemmas would slow the other proofs.
 */
#include "budget.c"

/*@
lemma word_fits: \forall integer i, n, s, j; 0 <= i < n && 4 <= s && 0 <= j < s / 4 ==>
    i * (s / 4) + j + 1 <= n * (s / 4);
lemma word_apart: \forall integer a, b, w, j;
    0 <= a && 0 <= b && a != b && 0 <= j < w ==> a * w + j != b * w;
lemma whole_fits: \forall integer i, n, s; 0 <= i < n && 4 <= s ==>
    i * (s / 4) + s / 4 <= n * (s / 4);
lemma block_ends{L}: \forall integer size, number, block_run *run;
    0 <= number < run->count && 4 <= size ==>
    block_of(run, size, number) + 4 * (size / 4) <= end_of(run, size);
logic integer word_in(block_run *run, integer size, integer number, integer j) =
    block_of(run, size, number) + 4 * j;
lemma word_of_other{L}: \forall integer size, i, number, j, block_run *run;
    0 <= number && 0 <= i && i != number && 4 <= size && 0 <= j < size / 4 ==>
    word_in(run, size, number, j) != block_of(run, size, i);
*/

/*@ requires separate(heap, run, size, order, position) && laid_out(list, run, size);
    requires in_order(heap, list, run, size, order, position, unused);
    requires number < run->count && is_used(heap, run, number) && word < size / 4;
    assigns heap[block_of(run, size, number) + 4 * word];
    ensures in_order(heap, list, run, size, order, position, unused); */
static void write_to_live_block(hfit_heap *heap, uint32_t list, const block_run *run, uint32_t size,
                        const uint64_t *order, const uint64_t *position, uint32_t unused,
                        uint32_t number, uint32_t word, uint32_t value) {
    const uint32_t block = offset_in_run(run, size, number);
    //@ assert run->base <= block + 4 * word <= end_of(run, size) - 4;
    const uint32_t offset = block + 4 * word;
    //@ assert offset == block_of(run, size, number) + 4 * word;
    //@ assert run->base <= offset;
    //@ assert offset == word_in(run, size, number, word);
    //@ assert \forall integer i; 0 <= i < run->count && i != number ==> block_of(run, size, i) != offset;
    //@ assert \forall integer i; 0 <= i < run->count ==> 0 <= block_of(run, size, i) < end_of(run, size);
    store_word(heap, offset, value);
    //@ assert run->count == \at(run->count, Pre);
    //@ assert run->base == \at(run->base, Pre);
    //@ assert run->first == \at(run->first, Pre);
    //@ assert \forall integer o; 0 <= o < \at(end_of(run, size), Pre) && o != offset ==> heap[o] == \at(heap[o], Pre);
    //@ assert numbered(run->count, order, position);
    //@ assert \forall integer i; 0 <= i < run->count ==> (is_used(heap, run, i) <==> \at(is_used(heap, run, i), Pre));
    //@ assert bits_tell(heap, run, position, unused);
    //@ assert first_leads(heap, list, order, unused);
    //@ assert \forall integer i; 0 <= i < run->count ==> block_of(run, size, i) == \at(block_of(run, size, i), Pre);
    //@ assert \forall integer i; 0 <= i < run->count && i != number ==> link_of(heap, run, size, i) == \at(link_of(heap, run, size, i), Pre);
    //@ assert \forall integer k; 0 <= k < unused ==> 0 <= order[k] < run->count && order[k] != number;
    //@ assert \forall integer k; 0 <= k < unused ==> link_of(heap, run, size, order[k]) == \at(link_of(heap, run, size, order[k]), Pre);
    //@ assert unused > 0 ==> link_of(heap, run, size, order[0]) == 0xffffffff;
    //@ assert \forall integer k; 0 < k < unused ==> link_of(heap, run, size, order[k]) == order[k - 1];
    //@ assert links_lead(heap, run, size, order, unused);
}
