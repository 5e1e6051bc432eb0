/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free chunks of `tailored` by size: a row of exact bins for small ones and a row of tries for
 * the rest, of which a region has no more than its chunks can need.
 *
 *   CLASS_MAP
 *   +-----------+---------------------+-------------------------------+
 *   | class map | classes 0 to 5:     | classes 6, 7, ...:            |
 *   |           | bins of 2 to 7      | tries of 8, 16, ... granules  |
 *   |           | granules            |                               |
 *   +-----------+---------------------+-------------------------------+
 *
 *   a free chunk            in a bin | next | previous | ...
 *                          in a trie | next | previous | lower | higher | slot | size | ...
 *
 * A class has a word, the head of its bin or the root of its trie, and a bit in the map if that is
 * not empty. Trie i has the chunks from 2^i granules to below 2^(i + 1), the last one all that are
 * larger. There is no header: what the index calls a chunk's offset, its entry, is that of the word
 * before it, so that the links lie in the chunk's first words.
 *
 * A heap of two ends has each of these words twice, side by side: for the chunks below the top, and
 * for those above it.
 *
 * Sizes are in granules. The top is in no class: see tailored.c.
 */
#ifndef HFIT_TAILORED_INDEX_H
#define HFIT_TAILORED_INDEX_H

#include "src/boundary_map.h"

enum {
    CHUNKS_END = MAP_LEVELS + 4 * MOST_LEVELS, /* offset of the end of all chunks */
    CHUNKS_FIRST = CHUNKS_END + 4,             /* granule of the first chunk */
    FOOTPRINT = CHUNKS_END + 8,                /* the heap's footprint so far, in bytes */
    TALLY = CHUNKS_END + 12,                   /* footprint plus used chunks, from level 1 on */
    TOP = CHUNKS_END + 16,                     /* granule at which the top begins */
    TOP_END = CHUNKS_END + 20,                 /* and ends; the same if there is no top */
    CLASS_MAP = CHUNKS_END + 24,
    LEAST_CHUNK = 2, /* granules */
    FIRST_TRIE = 3,
    LAST_TRIE = 28, /* the class map has 32 bits */
    BIN_COUNT = (1 << FIRST_TRIE) - LEAST_CHUNK,
};

#include "src/trie.h"

enum { ENTRY_SIZE = TRIE_SLOT + 4, ENTRY_WORDS = ENTRY_SIZE }; /* bytes of a chunk in a trie */

_Static_assert((4 << FIRST_TRIE) >= ENTRY_WORDS, "a chunk without a bin has room for the words");
_Static_assert(BIN_COUNT + LAST_TRIE - FIRST_TRIE + 1 == 32, "each class has a bit");

/* log2 of the bytes of a granule. */
static inline uint32_t granule_shift(const hfit_plan *plan) {
    return (uint32_t)__builtin_ctz(plan->alignment);
}

static inline uint32_t entry_of(const hfit_plan *plan, uint32_t granule) {
    return (granule << granule_shift(plan)) - 4;
}

static inline uint32_t granule_of(const hfit_plan *plan, uint32_t entry) {
    return (entry + 4) >> granule_shift(plan);
}

static inline uint32_t size_at(const hfit_heap *heap, uint32_t entry) {
    return load_field(heap, entry, ENTRY_SIZE);
}

static inline bool is_free_of_size(const hfit_heap *heap, uint32_t entry, uint32_t size) {
    return size_at(heap, entry) == size;
}

static inline uint32_t chunks_end(const hfit_heap *heap) {
    return load_word(heap, CHUNKS_END);
}

/* A chunk in a trie has one word more. */
static inline uint32_t links_end(const hfit_heap *heap) {
    return chunks_end(heap) - (ENTRY_SIZE - TRIE_SLOT);
}

static inline bool has_bin(uint32_t size) {
    return size >> FIRST_TRIE == 0;
}

static inline uint32_t class_of(uint32_t size) {
    return has_bin(size) ? size - LEAST_CHUNK : trie_of(size) + BIN_COUNT - FIRST_TRIE;
}

/* Classes that a heap of so many granules can need. */
static inline uint32_t class_count(uint32_t granules) {
    return has_bin(granules) ? (uint32_t)BIN_COUNT : class_of(granules) + 1;
}

static inline bool has_two_ends(const hfit_plan *plan) {
    return ((const hfit_tailored_plan *)plan)->ends == 2;
}

/* True if a chunk lies above the top. */
static inline bool is_above_top(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule) {
    return has_two_ends(plan) && granule >= load_word(heap, TOP_END);
}

static inline bool is_top(const hfit_heap *heap, uint32_t start) {
    return start == load_word(heap, TOP);
}

/* The map of the classes of one side of the top. */
static inline uint32_t class_map_of(bool above) {
    return CLASS_MAP + 4 * (uint32_t)above;
}

/* The head of a class's bin, or the root of its trie. */
static inline uint32_t word_of(const hfit_plan *plan, uint32_t class, bool above) {
    return class_map_of(above) + ((class + 1) * 4 << has_two_ends(plan));
}

static void index_insert(hfit_heap *heap, const hfit_plan *plan, uint32_t granule, uint32_t size) {
    const bool above = is_above_top(heap, plan, granule);
    const uint32_t map = class_map_of(above);
    const uint32_t entry = entry_of(plan, granule);
    const uint32_t class = class_of(size);
    if (has_bin(size)) {
        (void)list_push(heap, word_of(plan, class, above), entry);
    } else {
        store_field(heap, entry, ENTRY_SIZE, size);
        trie_insert(heap, word_of(plan, class, above), entry, size, links_end(heap));
    }
    store_word(heap, map, load_word(heap, map) | 1u << class);
}

