/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where chunks begin and which are free, as one bit a granule, apart from the chunks.
 *
 *   granule     0 1 2 3 4 5 6 7 8 9 ...              free chunks of   2    11
 *   chunks      [used ] [free         ] [used ] ...                   3    111
 *   marks       1 0 0   1 1 0 ... 0 1 1 1 0 0   ...                   4    1111
 *                                                                     5... 110...011
 *
 * A used chunk is marked at its first granule, a free one at its first two and at its last two.
 * Every chunk has two granules or more, and free chunks have used neighbours. So a granule beside a
 * known bound tells whether the chunk there is free: a used one's second and last are not marked.
 *
 * It can be told of any granule whether a used chunk begins there: just if it is marked, the next
 * one is not, and the marks that end with it are not two. For behind a used chunk's last granule,
 * which is not marked, marks follow each other up to
 *   - a used chunk's first: after 0, 2, 3 or 4 of a free chunk before it, or 2 of a longer one's
 *     end, so they are 1, 3, 4 or 5;
 *   - the second granule of a free chunk of five or more: they are 2.
 *
 * No search passes many words: a chunk that reaches beyond the next word of marks has there, where
 * it has no mark, how many such words it has; from safety level 1 on in the last of them, too.
 *
 *   word        | marks    | 0111111 k 0 | ...       | 0111111 k 0 | marks     |
 *   chunk           [p                   k words                      end)
 *
 * Six marks never follow each other, so this is told from marks. Words between may have anything of
 * this kind, left by chunks before. The end of all chunks is marked as the beginning of a used one.
 *
 * At safety level 0 a free chunk's own words tell its size, the third and the last, so none is
 * searched and it has no such words in the map.
 */
#ifndef HFIT_TAILORED_MAP_H
#define HFIT_TAILORED_MAP_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/coded.h"
#include "src/tailored/heap.h"

enum {
    SKIP_SHIFT = 25,
    SKIP_SIGN = 63,                /* 0111111, the highest bits of a word that has no marks */
    MOST_GRANULES = (1 << 29) - 1, /* less than 2^24 words */
    LONG_BEGINS = 6,               /* marks around a granule: "0110" */
};

_Static_assert(MOST_GRANULES >> 5 < 1 << (SKIP_SHIFT - 1), "a skip counts all words of a map");
_Static_assert(SKIP_SIGN >> (32 - SKIP_SHIFT) == 0, "and its sign lies above the count");

/* The map of the granules from `first` to `last`. */
typedef struct map_layout {
    uint32_t first;
    uint32_t last;
    uint32_t start; /* bytes from the region's start */
    uint32_t end;
    uint32_t base; /* where word 0 would lie, perhaps before the region */
} map_layout;

/* Where word 0 of the map would lie; word n has the marks of 32 granules from 32 n on. */
static FORCE_INLINE uint32_t map_base(const hfit_heap *heap) {
    return load_word(heap, MAP_BASE);
}

static FORCE_INLINE bool is_skip(uint32_t word) {
    return word >> SKIP_SHIFT == SKIP_SIGN;
}

static FORCE_INLINE uint32_t skip_of(uint32_t words) {
    return (uint32_t)SKIP_SIGN << SKIP_SHIFT | words << 1;
}

static FORCE_INLINE uint32_t skipped(uint32_t skip) {
    return skip << (32 - SKIP_SHIFT) >> (33 - SKIP_SHIFT);
}

/* Of a granule at a known bound, or next to one. */
static FORCE_INLINE bool is_marked(const hfit_heap *heap, uint32_t map, uint32_t granule) {
    return (load_word(heap, map + (granule >> 5) * 4) >> (granule & 31) & 1u) != 0;
}

/* Marks in a word of the map, in which a chunk before may have left what it skipped. */
static FORCE_INLINE void mark_in(hfit_heap *heap, uint32_t offset, uint32_t marks) {
    const uint32_t word = load_word(heap, offset);
    store_word(heap, offset, is_skip(word) ? marks : word | marks);
}

