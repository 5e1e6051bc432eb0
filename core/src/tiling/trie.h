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
 * Where these words lie in a chunk and which trie is the last its user says, in a trie_form. A user
 * hands the address of its one constant form to each function, so that nothing is left of it in the
 * machine code. A size is in the unit of the user's choice.
 *
 * From safety level 1 on a child that does not lead back to its slot counts as none, so that a walk
 * ends, and stays in the region, even where chunks were overwritten.
 */
#ifndef HFIT_TRIE_H
#define HFIT_TRIE_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"

enum { RING_NEXT = LINK_NEXT }; /* one check does for the links of lists and of rings */

/* Offsets of words from a chunk's first, and the number of the last trie. `higher` and `slot`
 * follow `lower`. */
typedef struct trie_form {
    uint32_t size;  /* the word that holds a chunk's size */
    uint32_t flags; /* bits of that word that are not the size's */
    uint32_t free;  /* how these stand in a free chunk */
    uint32_t lower;
    uint32_t last;
} trie_form;

/* A chunk in a trie, or to be put into one: its offset, and its size. */
typedef struct sized_chunk {
    uint32_t offset;
    uint32_t size;
} sized_chunk;

static FORCE_INLINE uint32_t higher_in(const trie_form *form) {
    return form->lower + 4;
}

static FORCE_INLINE uint32_t slot_in(const trie_form *form) {
    return form->lower + 8;
}

/* Of a chunk in a trie: its size. */
static FORCE_INLINE uint32_t size_of(const trie_form *form, const hfit_heap *heap, uint32_t chunk) {
    return coded(load_field(heap, chunk, form->size)) & ~form->flags;
}

static inline bool is_free_of_size(const trie_form *form, const hfit_heap *heap, uint32_t chunk,
                                   uint32_t size) {
    return coded(load_field(heap, chunk, form->size)) == (size | form->free);
}

static FORCE_INLINE bool is_in_last_trie(const trie_form *form, uint32_t size) {
    return form->last < 31 && size >> form->last != 0;
}

static FORCE_INLINE uint32_t trie_of(const trie_form *form, uint32_t size) {
    HFIT_ASSERT(size != 0);
    return is_in_last_trie(form, size) ? form->last : 31u - hfit_leading_zeros(size);
}

/* The bits of a size that may differ from those of its trie, moved to the top. */
static FORCE_INLINE uint32_t turns_of(const trie_form *form, uint32_t size) {
    HFIT_ASSERT(size != 0);
    return is_in_last_trie(form, size) ? size : size << hfit_leading_zeros(size) << 1;
}

/* The child slot of `entry` that the topmost turn leads to. */
static FORCE_INLINE uint32_t turn_from(const trie_form *form, uint32_t entry, uint32_t turns) {
    return entry + form->lower + (turns >> 31) * 4;
}

/* `end` below is an offset that the words of all chunks in the trie lie before.
 *
 * `entry`, to which `slot` leads; at safety level 1 NO_OFFSET if it does not lead back. */
static FORCE_INLINE uint32_t trie_sound(const trie_form *form, const hfit_heap *heap, uint32_t slot,
                                        uint32_t entry, uint32_t end) {
    const bool is_sound = HFIT_SAFETY < 1 || (is_word_below(entry, end - slot_in(form)) &&
                                              load_link_field(heap, entry, slot_in(form)) == slot);
    return is_sound ? entry : NO_OFFSET;
}

/* The entry that hangs from `slot`, or NO_OFFSET. */
static FORCE_INLINE uint32_t trie_entry(const trie_form *form, const hfit_heap *heap, uint32_t slot,
                                        uint32_t end) {
    return trie_sound(form, heap, slot, load_link(heap, slot), end);
}

/* The child of `entry` in this subtrie or, if that is empty, in the other; NO_OFFSET if it has
 * none. */
static FORCE_INLINE uint32_t trie_child(const trie_form *form, const hfit_heap *heap,
                                        uint32_t entry, uint32_t subtrie, uint32_t end) {
    HFIT_ASSERT(subtrie == form->lower || subtrie == higher_in(form));
    const uint32_t other = form->lower + higher_in(form) - subtrie;
    const uint32_t child = load_link_field(heap, entry, subtrie);
    return child != NO_OFFSET
               ? trie_sound(form, heap, entry + subtrie, child, end)
               : trie_sound(form, heap, entry + other, load_link_field(heap, entry, other), end);
}

