/* SPDX-License-Identifier: Apache-2.0 */
/* What allocators of pools take for granted, broken. */
#include "src/pools/class_pools.c"

static const hfit_pools_plan no_pools = {.common = {8}};

int main(void) {
    BREAKS("a word is rotated by all its bits", (void)rotate_right(1, 32));
    BREAKS("nothing has an even part", (void)even_part_log2(0));
    BREAKS("an even number has an inverse", (void)inverse_of(2));
    BREAKS("a block lies behind the last one",
           const hfit_pool pool = {.size = 8, .count = 4, .base = 64, .block_size = 8};
           const block_run run = own_run(&pool); block_place place;
           place_in_run(&pool, &run, 4, &place));
    BREAKS("one of no pools is around an address", (void)pool_around(&no_pools, 64));
    return silent;
}
