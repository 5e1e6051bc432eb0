/* SPDX-License-Identifier: Apache-2.0 */
/* What best_fit and its tries take for granted, broken. */
#include "src/tiling/best_fit.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_plan plan = {8};

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, &plan);
}

int main(void) {
    BREAKS("a chunk of no bytes has a trie", (void)trie_of(&tries, 0));
    BREAKS("a chunk of no bytes has turns", (void)turns_of(&tries, 0));
    BREAKS("a child is asked for in a ring",
           (void)trie_child(&tries, fresh(), 512, RING_NEXT, 4000));
    BREAKS("no chunk is put into a trie", const sized_chunk none = {NO_OFFSET, 256};
           trie_insert(&tries, fresh(), 80, &none, 4000));
    BREAKS("a large chunk has a bin", (void)bin_class(&plan, BIN_COUNT * 8));
    BREAKS("a chunk of no bytes has a bin", (void)bin_class(&plan, 0));
    BREAKS("a small chunk has a trie", (void)trie_class((1u << FIRST_TRIE) - 1));
    return silent;
}
