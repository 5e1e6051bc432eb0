/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of partitions kept as two bits a partition, apart from the partitions.
 *
 *   partition        0 1 2 3 4 5 6 7              the index word:
 *   used bit         1 1 1 1 0 0 1 0  ...         all words of the table, exclusive or,
 *   last bit         0 0 1 1 0 0 1 0  ...         so that a flipped bit of any shows
 *                    `---' ^     ^
 *                    a group of 3, two of 1
 *
 * The table holds a word of used bits, then the word of last bits of the same 32 partitions, and so
 * on. A group begins at a used partition whose predecessor is not used or is a last one. Searches
 * go by words.
 */
#ifndef HFIT_PARTITION_BITS_H
#define HFIT_PARTITION_BITS_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/partitions/partitions.h"
#include "src/partitions/run.h"

typedef enum bit_kind { USED_BITS = 0, LAST_BITS = 4 } bit_kind;

static inline uint32_t bits_table_size(uint32_t count) {
    return 8 * ((count + 31) / 32);
}

/* Offset of the word that holds a partition's bit. */
static inline uint32_t bit_word(uint32_t partition, bit_kind kind) {
    return PARTITIONS_TABLE + 8 * (partition / 32) + (uint32_t)kind;
}

static inline bool has_bit(const hfit_heap *heap, uint32_t partition, bit_kind kind) {
    return ((load_word(heap, bit_word(partition, kind)) >> (partition % 32)) & 1u) != 0;
}

/* The first partition from `from` to before `limit` whose bit is set in the table's words exclusive
 * or `flip`, which is 0 or all ones; `limit` if there is none. */
static inline uint32_t find_bit(const hfit_heap *heap, bit_kind kind, uint32_t flip, uint32_t from,
                                uint32_t limit) {
    if (from >= limit) {
        return limit;
    }
    uint32_t word = (load_word(heap, bit_word(from, kind)) ^ flip) & (UINT32_MAX << (from % 32));
    uint32_t first = from & ~31u;
    while (word == 0) {
        first += 32;
        if (first >= limit) {
            return limit;
        }
        word = load_word(heap, bit_word(first, kind)) ^ flip;
    }
    const uint32_t found = first + hfit_trailing_zeros(word);
    return found < limit ? found : limit;
}

static inline uint32_t next_used(const hfit_heap *heap, uint32_t from, uint32_t limit) {
    return find_bit(heap, USED_BITS, 0, from, limit);
}

static inline uint32_t next_unused(const hfit_heap *heap, uint32_t from, uint32_t limit) {
    return find_bit(heap, USED_BITS, UINT32_MAX, from, limit);
}

/* Flips the used bits of a run. What it changed, for seal_bits. */
static inline uint32_t flip_used(hfit_heap *heap, uint32_t first, uint32_t end) {
    HFIT_ASSERT(first < end);
    uint32_t changed = 0;
    while (first < end) {
        const uint32_t shift = first % 32;
        const uint32_t count = end - first < 32 - shift ? end - first : 32 - shift;
        const uint32_t mask = (UINT32_MAX >> (32 - count)) << shift;
        const uint32_t word = bit_word(first, USED_BITS);
        store_word(heap, word, load_word(heap, word) ^ mask);
        changed ^= mask;
        first += count;
    }
    return changed;
}

static inline uint32_t flip_last(hfit_heap *heap, uint32_t partition) {
    const uint32_t bit = 1u << (partition % 32);
    const uint32_t word = bit_word(partition, LAST_BITS);
    store_word(heap, word, load_word(heap, word) ^ bit);
    return bit;
}

static inline void seal_bits(hfit_heap *heap, uint32_t changed) {
    if (HFIT_SAFETY >= 1) {
        store_word(heap, PARTITIONS_INDEX, load_word(heap, PARTITIONS_INDEX) ^ changed);
    }
}

/* The bits of the word that begins at partition `first` behind the last partition: they are set, so
 * that no search takes them for free. */
static inline uint32_t bits_behind(const partition_layout *layout, uint32_t first) {
    HFIT_ASSERT(first < layout->count);
    const uint32_t left = layout->count - first;
    return left >= 32 ? 0 : UINT32_MAX << left;
}

static inline void bits_init(hfit_heap *heap, const partition_layout *layout) {
    store_word(heap, PARTITIONS_INDEX, 0); /* used and last bits cancel out */
    for (uint32_t first = 0; first < layout->count; first += 32) {
        store_word(heap, bit_word(first, USED_BITS), bits_behind(layout, first));
        store_word(heap, bit_word(first, LAST_BITS), bits_behind(layout, first));
    }
}

/* A search that goes through the table word by word. */
typedef struct bits_search {
    uint32_t start; /* of the last free run */
    uint32_t best;  /* the best place so far, or NO_PARTITION */
    uint32_t best_length;
} bits_search;

/* Takes the place in the free run from search->start to before `end` if it is better. True if none
 * can be better still. */
static inline bool try_run(const run_request *request, uint32_t end, bits_search *search) {
    const uint32_t place = place_from(request, search->start);
    const uint32_t length = end - search->start;
    if (place + request->count > end || length >= search->best_length) {
        return false;
    }
    search->best = place;
    search->best_length = length;
    return !request->smallest || length == request->count;
}

/* Tries the free runs that end in a word: where an unused bit is not set and the one before it is.
 * One begins where it is the other way round. True if the search is over. */
static inline bool try_word(const run_request *request, uint32_t unused, uint32_t changes,
                            uint32_t first, bits_search *search) {
    for (; changes != 0; changes &= changes - 1) {
        const uint32_t bit = hfit_trailing_zeros(changes);
        if ((unused >> bit & 1u) != 0) {
            search->start = first + bit;
        } else if (try_run(request, first + bit, search)) {
            return true;
        }
    }
    return false;
}

/* Free partitions that any run of `count` holds: 2^k of them at a multiple of 2^k, where 2^(k+1) is
 * count + 1 at most. As fields of 2^k bits in a word, all of them used bits that are 0:
 *
 *   1111 0000 1000 0111     k = 2: the second field is free, so a run of 7 may be here
 */
typedef struct free_field {
    uint32_t less_one; /* added to a word, takes 1 off each field */
    uint32_t highest;  /* the highest bit of each field */
} free_field;

enum { WHOLE_WORD = 5 }; /* the k of the largest field */

static inline free_field field_in_run(uint32_t count) {
    static const uint32_t lowest[] = {0xffffffff, 0x55555555, 0x11111111,
                                      0x01010101, 0x00010001, 0x00000001};
    _Static_assert(sizeof lowest / sizeof lowest[0] == WHOLE_WORD + 1, "fields up to a word");
    HFIT_ASSERT(count != 0);
    const uint32_t log2 = 30 - hfit_leading_zeros(count + 1);
    const uint32_t k = log2 < WHOLE_WORD ? log2 : WHOLE_WORD;
    free_field field;
    field.less_one = 0u - lowest[k]; /* member by member: see copy_place */
    field.highest = lowest[k] << ((1u << k) - 1);
    return field;
}

/* True if one of the fields of a word is 0: only that borrows into a highest bit which is 0, too.
 * Stores the word's complement. */
static FORCE_INLINE bool has_free_field(uint32_t used, free_field field, uint32_t *unused) {
    *unused = ~used;
    return ((used + field.less_one) & ~used & field.highest) != 0;
}

/* A word of used bits and the one before it, as complements. */
typedef struct unused_words {
    uint32_t before;
    uint32_t own;
} unused_words;

enum { WORDS_A_STEP = 4 };

/* Makes `word` the first one before `end` that has such a field, and tells it and the one before
 * it; or `end`. Most have none, so several are taken a step where code may be larger. */
static FORCE_INLINE void find_field(const hfit_heap *heap, free_field field, uint32_t end,
                                    uint32_t *word, unused_words *words) {
    for (; !HFIT_IS_FOR_SIZE && end - *word >= 8 * WORDS_A_STEP; *word += 8 * WORDS_A_STEP) {
        HFIT_STEP_BY_STEP(4)
        for (uint32_t i = 0; i < WORDS_A_STEP; i++) {
            if (has_free_field(load_field(heap, *word, 8 * i), field, &words->own)) {
                *word += 8 * i;
                return;
            }
            words->before = words->own;
        }
    }
    for (; *word != end; *word += 8) {
        if (has_free_field(load_word(heap, *word), field, &words->own)) {
            return;
        }
        words->before = words->own;
    }
}

/* The first partition of a run such as requested, or NO_PARTITION. One step a word; in those that
 * may hold such a run, one a free run. */
static inline uint32_t bits_find(const hfit_heap *heap, const partition_layout *layout,
                                 const run_request *request) {
    const free_field field = field_in_run(request->count);
    const uint32_t end = bit_word(layout->count + 31, USED_BITS);
    uint32_t word = bit_word(0, USED_BITS);
    unused_words words;
    bits_search search;
    search.start = 0; /* member by member: see copy_place */
    search.best = NO_PARTITION;
    search.best_length = UINT32_MAX;
    words.before = 0;
    bool goes_on = false; /* a run that was looked at may go on in the next word */
    for (; word != end; word += 8) {
        if (goes_on) {
            words.own = ~load_word(heap, word);
        } else {
            find_field(heap, field, end, &word, &words);
            if (word == end) {
                break;
            }
        }
        const uint32_t first = 4 * (word - bit_word(0, USED_BITS));
        if (words.before != UINT32_MAX) { /* else the run began before */
            search.start = first - hfit_leading_zeros(~words.before);
        }
        const uint32_t changes = words.own ^ (words.own << 1 | words.before >> 31);
        if (try_word(request, words.own, changes, first, &search)) {
            return search.best;
        }
        goes_on = words.own >> 31 != 0;
        if (goes_on && !request->smallest && try_run(request, first + 32, &search)) {
            return search.best;
        }
        words.before = words.own;
    }
    if (goes_on) {
        (void)try_run(request, layout->count, &search);
    }
    return search.best;
}

static inline uint32_t bits_take(hfit_heap *heap, const partition_layout *layout,
                                 const run_request *request) {
    const uint32_t first = bits_find(heap, layout, request);
    if (first != NO_PARTITION) {
        const uint32_t end = first + request->count;
        seal_bits(heap, flip_used(heap, first, end) ^ flip_last(heap, end - 1));
    }
    return first;
}

/* How many partitions the group at `first` has; 0 if none begins there. */
static inline uint32_t bits_group(const hfit_heap *heap, const partition_layout *layout,
                                  uint32_t first) {
    if (HFIT_SAFETY >= 1 &&
        (!has_bit(heap, first, USED_BITS) || (first > 0 && has_bit(heap, first - 1, USED_BITS) &&
                                              !has_bit(heap, first - 1, LAST_BITS)))) {
        return 0;
    }
    return find_bit(heap, LAST_BITS, 0, first, layout->count) + 1 - first;
}

/* True if a group that bits_group found has its last bit and all used bits. */
static inline bool is_bits_group_sound(const hfit_heap *heap, const partition_layout *layout,
                                       uint32_t first, uint32_t length) {
    const uint32_t end = first + length;
    return end <= layout->count && next_unused(heap, first, end) == end;
}

static inline void bits_release(hfit_heap *heap, uint32_t first, uint32_t length) {
    const uint32_t end = first + length;
    seal_bits(heap, flip_used(heap, first, end) ^ flip_last(heap, end - 1));
}

static inline void bits_shrink(hfit_heap *heap, uint32_t end, uint32_t new_end) {
    seal_bits(heap, flip_used(heap, new_end, end) ^ flip_last(heap, end - 1) ^
                        flip_last(heap, new_end - 1));
}

/* False, and nothing changed, if a partition up to `new_end` is used. */
static inline bool bits_grow(hfit_heap *heap, const partition_layout *layout, uint32_t end,
                             uint32_t new_end) {
    if (new_end > layout->count || next_used(heap, end, new_end) != new_end) {
        return false;
    }
    seal_bits(heap, flip_used(heap, end, new_end) ^ flip_last(heap, end - 1) ^
                        flip_last(heap, new_end - 1));
    return true;
}

/* How many partitions the used group or the free run at `first` has. */
static inline uint32_t bits_length(const hfit_heap *heap, const partition_layout *layout,
                                   uint32_t first, bool *is_used) {
    *is_used = has_bit(heap, first, USED_BITS);
    return *is_used ? find_bit(heap, LAST_BITS, 0, first, layout->count) + 1 - first
                    : next_used(heap, first, layout->count) - first;
}

/* Every used partition is a last one or followed by a used one, no free one is a last one, all bits
 * behind the last partition are set, and the index word is that of the table. */
static inline bool bits_check(const hfit_heap *heap, const partition_layout *layout) {
    uint32_t all = 0;
    bool goes_on = false; /* a group that the last word left unfinished */
    for (uint32_t first = 0; first < layout->count; first += 32) {
        const uint32_t used = load_word(heap, bit_word(first, USED_BITS));
        const uint32_t last = load_word(heap, bit_word(first, LAST_BITS));
        const uint32_t behind = bits_behind(layout, first);
        const uint32_t unfinished = used & ~last;
        if ((last & ~used) != 0 || (last & behind) != behind || (goes_on && (used & 1u) == 0) ||
            ((unfinished << 1) & ~used) != 0 || (unfinished << 1 & behind) != 0) {
            return false;
        }
        goes_on = unfinished >> 31 != 0;
        all ^= used ^ last;
    }
    return !goes_on && (HFIT_SAFETY < 1 || load_word(heap, PARTITIONS_INDEX) == all);
}

#endif