/* The link of the last of an entry's ring. At safety level 1 the entry's own, which leaves the rest
 * of the ring behind, if the link leads out of the heap. */
static FORCE_INLINE uint32_t last_link(const trie_form *form, const hfit_heap *heap, uint32_t entry,
                                       uint32_t end) {
    const uint32_t place = load_previous(heap, entry);
    const bool is_inside = HFIT_SAFETY < 1 || is_word_below(place - RING_NEXT, end - slot_in(form));
    return is_inside ? place : entry + RING_NEXT;
}

/* Adds a chunk, which has room for the words, to the trie at `slot`. (By address: for a copy of the
 * pair gcc calls memcpy on a Cortex-M0 at -Og.) */
static FORCE_INLINE void trie_insert(const trie_form *form, hfit_heap *heap, uint32_t slot,
                                     const sized_chunk *chunk, uint32_t end) {
    HFIT_ASSERT(chunk->offset != NO_OFFSET);
    uint32_t turns = turns_of(form, chunk->size);
    uint32_t next;
    while ((next = trie_entry(form, heap, slot, end)) != NO_OFFSET &&
           size_of(form, heap, next) != chunk->size) {
        slot = turn_from(form, next, turns);
        turns <<= 1;
    }
    uint32_t place = chunk->offset + RING_NEXT;
    if (next == NO_OFFSET) {
        store_link(heap, slot, chunk->offset);
        store_link_field(heap, chunk->offset, form->lower, NO_OFFSET);
        store_link_field(heap, chunk->offset, higher_in(form), NO_OFFSET);
        next = chunk->offset;
    } else {
        slot = NO_OFFSET;
        place = last_link(form, heap, next, end);
        store_link(heap, place, chunk->offset);
        store_previous(heap, next, chunk->offset + RING_NEXT);
    }
    store_link_field(heap, chunk->offset, RING_NEXT, next);
    store_previous(heap, chunk->offset, place);
    store_link_field(heap, chunk->offset, slot_in(form), slot);
}

/* What a walk down a trie met: the ring's entry of the least size that will do, of size UINT32_MAX
 * if none will, and the slot of the subtrie in which alone there can be a better one, NO_OFFSET if
 * there is none. */
typedef struct trie_way {
    sized_chunk best;
    uint32_t above; /* holds the next larger sizes */
} trie_way;

/* Follows the way of `size` from `slot`. */
static FORCE_INLINE trie_way trie_follow(const trie_form *form, const hfit_heap *heap,
                                         uint32_t slot, uint32_t size, uint32_t end) {
    trie_way way = {{NO_OFFSET, UINT32_MAX}, NO_OFFSET};
    uint32_t turns = turns_of(form, size);
    uint32_t least = UINT32_MAX - size;
    uint32_t entry;
    while ((entry = trie_entry(form, heap, slot, end)) != NO_OFFSET) {
        const uint32_t excess = size_of(form, heap, entry) - size; /* wraps if it is too small */
        if (excess < least) {
            least = excess;
            way.best = (sized_chunk){entry, size + excess};
            if (excess == 0) {
                way.above = NO_OFFSET;
                return way;
            }
        }
        slot = entry + higher_in(form);
        if (turns >> 31 == 0) {
            way.above = load_link(heap, slot) != NO_OFFSET ? slot : way.above;
            slot = entry + form->lower;
        }
        turns <<= 1;
    }
    return way;
}

/* Makes `best` the least of what hangs from `slot`, if that is better. */
static FORCE_INLINE void trie_least(const trie_form *form, const hfit_heap *heap, uint32_t slot,
                                    sized_chunk *best, uint32_t end) {
    uint32_t entry = trie_entry(form, heap, slot, end);
    while (entry != NO_OFFSET) {
        const uint32_t size = size_of(form, heap, entry);
        if (size < best->size) {
            best->offset = entry;
            best->size = size;
        }
        entry = trie_child(form, heap, entry, form->lower, end);
    }
}

/* An entry below `entry` that has none below it; `entry` itself if it has none. */
static uint32_t trie_leaf(const trie_form *form, const hfit_heap *heap, uint32_t entry,
                          uint32_t end) {
    uint32_t leaf;
    do {
        leaf = entry;
        entry = trie_child(form, heap, leaf, higher_in(form), end);
    } while (entry != NO_OFFSET);
    return leaf;
}