/* Clears marks in a word. */
static FORCE_INLINE void unmark_in(hfit_heap *heap, uint32_t offset, uint32_t marks) {
    store_word(heap, offset, load_word(heap, offset) & ~marks);
}

/* Marks so many granules, at most four, which may lie in two words. */
static FORCE_INLINE void mark(hfit_heap *heap, uint32_t map, uint32_t granule, uint32_t count) {
    HFIT_ASSERT(count >= 1 && count <= 4);
    const uint32_t offset = map + (granule >> 5) * 4;
    const uint32_t shift = granule & 31;
    const uint32_t marks = (1u << count) - 1;
    mark_in(heap, offset, marks << shift);
    if (shift + count > 32) {
        mark_in(heap, offset + 4, marks >> (32 - shift));
    }
}

/* Clears the marks of so many granules, of which some are in each word. */
static INLINE_FOR_SPEED void unmark(hfit_heap *heap, uint32_t map, uint32_t granule,
                                    uint32_t count) {
    HFIT_ASSERT(count <= 4);
    const uint32_t offset = map + (granule >> 5) * 4;
    const uint32_t shift = granule & 31;
    const uint32_t marks = (1u << count) - 1;
    unmark_in(heap, offset, marks << shift);
    if (shift + count > 32) {
        unmark_in(heap, offset + 4, marks >> (32 - shift));
    }
}

/* Two marks, and one less: what a chunk that is split or joined most often needs. */
static CALL_FOR_SIZE void mark_two(hfit_heap *heap, uint32_t map, uint32_t granule) {
    mark(heap, map, granule, 2);
}

static FORCE_INLINE void unmark_one(hfit_heap *heap, uint32_t map, uint32_t granule) {
    unmark_in(heap, map + (granule >> 5) * 4, 1u << (granule & 31));
}

/* Notes how many words lie between the last mark at a chunk's beginning and the next one. */
static FORCE_INLINE void note_skip(hfit_heap *heap, uint32_t map, uint32_t mark, uint32_t next) {
    HFIT_ASSERT(mark <= next + 1); /* of a chunk of two granules both are marks */
    const uint32_t first = (mark >> 5) + 1;
    const uint32_t behind = next >> 5;
    if (behind > first) {
        store_word(heap, map + first * 4, skip_of(behind - first));
        if (CHECKS_WORDS) {
            store_word(heap, map + behind * 4 - 4, skip_of(behind - first));
        }
    }
}

/* The next mark behind a granule that is marked. */
static FORCE_INLINE uint32_t find_mark(const hfit_heap *heap, uint32_t map, uint32_t granule) {
    uint32_t number = granule >> 5;
    uint32_t word = load_word(heap, map + number * 4) & ~1u << (granule & 31);
    if (word == 0) {
        number++;
        word = load_word(heap, map + number * 4);
        if (is_skip(word)) {
            number += skipped(word);
            word = load_word(heap, map + number * 4);
        }
    }
    return number * 32 + hfit_trailing_zeros(word);
}

/* The same, for all but free to call. */
static CALL_FOR_SIZE uint32_t next_mark(const hfit_heap *heap, uint32_t map, uint32_t granule) {
    return find_mark(heap, map, granule);
}

/* The last mark before a granule that is marked, behind the first chunk's. */
static inline uint32_t previous_mark(const hfit_heap *heap, uint32_t map, uint32_t granule) {
    uint32_t number = granule >> 5;
    uint32_t word = load_word(heap, map + number * 4) & ((1u << (granule & 31)) - 1);
    if (word == 0) {
        number--;
        word = load_word(heap, map + number * 4);
        if (is_skip(word)) {
            const uint32_t words = skipped(word);
            /* More only where it was overwritten. */
            number -= !CHECKS_WORDS || words <= number ? words : number;
            word = load_word(heap, map + number * 4);
        }
    }
    return number * 32 + 31 - hfit_leading_zeros(word);
}

