/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free chunks of `tailored` by size, but the top: an index of classes, of which a region has no
 * more than its chunks can need. Sizes are in granules.
 *
 *   exact best fit
 *   +-----------+---------------------+-------------------------------+
 *   | class map | lists, one size     | tries of 8, 16, ... granules  |
 *   |           | each, below 8       |                               |
 *   +-----------+---------------------+-------------------------------+
 *   good fit
 *   +-----------+---------------------+-------------------------------+
 *   | class map | lists, one size     | lists, four for each power    |
 *   | (4 words) | each, below 16      | of two                        |
 *   +-----------+---------------------+-------------------------------+
 *
 *   a free chunk   in a list of one size    | next | previous | ...
 *                  in one of several        | next | previous | size | ...
 *                  in a trie                | next | previous | size | lower | higher | slot | ...
 *
 * A class has a word, the head of its list or the root of its trie, and a bit in the class map if
 * that is not empty. Trie i has the chunks from 2^i granules to below 2^(i + 1), the
 * last one all that are larger.
 *
 * A heap of two ends has each of these words twice, side by side: for the chunks below the top, and
 * for those above it.
 */
#ifndef HFIT_TAILORED_INDEX_H
#define HFIT_TAILORED_INDEX_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/trie.h"
#include "src/tailored/heap.h"
#include "src/tailored/map.h"

enum {
    FIRST_TRIE = 3,
    LAST_TRIE = 31,   /* none is: see most_granules */
    FIRST_MIXED = 16, /* sizes from here on share the lists of a good fit */
    GOOD_MAPS = 4,    /* words of the class map of a good fit */
    PROBES = 2,       /* chunks looked at in a list of several sizes */
    TRIE_LOWER = FREE_SIZE + 4,
    TRIE_SLOT = TRIE_LOWER + 8,
};

_Static_assert((4 << FIRST_TRIE) >= TRIE_SLOT + 4 + HEADER_SIZE,
               "a chunk in a trie has room for the words, and a header's copy behind them");

static const trie_form tries = {.size = FREE_SIZE, .lower = TRIE_LOWER, .last = LAST_TRIE};

/* Of a free chunk that notes its size. */
static inline uint32_t size_at(const hfit_heap *heap, uint32_t entry) {
    return coded(load_field(heap, entry, FREE_SIZE));
}

/* Behind the last block's first granule but one. */
static inline uint32_t links_end(const hfit_heap *heap) {
    return chunks_end(heap) - 4;
}

/* The same for a walk, which asks only where anything is checked. */
static FORCE_INLINE uint32_t walk_end(const hfit_heap *heap) {
    return CHECKS_WORDS ? links_end(heap) : 0;
}

/* True if chunks of this size have a list of their own. */
static FORCE_INLINE bool is_alone(const hfit_plan *plan, uint32_t size) {
    return is_good_fit(plan) ? size < FIRST_MIXED : size >> FIRST_TRIE == 0;
}

static FORCE_INLINE uint32_t class_of(const hfit_plan *plan, uint32_t size) {
    const uint32_t least = least_chunk(plan);
    HFIT_ASSERT(size >= least);
    if (is_good_fit(plan)) {
        return size_number(size) - least;
    }
    return (is_alone(plan, size) ? size : trie_of(&tries, size) + (1 << FIRST_TRIE) - FIRST_TRIE) -
           least;
}

enum {
    SINGLE_GRANULES = (1 << 28) - 1, /* of an exact index with chunks of one granule */
    EXACT_CLASSES = 32,              /* bits of its class map */
};

#define CLASS_OF_TRIE(trie, least) ((trie) + (1 << FIRST_TRIE) - FIRST_TRIE - (least))
_Static_assert(MOST_GRANULES >> 29 == 0 && CLASS_OF_TRIE(28, LEAST_MAPPED) < EXACT_CLASSES,
               "the class of the largest chunk of two granules or more has a bit");
_Static_assert(SINGLE_GRANULES >> 28 == 0 && CLASS_OF_TRIE(27, 1) < EXACT_CLASSES,
               "and where chunks have one granule");
_Static_assert(4 * 28 + 3 < 32 * GOOD_MAPS, "and of a good fit");

