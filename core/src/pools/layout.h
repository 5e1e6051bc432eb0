/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a pool plan's layout, used by hfit_pools_lay_out and by the heaps that stand on
 * it.
 *
 *   0                     4 * pools                      pools[0].base
 *   +---------------------+---------------+--------------+----------
 *   | free list of each   | is there a    | one used bit | blocks
 *   | pool                | shared heap   | a block      |
 *   +---------------------+---------------+--------------+----------
 */
#ifndef HFIT_POOL_LAYOUT_H
#define HFIT_POOL_LAYOUT_H

#include "hfit/compiler.h"
#include "hfit/plan_of_build.h"
#include "hfit/pools.h"

#include "src/size.h"
#include "src/region.h"

enum { MOST_POOLS = 4096 };

#define MOST_POOL_BLOCKS (HFIT_LARGEST_BLOCK / 8)
_Static_assert(8ull * (HFIT_FREE_LIST_SIZE * MOST_POOLS + HFIT_SHARED_WORD_SIZE) +
                       MOST_POOL_BLOCKS + 31 <=
                   UINT32_MAX,
               "the place of each used bit, counted from the region's start, is a word");
_Static_assert(sizeof(hfit_pool) % 4 == 0, "a seal is of whole words");

/* How many pools the plan of a build has, for marks of loops in functions that are there once for
 * all plans; `otherwise` in a build for any plan. */
#if HFIT_HAS_PLAN_OF_BUILD
#define POOLS_OF_BUILD(otherwise) (((const hfit_pools_plan *)HFIT_PLAN_OF_BUILD(NULL))->pools.count)
#else
#define POOLS_OF_BUILD(otherwise) (otherwise)
#endif

static inline uint32_t free_list_at(uint32_t pool) {
    return HFIT_FREE_LIST_SIZE * pool;
}

static inline uint32_t shared_word_at(uint32_t pool_count) {
    return free_list_at(pool_count);
}

static inline uint32_t used_bits_at(uint32_t pool_count) {
    return shared_word_at(pool_count) + HFIT_SHARED_WORD_SIZE;
}

/* Of sizes that round_size accepted. */
static FORCE_INLINE uint32_t rounded_up(uint32_t size, uint32_t alignment) {
    return (size + alignment - 1) & ~(alignment - 1);
}

/* Bytes before the first block, for MOST_POOL_BLOCKS `blocks` at most. */
static inline uint32_t pools_control_size(uint32_t pool_count, uint32_t blocks,
                                          uint32_t alignment) {
    return rounded_up(used_bits_at(pool_count) + 4 * ((blocks + 31) / 32), alignment);
}

/* Member by member, since compilers turn the assignment of a struct into a call of memset. */
static inline void set_index(hfit_pool_index *index, const uint8_t *table, uint32_t entries) {
    index->table = table;
    index->entries = entries;
    index->own = 0;
    index->multiplier = 0;
    index->shift = 0;
}

static inline uint32_t mix(uint32_t seal, uint32_t word) {
    return (seal ^ word) * 16777619u; /* FNV-1a's step, a word at a time */
}

/* Of words from `words` up to `end`. */
static inline uint32_t mix_words(uint32_t seal, const void *words, const void *end) {
    for (const uint32_t *word = words; word != end; word++) {
        seal = mix(seal, *word);
    }
    return seal;
}

/* True if the pools of a plan are as many as their own words say, so that no more are read. */
static inline bool is_pool_count_sound(const hfit_pools_plan *plan) {
    const hfit_pool_list *pools = &plan->pools;
    return pools->count == 0 || (pools->count <= MOST_POOLS && pools->items != NULL &&
                                 pools->items[0].used_bit == 8 * used_bits_at(pools->count));
}

/* A number that changes with any bit of a plan but its pointers and the seal itself. Its counts are
 * sound: what they say is read. */
static inline uint32_t seal_of(const hfit_pools_plan *plan) {
    uint32_t seal =
        mix(mix(mix(2166136261u, plan->common.alignment), plan->pools.count), plan->pools.end);
    if (plan->pools.count != 0) { /* `items` may be NULL, to which nothing, not even 0, is added */
        seal = mix_words(seal, plan->pools.items, plan->pools.items + plan->pools.count);
    }
    seal = mix_words(seal, &plan->index.entries, &plan->seal);
    for (uint32_t entry = 0; entry < plan->index.entries; entry++) {
        seal = mix(seal, plan->index.table[entry]);
    }
    return seal;
}

/* `places` is below 32. */
static inline uint32_t rotate_right(uint32_t word, uint32_t places) {
    HFIT_ASSERT(places < 32);
    return word >> places | word << (-places & 31);
}

/* log2 of the largest power of two that divides `n`, which is not 0. */
static inline uint32_t even_part_log2(uint32_t n) {
    HFIT_ASSERT(n != 0);
    return hfit_trailing_zeros(n);
}

/* The number that gives 1, modulo 2^32, when multiplied with `odd`. Newton's step doubles the bits
 * that are right, of which the first guess has 5 (Montgomery). */
static FORCE_INLINE uint32_t inverse_of(uint32_t odd) {
    HFIT_ASSERT(odd % 2 == 1);
    uint32_t inverse = 3 * odd ^ 2;
    inverse *= 2 - odd * inverse; /* 10 bits */
    inverse *= 2 - odd * inverse;
    return inverse * (2 - odd * inverse); /* 40 bits */
}

/* Stores the offset of the first block. False if the pools' sizes do not ascend, one is 0 or too
 * large, or there are too many pools or blocks. */
static inline bool begin_layout(const hfit_pool *pools, uint32_t count, uint32_t alignment,
                                uint32_t *offset) {
    uint64_t blocks = 0;
    if (!is_alignment_allowed(alignment) || count > MOST_POOLS) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block_size;
        if (pools[i].size == 0 || (i > 0 && pools[i].size <= pools[i - 1].size) ||
            !round_size(pools[i].size, 0, alignment, &block_size)) {
            return false;
        }
        blocks += pools[i].count;
    }
    if (blocks > MOST_POOL_BLOCKS) {
        return false;
    }
    *offset = pools_control_size(count, (uint32_t)blocks, alignment);
    return true;
}

/* Moves `offset` behind a pool. False if the pool would end beyond HFIT_LARGEST_BLOCK. */
static inline bool lay_out_pool(const hfit_pool *pool, uint32_t alignment, uint32_t *offset) {
    const uint64_t end = *offset + (uint64_t)pool->count * rounded_up(pool->size, alignment);
    if (end > HFIT_LARGEST_BLOCK) {
        return false;
    }
    *offset = (uint32_t)end;
    return true;
}

#endif
