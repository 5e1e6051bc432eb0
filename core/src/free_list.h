/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A doubly linked list of free chunks, last in first out. The links lie in the chunks' payloads;
 * the head is a control word of the heap.
 *
 *   head -> | size+F | next | previous | ... | size |
 */
#ifndef HFIT_FREE_LIST_H
#define HFIT_FREE_LIST_H

#include "src/region.h"

enum { LINK_NEXT = 4, LINK_PREVIOUS = 8 };

/* Puts `chunk` in front. `head` is the offset of the word that holds the first chunk's offset. */
static inline void list_push(hfit_heap *heap, uint32_t head, uint32_t chunk) {
    const uint32_t first = load_word(heap, head);
    store_word(heap, chunk + LINK_NEXT, first);
    store_word(heap, chunk + LINK_PREVIOUS, NO_OFFSET);
    if (first != NO_OFFSET) {
        store_word(heap, first + LINK_PREVIOUS, chunk);
    }
    store_word(heap, head, chunk);
}

/* Takes the first chunk, which there is, out. True if the list is empty now. */
static inline bool list_pop(hfit_heap *heap, uint32_t head, uint32_t *chunk) {
    *chunk = load_word(heap, head);
    const uint32_t next = load_word(heap, *chunk + LINK_NEXT);
    store_word(heap, head, next);
    if (next == NO_OFFSET) {
        return true;
    }
    store_word(heap, next + LINK_PREVIOUS, NO_OFFSET);
    return false;
}

/* Takes `chunk` out. True if the list is empty now. */
static inline bool list_remove(hfit_heap *heap, uint32_t head, uint32_t chunk) {
    const uint32_t next = load_word(heap, chunk + LINK_NEXT);
    const uint32_t previous = load_word(heap, chunk + LINK_PREVIOUS);
    if (next != NO_OFFSET) {
        store_word(heap, next + LINK_PREVIOUS, previous);
    }
    if (previous != NO_OFFSET) {
        store_word(heap, previous + LINK_NEXT, next);
        return false;
    }
    store_word(heap, head, next);
    return next == NO_OFFSET;
}

#endif