static FORCE_INLINE uint32_t marks_of(uint32_t word) {
    return is_skip(word) ? 0 : word;
}

/* Five marks at least from any granule on, its own first. */
static inline uint32_t marks_from(const hfit_heap *heap, uint32_t granule) {
    const uint32_t offset = map_base(heap) + (granule >> 5) * 4;
    const uint32_t shift = granule & 31;
    const uint32_t marks = marks_of(load_word(heap, offset)) >> shift;
    return shift <= 27 ? marks : marks | marks_of(load_word(heap, offset + 4)) << (32 - shift);
}

/* The marks of any granule, two before and one behind it. */
static FORCE_INLINE uint32_t marks_around(const hfit_heap *heap, uint32_t granule) {
    return marks_from(heap, granule - 2) & 15;
}

/* How many marks follow each other from any granule on, five at most. */
static inline uint32_t run_from(const hfit_heap *heap, uint32_t granule) {
    return hfit_trailing_zeros(~marks_from(heap, granule) | 1u << 5);
}

/* The granule behind a free chunk. */
static inline uint32_t free_end(const hfit_heap *heap, uint32_t chunk) {
    const uint32_t run = run_from(heap, chunk);
    return run > 2 ? chunk + run - 1 : next_mark(heap, map_base(heap), chunk + 1) + 2;
}

/* The first granule of the free chunk before a used one. */
static inline uint32_t free_start(const hfit_heap *heap, uint32_t end) {
    const uint32_t map = map_base(heap);
    if (is_marked(heap, map, end - 3)) {
        return end - 3 - is_marked(heap, map, end - 4);
    }
    if (end - 2 == load_word(heap, CHUNKS_FIRST)) {
        return end - 2;
    }
    const uint32_t before = previous_mark(heap, map, end - 2);
    const bool is_inside = !CHECKS_WORDS || before - 2 < end; /* not where marks were lost */
    return is_inside && marks_around(heap, before) == LONG_BEGINS ? before - 1 : end - 2;
}

/* A chunk of two words has no room for its size: there, the last is a link, and so even,
 * or odd where it is coded. */
static FORCE_INLINE bool has_room(const hfit_plan *plan, uint32_t size) {
    return plan->alignment > 4 || size > 2;
}

/* Notes a free chunk's size: in its words at level 0, else in the map. */
static inline void note_free(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    HFIT_ASSERT(start < end && end - start >= LEAST_MAPPED);
    const uint32_t size = end - start;
    if (CHECKS_WORDS) {
        note_skip(heap, map_base(heap), start + 1, end - 2);
        return;
    }
    if (has_room(plan, size)) {
        store_field(heap, entry_of(plan, start), FREE_SIZE, coded(size));
    }
    store_field(heap, entry_of(plan, end), 0,
                plan->alignment > 4 ? size : size << 1 | ((size > 2) != IS_CODED));
}

static FORCE_INLINE uint32_t noted_end(const hfit_heap *heap, const hfit_plan *plan,
                                       uint32_t chunk) {
    const uint32_t run = plan->alignment > 4 ? 0 : run_from(heap, chunk);
    return chunk + (run > 2 ? run - 1 : coded(load_field(heap, entry_of(plan, chunk), FREE_SIZE)));
}

static FORCE_INLINE uint32_t noted_start(const hfit_heap *heap, const hfit_plan *plan,
                                         uint32_t end) {
    const uint32_t footer = load_field(heap, entry_of(plan, end), 0);
    if (plan->alignment > 4) {
        return end - footer;
    }
    return end - ((footer & 1) != IS_CODED ? footer >> 1 : 2);
}

