/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where chunks begin and which are free, as one bit a granule, apart from the chunks.
 *
 *   granule     0 1 2 3 4 5 6 7 8 9 ...
 *   chunks      [used ] [free   ] [used ] ...
 *   bit         1 0 0 1 0 0 0 1 1 0 0 ...
 *
 * A bit is set where a chunk begins and at the last granule of a free chunk, which so ends in two
 * set bits at least. Every chunk has two granules or more, and free chunks have used neighbours.
 * That makes the bits unambiguous both ways:
 * - the chunk before a chunk at s is free just if bit s - 1 is set; it then begins at the next set
 *   bit below;
 * - if b is the next set bit behind a chunk's first, then the chunk is free, and b its last
 *   granule, if b + 1 is set and b + 2 is not (a used chunk begins at b + 1). Else it is used and
 *   ends before b: there a used chunk begins (b + 1 is not set), or a free one of two granules,
 *   behind which a used one begins (b + 1 and b + 2 are set).
 * The end of all chunks is marked as the beginning of a used one, which has two granules here.
 *
 * So that no search is longer than the map has levels, level k + 1 has a bit for each word of
 * level k, set if that word is not 0, up to a level of one word:
 *
 *   level 2   |1|               1 word       MAP_LEVELS: where word 0 of level 0, 1, ... would lie
 *   level 1   |1|0|1|           a bit a word     (the words before the first granule's are left
 *   level 0   |0101|0000|1101|  a bit a granule   out, so this may lie before the region)
 */
#ifndef HFIT_BOUNDARY_MAP_H
#define HFIT_BOUNDARY_MAP_H

#include "src/tailored_heap.h"

enum { MOST_LEVELS = 6 /* of 32 bits a word, for 2^30 granules */ };

/* The levels of a map of the granules from `first` to `last`. */
typedef struct map_layout {
    uint32_t first;
    uint32_t last;
    uint32_t start; /* bytes from the region's start: level 0 begins, the top level ends here */
    uint32_t end;
    uint32_t levels;
    uint32_t bases[MOST_LEVELS];
} map_layout;

static FORCE_INLINE uint32_t map_word(const hfit_heap *heap, uint32_t level, uint32_t bit) {
    return load_word(heap, MAP_LEVELS + 4 * level) + (bit >> 5) * 4;
}

static FORCE_INLINE bool is_marked(const hfit_heap *heap, uint32_t granule) {
    return (load_word(heap, map_word(heap, 0, granule)) >> (granule & 31) & 1u) != 0;
}

/* Tells the levels from 1 on that word `bit` of the one below became, or is not any more, 0. The
 * map is never empty, so this ends. */
static void tell_above(hfit_heap *heap, uint32_t bit, bool is_set) {
    for (uint32_t level = 1;; level++) {
        const uint32_t word = map_word(heap, level, bit);
        const uint32_t before = load_word(heap, word);
        const uint32_t after = before ^ 1u << (bit & 31);
        store_word(heap, word, after);
        if ((is_set ? before : after) != 0) {
            return;
        }
        bit >>= 5;
    }
}

/* Sets a bit that is not set. */
static inline void mark(hfit_heap *heap, uint32_t granule) {
    const uint32_t word = map_word(heap, 0, granule);
    const uint32_t before = load_word(heap, word);
    store_word(heap, word, before | 1u << (granule & 31));
    if (before == 0) {
        tell_above(heap, granule >> 5, true);
    }
}

/* Clears bits of a word that are set: those of `bits`, moved up to `granule`. */
static inline void unmark_bits(hfit_heap *heap, uint32_t granule, uint32_t bits) {
    const uint32_t word = map_word(heap, 0, granule);
    const uint32_t after = load_word(heap, word) & ~(bits << (granule & 31));
    store_word(heap, word, after);
    if (after == 0) {
        tell_above(heap, granule >> 5, false);
    }
}

static inline void unmark(hfit_heap *heap, uint32_t granule) {
    unmark_bits(heap, granule, 1);
}

/* Clears the bit of a granule and the one before, both set. */
static inline void unmark_pair(hfit_heap *heap, uint32_t granule) {
    if ((granule & 31) == 0) {
        unmark(heap, granule);
        unmark(heap, granule - 1);
    } else {
        unmark_bits(heap, granule - 1, 3);
    }
}

