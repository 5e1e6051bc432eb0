/* SPDX-License-Identifier: Apache-2.0 */
/* What allocators of pools take for granted, broken. */
#include "src/pools/class_pools.c"

static const hfit_pools_plan no_pools = {.common = {8}};

static void a_word_is_rotated_by_all_its_bits(void) {
    (void)rotate_right(1, 32);
}

static void nothing_has_an_even_part(void) {
    (void)even_part_log2(0);
}

static void an_even_number_has_an_inverse(void) {
    (void)inverse_of(2);
}

static void a_block_lies_behind_the_last_one(void) {
    const hfit_pool pool = {.size = 8, .count = 4, .base = 64, .block_size = 8};
    const block_run run = own_run(&pool);
    block_place place;
    place_in_run(&pool, &run, 4, &place);
}

static void one_of_no_pools_is_around_an_address(void) {
    (void)pool_around(&no_pools, 64);
}

static broken_invariant *const cases[] = {
    a_word_is_rotated_by_all_its_bits,    nothing_has_an_even_part,
    an_even_number_has_an_inverse,        a_block_lies_behind_the_last_one,
    one_of_no_pools_is_around_an_address,
};

int main(void) {
    return SHOW_ALL(cases);
}