/* The granule behind the chunk at `granule`. */
static inline uint32_t map_end(const hfit_heap *heap, const hfit_plan *plan, uint32_t granule,
                               bool *is_free) {
    const uint32_t map = map_base(heap);
    *is_free = is_marked(heap, map, granule + 1);
    if (!*is_free) {
        return next_mark(heap, map, granule);
    }
    return !CHECKS_WORDS ? noted_end(heap, plan, granule) : free_end(heap, granule);
}

/* True if a free chunk of `size` granules begins at `chunk`, any granule of the chunks; at level 0
 * as far as its words tell. */
static FORCE_INLINE bool is_free_mapped(const hfit_heap *heap, const hfit_plan *plan,
                                        uint32_t chunk, uint32_t size) {
    if ((marks_around(heap, chunk) & 14) != 12) {
        return false;
    }
    if (!CHECKS_WORDS) {
        return noted_end(heap, plan, chunk) == chunk + size;
    }
    return free_end(heap, chunk) == chunk + size &&
           (size != 2 || chunk == load_word(heap, CHUNKS_FIRST) ||
            marks_around(heap, previous_mark(heap, map_base(heap), chunk)) != LONG_BEGINS);
}

/* The five changes of bounds: see bounds.h. */

static FORCE_INLINE void map_use(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                 uint32_t behind, uint32_t end) {
    const uint32_t map = map_base(heap);
    if (behind != end) {
        mark_two(heap, map, behind);
        note_free(heap, plan, behind, end);
    } else if (end - start > 2) {
        unmark(heap, map, end - 2, 2);
    }
    unmark_one(heap, map, start + 1);
    note_skip(heap, map, start, behind);
}

static inline void map_use_last(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t at,
                                uint32_t end) {
    const uint32_t map = map_base(heap);
    unmark(heap, map, end - 2, 2);
    mark(heap, map, at - 2, 3);
    note_skip(heap, map, at, end);
    note_free(heap, plan, start, at);
}

static FORCE_INLINE uint32_t at_most(uint32_t most, uint32_t count) {
    return count < most ? count : most;
}

/* Where chunks are joined their marks go, but for a neighbour's at the other end. What was cut off
 * before the next chunk may have one granule; so the second is marked last. */
static FORCE_INLINE void map_join(hfit_heap *heap, const place *at) {
    const uint32_t map = map_base(heap);
    if (at->to != at->end) {
        unmark(heap, map, at->end, at_most(2, at->to - at->end - 2));
    }
    if (at->from != at->start) {
        const uint32_t count = at_most(3, at->start - at->from - 1);
        unmark(heap, map, at->start + 1 - count, count);
    } else {
        mark_two(heap, map, at->start);
    }
    if (at->to == at->end) {
        mark_two(heap, map, at->end - 2);
    }
}

static FORCE_INLINE void map_free(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    map_join(heap, at);
    note_free(heap, plan, at->from, at->to);
}

static inline void map_cut(hfit_heap *heap, const place *at, uint32_t behind) {
    const uint32_t map = map_base(heap);
    mark(heap, map, behind, 1);
    note_skip(heap, map, at->start, behind);
}

/* Stores where the used chunk at `at->start`, a granule of the chunks, ends. From safety level 1 on
 * false, and what is wrong, if there is none; else also whether a free chunk lies before it: then
 * `at->from` is not its start. */
static FORCE_INLINE bool map_find(const hfit_heap *heap, place *at, hfit_misuse *misuse) {
    if (HFIT_SAFETY >= 1) {
        const uint32_t marks = marks_around(heap, at->start);
        *misuse = (marks & 4) == 0 ? HFIT_MISUSE_FOREIGN : HFIT_MISUSE_NOT_LIVE;
        if ((marks & 12) != 4 || marks == LONG_BEGINS) {
            return false;
        }
        at->from = at->start - (marks >> 1 & 1);
    }
    at->end = find_mark(heap, map_base(heap), at->start);
    return true;
}

