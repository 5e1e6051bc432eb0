/* SPDX-License-Identifier: Apache-2.0 */
/* What partitions and both kinds of their metadata take for granted, broken. */
#include "src/partitions/partition_pool.c"

static _Alignas(64) unsigned char region[4096];
static const hfit_partition_pool_plan settings = {.common = {8}, .partition_size = 64};
static const hfit_plan *const plan = &settings.common;

static hfit_heap *fresh(partition_layout *layout) {
    hfit_heap *heap = heap_init(region, sizeof region, plan);
    *layout = layout_of(heap, plan);
    return heap;
}

int main(void) {
    BREAKS("an even number has an inverse", (void)inverse_of_odd(6));
    BREAKS("partitions have no bytes", const partition_layout layout = {1, 64, 0}; uint32_t count;
           (void)partitions_for(&layout, 1, &count));
    BREAKS("the bits of no partition are flipped", partition_layout layout;
           (void)flip_used(fresh(&layout), 3, 3));
    BREAKS("a word of bits begins behind the last partition",
           const partition_layout layout = {32, 64, 64};
           (void)bits_behind(&layout, 32));
    BREAKS("a run of no partitions is looked for", (void)field_in_run(0));
    BREAKS("more is cut than a free group has", partition_layout layout;
           hfit_heap *heap = fresh(&layout); const list_place place = {NO_PARTITION, 0, 4, 2};
           list_cut(heap, &layout, &place, 4, 3));
    BREAKS("no partition is released", partition_layout layout; hfit_heap *heap = fresh(&layout);
           (void)list_release(heap, &layout, 0, 0));
    BREAKS("partitions behind the last one are released", partition_layout layout;
           hfit_heap *heap = fresh(&layout);
           (void)list_release(heap, &layout, layout.count - 1, 2));
    return silent;
}
