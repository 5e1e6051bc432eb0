/* SPDX-License-Identifier: Apache-2.0 */
/* What address_first_fit takes for granted, broken. */
#include "src/tiling/address_first_fit.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_address_first_fit_plan settings = {{8}};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

static void more_is_taken_than_a_chunk_has(void) {
    const free_neighbours at = {HEAD, first_chunk(plan)};
    (void)take(fresh(), plan, &at, 64, 72);
}

static void a_chunk_is_shrunk_to_more_than_it_has(void) {
    const used_chunk chunk = {first_chunk(plan), 64, {HEAD, NO_OFFSET}};
    shrink(fresh(), plan, &chunk, 72);
}

static broken_invariant *const cases[] = {
    more_is_taken_than_a_chunk_has,
    a_chunk_is_shrunk_to_more_than_it_has,
};

int main(void) {
    return SHOW_ALL(cases);
}
