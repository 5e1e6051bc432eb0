/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request within its budget is never refused: proven of any sequence of calls, by an invariant
 * that init's list has (`begins_in_order`) and each request and each free keeps.
 *
 *   order     | free, last on the list first served ............ | used ................. |
 *             0                                                  unused               count
 *   position  the inverse of order: where a number stands
 *
 * Both are ghosts, in arrays of the proof's own: `order` holds each number once, those before
 * `unused` as the list links them, from its end to its first. `in_order` says so, and that a bit is
 * set just where its block stands behind. With it a request is refused just where `unused` is 0,
 * that is where all blocks are live. What a program writes to a live block: live_block.c.
 */
#include "linked_blocks.c"

/*@
predicate is_used(uint32_t *heap, block_run *run, integer number) =
    used(heap, place_of(run, number));
logic integer link_of(uint32_t *heap, block_run *run, integer size, integer number) =
    heap[block_of(run, size, number)];

predicate separate(uint32_t *heap, block_run *run, integer size, uint64_t *order,
                   uint64_t *position) =
    \valid_read(run) && \valid(heap + (0 .. end_of(run, size) - 1)) &&
    \valid(order + (0 .. run->count - 1)) && \valid(position + (0 .. run->count - 1)) &&
    \separated(run, heap + (0 .. end_of(run, size) - 1), order + (0 .. run->count - 1),
               position + (0 .. run->count - 1));

predicate numbered(integer count, uint64_t *order, uint64_t *position) =
    (\forall integer k; 0 <= k < count ==>
        0 <= order[k] < count && position[order[k]] == k) &&
    (\forall integer i; 0 <= i < count ==>
        0 <= position[i] < count && order[position[i]] == i);

predicate bits_tell(uint32_t *heap, block_run *run, uint64_t *position, integer unused) =
    \forall integer i; 0 <= i < run->count ==>
        (is_used(heap, run, i) <==> position[i] >= unused);

predicate bits_tell_but(uint32_t *heap, block_run *run, uint64_t *position, integer unused,
                        integer number) =
    \forall integer i; 0 <= i < run->count ==>
        (is_used(heap, run, i) <==> (position[i] >= unused && i != number));

predicate first_leads(uint32_t *heap, integer list, uint64_t *order, integer unused) =
    heap[list] == (unused == 0 ? 0xffffffff : order[unused - 1]);

predicate leads(uint32_t *heap, block_run *run, integer size, uint64_t *order, integer k) =
    link_of(heap, run, size, order[k]) == (k == 0 ? 0xffffffff : order[k - 1]);

predicate links_lead(uint32_t *heap, block_run *run, integer size, uint64_t *order,
                     integer unused) =
    (unused > 0 ==> link_of(heap, run, size, order[0]) == 0xffffffff) &&
    (\forall integer k; 0 < k < unused ==>
        link_of(heap, run, size, order[k]) == order[k - 1]);

predicate in_order(uint32_t *heap, integer list, block_run *run, integer size, uint64_t *order,
                   uint64_t *position, integer unused) =
    0 <= unused <= run->count && numbered(run->count, order, position) &&
    bits_tell(heap, run, position, unused) && first_leads(heap, list, order, unused) &&
    links_lead(heap, run, size, order, unused);
*/

/*@ requires separate(heap, run, size, order, position) && laid_out(list, run, size);
    requires heap[list] == 0;
    requires \forall integer i; 0 <= i < run->count ==> !is_used(heap, run, i);
    requires \forall integer i; 0 <= i < run->count ==>
        link_of(heap, run, size, i) == (i + 1 == run->count ? 0xffffffff : i + 1);
    requires \forall integer k; 0 <= k < run->count ==> order[k] == run->count - 1 - k;
    requires \forall integer i; 0 <= i < run->count ==> position[i] == run->count - 1 - i;
    assigns \nothing;
    ensures in_order(heap, list, run, size, order, position, run->count); */
static void begins_in_order(const hfit_heap *heap, uint32_t list, const block_run *run,
                            uint32_t size, const uint64_t *order, const uint64_t *position) {
    (void)heap;
    (void)list;
    (void)run;
    (void)size;
    (void)order;
    (void)position;
}

/*@ requires \valid_read(run) && \valid(heap + (0 .. end_of(run, size) - 1));
    requires \separated(run, heap + (0 .. end_of(run, size) - 1));
    requires laid_out(list, run, size) && number == heap[list];
    requires number < run->count && !is_used(heap, run, number);
    assigns heap[list], heap[word_of(place_of(run, number))];
    ensures heap[list] == \old(link_of(heap, run, size, number));
    ensures \forall integer i; 0 <= i < run->count ==>
        (is_used(heap, run, i) <==> (\old(is_used(heap, run, i)) || i == number));
    ensures \forall integer i; 0 <= i < run->count ==>
        link_of(heap, run, size, i) == \old(link_of(heap, run, size, i));
    ensures \result; */
static bool take_free(hfit_heap *heap, uint32_t list, const block_run *run, uint32_t size,
                      uint32_t number) {
    return take_linked(heap, list, run, size, number);
}

/*@ requires separate(heap, run, size, order, position) && laid_out(list, run, size);
    requires in_order(heap, list, run, size, order, position, unused);
    assigns heap[list], heap[word_of(place_of(run, heap[list]))];
    behavior within:
      assumes unused > 0;
      ensures \result;
      ensures in_order(heap, list, run, size, order, position, unused - 1);
    behavior none:
      assumes unused == 0;
      ensures !\result; */
