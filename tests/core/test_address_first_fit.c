/* SPDX-License-Identifier: Apache-2.0 */
/* address_first_fit: the lowest chunk serves, neighbours join, and what is believed of headers. */
#include "hfit/address_first_fit.h"

#include "../contract/contract_config.h"
#include "check.h"

#include <string.h>
#include <sys/mman.h>

static _Alignas(4096) unsigned char region[8192];
static const hfit_address_first_fit_plan plan_4 = {{4}};
static const hfit_address_first_fit_plan plan_8 = {{8}};

static hfit_heap *heap;
static const hfit_plan *plan;

static void start(const hfit_address_first_fit_plan *own, size_t size) {
    plan = &own->common;
    heap = hfit_address_first_fit_init(region, size, plan);
    CHECK(heap != NULL);
}

static unsigned char *take(size_t size) {
    unsigned char *block = hfit_address_first_fit_alloc(heap, plan, size);
    CHECK(block != NULL && hfit_address_first_fit_check(heap, plan));
    return block;
}

static void give(void *block) {
    hfit_address_first_fit_free(heap, plan, block);
    CHECK(hfit_address_first_fit_check(heap, plan));
}

TEST(the_lowest_chunk_that_is_large_enough_serves) {
    start(&plan_4, sizeof region);
    unsigned char *blocks[6];
    for (size_t i = 0; i < 6; i++) {
        blocks[i] = take(100 - 8 * i);
    }
    give(blocks[4]); /* 68 B, freed first */
    give(blocks[0]); /* 100 B */
    give(blocks[2]); /* 84 B */
    CHECK(take(68) == blocks[0]);
    CHECK(take(84) == blocks[2]);
    CHECK(take(68) == blocks[4]);
}

TEST(freeing_the_middle_chunk_merges_all_three) {
    start(&plan_8, sizeof region);
    unsigned char *blocks[4];
    for (size_t i = 0; i < 4; i++) {
        blocks[i] = take(20);
    }
    give(blocks[0]);
    give(blocks[2]);
    give(blocks[1]);
    CHECK(take(3 * 24 - 4) == blocks[0]);
}

TEST(a_block_takes_four_bytes_more_and_at_least_eight) {
    start(&plan_4, sizeof region);
    unsigned char *block = take(0);
    CHECK(take(4) == block + 8);
    CHECK(take(5) == block + 16);
    CHECK(take(1) == block + 28);
    CHECK(hfit_address_first_fit_footprint(heap, plan) == (size_t)(block + 32 - region));
}

TEST(the_whole_region_serves_one_request) {
    const size_t least = hfit_address_first_fit_smallest_region(&plan_4.common);
    for (size_t size = least; size < least + 64; size += 4) {
        start(&plan_4, size);
        CHECK(hfit_address_first_fit_alloc(heap, plan, size - 24 + 1) == NULL);
        CHECK(take(size - 24) == region + 24);
    }
}

TEST(an_aligned_request_takes_the_lowest_chunk_with_room_behind_a_gap) {
    start(&plan_8, sizeof region);
    unsigned char *first = take(200);
    (void)take(8);
    give(first);
    unsigned char *block = hfit_address_first_fit_alloc_aligned(heap, plan, 64, 60);
    CHECK(block != NULL && ((uintptr_t)block & 63) == 0 && block < first + 200);
    CHECK(hfit_address_first_fit_check(heap, plan));
    CHECK(take(4) == first); /* the gap */
}

TEST(a_block_grows_into_the_free_chunk_behind_it) {
    start(&plan_8, sizeof region);
    unsigned char *block = take(20);
    unsigned char *behind = take(100);
    (void)take(8);
    give(behind);
    CHECK(hfit_address_first_fit_resize(heap, plan, block, 60) == block);
    CHECK(take(40) == block + 64);
    CHECK(hfit_address_first_fit_check(heap, plan));
}

/* What a program wrote that reads as a header is refused unless it agrees with what is behind it:
 * the first free is of an end that no chunk has, the second of a whole made-up block. */
TEST(a_made_up_header_is_believed_if_a_chunk_begins_at_its_end) {
    start(&plan_8, sizeof region);
    unsigned char *block = take(60);
    uint32_t end = (uint32_t)(block - region) + 32 - 4;
    memset(block, 0, 60);
    memcpy(block + 4, &end, sizeof end);
    const uint32_t misuses = misuse_count;
    hfit_address_first_fit_free(heap, plan, block + 8);
    CHECK(misuse_count == misuses + 1 && hfit_address_first_fit_check(heap, plan));
    const unsigned char *next = take(8);
    end = (uint32_t)(next - region) - 4;
    memcpy(block + 4, &end, sizeof end);
    hfit_address_first_fit_free(heap, plan, block + 8);
    CHECK(misuse_count == misuses + 1);
}

/* A search ends at the head, so its size exceeds each request's chunk, up to the last bytes before
 * 4 GiB. Where words are not checked nothing else would end it. */
TEST(no_request_passes_the_head_of_the_largest_region) {
    for (uint32_t cut = 1; UINTPTR_MAX > UINT32_MAX && cut <= 80; cut++) {
        void *huge = mmap(NULL, 0u - cut, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        const hfit_plan own = {4u << cut % 3};
        CHECK(huge != MAP_FAILED);
        const uint32_t *head = (uint32_t *)hfit_address_first_fit_init(huge, 0u - cut, &own);
        CHECK(~*head >= 0x80000010 && hfit_address_first_fit_check((hfit_heap *)huge, &own));
        CHECK(munmap(huge, 0u - cut) == 0);
    }
}

RUN_TESTS()