/* Stores how far the free neighbours reach, of what map_find found. */
static FORCE_INLINE void map_look_around(const hfit_heap *heap, const hfit_plan *plan, place *at) {
    const uint32_t map = map_base(heap);
    at->to = at->end;
    if (is_marked(heap, map, at->end + 1)) {
        at->to = !CHECKS_WORDS ? noted_end(heap, plan, at->end) : free_end(heap, at->end);
    }
    if (!CHECKS_WORDS) {
        const bool is_after_free = is_marked(heap, map, at->start - 1);
        at->from = is_after_free ? noted_start(heap, plan, at->start) : at->start;
    } else if (at->from != at->start) {
        at->from = free_start(heap, at->start);
    }
}

/* Lays the map out from byte layout->start on. */
static void lay_out_map(map_layout *layout) {
    layout->base = layout->start - (layout->first >> 5) * 4;
    layout->end = layout->base + (layout->last >> 5) * 4 + 4;
}

/* True if the map lies as laid out, and of what is outside the chunks just the end is marked. */
static bool is_map_sound(const hfit_heap *heap, const map_layout *layout, uint32_t first,
                         uint32_t end) {
    const uint32_t map = layout->base;
    if (map_base(heap) != map || !is_marked(heap, map, end)) {
        return false;
    }
    const uint32_t before = load_word(heap, map + (first >> 5) * 4) << (~first & 31) << 1;
    const uint32_t behind = load_word(heap, map + (end >> 5) * 4) >> (end & 31) >> 1;
    return before == 0 && behind == 0 &&
           (layout->first >> 5 == first >> 5 || load_word(heap, layout->start) == 0) &&
           (layout->last >> 5 == end >> 5 || load_word(heap, layout->end - 4) == 0);
}

/* The next mark behind a granule, found word by word; `end` if there is none before. */
static uint32_t scan_for_mark(const hfit_heap *heap, uint32_t granule, uint32_t end) {
    const uint32_t map = map_base(heap);
    uint32_t mask = ~1u << (granule & 31);
    for (uint32_t number = granule >> 5; number <= end >> 5; number++) {
        const uint32_t word = load_word(heap, map + number * 4);
        const uint32_t marks = (is_skip(word) && (word & 1) == 0 ? 0 : word) & mask;
        if (marks != 0) {
            return number * 32 + hfit_trailing_zeros(marks);
        }
        mask = UINT32_MAX;
    }
    return end;
}

/* True if the words between a chunk's last mark at its beginning and the next one are skipped. */
static bool is_skip_noted(const hfit_heap *heap, uint32_t mark, uint32_t next) {
    const uint32_t map = map_base(heap);
    const uint32_t first = (mark >> 5) + 1;
    const uint32_t behind = next >> 5;
    const uint32_t skip = skip_of(behind - first);
    return behind <= first || (load_word(heap, map + first * 4) == skip &&
                               (!CHECKS_WORDS || load_word(heap, map + behind * 4 - 4) == skip));
}

/* As map_end, and nothing is believed but marks: UINT32_MAX if what was noted differs. */
static uint32_t checked_end(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                            uint32_t end, bool *is_free) {
    const uint32_t run = run_from(heap, chunk);
    *is_free = run > 1;
    if (run < 2) {
        const uint32_t next = scan_for_mark(heap, chunk, end);
        return run == 1 && is_skip_noted(heap, chunk, next) ? next : UINT32_MAX;
    }
    const uint32_t next = run > 2 ? chunk + run - 1 : scan_for_mark(heap, chunk + 1, end) + 2;
    const bool is_noted = !CHECKS_WORDS ? noted_end(heap, plan, chunk) == next &&
                                              noted_start(heap, plan, next) == chunk
                                        : is_skip_noted(heap, chunk + 1, next - 2);
    return next <= end && is_marked(heap, map_base(heap), next - 1) && is_noted ? next : UINT32_MAX;
}

#endif