/* Granules of the largest heap. */
static inline uint32_t most_granules(const hfit_plan *plan) {
    return least_chunk(plan) == 1 && !is_good_fit(plan) ? (uint32_t)SINGLE_GRANULES
                                                        : (uint32_t)MOST_GRANULES;
}

/* Classes that a heap of so many granules can need. */
static inline uint32_t class_count(const hfit_plan *plan, uint32_t granules) {
    const uint32_t least = 1u << FIRST_TRIE;
    return class_of(plan, granules < least ? least - 1 : granules) + 1;
}

/* Where the index begins. */
static FORCE_INLINE uint32_t index_start(const hfit_plan *plan) {
    return MAP_BASE + (has_headers(plan) ? 0 : 4);
}

/* Words of the class map. */
static FORCE_INLINE uint32_t map_words(const hfit_plan *plan) {
    return is_good_fit(plan) ? (uint32_t)GOOD_MAPS : 1;
}

/* The offset of the index's word of this number, for one side of the top. */
static FORCE_INLINE uint32_t index_word(const hfit_plan *plan, uint32_t number, bool above) {
    return index_start(plan) + (number * 4 << has_two_ends(plan)) + 4 * (uint32_t)above;
}

/* The word of the class map that has the class's bit. */
static FORCE_INLINE uint32_t map_of(const hfit_plan *plan, uint32_t class, bool above) {
    return index_word(plan, is_good_fit(plan) ? class >> 5 : 0, above);
}

/* The head of a class's list, or the root of its trie. */
static FORCE_INLINE uint32_t word_of(const hfit_plan *plan, uint32_t class, bool above) {
    return index_word(plan, class + map_words(plan), above);
}

/* Where an index for chunks of up to so many granules ends. */
static inline uint32_t index_end(const hfit_plan *plan, uint32_t granules) {
    return word_of(plan, class_count(plan, granules) - 1, has_two_ends(plan)) + 4;
}

/* True if a chunk begins at the entry, as far as its offset tells. */
static FORCE_INLINE bool may_be_entry(const hfit_heap *heap, const hfit_plan *plan,
                                      uint32_t entry) {
    return ((entry + HEADER_SIZE) & (plan->alignment - 1)) == 0 && entry < links_end(heap) &&
           granule_of(plan, entry) >= load_word(heap, CHUNKS_FIRST);
}

/* A damaged head is not written through: what it led to is lost, as `check` tells from then on. */
static inline void list_insert(hfit_heap *heap, uint32_t head, uint32_t entry) {
    uint32_t first = load_link(heap, head);
    if (CHECKS_WORDS && !does_link_hold(heap, head, first, links_end(heap))) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        first = NO_OFFSET;
    }
    list_push_before(heap, head, first, entry);
}

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t granule, uint32_t size) {
    const bool above = is_above_top(heap, plan, granule);
    const uint32_t entry = entry_of(plan, granule);
    const uint32_t class = class_of(plan, size);
    const uint32_t map = map_of(plan, class, above);
    const uint32_t word = word_of(plan, class, above);
    if (!is_alone(plan, size) && (CHECKS_WORDS || has_headers(plan) || has_pairs(plan))) {
        store_field(heap, entry, FREE_SIZE, coded(size));
    }
    if (is_alone(plan, size) || is_good_fit(plan)) {
        list_insert(heap, word, entry);
    } else {
        const sized_chunk inserted = {entry, size};
        trie_insert(&tries, heap, word, &inserted, walk_end(heap));
    }
    store_word(heap, map, load_word(heap, map) | 1u << (class & 31));
}

/* Notes that nothing hangs any more from a slot, which may be a class's word, a chunk's or none. */
static inline void note_emptied(hfit_heap *heap, const hfit_plan *plan, uint32_t slot) {
    const uint32_t first = word_of(plan, 0, false);
    const uint32_t chunks = load_word(heap, CHUNKS_FIRST) << granule_shift(plan);
    const uint32_t distance = slot - first; /* NO_OFFSET wraps */
    if (distance < chunks - first) {
        const uint32_t class = distance >> (2 + has_two_ends(plan));
        const uint32_t map = map_of(plan, class, has_two_ends(plan) && (distance & 4) != 0);
        store_word(heap, map, load_word(heap, map) & ~(1u << (class & 31)));
    }
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t entry, uint32_t size) {
    uint32_t emptied = NO_OFFSET;
    if (is_good_fit(plan) || is_alone(plan, size)) {
        (void)list_unlink(heap, entry, &emptied);
    } else {
        emptied = trie_remove(&tries, heap, entry, walk_end(heap));
    }
    note_emptied(heap, plan, emptied);
}

