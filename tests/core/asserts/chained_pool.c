/* SPDX-License-Identifier: Apache-2.0 */
/* What chained_pool takes for granted, broken. */
#include "src/partitions/chained_pool.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_chained_pool_plan settings = {.common = {8}, .partition_size = 64};

static void a_link_does_not_fit_beside_its_flags(void) {
    store_chain(heap_init(region, sizeof region, &settings.common), 0, NO_LINK + 1, 0);
}

static void flags_reach_into_the_link(void) {
    store_chain(heap_init(region, sizeof region, &settings.common), 0, 1, 1u << LINK_SHIFT);
}

static void a_chain_of_no_partitions_is_taken(void) {
    hfit_heap *heap = heap_init(region, sizeof region, &settings.common);
    const partition_layout layout = layout_of(heap, &settings.common);
    (void)take_chain(heap, &layout, 0, PARTITION_USED);
}

static broken_invariant *const cases[] = {
    a_link_does_not_fit_beside_its_flags,
    flags_reach_into_the_link,
    a_chain_of_no_partitions_is_taken,
};

int main(void) {
    return SHOW_ALL(cases);
}
