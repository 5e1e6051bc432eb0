/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a pool plan's layout, used by hfit_pools_lay_out and by the heaps that stand on
 * it.
 *
 *   0             4                    4 + 8 * pools          pools[0].base
 *   +-------------+--------------------+----------------------+----------
 *   | shared size | per pool: free     | one used bit a block | blocks
 *   |             | list, blocks used  |                      |
 *   +-------------+--------------------+----------------------+----------
 */
#ifndef HFIT_POOL_LAYOUT_H
#define HFIT_POOL_LAYOUT_H

#include "hfit/pools.h"

#include "src/region.h"

enum {
    MOST_POOLS = 4096,
    SHARED_SIZE = 0, /* bytes of region the shared heap has; 0: there is none */
    POOL_STATES = 4, /* two words a pool: */
    POOL_STATE_SIZE = 8,
    FREE_LIST = 0, /* offset of the block freed last, or NO_OFFSET */
    CARVED = 4,    /* blocks ever handed out; those behind have never been touched */
};

static inline uint32_t used_bits_at(uint32_t pool_count) {
    return POOL_STATES + POOL_STATE_SIZE * pool_count;
}

/* Bytes before the first block. `blocks` is below 2^31. */
static inline uint32_t pools_control_size(uint32_t pool_count, uint32_t blocks,
                                          uint32_t alignment) {
    const uint32_t size = used_bits_at(pool_count) + 4 * ((blocks + 31) / 32);
    return (size + alignment - 1) & ~(alignment - 1);
}

/* Bytes from one block to the next. */
static inline uint32_t pool_block_size(const hfit_pool *pool, uint32_t alignment) {
    return (pool->size + alignment - 1) & ~(alignment - 1);
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
    if (blocks > HFIT_LARGEST_BLOCK / 8) {
        return false;
    }
    *offset = pools_control_size(count, (uint32_t)blocks, alignment);
    return true;
}

/* Moves `offset` behind a pool. False if the pool would end beyond HFIT_LARGEST_BLOCK. */
static inline bool lay_out_pool(const hfit_pool *pool, uint32_t alignment, uint32_t *offset) {
    const uint64_t end = *offset + (uint64_t)pool->count * pool_block_size(pool, alignment);
    if (end > HFIT_LARGEST_BLOCK) {
        return false;
    }
    *offset = (uint32_t)end;
    return true;
}

#endif
