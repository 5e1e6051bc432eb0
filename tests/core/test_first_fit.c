/* SPDX-License-Identifier: Apache-2.0 */
/* First fit: what coalescing does, and what its absence costs (Cebeci 2019, sections 2.3 and 3.1);
 * the orders of its list, its header, its splitting. */
#include "hfit/descriptor.h"
#include "hfit/first_fit.h"

#include "check.h"
#include "contract_config.h"

#include <string.h>

static _Alignas(4096) unsigned char region[4096];

/* Tunables in the order of the plan: coalesce, list, header_size, least_split. */
static const hfit_first_fit_plan coalescing = {{8}, 1, HFIT_FIRST_FIT_LIFO, 4, 0};
static const hfit_first_fit_plan never_coalescing = {{8}, 0, HFIT_FIRST_FIT_LIFO, 4, 0};

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

TEST(freeing_the_middle_chunk_merges_all_three) {
    CHECK(free_three_neighbours(&coalescing).count == 2); /* the three, and the rest */
}

TEST(without_coalescing_free_neighbours_stay_apart) {
    CHECK(free_three_neighbours(&never_coalescing).count == 4);
}

TEST(the_block_freed_last_is_taken_first) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
    void *first = hfit_first_fit_alloc(heap, &coalescing.common, 40);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 40) != NULL);
    void *third = hfit_first_fit_alloc(heap, &coalescing.common, 40);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 40) != NULL);
    hfit_first_fit_free(heap, &coalescing.common, third);
    hfit_first_fit_free(heap, &coalescing.common, first);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 8) == first);
}

TEST(a_block_grows_into_the_free_chunk_behind_it_and_shrinks_back) {
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

TEST(aligned_blocks_leave_the_bytes_before_them_to_others) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
    const free_blocks before = free_blocks_of(heap, &coalescing);
    void *aligned = hfit_first_fit_alloc_aligned(heap, &coalescing.common, 1024, 100);
    CHECK(aligned != NULL && ((uintptr_t)aligned & 1023) == 0);
    CHECK(free_blocks_of(heap, &coalescing).count == 2);
    hfit_first_fit_free(heap, &coalescing.common, aligned);
    const free_blocks after = free_blocks_of(heap, &coalescing);
    CHECK(after.count == before.count && after.largest == before.largest);
}

TEST(the_lowest_free_chunk_is_taken_first_where_the_list_is_by_address) {
    const hfit_first_fit_plan plan = {{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 4, 0};
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan.common);
    void *blocks[7];
    for (int i = 0; i < 7; i++) {
        blocks[i] = hfit_first_fit_alloc(heap, &plan.common, 40);
    }
    hfit_first_fit_free(heap, &plan.common, blocks[3]);
    hfit_first_fit_free(heap, &plan.common, blocks[1]);
    hfit_first_fit_free(heap, &plan.common, blocks[5]);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 40) == blocks[1]);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 40) == blocks[3]);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 40) == blocks[5]);
}

/* One step of a fixed mix on both heaps, which lie apart; false where they differ. */
static bool place_alike(hfit_heap *heaps[2], const hfit_first_fit_plan plans[2], void *slots[2],
                        uint32_t random) {
    uintptr_t offsets[2];
    for (int i = 0; i < 2; i++) {
        const hfit_plan *plan = &plans[i].common;
        if (slots[i] != NULL) {
            hfit_first_fit_free(heaps[i], plan, slots[i]);
            slots[i] = NULL;
        } else {
            slots[i] = hfit_first_fit_alloc(heaps[i], plan, random % 120);
        }
        offsets[i] = slots[i] == NULL ? 0 : (uintptr_t)slots[i] - (uintptr_t)heaps[i];
    }
    return offsets[0] == offsets[1];
}

