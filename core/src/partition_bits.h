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

#include "src/partition_run.h"

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
    const uint32_t found = first + (uint32_t)__builtin_ctz(word);
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

static inline void bits_init(hfit_heap *heap) {
    const uint32_t size = bits_table_size(load_word(heap, PARTITIONS_COUNT));
    store_word(heap, PARTITIONS_INDEX, 0);
    for (uint32_t offset = 0; offset < size; offset += 4) {
        store_word(heap, PARTITIONS_TABLE + offset, 0);
    }
}

/* The used bits of 32 partitions from `first` on; what is no partition counts as used. */
static inline uint32_t used_bits(const hfit_heap *heap, uint32_t first, uint32_t count) {
    const uint32_t left = count - first;
    if (left == 0) {
        return UINT32_MAX;
    }
    const uint32_t used = load_word(heap, bit_word(first, USED_BITS));
    return left >= 32 ? used : used | UINT32_MAX << left;
}

/* The best place so far, and how long the free run is that holds it. */
typedef struct bits_place {
    uint32_t first;
    uint32_t length;
} bits_place;

/* Takes the place in the free partitions from `start` to before `end` if it is better. True if none
 * can be better still. */
static inline bool try_run(const run_request *request, uint32_t start, uint32_t end,
                           bits_place *best) {
    const uint32_t place = place_from(request, start);
    if (place + request->count > end || end - start >= best->length) {
        return false;
    }
    *best = (bits_place){place, end - start};
    return !request->smallest || end - start == request->count;
}

/* The first partition of a run such as requested, or NO_PARTITION. One step a free run and one a
 * word; a run ends and begins where the used bit differs from the one before it. */
static inline uint32_t bits_find(const hfit_heap *heap, const run_request *request) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    bits_place best = {NO_PARTITION, UINT32_MAX};
    uint32_t start = 0; /* of the last free run */
    uint32_t before = 1;
    for (uint32_t first = 0; first <= count; first += 32) {
        const uint32_t used = used_bits(heap, first, count);
        uint32_t changes = used ^ (used << 1 | before);
        for (; changes != 0; changes &= changes - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctz(changes);
            if ((used >> bit & 1u) == 0) {
                start = first + bit;
            } else if (try_run(request, start, first + bit, &best)) {
                return best.first;
            }
        }
        before = used >> 31;
        if (before == 0 && !request->smallest && try_run(request, start, first + 32, &best)) {
            break;
        }
    }
    return best.first;
}

static inline uint32_t bits_take(hfit_heap *heap, const run_request *request) {
    const uint32_t first = bits_find(heap, request);
    if (first != NO_PARTITION) {
        const uint32_t end = first + request->count;
        seal_bits(heap, flip_used(heap, first, end) ^ flip_last(heap, end - 1));
    }
    return first;
}

/* How many partitions the group at `first` has; 0 if none begins there. */
static inline uint32_t bits_group(const hfit_heap *heap, uint32_t first) {
    if (HFIT_SAFETY >= 1 &&
        (!has_bit(heap, first, USED_BITS) || (first > 0 && has_bit(heap, first - 1, USED_BITS) &&
                                              !has_bit(heap, first - 1, LAST_BITS)))) {
        return 0;
    }
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    return find_bit(heap, LAST_BITS, 0, first, count) + 1 - first;
}

/* True if a group that bits_group found has its last bit and all used bits. */
static inline bool is_bits_group_sound(const hfit_heap *heap, uint32_t first, uint32_t length) {
    const uint32_t end = first + length;
    return end <= load_word(heap, PARTITIONS_COUNT) && next_unused(heap, first, end) == end;
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
static inline bool bits_grow(hfit_heap *heap, uint32_t end, uint32_t new_end) {
    if (new_end > load_word(heap, PARTITIONS_COUNT) || next_used(heap, end, new_end) != new_end) {
        return false;
    }
    seal_bits(heap, flip_used(heap, end, new_end) ^ flip_last(heap, end - 1) ^
                        flip_last(heap, new_end - 1));
    return true;
}

/* How many partitions the used group or the free run at `first` has. */
static inline uint32_t bits_length(const hfit_heap *heap, uint32_t first, bool *is_used) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    *is_used = has_bit(heap, first, USED_BITS);
    return *is_used ? find_bit(heap, LAST_BITS, 0, first, count) + 1 - first
                    : next_used(heap, first, count) - first;
}

/* Every used partition is a last one or followed by a used one, no free one is a last one, no bit
 * stands behind the last partition, and the index word is that of the table. */
static inline bool bits_check(const hfit_heap *heap) {
    const uint32_t count = load_word(heap, PARTITIONS_COUNT);
    uint32_t all = 0;
    bool goes_on = false; /* a group that the last word left unfinished */
    for (uint32_t first = 0; first < count; first += 32) {
        const uint32_t used = load_word(heap, bit_word(first, USED_BITS));
        const uint32_t last = load_word(heap, bit_word(first, LAST_BITS));
        const uint32_t left = count - first;
        const uint32_t existing = left >= 32 ? UINT32_MAX : (1u << left) - 1;
        const uint32_t unfinished = used & ~last;
        if ((last & ~used) != 0 || (used & ~existing) != 0 || (goes_on && (used & 1u) == 0) ||
            ((unfinished << 1) & ~used) != 0) {
            return false;
        }
        goes_on = unfinished >> 31 != 0;
        all ^= used ^ last;
    }
    return !goes_on && (HFIT_SAFETY < 1 || load_word(heap, PARTITIONS_INDEX) == all);
}

#endif
