/* SPDX-License-Identifier: Apache-2.0 */
/* First and segregated fit: what is believed of links and headers, and what descriptors tell. */
#include "hfit/address_first_fit.h"
#include "hfit/descriptor.h"
#include "hfit/first_fit.h"
#include "hfit/segregated_fit.h"

#include "check.h"
#include "contract_config.h"

#include <string.h>
#include <sys/mman.h>

static _Alignas(4096) unsigned char region[8192];

/* Tunables in the order of the plan: coalesce, list, header_size, least_split. */
static const hfit_first_fit_plan lifo = {{8}, 1, HFIT_FIRST_FIT_LIFO, 4, 0};
static const hfit_first_fit_plan by_address = {{8}, 1, HFIT_FIRST_FIT_BY_ADDRESS, 4, 0};
static const hfit_plan plain = {8};

static void *take(const hfit_first_fit_plan *plan, size_t size) {
    return hfit_first_fit_alloc((hfit_heap *)(void *)region, &plan->common, size);
}

/* A free chunk of 40 bytes, whose first word is the link to the next, before a used one. */
static uint32_t *start_with_link(const hfit_first_fit_plan *plan) {
    hfit_heap *heap = hfit_first_fit_init(region, 4096, &plan->common);
    uint32_t *block = take(plan, 40);
    CHECK(take(plan, 40) != NULL);
    hfit_first_fit_free(heap, &plan->common, block);
    misuse_count = 0;
    return block;
}

TEST(a_link_that_leads_nowhere_or_in_a_ring_is_told_and_ends_the_search) {
    const uint32_t ring = (uint32_t)((unsigned char *)start_with_link(&lifo) - region) - 4;
    const uint32_t links[] = {4, 6, 20, 0x7ffffff0, 0xfffffffc, ring};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        *start_with_link(&lifo) = links[i];
        CHECK(take(&lifo, 100) == NULL && misuse_count == 1);
        CHECK(links[i] == ring || !hfit_first_fit_check((hfit_heap *)(void *)region, &lifo.common));
    }
    misuse_count = 0;
}

/* The bytes it leads to read as a free chunk that is the list's last: nothing is written there. */
TEST(a_link_to_no_word_is_not_followed_to_the_place_of_a_freed_chunk) {
    unsigned char sound[40];
    uint32_t *first = start_with_link(&by_address);
    unsigned char *block = (unsigned char *)first + 48;
    void *last = take(&by_address, 100);
    CHECK(take(&by_address, 100) != NULL);
    memset(sound, 0xff, sizeof sound);
    memcpy(block, sound, sizeof sound);
    *first = ~((uint32_t)(block - region) + 10); /* as it is stored */
    hfit_first_fit_free((hfit_heap *)(void *)region, &by_address.common, last);
    CHECK(misuse_count == 1 && memcmp(block, sound, sizeof sound) == 0);
    misuse_count = 0;
}

/* What a program wrote that reads as a header is refused unless it agrees with what is behind it:
 * the first free is of an end that no chunk has, the second of a whole made-up block. */
TEST(a_made_up_header_is_believed_if_a_chunk_begins_at_its_end) {
    hfit_heap *heap = hfit_address_first_fit_init(region, sizeof region, &plain);
    unsigned char *block = hfit_address_first_fit_alloc(heap, &plain, 60);
    uint32_t end = (uint32_t)(block - region) + 32 - 4;
    memset(block, 0, 60);
    memcpy(block + 4, &end, sizeof end);
    const uint32_t misuses = misuse_count;
    hfit_address_first_fit_free(heap, &plain, block + 8);
    CHECK(misuse_count == misuses + 1 && hfit_address_first_fit_check(heap, &plain));
    const unsigned char *next = hfit_address_first_fit_alloc(heap, &plain, 8);
    end = (uint32_t)(next - region) - 4;
    memcpy(block + 4, &end, sizeof end);
    hfit_address_first_fit_free(heap, &plain, block + 8);
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

extern const hfit_allocator hfit_first_fit_allocator;
extern const hfit_allocator hfit_segregated_fit_allocator;

/* The sizes of free chunks but the last, after blocks of these were freed in their order. */
static void check_free_sizes(const hfit_allocator *allocator, const void *plan,
                             const uint32_t *freed, const uint32_t *told, size_t count) {
    void *blocks[8];
    uint32_t sizes[8] = {0};
    hfit_heap *heap = allocator->operations->init(region, 4096, plan);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = allocator->operations->alloc(heap, plan, freed[i]);
        CHECK(allocator->operations->alloc(heap, plan, 12) != NULL);
    }
    for (size_t i = 0; i < count; i++) {
        allocator->operations->free(heap, plan, blocks[i]);
    }
    sizes[count - 1] = 7;
    CHECK(allocator->free_sizes(heap, plan, sizes, (uint32_t)count - 1) == count + 1);
    CHECK(sizes[count - 1] == 7); /* there was no room for it */
    CHECK(memcmp(sizes, told, (count - 1) * sizeof *sizes) == 0);
}

TEST(free_sizes_are_told_in_the_order_of_the_search) {
    static const uint32_t rising[] = {36, 76, 116}, falling[] = {116, 76, 36};
    const hfit_first_fit_plan implicit = {{8}, 1, HFIT_FIRST_FIT_IMPLICIT, 4, 0};
    check_free_sizes(&hfit_first_fit_allocator, &lifo, rising, falling, 3);
    check_free_sizes(&hfit_first_fit_allocator, &by_address, rising, rising, 3);
    check_free_sizes(&hfit_first_fit_allocator, &implicit, rising, rising, 3);
    /* By list, the general one last: 300 was freed before 44. */
    static const uint32_t mixed[] = {36, 300, 44, 36, 20, 100}, lists[] = {20, 36, 36, 100, 44};
    const hfit_segregated_fit_plan four_lists = {{8}, 4, 0, 0, 4, 0};
    check_free_sizes(&hfit_segregated_fit_allocator, &four_lists, mixed, lists, 6);
}

/* Bounds for every order of requests rest on this. */
TEST(a_descriptor_tells_holes_only_of_plans_that_coalesce) {
    hfit_first_fit_plan plan = by_address;
    hfit_holes holes = {0};
    CHECK(hfit_first_fit_allocator.holes(&plan.common, 100, &holes));
    CHECK(holes.is_by_address && holes.header == 4 && holes.class_log2 == 0);
    plan.list = HFIT_FIRST_FIT_LIFO;
    CHECK(hfit_first_fit_allocator.holes(&plan.common, 100, &holes) && !holes.is_by_address);
    plan.coalesce = 0;
    CHECK(!hfit_first_fit_allocator.holes(&plan.common, 100, &holes));
}

RUN_TESTS()