TEST(the_implicit_list_places_as_the_one_by_address) {
    static _Alignas(4096) unsigned char other[sizeof region];
    /* Behind a header of 24 bytes both have the same smallest chunk. */
    const hfit_first_fit_plan plans[2] = {{{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 24, 0},
                                          {{8}, 1, HFIT_FIRST_FIT_IMPLICIT, 24, 0}};
    hfit_heap *heaps[2] = {hfit_first_fit_init(region, sizeof region, &plans[0].common),
                           hfit_first_fit_init(other, sizeof other, &plans[1].common)};
    void *slots[40][2] = {{NULL}};
    uint32_t random = 1;
    for (int i = 0; i < 5000; i++) {
        random = random * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
        CHECK(place_alike(heaps, plans, slots[(random >> 8) % 40], random >> 16));
    }
}

TEST(without_links_the_smallest_chunk_has_8_bytes) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        const hfit_first_fit_plan plan = {{alignment}, 1, HFIT_FIRST_FIT_IMPLICIT, 4, 0};
        hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan.common);
        unsigned char *first = hfit_first_fit_alloc(heap, &plan.common, 4);
        const unsigned char *second = hfit_first_fit_alloc(heap, &plan.common, 4);
        CHECK(second == first + (alignment == 16 ? 16 : 8));
        hfit_first_fit_free(heap, &plan.common, first);
        CHECK(hfit_first_fit_check(heap, &plan.common));
        CHECK(hfit_first_fit_alloc(heap, &plan.common, 1) == first);
    }
}

TEST(a_header_of_24_bytes_makes_a_smallest_chunk_of_32) {
    const hfit_first_fit_plan plan = {{8}, 0, HFIT_FIRST_FIT_LIFO, 24, 0};
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan.common);
    const unsigned char *first = hfit_first_fit_alloc(heap, &plan.common, 8);
    const unsigned char *second = hfit_first_fit_alloc(heap, &plan.common, 9);
    const unsigned char *third = hfit_first_fit_alloc(heap, &plan.common, 1);
    CHECK(second == first + 32 && third == second + 40);
    CHECK(hfit_first_fit_usable_size(heap, &plan.common, first) == 8);
}

TEST(what_is_left_over_is_split_off_from_the_least_split_on) {
    const hfit_first_fit_plan plan = {{8}, 1, HFIT_FIRST_FIT_LIFO, 4, 64};
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan.common);
    void *block = hfit_first_fit_alloc(heap, &plan.common, 196);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 1) != NULL);
    hfit_first_fit_free(heap, &plan.common, block);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 140) == block);
    CHECK(hfit_first_fit_usable_size(heap, &plan.common, block) == 196); /* 56 were left */
    hfit_first_fit_free(heap, &plan.common, block);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 132) == block);
    CHECK(hfit_first_fit_usable_size(heap, &plan.common, block) == 132); /* 64 were left */
}

TEST(free_sizes_are_told_in_the_order_of_the_search) {
    for (uint32_t order = HFIT_FIRST_FIT_LIFO; order <= HFIT_FIRST_FIT_IMPLICIT; order++) {
        const hfit_first_fit_plan plan = {{8}, 0, order, 24, 0};
        hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan.common);
        void *first = hfit_first_fit_alloc(heap, &plan.common, 40);
        void *second = hfit_first_fit_alloc(heap, &plan.common, 80);
        hfit_first_fit_free(heap, &plan.common, first);
        hfit_first_fit_free(heap, &plan.common, second);
        uint32_t sizes[3] = {0, 0, 7};
        CHECK(hfit_first_fit_free_sizes(heap, &plan.common, sizes, 2) == 3);
        const bool is_lifo = order == HFIT_FIRST_FIT_LIFO;
        CHECK(sizes[0] == (is_lifo ? 80 : 40) && sizes[1] == (is_lifo ? 40 : 80) && sizes[2] == 7);
    }
}

TEST(a_link_that_leads_nowhere_is_told_and_ends_the_search) {
    static const uint32_t links[] = {4, 6, 20, 0x7ffffff0, 0xfffffffc};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
        uint32_t *block = hfit_first_fit_alloc(heap, &coalescing.common, 40);
        CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 1) != NULL);
        hfit_first_fit_free(heap, &coalescing.common, block);
        block[0] = links[i]; /* written after the free: the link to the next chunk */
        misuse_count = 0;
        CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 100) == NULL);
        CHECK(misuse_count == 1);
        CHECK(!hfit_first_fit_check(heap, &coalescing.common));
    }
    misuse_count = 0;
}