/* The first set bit in the words behind the granule's, of which there is one. Most often it is in
 * one of the next 32 words. */
static uint32_t next_mark_behind(const hfit_heap *heap, uint32_t granule) {
    uint32_t bit = (granule >> 5) + 1;
    uint32_t word = load_word(heap, map_word(heap, 1, bit)) >> (bit & 31);
    if (!IS_FOR_SIZE && word != 0) {
        bit += (uint32_t)__builtin_ctz(word);
        return bit << 5 | (uint32_t)__builtin_ctz(load_word(heap, map_word(heap, 0, bit << 5)));
    }
    uint32_t level = 1;
    while (word == 0) {
        bit = (bit >> 5) + 1;
        level++;
        word = load_word(heap, map_word(heap, level, bit)) >> (bit & 31);
    }
    bit += (uint32_t)__builtin_ctz(word);
    while (level > 0) {
        level--;
        bit <<= 5;
        bit += (uint32_t)__builtin_ctz(load_word(heap, map_word(heap, level, bit)));
    }
    return bit;
}

/* The first set bit from `granule` on, of which there is one. */
static inline uint32_t next_mark(const hfit_heap *heap, uint32_t granule) {
    const uint32_t word = load_word(heap, map_word(heap, 0, granule)) >> (granule & 31);
    return word != 0 ? granule + (uint32_t)__builtin_ctz(word) : next_mark_behind(heap, granule);
}

/* As next_mark_behind, in the words before the granule's. */
static uint32_t previous_mark_before(const hfit_heap *heap, uint32_t granule) {
    uint32_t bit = (granule >> 5) - 1;
    uint32_t word = load_word(heap, map_word(heap, 1, bit)) << (~bit & 31);
    if (!IS_FOR_SIZE && word != 0) {
        bit = (bit - (uint32_t)__builtin_clz(word)) << 5 | 31;
        return bit - (uint32_t)__builtin_clz(load_word(heap, map_word(heap, 0, bit)));
    }
    uint32_t level = 1;
    while (word == 0) {
        bit = (bit >> 5) - 1;
        level++;
        word = load_word(heap, map_word(heap, level, bit)) << (~bit & 31);
    }
    bit -= (uint32_t)__builtin_clz(word);
    while (level > 0) {
        level--;
        bit = bit << 5 | 31;
        bit -= (uint32_t)__builtin_clz(load_word(heap, map_word(heap, level, bit)));
    }
    return bit;
}

/* The last set bit up to `granule`, of which there is one. */
static inline uint32_t previous_mark(const hfit_heap *heap, uint32_t granule) {
    const uint32_t word = load_word(heap, map_word(heap, 0, granule)) << (~granule & 31);
    return word != 0 ? granule - (uint32_t)__builtin_clz(word)
                     : previous_mark_before(heap, granule);
}

/* The granule behind the chunk at `granule`. */
static INLINE_FOR_SPEED uint32_t map_end(const hfit_heap *heap, uint32_t granule, bool *is_free) {
    uint32_t found = granule + 1;
    uint32_t marks = load_word(heap, map_word(heap, 0, found)) >> (found & 31);
    if (marks != 0) {
        const uint32_t bits = (uint32_t)__builtin_ctz(marks);
        found += bits;
        marks >>= bits; /* found's is first */
    } else {
        found = next_mark_behind(heap, found);
        marks = load_word(heap, map_word(heap, 0, found)) >> (found & 31);
    }
    *is_free = (found & 31) < 30 ? (marks & 7) == 3
                                 : is_marked(heap, found + 1) && !is_marked(heap, found + 2);
    return found + *is_free;
}

/* The five changes of bounds: see tailored_bounds.h. */

static inline void map_use(hfit_heap *heap, uint32_t behind, uint32_t end) {
    if (behind != end) {
        mark(heap, behind);
    } else {
        unmark(heap, end - 1);
    }
}

static inline void map_use_last(hfit_heap *heap, uint32_t at, uint32_t end) {
    unmark(heap, end - 1);
    mark(heap, at - 1);
    mark(heap, at);
}

