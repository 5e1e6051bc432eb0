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

static void an_even_number_has_an_inverse(void) {
    (void)inverse_of_odd(6);
}

static void partitions_have_no_bytes(void) {
    const partition_layout layout = {1, 64, 0};
    uint32_t count;
    (void)partitions_for(&layout, 1, &count);
}

static void the_bits_of_no_partition_are_flipped(void) {
    partition_layout layout;
    (void)flip_used(fresh(&layout), 3, 3);
}

static void a_word_of_bits_begins_behind_the_last_partition(void) {
    const partition_layout layout = {32, 64, 64};
    (void)bits_behind(&layout, 32);
}

static void a_run_of_no_partitions_is_looked_for(void) {
    (void)field_in_run(0);
}

static void more_is_cut_than_a_free_group_has(void) {
    partition_layout layout;
    hfit_heap *heap = fresh(&layout);
    const list_place place = {NO_PARTITION, 0, 4, 2};
    list_cut(heap, &layout, &place, 4, 3);
}

static void no_partition_is_released(void) {
    partition_layout layout;
    hfit_heap *heap = fresh(&layout);
    (void)list_release(heap, &layout, 0, 0);
}

static void partitions_behind_the_last_one_are_released(void) {
    partition_layout layout;
    hfit_heap *heap = fresh(&layout);
    (void)list_release(heap, &layout, layout.count - 1, 2);
}

static broken_invariant *const cases[] = {
    an_even_number_has_an_inverse,
    partitions_have_no_bytes,
    the_bits_of_no_partition_are_flipped,
    a_word_of_bits_begins_behind_the_last_partition,
    a_run_of_no_partitions_is_looked_for,
    more_is_cut_than_a_free_group_has,
    no_partition_is_released,
    partitions_behind_the_last_one_are_released,
};

int main(void) {
    return SHOW_ALL(cases);
}