TEST(a_ring_of_links_is_told_and_ends_the_search) {
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &coalescing.common);
    unsigned char *block = hfit_first_fit_alloc(heap, &coalescing.common, 40);
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 1) != NULL);
    hfit_first_fit_free(heap, &coalescing.common, block);
    *(uint32_t *)(void *)block = (uint32_t)(block - region) - 4; /* next: the chunk itself */
    misuse_count = 0;
    CHECK(hfit_first_fit_alloc(heap, &coalescing.common, 100) == NULL);
    CHECK(misuse_count == 1);
    misuse_count = 0;
}

/* The bytes it leads to read as a free chunk that is the list's last: nothing is written there. */
TEST(a_link_to_no_word_is_not_followed_to_the_place_of_a_freed_chunk) {
    const hfit_first_fit_plan plan = {{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 4, 0};
    unsigned char sound[40];
    hfit_heap *heap = hfit_first_fit_init(region, sizeof region, &plan.common);
    uint32_t *first = hfit_first_fit_alloc(heap, &plan.common, 40);
    unsigned char *block = hfit_first_fit_alloc(heap, &plan.common, sizeof sound);
    void *last = hfit_first_fit_alloc(heap, &plan.common, 40);
    CHECK(hfit_first_fit_alloc(heap, &plan.common, 1) != NULL);
    hfit_first_fit_free(heap, &plan.common, first);
    memset(sound, 0xff, sizeof sound);
    memcpy(block, sound, sizeof sound);
    first[0] = ~((uint32_t)(block - region) + 10); /* its link to the next chunk, as it is stored */
    misuse_count = 0;
    hfit_first_fit_free(heap, &plan.common, last);
    CHECK(misuse_count == 1 && memcmp(block, sound, sizeof sound) == 0);
    misuse_count = 0;
}

TEST(plans_out_of_range_are_refused) {
    static const hfit_first_fit_plan wrong[] = {
        {{8}, 2, 0, 4, 0}, {{8}, 1, 3, 4, 0},  {{8}, 1, 0, 0, 0},    {{8}, 1, 0, 6, 0},
        {{2}, 1, 0, 4, 0}, {{8}, 1, 0, 68, 0}, {{8}, 1, 0, 4, 4097},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(hfit_first_fit_smallest_region(&wrong[i].common) == 0);
        CHECK(hfit_first_fit_init(region, sizeof region, &wrong[i].common) == NULL);
    }
}

/* The smallest region in which a request of 8 bytes is served. */
static size_t region_for_8_bytes(const hfit_first_fit_plan *plan) {
    size_t size = hfit_first_fit_smallest_region(&plan->common);
    while (hfit_first_fit_alloc(hfit_first_fit_init(region, size, &plan->common), &plan->common,
                                8) == NULL) {
        size++;
    }
    return size;
}

TEST(one_block_of_8_bytes_needs_a_region_of_at_most_100) {
    for (uint32_t order = HFIT_FIRST_FIT_LIFO; order <= HFIT_FIRST_FIT_IMPLICIT; order++) {
        for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
            const hfit_first_fit_plan plan = {{alignment}, 1, order, 4, 0};
            CHECK(region_for_8_bytes(&plan) <= 100);
        }
    }
}

extern const hfit_allocator hfit_first_fit_allocator;

/* Bounds for every order of requests rest on this. */
TEST(its_descriptor_tells_holes_only_of_plans_that_coalesce) {
    hfit_first_fit_plan plan = {{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 4, 0};
    hfit_holes holes = {0};
    CHECK(hfit_first_fit_allocator.holes(&plan.common, 100, &holes));
    CHECK(holes.is_by_address && holes.header == 4 && holes.class_log2 == 0);
    plan.list = HFIT_FIRST_FIT_LIFO;
    CHECK(hfit_first_fit_allocator.holes(&plan.common, 100, &holes) && !holes.is_by_address);
    plan.coalesce = 0;
    CHECK(!hfit_first_fit_allocator.holes(&plan.common, 100, &holes));
}

RUN_TESTS()
