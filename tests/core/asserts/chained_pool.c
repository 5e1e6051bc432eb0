/* SPDX-License-Identifier: Apache-2.0 */
/* What chained_pool takes for granted, broken. */
#include "src/partitions/chained_pool.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_chained_pool_plan settings = {.common = {8}, .partition_size = 64};

int main(void) {
    BREAKS("a link does not fit beside its flags",
           store_chain(heap_init(region, sizeof region, &settings.common), 0, NO_LINK + 1, 0));
    BREAKS("flags reach into the link",
           store_chain(heap_init(region, sizeof region, &settings.common), 0, 1, 1u << LINK_SHIFT));
    BREAKS("a chain of no partitions is taken",
           hfit_heap *heap = heap_init(region, sizeof region, &settings.common);
           const partition_layout layout = layout_of(heap, &settings.common);
           (void)take_chain(heap, &layout, 0, PARTITION_USED));
    return silent;
}
