/* SPDX-License-Identifier: Apache-2.0 */
/* What best_fit and its tries take for granted, broken. */
#include "src/tiling/best_fit.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_plan plan = {8};

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, &plan);
}

static void a_chunk_of_no_bytes_has_a_trie(void) {
    (void)trie_of(&tries, 0);
}

static void a_chunk_of_no_bytes_has_turns(void) {
    (void)turns_of(&tries, 0);
}

static void a_child_is_asked_for_in_a_ring(void) {
    (void)trie_child(&tries, fresh(), 512, RING_NEXT, 4000);
}

static void no_chunk_is_put_into_a_trie(void) {
    const sized_chunk none = {NO_OFFSET, 256};
    trie_insert(&tries, fresh(), 80, &none, 4000);
}

static void a_large_chunk_has_a_bin(void) {
    (void)bin_class(&plan, BIN_COUNT * 8);
}

static void a_chunk_of_no_bytes_has_a_bin(void) {
    (void)bin_class(&plan, 0);
}

static void a_small_chunk_has_a_trie(void) {
    (void)trie_class((1u << FIRST_TRIE) - 1);
}

static broken_invariant *const cases[] = {
    a_chunk_of_no_bytes_has_a_trie, a_chunk_of_no_bytes_has_turns, a_child_is_asked_for_in_a_ring,
    no_chunk_is_put_into_a_trie,    a_large_chunk_has_a_bin,       a_chunk_of_no_bytes_has_a_bin,
    a_small_chunk_has_a_trie,
};

int main(void) {
    return SHOW_ALL(cases);
}
