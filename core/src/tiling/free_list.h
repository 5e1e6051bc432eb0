/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A doubly linked list of free chunks, last in first out. The links lie in the chunks' payloads;
 * the head is a control word of the heap. All of them are coded, as coded.h says.
 *
 *   head -> | size+F | next | previous | ... | size |
 *
 * `previous` is the offset of the link that leads to the chunk, be it the head or the `next` of
 * another. So taking a chunk out needs neither its list nor a branch, and the head no sum.
 */
#ifndef HFIT_FREE_LIST_H
#define HFIT_FREE_LIST_H

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"

enum { LINK_NEXT = 4, LINK_PREVIOUS = 8 };

/* What stands for the offset of a link, and the offset that something stands for. Of a chunk's
 * `next` it is what stands for the chunk, where that is coded. */
static FORCE_INLINE uint32_t coded_place(uint32_t place) {
    return IS_CODED ? LINK_NEXT - 1 - place : place;
}

static FORCE_INLINE uint32_t load_previous(const hfit_heap *heap, uint32_t chunk) {
    return coded_place(load_field(heap, chunk, LINK_PREVIOUS));
}

static FORCE_INLINE void store_previous(hfit_heap *heap, uint32_t chunk, uint32_t place) {
    store_field(heap, chunk, LINK_PREVIOUS, coded_place(place));
}

/* Puts `chunk` before `first`, the first chunk of the list so far or NO_OFFSET. `head` is the
 * offset of the word that holds the first chunk's offset. */
static inline void list_push_before(hfit_heap *heap, uint32_t head, uint32_t first,
                                    uint32_t chunk) {
    HFIT_ASSERT(chunk != NO_OFFSET);
    store_link_field(heap, chunk, LINK_NEXT, first);
    store_previous(heap, chunk, head);
    store_link(heap, head, chunk);
    if (first != NO_OFFSET) {
        store_previous(heap, first, chunk + LINK_NEXT);
    }
}

/* Puts `chunk` in front. True if the list was empty. */
static inline bool list_push(hfit_heap *heap, uint32_t head, uint32_t chunk) {
    const uint32_t first = load_link(heap, head);
    list_push_before(heap, head, first, chunk);
    return first == NO_OFFSET;
}

/* The links that lie in a chunk. (By address from function to function: for a copy of the pair gcc
 * calls memcpy on a Cortex-M0 at -Og.) */
typedef struct list_links {
    uint32_t next;
    uint32_t previous;
} list_links;

static FORCE_INLINE void load_links(const hfit_heap *heap, uint32_t chunk, list_links *links) {
    links->next = load_link_field(heap, chunk, LINK_NEXT);
    links->previous = load_previous(heap, chunk);
}

/* Takes out the chunk that these are the links of. True if it was the last; then stores where the
 * list's last link is now, which is its head if the list is empty. */
static FORCE_INLINE bool join_links(hfit_heap *heap, const list_links *links, uint32_t *last_link) {
    store_link(heap, links->previous, links->next);
    if (links->next == NO_OFFSET) {
        *last_link = links->previous;
        return true;
    }
    store_previous(heap, links->next, links->previous);
    return false;
}

/* Takes `chunk` out, as join_links-> */
static inline bool list_unlink(hfit_heap *heap, uint32_t chunk, uint32_t *last_link) {
    list_links links;
    load_links(heap, chunk, &links);
    return join_links(heap, &links, last_link);
}

/* Takes `chunk` out. True if the list is empty now. */
static inline bool list_remove(hfit_heap *heap, uint32_t head, uint32_t chunk) {
    uint32_t last_link;
    return list_unlink(heap, chunk, &last_link) && last_link == head;
}

/* Takes the first chunk, which there is, out. True if the list is empty now. */
static inline bool list_pop(hfit_heap *heap, uint32_t head, uint32_t *chunk) {
    *chunk = load_link(heap, head);
    HFIT_ASSERT(*chunk != NO_OFFSET);
    const uint32_t next = load_link_field(heap, *chunk, LINK_NEXT);
    store_link(heap, head, next);
    if (next == NO_OFFSET) {
        return true;
    }
    store_previous(heap, next, head);
    return false;
}

/* True if the link that stands at `place`, a list's head or a chunk's `next`, leads to `chunk`: to
 * none, or to a word before `end` that leads back. */
static FORCE_INLINE bool does_link_hold(const hfit_heap *heap, uint32_t place, uint32_t chunk,
                                        uint32_t end) {
    return chunk == NO_OFFSET || (is_word_below(chunk, end) &&
                                  load_field(heap, chunk, LINK_PREVIOUS) == coded_place(place));
}

/* True if a chunk's links lead back, `previous` to a word before `end` and `next` to one before
 * `next_end`. */
static FORCE_INLINE bool are_links_sound(const hfit_heap *heap, uint32_t chunk,
                                         const list_links *links, uint32_t end, uint32_t next_end) {
    return is_word_below(links->previous, end) && load_link(heap, links->previous) == chunk &&
           (links->next == NO_OFFSET ||
            (is_word_below(links->next, next_end) &&
             load_field(heap, links->next, LINK_PREVIOUS) == coded_place(chunk + LINK_NEXT)));
}

/* The same of the links that lie in `chunk`, where chunks end at `end`. The last word before is no
 * chunk: its link would lie behind the sentinel. */
static FORCE_INLINE bool do_links_hold(const hfit_heap *heap, uint32_t chunk, uint32_t end) {
    list_links links;
    load_links(heap, chunk, &links);
    return are_links_sound(heap, chunk, &links, end, end - 4);
}

#endif
