/* SPDX-License-Identifier: Apache-2.0 */
/* What address_first_fit takes for granted, broken. */
#include "src/tiling/address_first_fit.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_address_first_fit_plan settings = {{8}};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(void) {
    return heap_init(region, sizeof region, plan);
}

int main(void) {
    BREAKS("more is taken than a chunk has", const free_neighbours at = {HEAD, first_chunk(plan)};
           (void)take(fresh(), plan, &at, 64, 72));
    BREAKS("a chunk is shrunk to more than it has",
           const used_chunk chunk = {first_chunk(plan), 64, {HEAD, NO_OFFSET}};
           shrink(fresh(), plan, &chunk, 72));
    return silent;
}
