/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free chunks found by size: a bitwise trie of rings.
 *
 *   slot -> | size+F | next | previous | lower | higher | slot | ...                     | size |
 *                      the ring of its    the two subtries  back
 *                      own size
 *
 * Chunks of one size form a ring, the oldest first. The oldest, the ring's entry, hangs from a
 * slot: a word that holds its offset, be it a root among the control words or `lower` or `higher`
 * of another entry. The rest of the ring has NO_OFFSET for a slot and no use for the subtries.
 *
 * Trie i has the sizes whose highest bit is bit i, the last one all from there on. The first bit in
 * which its sizes can differ decides at the root which subtrie a size lies in, the next bit
 * at the root's child, and so on; the entry at a place may have any size of the subtrie that begins
 * there. So no path is longer than a size has bits, whatever happened before. (As in the tree bins
 * of dlmalloc 2.8, Lea 2005, but with a slot for the parent and for the place in it.)
 *
 * A source that includes this file first defines LAST_TRIE, and TRIE_LOWER: where the words of the
 * trie begin in a chunk. A size is in the unit of the includer's
 * choice.
 *
 * From safety level 1 on a child that does not lead back to its slot counts as none, so that a walk
 * ends, and stays in the region, even where chunks were overwritten.
 */
#ifndef HFIT_TRIE_H
#define HFIT_TRIE_H

#include "src/tiling/free_list.h"

enum {
    RING_NEXT = LINK_NEXT, /* one check does for the links of lists and of rings */
    RING_PREVIOUS = LINK_PREVIOUS,
    TRIE_HIGHER = TRIE_LOWER + 4,
    TRIE_SLOT = TRIE_LOWER + 8,
};

/* Of a chunk in the trie: its size. */
static inline uint32_t size_at(const hfit_heap *heap, uint32_t chunk);

/* True if a free chunk of this size begins at `chunk`, which is a word's offset in the heap. */
static inline bool is_free_of_size(const hfit_heap *heap, uint32_t chunk, uint32_t size);

/* Offset that the words of all chunks in the trie, up to `slot`, lie before: what the functions
 * below call `end`. */
static inline uint32_t links_end(const hfit_heap *heap);

/* The least size found so far, and its ring's entry. */
typedef struct trie_best {
    uint32_t entry;
    uint32_t size;
} trie_best;

static inline bool is_in_last_trie(uint32_t size) {
    return LAST_TRIE < 31 && size >> LAST_TRIE != 0;
}

static inline uint32_t trie_of(uint32_t size) {
    return is_in_last_trie(size) ? (uint32_t)LAST_TRIE : 31u - (uint32_t)__builtin_clz(size);
}

/* The bits of a size that may differ from those of its trie, moved to the top. */
static inline uint32_t turns_of(uint32_t size) {
    return is_in_last_trie(size) ? size : size << (uint32_t)__builtin_clz(size) << 1;
}

/* The child slot of `entry` that the topmost turn leads to. */
static inline uint32_t turn_from(uint32_t entry, uint32_t turns) {
    return entry + TRIE_LOWER + (turns >> 31) * (TRIE_HIGHER - TRIE_LOWER);
}

/* `entry`, to which `slot` leads; at safety level 1 NO_OFFSET if it does not lead back. */
static inline uint32_t trie_sound(const hfit_heap *heap, uint32_t slot, uint32_t entry,
                                  uint32_t end) {
    const bool is_sound = HFIT_SAFETY < 1 || (is_word_below(entry, end - TRIE_SLOT) &&
                                              load_field(heap, entry, TRIE_SLOT) == slot);
    return is_sound ? entry : NO_OFFSET;
}

/* The entry that hangs from `slot`, or NO_OFFSET. */
static inline uint32_t trie_entry(const hfit_heap *heap, uint32_t slot, uint32_t end) {
    return trie_sound(heap, slot, load_word(heap, slot), end);
}

/* The child of `entry` in this subtrie or, if that is empty, in the other; NO_OFFSET if it has
 * none.
 */
static inline uint32_t trie_child(const hfit_heap *heap, uint32_t entry, uint32_t subtrie,
                                  uint32_t end) {
    const uint32_t other = TRIE_LOWER + TRIE_HIGHER - subtrie;
    const uint32_t child = load_field(heap, entry, subtrie);
    return child != NO_OFFSET
               ? trie_sound(heap, entry + subtrie, child, end)
               : trie_sound(heap, entry + other, load_field(heap, entry, other), end);
}

/* Adds `chunk`, which has room for the words, to the trie at `slot`. */
static void trie_insert(hfit_heap *heap, uint32_t slot, uint32_t chunk, uint32_t size,
                        uint32_t end) {
    uint32_t turns = turns_of(size);
    uint32_t next;
    while ((next = trie_entry(heap, slot, end)) != NO_OFFSET && size_at(heap, next) != size) {
        slot = turn_from(next, turns);
        turns <<= 1;
    }
    uint32_t previous = chunk;
    if (next == NO_OFFSET) {
        store_word(heap, slot, chunk);
        store_field(heap, chunk, TRIE_LOWER, NO_OFFSET);
        store_field(heap, chunk, TRIE_HIGHER, NO_OFFSET);
        next = chunk;
    } else {
        slot = NO_OFFSET;
        previous = load_field(heap, next, RING_PREVIOUS);
        store_field(heap, previous, RING_NEXT, chunk);
        store_field(heap, next, RING_PREVIOUS, chunk);
    }
    store_field(heap, chunk, RING_NEXT, next);
    store_field(heap, chunk, RING_PREVIOUS, previous);
    store_field(heap, chunk, TRIE_SLOT, slot);
}

