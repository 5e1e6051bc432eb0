/* SPDX-License-Identifier: Apache-2.0 */
/* Several memories behind one malloc: where a request goes, and where it goes then. */
#include "hfit/memories.h"
#include "hfit/tlsf.h"

#include "check.h"
#include "contract_config.h"

#include <string.h>

enum { ANY = 0, DMA = 2 };

static _Alignas(16) unsigned char internal[1024];
static _Alignas(16) unsigned char external[4096];
static hfit_heap *heaps[2];

static const hfit_tlsf_plan heap_plan = {{8}, 4, 8};
static const hfit_memory memories[] = {
    {&hfit_tlsf_operations, &heap_plan.common, sizeof internal, DMA},
    {&hfit_tlsf_operations, &heap_plan.common, sizeof external, 0},
};
/* Up to 64 bytes inside first, larger ones outside first; tag 1 inside, tag 2 by size. */
static const hfit_size_route by_size[] = {{64, 0x21}, {SIZE_MAX, 0x12}};
static const hfit_route by_tag[] = {0x21, 0};
static const hfit_memories_plan plan = {memories, by_size, by_tag, 0x21, 2, 2, 2};

static void make(void) {
    void *const regions[] = {internal, external};
    CHECK(hfit_memories_init(&plan, regions, heaps));
}

static void *take(size_t size, uint32_t needs, uint32_t tag) {
    const hfit_request request = {size, 0, needs, tag};
    return hfit_memories_alloc(&plan, heaps, &request);
}

static uint32_t place_of(const void *block) {
    return hfit_memories_find(&plan, heaps, block);
}

TEST(a_request_goes_where_its_needs_its_tag_or_its_size_send_it) {
    make();
    CHECK(place_of(take(64, ANY, 0)) == 0);
    CHECK(place_of(take(65, ANY, 0)) == 1);
    CHECK(place_of(take(65, DMA, 0)) == 0);
    CHECK(place_of(take(65, ANY, 1)) == 0);
    CHECK(place_of(take(65, ANY, 2)) == 1);
    CHECK(place_of(take(65, ANY, 3)) == 1); /* a tag that the plan does not know */
    CHECK(take(8, DMA << 1, 0) == NULL);    /* offered nowhere */
}

TEST(a_full_memory_hands_on_what_does_not_need_it) {
    make();
    while (place_of(take(64, ANY, 0)) == 0) {
    }
    CHECK(take(64, DMA, 0) == NULL);
    CHECK(place_of(take(1, ANY, 1)) <= 1);
}

TEST(an_aligned_request_takes_the_same_way) {
    make();
    const hfit_request request = {100, 256, DMA, 0};
    void *const block = hfit_memories_alloc(&plan, heaps, &request);
    CHECK(place_of(block) == 0 && (uintptr_t)block % 256 == 0);
}

TEST(a_resize_moves_a_block_with_its_bytes_and_frees_the_old_one) {
    make();
    unsigned char *block = take(48, ANY, 0);
    memset(block, 7, 48);
    const hfit_request larger = {200, 0, ANY, 0};
    unsigned char *const moved = hfit_memories_resize(&plan, heaps, block, &larger);
    CHECK(place_of(moved) == 1 && moved[0] == 7 && moved[47] == 7);
    CHECK(take(48, DMA, 0) == block); /* which is free again */
    const hfit_request needing = {2000, 0, DMA, 0};
    CHECK(hfit_memories_resize(&plan, heaps, moved, &needing) == NULL);
    CHECK(moved[0] == 7 && place_of(moved) == 1);
}

TEST(addresses_of_no_memory_are_left_alone) {
    make();
    unsigned char own[64];
    const hfit_request request = {8, 0, ANY, 0};
    hfit_memories_free(&plan, heaps, own);
    hfit_memories_free(&plan, heaps, NULL);
    CHECK(hfit_memories_resize(&plan, heaps, own, &request) == NULL);
    void *const block = hfit_memories_resize(&plan, heaps, NULL, &request);
    CHECK(place_of(block) == 0);
    hfit_memories_free(&plan, heaps, block);
    CHECK(hfit_tlsf_check(heaps[0], &heap_plan.common));
    CHECK(take(8, ANY, 0) == block);
}

TEST(a_region_that_is_too_small_is_told) {
    static const hfit_memory small[] = {
        {&hfit_tlsf_operations, &heap_plan.common, 8, 0},
    };
    const hfit_memories_plan bad = {small, by_size, NULL, 1, 1, 1, 0};
    void *const regions[] = {internal};
    CHECK(!hfit_memories_init(&bad, regions, heaps));
}

RUN_TESTS()