/* Hangs `child` from the slot `field` of `to`. */
static inline void hang(const trie_form *form, hfit_heap *heap, uint32_t to, uint32_t field,
                        uint32_t child) {
    store_link_field(heap, to, field, child);
    if (child != NO_OFFSET) {
        store_link_field(heap, child, slot_in(form), to + field);
    }
}

/* What hangs from the slot `field` of `entry`, or NO_OFFSET. */
static inline uint32_t trie_below(const trie_form *form, const hfit_heap *heap, uint32_t entry,
                                  uint32_t field, uint32_t end) {
    return trie_sound(form, heap, entry + field, load_link_field(heap, entry, field), end);
}

/* Takes `chunk` out of its trie. Returns the slot that nothing hangs from any more, or NO_OFFSET.
 */
static uint32_t trie_remove(const trie_form *form, hfit_heap *heap, uint32_t chunk, uint32_t end) {
    const uint32_t slot = load_link_field(heap, chunk, slot_in(form));
    uint32_t heir = load_link_field(heap, chunk, RING_NEXT);
    uint32_t emptied = NO_OFFSET;
    if (heir != chunk) {
        const uint32_t place = load_previous(heap, chunk);
        store_link(heap, place, heir);
        store_previous(heap, heir, place);
    } else {
        heir = trie_leaf(form, heap, chunk, end);
        emptied = load_link_field(heap, heir, slot_in(form));
        store_link(heap, emptied, NO_OFFSET);
    }
    if (slot != NO_OFFSET && heir != chunk) {
        store_link(heap, slot, heir);
        store_link_field(heap, heir, slot_in(form), slot);
        const uint32_t higher = higher_in(form);
        hang(form, heap, heir, form->lower, trie_below(form, heap, chunk, form->lower, end));
        hang(form, heap, heir, higher, trie_below(form, heap, chunk, higher, end));
    }
    return emptied;
}

/* True if `chunk` is of a ring whose entry is another, or hangs from a slot before `end`. */
static inline bool trie_holds(const trie_form *form, const hfit_heap *heap, uint32_t chunk,
                              uint32_t end) {
    const uint32_t slot = load_link_field(heap, chunk, slot_in(form));
    if (slot == NO_OFFSET) {
        return load_link_field(heap, chunk, RING_NEXT) != chunk;
    }
    return is_word_below(slot, end) && load_link(heap, slot) == chunk;
}

/* True if the way of the chunk's size from `slot` leads to it, by the slot that it names. */
static bool trie_leads_to(const trie_form *form, const hfit_heap *heap, uint32_t slot,
                          sized_chunk chunk, uint32_t end) {
    uint32_t turns = turns_of(form, chunk.size);
    for (uint32_t bits = 0; bits < 32; bits++) {
        const uint32_t entry = load_link(heap, slot);
        if (entry == chunk.offset) {
            return load_link_field(heap, entry, slot_in(form)) == slot;
        }
        if (!is_word_below(entry, end - slot_in(form))) {
            return false;
        }
        slot = turn_from(form, entry, turns);
        turns <<= 1;
    }
    return false;
}

/* How many chunks the ring of `entry` has, all of its size, if its links hold and they are `most`
 * or fewer; else 0. */
static uint32_t count_ring(const trie_form *form, const hfit_heap *heap, sized_chunk entry,
                           uint32_t most, uint32_t end) {
    uint32_t chunk = entry.offset;
    for (uint32_t count = 1; count <= most; count++) {
        const uint32_t next = load_link_field(heap, chunk, RING_NEXT);
        if (!is_word_below(next, end - slot_in(form)) ||
            !is_free_of_size(form, heap, next, entry.size) ||
            load_previous(heap, next) != chunk + RING_NEXT) {
            return 0;
        }
        if (next == entry.offset) {
            return count;
        }
        if (load_link_field(heap, next, slot_in(form)) != NO_OFFSET) {
            return 0;
        }
        chunk = next;
    }
    return 0;
}

/* How many subtries of an entry something hangs from. */
static uint32_t count_subtries(const trie_form *form, const hfit_heap *heap, uint32_t entry) {
    return (uint32_t)(load_link_field(heap, entry, form->lower) != NO_OFFSET) +
           (uint32_t)(load_link_field(heap, entry, higher_in(form)) != NO_OFFSET);
}

#endif
