/* SPDX-License-Identifier: Apache-2.0 */
/* Where the blocks of a pool plan lie. See hfit/pools.h. */
#include "hfit/pools.h"

#include "src/size.h"
#include "src/region.h"
#include "src/pools/layout.h"

uint32_t hfit_pools_lay_out(hfit_pool *pools, uint32_t count, uint32_t alignment) {
    uint32_t offset;
    uint32_t used_bit = 8 * used_bits_at(count);
    if (!begin_layout(pools, count, alignment, &offset)) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t block_size = rounded_up(pools[i].size, alignment);
        pools[i].base = offset;
        pools[i].block_size = block_size;
        pools[i].used_bit = used_bit;
        pools[i].turn = even_part_log2(block_size);
        pools[i].inverse = inverse_of(block_size >> pools[i].turn);
        used_bit += pools[i].count;
        if (!lay_out_pool(&pools[i], alignment, &offset)) {
            return 0;
        }
    }
    return offset;
}
