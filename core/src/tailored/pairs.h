/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where chunks begin and which are free, as three bits for two granules: chunks may have one.
 *
 *   granules    0 1   2 3   4 5   6 7   8 9  ...          U, F: a used or free chunk begins
 *   chunks      [ used  ]   [f]   [u][ free ] ...
 *   pairs       U -   - -   F U   - -   ...
 *
 *   pair     - -   U -   - U   U U   F U   F -   - F   U F       F F is none: free chunks
 *   bits     000   001   010   011   100   101   110   111       never touch
 *            cba
 *
 * A group has the bits a of 32 pairs in its first word, b in its second and c in its third. So a
 * chunk begins in a pair just if one of its bits is set, and whole words tell
 *   - in which pairs a chunk begins at the first granule: a | c & ~b, a free one: c & ~b;
 *   - in which at the second: b | c & ~a, a free one: c & b.
 *
 * No search passes many words: where a chunk reaches beyond the next group, that one and the last
 * one that has no beginning in it say how many there are. Groups between may have anything of this
 * kind, left by chunks before.
 *
 *   group    | a: k | b: 11, k | c: 11, 0 |      two pairs "- F" at the end, which never follow
 * each other; k is there twice, so no flipped bit forges it
 *
 * Before the first chunk and behind the last one a granule is marked as a used chunk's first.
 */
#ifndef HFIT_TAILORED_PAIRS_H
#define HFIT_TAILORED_PAIRS_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/tailored/heap.h"
#include "src/tailored/map.h"

#define SKIP_PAIRS 0xC0000000u

enum { GROUP_SHIFT = 6, GROUP_SIZE = 12 };

_Static_assert((uint32_t)MOST_GRANULES >> GROUP_SHIFT < ~SKIP_PAIRS, "30 bits count all groups");

typedef enum beginning { NONE_BEGINS, USED_BEGINS, FREE_BEGINS } beginning;

typedef struct group {
    uint32_t a;
    uint32_t b;
    uint32_t c;
} group;

static FORCE_INLINE void load_group(const hfit_heap *heap, uint32_t offset, group *loaded) {
    loaded->a = load_word(heap, offset);
    loaded->b = load_word(heap, offset + 4);
    loaded->c = load_word(heap, offset + 8);
}

static FORCE_INLINE void store_group(hfit_heap *heap, uint32_t offset, uint32_t a, uint32_t b,
                                     uint32_t c) {
    store_word(heap, offset, a);
    store_word(heap, offset + 4, b);
    store_word(heap, offset + 8, c);
}

/* Pairs at whose first granule a chunk begins. */
static FORCE_INLINE uint32_t firsts(const group *of) {
    return of->a | (of->c & ~of->b);
}

/* Pairs at whose second granule a chunk begins. */
static FORCE_INLINE uint32_t seconds(const group *of) {
    return of->b | (of->c & ~of->a);
}

/* Pairs in which any does. */
static FORCE_INLINE uint32_t pairs_of(const group *of) {
    return of->a | of->b | of->c;
}

/* True if the group has no beginnings, but how many groups like it there are. */
static FORCE_INLINE bool is_passed(const group *of) {
    return of->c == SKIP_PAIRS && (of->b ^ SKIP_PAIRS) == of->a;
}

static FORCE_INLINE uint32_t group_offset(uint32_t map, uint32_t number) {
    return map + number * GROUP_SIZE;
}

static FORCE_INLINE uint32_t group_of(const hfit_heap *heap, uint32_t granule) {
    return group_offset(map_base(heap), granule >> GROUP_SHIFT);
}

static FORCE_INLINE uint32_t pair_in_group(uint32_t granule) {
    return granule >> 1 & 31;
}

/* As load_group, of a group that may be passed. */
static inline void load_beginnings(const hfit_heap *heap, uint32_t offset, group *loaded) {
    load_group(heap, offset, loaded);
    if (is_passed(loaded)) {
        loaded->a = loaded->b = loaded->c = 0;
    }
}

/* What begins at any granule. */
static inline beginning beginning_at(const hfit_heap *heap, uint32_t granule) {
    group found;
    load_beginnings(heap, group_of(heap, granule), &found);
    const uint32_t pair = pair_in_group(granule);
    const bool is_second = (granule & 1) != 0;
    const uint32_t begins = is_second ? seconds(&found) : firsts(&found);
    const uint32_t is_free = found.c & (is_second ? found.b : ~found.b);
    if ((begins >> pair & 1u) == 0) {
        return NONE_BEGINS;
    }
    return (is_free >> pair & 1u) != 0 ? FREE_BEGINS : USED_BEGINS;
}

/* Of a granule at which a chunk begins. */
static FORCE_INLINE bool begins_free(const hfit_heap *heap, uint32_t granule) {
    const uint32_t offset = group_of(heap, granule);
    const uint32_t b = load_word(heap, offset + 4);
    const uint32_t is_free = load_word(heap, offset + 8) & ((granule & 1) != 0 ? b : ~b);
    return (is_free >> pair_in_group(granule) & 1u) != 0;
}