static inline void map_free(hfit_heap *heap, const place *at) {
    if (at->to != at->end) {
        unmark(heap, at->end);
    } else {
        mark(heap, at->end - 1);
    }
    if (at->from != at->start) {
        unmark_pair(heap, at->start);
    }
}

/* Stores where the used chunk at `at->start`, a granule of the chunks, ends. From safety level 1 on
 * false, and what is wrong, if there is none. */
static inline bool map_find(const hfit_heap *heap, place *at, hfit_misuse *misuse) {
    bool is_free;
    if (HFIT_SAFETY >= 1 && !is_marked(heap, at->start)) {
        *misuse = HFIT_MISUSE_FOREIGN;
        return false;
    }
    if (HFIT_SAFETY < 1) {
        at->end = next_mark(heap, at->start + 1);
        return true;
    }
    at->end = map_end(heap, at->start, &is_free);
    *misuse = HFIT_MISUSE_NOT_LIVE;
    /* The last granule of a free chunk is marked, too, and looks like a chunk of one. */
    return !is_free && at->end - at->start >= LEAST_MAPPED;
}

/* Stores how far the free neighbours reach. */
static inline void map_look_around(const hfit_heap *heap, place *at) {
    bool is_free;
    at->to = map_end(heap, at->end, &is_free);
    at->to = is_free ? at->to : at->end;
    at->from = at->start;
    if (is_marked(heap, at->start - 1)) {
        at->from = previous_mark(heap, at->start - LEAST_MAPPED);
    }
}

/* Lays the map out from byte layout->start on. */
static void lay_out_map(map_layout *layout) {
    uint32_t first = layout->first;
    uint32_t last = layout->last;
    uint32_t level = 0;
    layout->end = layout->start;
    do {
        first >>= 5;
        last >>= 5;
        layout->bases[level++] = layout->end - 4 * first;
        layout->end += 4 * (last - first + 1);
    } while (first != last);
    layout->levels = level;
}

/* Writes a map with one mark, at `granule`. */
static void init_map(hfit_heap *heap, const map_layout *layout, uint32_t granule) {
    for (uint32_t at = layout->start; at < layout->end; at += 4) {
        store_word(heap, at, 0);
    }
    for (uint32_t level = 0; level < layout->levels; level++) {
        store_word(heap, MAP_LEVELS + 4 * level, layout->bases[level]);
        store_word(heap, map_word(heap, level, granule), 1u << (granule & 31));
        granule >>= 5;
    }
}

/* The bits that tell which of the 32 words of `level` from `word` on are not 0. */
static uint32_t summary_of(const hfit_heap *heap, const map_layout *layout, uint32_t level,
                           uint32_t word) {
    const uint32_t shift = 5 * (level + 1);
    uint32_t summary = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (word + i >= layout->first >> shift && word + i <= layout->last >> shift &&
            load_word(heap, layout->bases[level] + 4 * (word + i)) != 0) {
            summary |= 1u << i;
        }
    }
    return summary;
}

/* True if the end is marked as a used chunk's beginning, and nothing else is outside the chunks. */
static bool are_ends_marked(const hfit_heap *heap, const map_layout *layout, uint32_t first,
                            uint32_t end) {
    const uint32_t behind = end + LEAST_MAPPED;
    const uint32_t last_word = load_word(heap, map_word(heap, 0, layout->last));
    return next_mark(heap, layout->first & ~31u) == first && is_marked(heap, end) &&
           !is_marked(heap, end + 1) && is_marked(heap, behind) && !is_marked(heap, behind + 1) &&
           last_word >> (layout->last & 31) == 0;
}

/* True if the levels lie as laid out, and each bit above level 0 tells of its word. */
static bool is_map_sound(const hfit_heap *heap, const map_layout *layout) {
    for (uint32_t level = 0; level < layout->levels; level++) {
        if (load_word(heap, MAP_LEVELS + 4 * level) != layout->bases[level]) {
            return false;
        }
    }
    for (uint32_t level = 1; level < layout->levels; level++) {
        const uint32_t shift = 5 * (level + 1);
        for (uint32_t word = layout->first >> shift; word <= layout->last >> shift; word++) {
            if (load_word(heap, layout->bases[level] + 4 * word) !=
                summary_of(heap, layout, level - 1, 32 * word)) {
                return false;
            }
        }
    }
    return true;
}

#endif
