/* SPDX-License-Identifier: Apache-2.0 */
/* Segregated fit: which list serves which request (Cebeci 2019, section 3.2). */
#include "hfit/segregated_fit.h"

#include "check.h"
#include "contract_config.h"

enum { MOST_BLOCKS = 8, MOST_FREE = 16 };

static _Alignas(4096) unsigned char region[8192];

/* exact_lists, upward, general_order, header_size, least_split. With 4 lists, alignment 8 and a
 * header of 4 bytes, blocks of 12, 20, 28 and 36 bytes have an exact list. */
static const hfit_segregated_fit_plan four_lists = {{8}, 4, 0, 0, 4, 0};

typedef struct blocks {
    hfit_heap *heap;
    const hfit_plan *plan;
    void *at[MOST_BLOCKS];
} blocks;

/* A heap that holds a block of each size, 0 ends them, with a barrier behind each so that none
 * coalesces when freed; all the rest is taken. */
static blocks apart(const hfit_segregated_fit_plan *plan, const size_t *sizes) {
    blocks made = {
        hfit_segregated_fit_init(region, sizeof region, &plan->common), &plan->common, {NULL}};
    for (int i = 0; sizes[i] != 0; i++) {
        made.at[i] = hfit_segregated_fit_alloc(made.heap, made.plan, sizes[i]);
        CHECK(made.at[i] != NULL);
        CHECK(hfit_segregated_fit_alloc(made.heap, made.plan, 12) != NULL);
    }
    for (size_t size = sizeof region; size > 0; size /= 2) {
        while (hfit_segregated_fit_alloc(made.heap, made.plan, size) != NULL) {
        }
    }
    return made;
}

static void free_block(const blocks *made, int i) {
    hfit_segregated_fit_free(made->heap, made->plan, made->at[i]);
    CHECK(hfit_segregated_fit_check(made->heap, made->plan));
}

static void *alloc_block(const blocks *made, size_t size) {
    return hfit_segregated_fit_alloc(made->heap, made->plan, size);
}

TEST(a_request_takes_from_the_list_of_its_size) {
    const blocks made = apart(&four_lists, (size_t[]){36, 20, 200, 28, 0});
    for (int i = 0; i < 4; i++) {
        free_block(&made, i);
    }
    CHECK(alloc_block(&made, 20) == made.at[1]);
    CHECK(alloc_block(&made, 28) == made.at[3]);
    CHECK(alloc_block(&made, 36) == made.at[0]);
}

/* Blocks of 36, 200 and 28 bytes are free; three requests of 20 are put where the plan says. */
static void check_order(uint32_t upward, const int *order) {
    const hfit_segregated_fit_plan plan = {{8}, 4, upward, 0, 4, 190};
    const blocks made = apart(&plan, (size_t[]){36, 200, 28, 0});
    for (int i = 0; i < 3; i++) {
        free_block(&made, i);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(alloc_block(&made, 20) == made.at[order[i]]);
        CHECK(hfit_segregated_fit_check(made.heap, made.plan));
    }
    CHECK(alloc_block(&made, 20) == NULL);
}

TEST(an_empty_list_sends_to_the_general_one_then_to_larger_sizes_in_order) {
    check_order(0, (int[]){1, 2, 0});
}

TEST(upward_an_empty_list_sends_to_larger_sizes_in_order_then_to_the_general_one) {
    check_order(1, (int[]){2, 0, 1});
}

TEST(larger_requests_take_the_first_that_fits_last_freed_first) {
    const blocks made = apart(&four_lists, (size_t[]){100, 300, 200, 36, 0});
    for (int i = 0; i < 4; i++) {
        free_block(&made, i);
    }
    CHECK(alloc_block(&made, 290) == made.at[1]);
    CHECK(alloc_block(&made, 44) == made.at[2]);
}

TEST(the_general_list_may_be_by_address) {
    static const hfit_segregated_fit_plan by_address = {{8}, 4, 0, 1, 4, 0};
    const blocks made = apart(&by_address, (size_t[]){100, 300, 200, 36, 0});
    for (int i = 3; i >= 0; i--) {
        free_block(&made, i);
    }
    CHECK(alloc_block(&made, 290) == made.at[1]);
    CHECK(alloc_block(&made, 44) == made.at[0]);
}

TEST(free_sizes_are_told_by_list_the_general_one_last) {
    static const uint32_t expected[] = {20, 36, 36, 44, 300};
    const blocks made = apart(&four_lists, (size_t[]){36, 300, 44, 36, 20, 0});
    for (int i = 0; i < 5; i++) {
        free_block(&made, i);
    }
    uint32_t sizes[MOST_FREE];
    CHECK(hfit_segregated_fit_free_sizes(made.heap, made.plan, sizes, MOST_FREE) == 5);
    for (int i = 0; i < 3; i++) {
        CHECK(sizes[i] == expected[i]);
    }
    CHECK(sizes[3] == 44 && sizes[4] == 300); /* 44 was freed last */
}

TEST(neighbours_coalesce_across_lists) {
    hfit_heap *heap = hfit_segregated_fit_init(region, sizeof region, &four_lists.common);
    void *blocks_of_20[3];
    for (int i = 0; i < 3; i++) {
        blocks_of_20[i] = hfit_segregated_fit_alloc(heap, &four_lists.common, 20);
    }
    CHECK(hfit_segregated_fit_alloc(heap, &four_lists.common, 1) != NULL);
    hfit_segregated_fit_free(heap, &four_lists.common, blocks_of_20[0]);
    hfit_segregated_fit_free(heap, &four_lists.common, blocks_of_20[2]);
    hfit_segregated_fit_free(heap, &four_lists.common, blocks_of_20[1]);
    uint32_t sizes[MOST_FREE];
    CHECK(hfit_segregated_fit_free_sizes(heap, &four_lists.common, sizes, MOST_FREE) == 2);
    CHECK(sizes[0] == 3 * 24 - 4);
}

/* Frees a block of each chunk size up to beyond the last exact list and takes each back. */
static void check_lists(uint32_t alignment, uint32_t exact_lists) {
    const hfit_segregated_fit_plan plan = {{alignment}, exact_lists, 0, 0, 24, 0};
    const size_t smallest = alignment == 4 ? 4 : 8; /* what the smallest chunk holds */
    for (uint32_t step = 0; step < exact_lists + 2; step++) {
        const size_t size = smallest + (size_t)step * alignment;
        const blocks made = apart(&plan, (size_t[]){size, size + alignment, 0});
        free_block(&made, 0);
        free_block(&made, 1);
        const bool is_exact = step < exact_lists;
        CHECK(alloc_block(&made, size) == made.at[is_exact ? 0 : 1]);
    }
}

TEST(there_are_as_many_exact_lists_as_the_plan_says) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        check_lists(alignment, 1);
        check_lists(alignment, 16);
        check_lists(alignment, 32);
    }
}

TEST(plans_out_of_range_are_refused) {
    static const hfit_segregated_fit_plan wrong[] = {
        {{8}, 0, 0, 0, 4, 0},   {{8}, 33, 0, 0, 4, 0},    {{8}, 16, 2, 0, 4, 0},
        {{8}, 16, 0, 2, 4, 0},  {{8}, 16, 0, 0, 6, 0},    {{5}, 16, 0, 0, 4, 0},
        {{8}, 16, 0, 0, 68, 0}, {{8}, 16, 0, 0, 4, 4097},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(hfit_segregated_fit_smallest_region(&wrong[i].common) == 0);
        CHECK(hfit_segregated_fit_init(region, sizeof region, &wrong[i].common) == NULL);
    }
}

RUN_TESTS()