/* Notes what begins at a granule. Both of a pair are never free, not even for a moment. */
static CALL_FOR_SIZE void begin_at(hfit_heap *heap, uint32_t granule, beginning what) {
    const uint32_t offset = group_of(heap, granule);
    group old;
    load_beginnings(heap, offset, &old);
    const uint32_t bit = 1u << pair_in_group(granule);
    const uint32_t others = ~bit;
    uint32_t first = firsts(&old);
    uint32_t second = seconds(&old);
    uint32_t first_free = old.c & ~old.b;
    uint32_t second_free = old.c & old.b;
    const uint32_t begins = what != NONE_BEGINS ? bit : 0;
    const uint32_t is_free = what == FREE_BEGINS ? bit : 0;
    if ((granule & 1) == 0) {
        first = (first & others) | begins;
        first_free = (first_free & others) | is_free;
    } else {
        second = (second & others) | begins;
        second_free = (second_free & others) | is_free;
    }
    HFIT_ASSERT((first_free & second_free) == 0);
    store_group(heap, offset, first & ~(first_free & second), second & ~first_free,
                first_free | second_free);
}

/* Notes how many groups lie between two beginnings that follow each other. */
static inline void note_passed(hfit_heap *heap, uint32_t start, uint32_t next) {
    HFIT_ASSERT(start < next);
    const uint32_t first = (start >> GROUP_SHIFT) + 1;
    const uint32_t behind = next >> GROUP_SHIFT;
    if (behind > first) {
        const uint32_t map = map_base(heap);
        const uint32_t count = behind - first;
        store_group(heap, group_offset(map, first), count, SKIP_PAIRS | count, SKIP_PAIRS);
        store_group(heap, group_offset(map, behind - 1), count, SKIP_PAIRS | count, SKIP_PAIRS);
    }
}

/* The next beginning behind a granule at which there is one. */
static INLINE_FOR_SPEED uint32_t next_beginning(const hfit_heap *heap, uint32_t granule) {
    const uint32_t map = map_base(heap);
    const uint32_t pair = pair_in_group(granule);
    uint32_t number = granule >> GROUP_SHIFT;
    group found;
    load_group(heap, group_offset(map, number), &found);
    if ((granule & 1) == 0 && (seconds(&found) >> pair & 1u) != 0) {
        return granule + 1;
    }
    uint32_t pairs = pairs_of(&found) & ~1u << pair;
    if (pairs == 0) {
        load_group(heap, group_offset(map, ++number), &found);
        if (is_passed(&found)) {
            number += found.a;
            load_group(heap, group_offset(map, number), &found);
        }
        pairs = pairs_of(&found);
    }
    const uint32_t next = hfit_trailing_zeros(pairs);
    return (number << GROUP_SHIFT) + 2 * next + ((firsts(&found) >> next & 1u) == 0);
}

/* The last beginning before a chunk. */
static INLINE_FOR_SPEED uint32_t previous_beginning(const hfit_heap *heap, uint32_t granule) {
    const uint32_t map = map_base(heap);
    const uint32_t pair = pair_in_group(granule);
    uint32_t number = granule >> GROUP_SHIFT;
    group found;
    load_group(heap, group_offset(map, number), &found);
    if ((granule & 1) != 0 && (firsts(&found) >> pair & 1u) != 0) {
        return granule - 1;
    }
    uint32_t pairs = pairs_of(&found) & ((1u << pair) - 1);
    if (pairs == 0) {
        load_group(heap, group_offset(map, --number), &found);
        if (is_passed(&found)) {
            number -= found.a;
            load_group(heap, group_offset(map, number), &found);
        }
        pairs = pairs_of(&found);
    }
    const uint32_t last = 31u - hfit_leading_zeros(pairs);
    return (number << GROUP_SHIFT) + 2 * last + (seconds(&found) >> last & 1u);
}

/* The granule behind the chunk at `granule`. */
static inline uint32_t paired_end(const hfit_heap *heap, uint32_t granule, bool *is_free) {
    *is_free = begins_free(heap, granule);
    return next_beginning(heap, granule);
}

/* True if a free chunk of `size` granules begins at `chunk`, any granule of the chunks. */
static inline bool is_free_paired(const hfit_heap *heap, uint32_t chunk, uint32_t size) {
    return beginning_at(heap, chunk) == FREE_BEGINS && next_beginning(heap, chunk) == chunk + size;
}

/* The five changes of bounds: see bounds.h. */

static INLINE_FOR_SPEED void pairs_use(hfit_heap *heap, uint32_t start, uint32_t behind,
                                       uint32_t end) {
    begin_at(heap, start, USED_BEGINS);
    if (behind != end) {
        begin_at(heap, behind, FREE_BEGINS);
        note_passed(heap, behind, end);
    }
    note_passed(heap, start, behind);
}

