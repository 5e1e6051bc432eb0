/* SPDX-License-Identifier: Apache-2.0 */
/* Where the blocks of a pool plan lie. See hfit/pools.h. */
#include "hfit/pools.h"

#include "src/pool_layout.h"

uint32_t hfit_pools_lay_out(hfit_pool *pools, uint32_t count, uint32_t alignment) {
    uint32_t offset;
    uint32_t first = 0;
    if (!begin_layout(pools, count, alignment, &offset)) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        pools[i].base = offset;
        pools[i].first = first;
        first += pools[i].count;
        if (!lay_out_pool(&pools[i], alignment, &offset)) {
            return 0;
        }
    }
    return offset;
}