/* True if what index_remove would read and write holds. */
static inline bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                               uint32_t size) {
    const uint32_t entry = entry_of(plan, granule);
    const uint32_t end = links_end(heap);
    if (entry >= end - 4 || !do_links_hold(heap, entry, end)) {
        return false;
    }
    if (is_alone(plan, size)) {
        return true;
    }
    return size_at(heap, entry) == size &&
           (is_good_fit(plan) || trie_holds(&tries, heap, entry, end));
}

/* What the entry of a list of several sizes says of its size; 0 if it is none. */
static inline uint32_t listed_at(const hfit_heap *heap, const hfit_plan *plan, uint32_t entry) {
    return !CHECKS_WORDS || may_be_entry(heap, plan, entry) ? size_at(heap, entry) : 0;
}

/* The first chunk in the lists behind `class`, which are all large enough. */
static INLINE_FOR_SPEED sized_chunk find_larger(const hfit_heap *heap, const hfit_plan *plan,
                                                uint32_t class, bool above) {
    uint32_t number = class >> 5;
    uint32_t map = load_word(heap, index_word(plan, number, above)) & (~1u << (class & 31));
    while (map == 0) {
        if (++number == GOOD_MAPS) {
            return (sized_chunk){NO_OFFSET, 0};
        }
        map = load_word(heap, index_word(plan, number, above));
    }
    const uint32_t larger = number * 32 + hfit_trailing_zeros(map);
    const uint32_t entry = load_link(heap, word_of(plan, larger, above));
    const uint32_t size = larger + least_chunk(plan);
    return (sized_chunk){entry, is_alone(plan, size) ? size : listed_at(heap, plan, entry)};
}

/* A chunk of at least `size` granules: of its own list, if one of the first few will do, else the
 * first of the next list. */
static INLINE_FOR_SPEED sized_chunk find_good(const hfit_heap *heap, const hfit_plan *plan,
                                              uint32_t size, bool above) {
    const uint32_t class = class_of(plan, size);
    uint32_t entry = load_link(heap, word_of(plan, class, above));
    uint32_t left = is_alone(plan, size) ? 1 : PROBES;
    while (entry != NO_OFFSET && left > 0) {
        const uint32_t found = is_alone(plan, size) ? size : listed_at(heap, plan, entry);
        if (found >= size || found == 0) {
            return (sized_chunk){entry, found};
        }
        entry = load_link_field(heap, entry, LINK_NEXT);
        left--;
    }
    return find_larger(heap, plan, class, above);
}

/* The smallest chunk of at least `size` granules. */
static FORCE_INLINE sized_chunk find_best(const hfit_heap *heap, const hfit_plan *plan,
                                          uint32_t size, bool above) {
    const uint32_t class = class_of(plan, size);
    const uint32_t end = walk_end(heap);
    uint32_t map = load_word(heap, map_of(plan, class, above)) & UINT32_MAX << class;
    trie_way way = {{NO_OFFSET, UINT32_MAX}, NO_OFFSET};
    if (!is_alone(plan, size)) {
        way = trie_follow(&tries, heap, word_of(plan, class, above), size, end);
        map &= ~(1u << class);
    }
    if (way.above == NO_OFFSET) {
        if (way.best.offset != NO_OFFSET || map == 0) {
            return (sized_chunk){way.best.offset, way.best.size};
        }
        const uint32_t larger = hfit_trailing_zeros(map);
        way.above = word_of(plan, larger, above);
        if (larger + least_chunk(plan) < 1u << FIRST_TRIE) {
            return (sized_chunk){load_link(heap, way.above), larger + least_chunk(plan)};
        }
    }
    trie_least(&tries, heap, way.above, &way.best, end);
    return (sized_chunk){way.best.offset, way.best.size}; /* a copy of it may call memcpy */
}

/* A chunk of at least `size` granules on one side of the top. */
static FORCE_INLINE sized_chunk index_find(const hfit_heap *heap, const hfit_plan *plan,
                                           uint32_t size, bool above) {
    return is_good_fit(plan) ? find_good(heap, plan, size, above)
                             : find_best(heap, plan, size, above);
}

#endif