static inline void pairs_use_last(hfit_heap *heap, uint32_t start, uint32_t at, uint32_t end) {
    begin_at(heap, at, USED_BEGINS);
    note_passed(heap, start, at);
    note_passed(heap, at, end);
}

/* The first granule stays used where the chunk before is used or, as a block grows, left alone. */
static INLINE_FOR_SPEED void pairs_join(hfit_heap *heap, const place *at) {
    if (at->to != at->end) {
        begin_at(heap, at->end, NONE_BEGINS);
    }
    if (at->from != at->start) {
        begin_at(heap, at->start, NONE_BEGINS);
    }
}

static INLINE_FOR_SPEED void pairs_free(hfit_heap *heap, const place *at) {
    pairs_join(heap, at);
    if (at->from == at->start) {
        begin_at(heap, at->start, FREE_BEGINS);
    }
    note_passed(heap, at->from, at->to);
}

static inline void pairs_cut(hfit_heap *heap, const place *at, uint32_t behind) {
    begin_at(heap, behind, USED_BEGINS);
    note_passed(heap, at->start, behind);
}

/* Stores where the used chunk at `at->start`, a granule of the chunks, ends. From safety level 1 on
 * false, and what is wrong, if there is none. */
static INLINE_FOR_SPEED bool pairs_find(const hfit_heap *heap, place *at, hfit_misuse *misuse) {
    if (HFIT_SAFETY >= 1) {
        const beginning what = beginning_at(heap, at->start);
        *misuse = what == NONE_BEGINS ? HFIT_MISUSE_FOREIGN : HFIT_MISUSE_NOT_LIVE;
        if (what != USED_BEGINS) {
            return false;
        }
    }
    at->end = next_beginning(heap, at->start);
    return true;
}

/* Stores how far the free neighbours reach. */
static INLINE_FOR_SPEED void pairs_look_around(const hfit_heap *heap, place *at) {
    const uint32_t before = previous_beginning(heap, at->start);
    at->to = at->end;
    at->from = begins_free(heap, before) ? before : at->start;
    if (begins_free(heap, at->end)) {
        at->to = next_beginning(heap, at->end);
    }
}

/* Lays the map out from byte layout->start on. */
static void lay_out_pairs(map_layout *layout) {
    layout->base = layout->start - (layout->first >> GROUP_SHIFT) * GROUP_SIZE;
    layout->end = group_offset(layout->base, (layout->last >> GROUP_SHIFT) + 1);
}

/* The first beginning from any granule on, found group by group; `end` if there is none before. */
static uint32_t scan_for_beginning(const hfit_heap *heap, uint32_t granule, uint32_t end) {
    for (uint32_t from = granule; from < end; from = (from | 63) + 1) {
        group found;
        load_beginnings(heap, group_of(heap, from), &found);
        const uint32_t pair = pair_in_group(from);
        if ((from & 1) != 0 && (seconds(&found) >> pair & 1u) != 0) {
            return from;
        }
        const uint32_t pairs = pairs_of(&found) & (~0u << pair) << (from & 1);
        if (pairs != 0) {
            const uint32_t next = hfit_trailing_zeros(pairs);
            return (from & ~63u) + 2 * next + ((firsts(&found) >> next & 1u) == 0);
        }
    }
    return end;
}

/* True if the map lies as laid out, and of what is outside the chunks just the granules beside them
 * are marked. */
static bool are_pairs_sound(const hfit_heap *heap, const map_layout *layout, uint32_t first,
                            uint32_t end) {
    const uint32_t begin = layout->first & ~63u;
    const uint32_t last = (layout->last | 63) + 1;
    return map_base(heap) == layout->base && beginning_at(heap, first - 1) == USED_BEGINS &&
           beginning_at(heap, end) == USED_BEGINS &&
           scan_for_beginning(heap, begin, last) == first - 1 &&
           scan_for_beginning(heap, end + 1, last) == last;
}

/* True if the groups between two beginnings say how many they are. */
static bool is_passing_noted(const hfit_heap *heap, uint32_t start, uint32_t next) {
    const uint32_t map = map_base(heap);
    const uint32_t first = (start >> GROUP_SHIFT) + 1;
    const uint32_t behind = next >> GROUP_SHIFT;
    group before;
    group last;
    if (behind <= first) {
        return true;
    }
    load_group(heap, group_offset(map, first), &before);
    load_group(heap, group_offset(map, behind - 1), &last);
    return is_passed(&before) && before.a == behind - first && is_passed(&last) &&
           last.a == before.a;
}

/* As paired_end, and nothing is believed but beginnings: UINT32_MAX if what was noted differs. */
static uint32_t checked_paired_end(const hfit_heap *heap, uint32_t chunk, uint32_t end,
                                   bool *is_free) {
    const uint32_t next = scan_for_beginning(heap, chunk + 1, end);
    const beginning what = beginning_at(heap, chunk);
    *is_free = what == FREE_BEGINS;
    return what != NONE_BEGINS && is_passing_noted(heap, chunk, next) ? next : UINT32_MAX;
}

#endif