static bool request(hfit_heap *heap, uint32_t list, const block_run *run, uint32_t size,
                    const uint64_t *order, const uint64_t *position, uint32_t unused) {
    const uint32_t number = load_word(heap, list);
    if (unused == 0) {
        return take_linked(heap, list, run, size, number);
    }
    //@ assert number == order[unused - 1];
    //@ assert position[number] == unused - 1;
    //@ assert \forall integer i; 0 <= i < run->count && position[i] == unused - 1 ==> order[position[i]] == number;
    //@ assert \forall integer i; 0 <= i < run->count && position[i] == unused - 1 ==> i == number;
    //@ assert !is_used(heap, run, number);
    const bool taken = take_free(heap, list, run, size, number);
    //@ assert numbered(run->count, order, position);
    //@ assert bits_tell(heap, run, position, unused - 1);
    //@ assert first_leads(heap, list, order, unused - 1);
    //@ assert links_lead(heap, run, size, order, unused - 1);
    return taken;
}

/*@ requires \valid_read(run) && \valid(heap + (0 .. end_of(run, size) - 1));
    requires \separated(run, heap + (0 .. end_of(run, size) - 1));
    requires laid_out(list, run, size);
    requires number < run->count && is_used(heap, run, number);
    assigns heap[list], heap[word_of(place_of(run, number))], heap[block_of(run, size, number)];
    ensures heap[list] == number;
    ensures \forall integer i; 0 <= i < run->count ==>
        (is_used(heap, run, i) <==> (\old(is_used(heap, run, i)) && i != number));
    ensures \forall integer i; 0 <= i < run->count ==> link_of(heap, run, size, i) ==
        (i == number ? \old(heap[list]) : \old(link_of(heap, run, size, i)));
    ensures \result; */
static bool put_used(hfit_heap *heap, uint32_t list, const block_run *run, uint32_t size,
                     uint32_t number) {
    const used_bit bit = used_bit_of(run, number);
    const uint32_t offset = offset_in_run(run, size, number);
    return put_linked(heap, list, &bit, offset, number);
}

/*@ requires \valid(order + (0 .. count - 1)) && \valid(position + (0 .. count - 1));
    requires \separated(order + (0 .. count - 1), position + (0 .. count - 1));
    requires numbered(count, order, position);
    requires number < count && position[number] >= unused;
    assigns order[0 .. count - 1], position[0 .. count - 1];
    ensures numbered(count, order, position);
    ensures order[unused] == number;
    ensures \forall integer i; 0 <= i < count ==>
        (position[i] >= unused + 1 <==> (\old(position[i]) >= unused && i != number));
    ensures \forall integer k; 0 <= k < unused ==> order[k] == \old(order[k]); */
static void put_in_order(uint64_t *order, uint64_t *position, uint32_t count, uint32_t unused,
                         uint32_t number) {
    const uint64_t place = position[number];
    const uint64_t other = order[unused];
    order[place] = other;
    position[other] = place;
    order[unused] = number;
    position[number] = unused;
}

/*@ requires links_lead(heap, run, size, order, unused);
    requires leads(heap, run, size, order, unused);
    assigns \nothing;
    ensures links_lead(heap, run, size, order, unused + 1); */
static void one_more_leads(const hfit_heap *heap, const block_run *run, uint32_t size,
                           const uint64_t *order, uint32_t unused) {
    (void)heap;
    (void)run;
    (void)size;
    (void)order;
    (void)unused;
    //@ assert \forall integer k; 0 <= k < unused ==> leads(heap, run, size, order, k);
    //@ assert \forall integer k; 0 <= k < unused + 1 ==> leads(heap, run, size, order, k);
    //@ assert leads(heap, run, size, order, 0);
}

/*@ requires separate(heap, run, size, order, position) && laid_out(list, run, size);
    requires in_order(heap, list, run, size, order, position, unused);
    requires number < run->count && is_used(heap, run, number);
    ensures \result;
    ensures in_order(heap, list, run, size, order, position, unused + 1); */
static bool give_back(hfit_heap *heap, uint32_t list, const block_run *run, uint32_t size,
                      uint64_t *order, uint64_t *position, uint32_t unused, uint32_t number) {
    //@ assert position[number] >= unused;
    const bool put = put_used(heap, list, run, size, number);
    //@ assert run->count == \at(run->count, Pre);
    //@ assert bits_tell_but(heap, run, position, unused, number);
    //@ assert unused == 0 ==> link_of(heap, run, size, number) == 0xffffffff;
    //@ assert unused > 0 ==> link_of(heap, run, size, number) == order[unused - 1];
    //@ assert links_lead(heap, run, size, order, unused);
    put_in_order(order, position, run->count, unused, number);
    //@ assert bits_tell(heap, run, position, unused + 1);
    //@ assert first_leads(heap, list, order, unused + 1);
    //@ assert unused == 0 ==> link_of(heap, run, size, order[0]) == 0xffffffff;
    //@ assert unused > 0 ==> link_of(heap, run, size, order[unused]) == order[unused - 1];
    //@ assert leads(heap, run, size, order, unused);
    //@ assert links_lead(heap, run, size, order, unused);
    one_more_leads(heap, run, size, order, unused);
    return put;
}