/* Follows the way of `size` from `slot`. `best` becomes the best entry met; what is better can only
 * be in the subtrie at the slot returned, which holds the next larger sizes. NO_OFFSET: nothing is.
 */
static inline uint32_t trie_follow(const hfit_heap *heap, uint32_t slot, uint32_t size,
                                   uint32_t end, trie_best *best) {
    uint32_t turns = turns_of(size);
    uint32_t above = NO_OFFSET;
    uint32_t least = best->size - size;
    uint32_t entry;
    while ((entry = trie_entry(heap, slot, end)) != NO_OFFSET) {
        const uint32_t excess = size_at(heap, entry) - size; /* wraps where it is too small */
        if (excess < least) {
            least = excess;
            *best = (trie_best){entry, size + excess};
            if (excess == 0) {
                return NO_OFFSET;
            }
        }
        slot = entry + TRIE_HIGHER;
        if (turns >> 31 == 0) {
            above = load_word(heap, slot) != NO_OFFSET ? slot : above;
            slot = entry + TRIE_LOWER;
        }
        turns <<= 1;
    }
    return above;
}

/* The better of `best` and the least of what hangs from `slot`. */
static inline trie_best trie_least(const hfit_heap *heap, uint32_t slot, trie_best best,
                                   uint32_t end) {
    uint32_t entry = trie_entry(heap, slot, end);
    while (entry != NO_OFFSET) {
        const uint32_t size = size_at(heap, entry);
        if (size < best.size) {
            best = (trie_best){entry, size};
        }
        entry = trie_child(heap, entry, TRIE_LOWER, end);
    }
    return best;
}

/* An entry below `entry` that has none below it; `entry` itself if it has none. */
static uint32_t trie_leaf(const hfit_heap *heap, uint32_t entry, uint32_t end) {
    uint32_t leaf;
    do {
        leaf = entry;
        entry = trie_child(heap, leaf, TRIE_HIGHER, end);
    } while (entry != NO_OFFSET);
    return leaf;
}

/* Hangs one of the subtries of `from` from `to`. */
static inline void rehang(hfit_heap *heap, uint32_t from, uint32_t to, uint32_t subtrie,
                          uint32_t end) {
    const uint32_t child = load_field(heap, from, subtrie);
    const uint32_t entry = trie_sound(heap, from + subtrie, child, end);
    store_field(heap, to, subtrie, entry);
    if (entry != NO_OFFSET) {
        store_field(heap, entry, TRIE_SLOT, to + subtrie);
    }
}

/* Takes `chunk` out of its trie. Returns the slot that nothing hangs from any more, or NO_OFFSET.
 */
static uint32_t trie_remove(hfit_heap *heap, uint32_t chunk, uint32_t end) {
    const uint32_t slot = load_field(heap, chunk, TRIE_SLOT);
    uint32_t heir = load_field(heap, chunk, RING_NEXT);
    uint32_t emptied = NO_OFFSET;
    if (heir != chunk) {
        const uint32_t previous = load_field(heap, chunk, RING_PREVIOUS);
        store_field(heap, previous, RING_NEXT, heir);
        store_field(heap, heir, RING_PREVIOUS, previous);
    } else {
        heir = trie_leaf(heap, chunk, end);
        emptied = load_field(heap, heir, TRIE_SLOT);
        store_word(heap, emptied, NO_OFFSET);
    }
    if (slot != NO_OFFSET && heir != chunk) {
        store_word(heap, slot, heir);
        store_field(heap, heir, TRIE_SLOT, slot);
        rehang(heap, chunk, heir, TRIE_LOWER, end);
        rehang(heap, chunk, heir, TRIE_HIGHER, end);
    }
    return emptied;
}

/* True if `chunk` is of a ring whose entry is another, or hangs from a slot before `end`. */
static inline bool trie_holds(const hfit_heap *heap, uint32_t chunk, uint32_t end) {
    const uint32_t slot = load_field(heap, chunk, TRIE_SLOT);
    if (slot == NO_OFFSET) {
        return load_field(heap, chunk, RING_NEXT) != chunk;
    }
    return is_word_below(slot, end) && load_word(heap, slot) == chunk;
}

/* True if the way of `size` from `slot` leads to `chunk`, by the slot that it names. */
static bool trie_leads_to(const hfit_heap *heap, uint32_t slot, uint32_t chunk, uint32_t size) {
    const uint32_t end = links_end(heap);
    uint32_t turns = turns_of(size);
    for (uint32_t bits = 0; bits < 32; bits++) {
        const uint32_t entry = load_word(heap, slot);
        if (entry == chunk) {
            return load_field(heap, chunk, TRIE_SLOT) == slot;
        }
        if (!is_word_below(entry, end - TRIE_SLOT)) {
            return false;
        }
        slot = turn_from(entry, turns);
        turns <<= 1;
    }
    return false;
}

/* How many chunks the ring of `entry` has, all of this size, if its links hold and they are
 * `most` or fewer; else 0. */
static uint32_t count_ring(const hfit_heap *heap, uint32_t entry, uint32_t size, uint32_t most) {
    const uint32_t end = links_end(heap);
    uint32_t chunk = entry;
    for (uint32_t count = 1; count <= most; count++) {
        const uint32_t next = load_field(heap, chunk, RING_NEXT);
        if (!is_word_below(next, end - TRIE_SLOT) || !is_free_of_size(heap, next, size) ||
            load_field(heap, next, RING_PREVIOUS) != chunk) {
            return 0;
        }
        if (next == entry) {
            return count;
        }
        if (load_field(heap, next, TRIE_SLOT) != NO_OFFSET) {
            return 0;
        }
        chunk = next;
    }
    return 0;
}

#endif