static void index_remove(hfit_heap *heap, const hfit_plan *plan, uint32_t granule, uint32_t size) {
    const bool above = is_above_top(heap, plan, granule);
    const uint32_t map = class_map_of(above);
    const uint32_t entry = entry_of(plan, granule);
    const uint32_t class = class_of(size);
    uint32_t emptied = NO_OFFSET;
    if (has_bin(size)) {
        (void)list_unlink(heap, entry, &emptied);
    } else {
        emptied = trie_remove(heap, entry, links_end(heap));
    }
    if (emptied == word_of(plan, class, above)) {
        store_word(heap, map, load_word(heap, map) & ~(1u << class));
    }
}

/* True if what index_remove would read and write holds. */
static inline bool index_holds(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                               uint32_t size) {
    const uint32_t entry = entry_of(plan, granule);
    const uint32_t end = links_end(heap);
    return do_links_hold(heap, entry, end) &&
           (has_bin(size) || (size_at(heap, entry) == size && trie_holds(heap, entry, end)));
}

/* The entry of the smallest chunk of at least `size` granules on one side of the top, or NO_OFFSET.
 */
static inline uint32_t find_best(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                 bool above) {
    const uint32_t class = class_of(size);
    const uint32_t end = links_end(heap);
    uint32_t map = load_word(heap, class_map_of(above)) & UINT32_MAX << class;
    trie_best best = {NO_OFFSET, UINT32_MAX};
    uint32_t slot = NO_OFFSET;
    if (!has_bin(size)) {
        slot = trie_follow(heap, word_of(plan, class, above), size, end, &best);
        map &= ~(1u << class);
    }
    if (slot == NO_OFFSET) {
        if (best.entry != NO_OFFSET || map == 0) {
            return best.entry;
        }
        const uint32_t larger = (uint32_t)__builtin_ctz(map);
        slot = word_of(plan, larger, above);
        if (larger < BIN_COUNT) {
            return load_word(heap, slot);
        }
    }
    return trie_least(heap, slot, best, end);
}

/* What `check` has yet to find. */
typedef struct unfound {
    uint32_t chunks; /* free ones in the index */
    uint32_t slots;  /* of tries, that something hangs from */
} unfound;

/* True if a free chunk of `size` granules begins where the entry says. */
static bool is_entry_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t entry,
                           uint32_t size) {
    const uint32_t granule = granule_of(plan, entry);
    bool is_free;
    return ((entry + 4) & (plan->alignment - 1)) == 0 && entry < chunks_end(heap) &&
           granule >= load_word(heap, CHUNKS_FIRST) && is_marked(heap, granule) &&
           chunk_end(heap, granule, &is_free) == granule + size && is_free;
}

/* Chunks in the bin with this head, if each is a free one of `size` granules and the links hold;
 * more than `most` if not. */
static uint32_t count_bin(const hfit_heap *heap, const hfit_plan *plan, uint32_t head,
                          uint32_t size, uint32_t most) {
    uint32_t previous = head - LINK_NEXT;
    uint32_t entry = load_word(heap, head);
    uint32_t count = 0;
    for (; entry != NO_OFFSET && count <= most; count++) {
        if (!is_entry_sound(heap, plan, entry, size) ||
            load_field(heap, entry, LINK_PREVIOUS) != previous) {
            return UINT32_MAX;
        }
        previous = entry;
        entry = load_field(heap, entry, LINK_NEXT);
    }
    return count;
}

/* Finds the chunks of all bins and the roots of all tries on one side of the top. False if a bin or
 * the map does not hold. */
static bool check_classes(const hfit_heap *heap, const hfit_plan *plan, bool above, unfound *left) {
    const uint32_t count = class_count(chunks_end(heap) >> granule_shift(plan));
    uint32_t map = 0;
    for (uint32_t class = 0; class < count; class ++) {
        const uint32_t word = word_of(plan, class, above);
        const bool is_empty = load_word(heap, word) == NO_OFFSET;
        map |= (uint32_t)!is_empty << class;
        if (class >= BIN_COUNT) {
            left->slots += !is_empty;
            continue;
        }
        const uint32_t found = count_bin(heap, plan, word, class + LEAST_CHUNK, left->chunks);
        if (found > left->chunks) {
            return false;
        }
        left->chunks -= found;
    }
    return map == load_word(heap, class_map_of(above));
}

/* Finds, for a free chunk that is the entry of a ring, the ring and its slot. False if they or the
 * chunk's links do not hold. */
static bool check_chunk(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                        uint32_t size, unfound *left) {
    const uint32_t entry = entry_of(plan, granule);
    if (!index_holds(heap, plan, granule, size)) {
        return false;
    }
    if (has_bin(size) || load_field(heap, entry, TRIE_SLOT) == NO_OFFSET) {
        return true;
    }
    const uint32_t count = count_ring(heap, entry, size, left->chunks);
    left->chunks -= count;
    left->slots += (uint32_t)(load_field(heap, entry, TRIE_LOWER) != NO_OFFSET) +
                   (uint32_t)(load_field(heap, entry, TRIE_HIGHER) != NO_OFFSET) - 1;
    const uint32_t root = word_of(plan, class_of(size), is_above_top(heap, plan, granule));
    return count != 0 && trie_leads_to(heap, root, entry, size);
}

#endif
