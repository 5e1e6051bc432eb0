/* SPDX-License-Identifier: Apache-2.0 */
/* First fit: what coalescing does, and what its absence costs (Cebeci 2019, sections 2.3 and 3.1).
 */
#include "hfit/first_fit.h"

#include "check.h"

static _Alignas(4096) unsigned char region[4096];

static const hfit_first_fit_plan coalescing = {{8}, 1};
static const hfit_first_fit_plan never_coalescing = {{8}, 0};

typedef struct free_blocks {
    size_t count;
    size_t largest;
} free_blocks;

static void count_free(void *context, const void *block, size_t usable_size, bool is_used) {
    free_blocks *found = context;
    (void)block;
    if (!is_used) {
        found->count++;
        found->largest = usable_size > found->largest ? usable_size : found->largest;
    }
}

static free_blocks free_blocks_of(const hfit_heap *heap, const hfit_first_fit_plan *plan) {
    free_blocks found = {0, 0};
    hfit_first_fit_walk(heap, &plan->common, count_free, &found);
    return found;
}

/* Allocates three neighbours and a barrier behind them, then frees the outer two and the middle
 * one. */
static free_blocks free_three_neighbours(const hfit_first_fit_plan *plan) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan->common);
    void *blocks[3];
    for (int i = 0; i < 3; i++) {
        blocks[i] = hfit_first_fit_alloc(heap, &plan->common, 100);
    }
    CHECK(hfit_first_fit_alloc(heap, &plan->common, 1) != NULL);
    hfit_first_fit_free(heap, &plan->common, blocks[0]);
    hfit_first_fit_free(heap, &plan->common, blocks[2]);
    hfit_first_fit_free(heap, &plan->common, blocks[1]);
    CHECK(hfit_first_fit_check(heap, &plan->common));
    return free_blocks_of(heap, plan);
}

static void freeing_the_middle_chunk_merges_all_three(void) {
    CHECK(free_three_neighbours(&coalescing).count == 2); /* the three, and the rest */
}

static void without_coalescing_free_neighbours_stay_apart(void) {
    CHECK(free_three_neighbours(&never_coalescing).count == 4);
}

static void the_block_freed_last_is_taken_first(void) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
    void *first = hfit_first_fit_alloc(heap, &coalescing.common, 40);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 40) != NULL);
    void *third = hfit_first_fit_alloc(heap, &coalescing.common, 40);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 40) != NULL);
    hfit_first_fit_free(heap, &coalescing.common, third);
    hfit_first_fit_free(heap, &coalescing.common, first);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 8) == first);
}

static void a_block_grows_into_the_free_chunk_behind_it_and_shrinks_back(void) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
    void *block = hfit_first_fit_alloc(heap, &coalescing.common, 100);
    void *next = hfit_first_fit_alloc(heap, &coalescing.common, 100);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 1) != NULL);
    hfit_first_fit_free(heap, &coalescing.common, next);
    CHECK(hfit_first_fit_resize(heap, &coalescing.common, block, 180) == block);
    CHECK(hfit_first_fit_resize(heap, &coalescing.common, block, 20) == block);
    CHECK(hfit_first_fit_usable_size(heap, &coalescing.common, block) == 20);
    CHECK(hfit_first_fit_check(heap, &coalescing.common));
}

static void aligned_blocks_leave_the_bytes_before_them_to_others(void) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
    const free_blocks before = free_blocks_of(heap, &coalescing);
    void *aligned = hfit_first_fit_alloc_aligned(heap, &coalescing.common, 1024, 100);
    CHECK(aligned != NULL && ((uintptr_t)aligned & 1023) == 0);
    CHECK(free_blocks_of(heap, &coalescing).count == 2);
    hfit_first_fit_free(heap, &coalescing.common, aligned);
    const free_blocks after = free_blocks_of(heap, &coalescing);
    CHECK(after.count == before.count && after.largest == before.largest);
}

static void one_block_of_8_bytes_needs_a_region_of_at_most_100(void) {
    CHECK(hfit_first_fit_smallest_region(&coalescing.common) <= 100);
}

int main(void) {
    RUN(freeing_the_middle_chunk_merges_all_three);
    RUN(without_coalescing_free_neighbours_stay_apart);
    RUN(the_block_freed_last_is_taken_first);
    RUN(a_block_grows_into_the_free_chunk_behind_it_and_shrinks_back);
    RUN(aligned_blocks_leave_the_bytes_before_them_to_others);
    RUN(one_block_of_8_bytes_needs_a_region_of_at_most_100);
    return report_passed();
}
