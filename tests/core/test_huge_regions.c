/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocator and baseline under the contract's plans, and `tailored` of every layout, in
 * regions of up to 4 GiB less a byte, of memory that is only there where it is touched. With "all"
 * in thirteen sizes from 256 MiB on, heaps behind pools, too.
 */
#include "../contract/contract_config.h"
#include "../contract/plans.h"
#include "hfit/fixed_pool.h"
#include "hfit/tailored.h"

#include "check.h"

#include <string.h>
#include <sys/mman.h>

enum { BLOCKS = 12, DAMAGED_WORDS = 128, LEADS_TO = (1u << 30) + 0x2001 };

/* Around powers of two, where a class more, a bit more of an offset or a sign begins. Where
 * addresses have 32 bits no object is larger than half of them reach. */
#if UINTPTR_MAX > UINT32_MAX
static const uint32_t some_sizes[] = {0u - 1, (1u << 31) + 8};
#else
static const uint32_t some_sizes[] = {1u << 30, (1u << 31) - 8};
#endif
static const uint32_t all_sizes[] = {(1u << 28) - 8, 1u << 28, (1u << 29) - 8, 1u << 29,
                                     (1u << 30) - 8, 1u << 30, (1u << 31) - 8, 1u << 31,
                                     (1u << 31) + 8, 3u << 30, 0u - 16,        0u - 8,
                                     0u - 1};
static const uint32_t *sizes = some_sizes;
static size_t size_count = 1;
static test_plan plans[MOST_PLANS];
static size_t count, made, served;
static size_t most_bytes = PTRDIFF_MAX; /* of an object */
static bool is_all;

/* Sizes that a region of any plan serves, those of whole fractions of it, and too large ones. */
static size_t request(size_t i, size_t region) {
    const size_t asked[BLOCKS] = {64,         region / 4, 1,    1000,       region / 2, 24,
                                  region / 3, 200,        4096, region / 5, 0x7fffffff, region};
    return asked[i];
}

static void run(const test_plan *plan, void *region, size_t size) {
    static const size_t order[BLOCKS] = {0, 2, 4, 1, 9, 3, 11, 5, 6, 8, 10, 7};
    const hfit_operations *operations = plan->allocator->operations;
    unsigned char *blocks[BLOCKS];
    const uint32_t misuses = misuse_count;
    hfit_heap *heap = operations->init(region, size, plan_of(plan));
    made += heap != NULL;
    CHECK(heap != NULL);
    for (size_t i = 0; heap != NULL && i < BLOCKS; i++) {
        blocks[i] = operations->alloc(heap, plan_of(plan), request(i, size));
        CHECK(blocks[i] == NULL || blocks[i] + request(i, size) <= (unsigned char *)region + size ||
              plan->allocator->next_piece != NULL);
        served += blocks[i] != NULL;
    }
    CHECK(heap == NULL || operations->check(heap, plan_of(plan)));
    for (size_t i = 0; heap != NULL && i < BLOCKS; i++) {
        free_block(plan, heap, blocks[order[i]], request(order[i], size));
        CHECK(i % 6 != 2 || operations->check(heap, plan_of(plan)));
    }
    CHECK(heap == NULL || operations->check(heap, plan_of(plan)));
    CHECK(misuse_count == misuses);
}

static void run_in_each_region(const test_plan *plan) {
    check_context = plan->name;
    const size_t smallest = plan->allocator->operations->smallest_region(plan_of(plan));
    for (size_t s = 0; s < size_count; s++) {
        if (sizes[s] < smallest || sizes[s] > most_bytes) {
            continue;
        }
        void *region = mmap(NULL, sizes[s], PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (region != MAP_FAILED) { /* of 32 bits not all fit */
            run(plan, region, sizes[s]);
            CHECK(munmap(region, sizes[s]) == 0);
        }
    }
}

static const hfit_allocator *find_allocator(const char *name) {
    size_t i = 0;
    while (i + 1 < count && strcmp(plans[i].allocator->name, name) != 0) {
        i++;
    }
    return plans[i].allocator;
}

/* A fixed_pool's init links all of its blocks, so those of a standard plan would all be there. The
 * layouts of tailored are tried apart. */
static bool is_tried(const test_plan *plan) {
    const bool is_sparse = strstr(plan->name, "fixed_pool") == NULL;
    const bool is_laid_out = strstr(plan->name, "tailored") == plan->name;
    const bool is_plain = strstr(plan->name, "pools, shared=") == NULL;
    return is_sparse && (is_all || !is_laid_out) &&
           (is_all || is_plain || strstr(plan->name, "shared=none") != NULL);
}

static void large_blocks_are_sound_in_a_huge_region(void) {
    static test_plan plan;
    plan.allocator = find_allocator("fixed_pool");
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        for (uint32_t shift = 24; shift <= 30; shift += 3) {
            const hfit_fixed_pool_plan pool = {.common = {alignment}, .block_size = 1u << shift};
            memcpy(plan.bytes, &pool, sizeof pool);
            snprintf(plan.name, sizeof plan.name, "fixed_pool %u of 2^%u B", alignment, shift);
            run_in_each_region(&plan);
        }
    }
}

static void every_allocator_is_sound_in_a_huge_region(void) {
    for (size_t i = 0; i < count; i++) {
        if (is_tried(&plans[i])) {
            run_in_each_region(&plans[i]);
        }
    }
    CHECK(made > 60 && served > 2 * made);
}

static void every_layout_of_tailored_is_sound_in_a_huge_region(void) {
    static test_plan plan;
    const uint32_t *const each = sizes;
    for (uint32_t i = 0; i < 36; i++) {
        const hfit_tailored_plan tailored = {.common = {4u << (i % 3)},
                                             .ends = 1 + i / 9 % 2,
                                             .high_1 = ~0u,
                                             .layout = i / 3 % 3,
                                             .index = i / 18};
        plan.allocator = find_allocator("tailored");
        memcpy(plan.bytes, &tailored, sizeof tailored);
        snprintf(plan.name, sizeof plan.name, "tailored %u", i);
        sizes = each + (is_all ? 0 : tailored.ends % 2);
        if (hfit_tailored_smallest_region(&tailored.common) != 0) { /* 0: pairs of 4 B */
            run_in_each_region(&plan);
        }
    }
    sizes = each;
}

/* Free chunks that do not touch, between blocks. */
static void make_free_chunks(const test_plan *plan, hfit_heap *heap, unsigned char **blocks) {
    static const size_t asked[BLOCKS] = {64, 24, 200, 64, 64, 24};
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = plan->allocator->operations->alloc(heap, plan_of(plan), asked[i % 6]);
    }
    for (size_t i = 0; i < BLOCKS; i += 2) {
        free_block(plan, heap, blocks[i], asked[i % 6]);
    }
}

static unsigned char *lowest_of(unsigned char **blocks) {
    unsigned char *lowest = blocks[0];
    for (size_t i = 1; i < BLOCKS; i++) {
        lowest = blocks[i] < lowest ? blocks[i] : lowest;
    }
    CHECK(lowest != NULL);
    return lowest;
}

/* Calls that look at the words. What they find they tell; the sanitizer tells of an access to what
 * is no word. */
static void use_damaged(const test_plan *plan, hfit_heap *heap, unsigned char **blocks) {
    const hfit_operations *operations = plan->allocator->operations;
    (void)operations->alloc(heap, plan_of(plan), 60);
    (void)operations->alloc(heap, plan_of(plan), 200);
    free_block(plan, heap, blocks[1], 24);
    (void)resize_block(plan, heap, blocks[3], 64, 300);
    free_block(plan, heap, blocks[5], 24);
}

/* Each word from the lowest block's header on in turn: no heap looks at its control words. */
static void damage_each_word(const test_plan *plan, void *region, size_t size) {
    for (size_t i = 0; i < 2 * DAMAGED_WORDS; i++) {
        unsigned char *blocks[BLOCKS];
        hfit_heap *heap = plan->allocator->operations->init(region, size, plan_of(plan));
        CHECK(heap != NULL);
        make_free_chunks(plan, heap, blocks);
        const uint32_t word = i % 2 == 0 ? LEADS_TO : ~(uint32_t)LEADS_TO; /* as a link is coded */
        memcpy(lowest_of(blocks) + i / 2 * 4 - 4, &word, sizeof word);
        use_damaged(plan, heap, blocks);
    }
}

/* True for heaps that keep links between blocks; not for those with a map, which init clears. */
static bool has_links(const test_plan *plan) {
    const char *name = plan->name;
    const bool has_map = strstr(name, "tailored") == name && strstr(name, "layout=1") == NULL;
    const bool has_pools = strstr(name, "pool") != NULL || strstr(name, "budgeted") == name;
    return is_core(plan->allocator) && !has_map && !has_pools;
}

static void no_damaged_word_leads_to_one_that_is_misaligned(void) {
    const size_t size = sizes[0];
    size_t tried = 0;
    for (size_t i = 0; i < count; i++) {
        if (!has_links(&plans[i])) {
            continue;
        }
        check_context = plans[i].name;
        void *region = mmap(NULL, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(region != MAP_FAILED);
        damage_each_word(&plans[i], region, size);
        CHECK(munmap(region, size) == 0);
        tried++;
    }
    CHECK(tried > 60);
}

int main(int words_given, char **words) {
    count = make_test_plans(plans);
    if (words_given > 1 && strcmp(words[1], "all") == 0) {
        is_all = true;
        sizes = all_sizes;
        size_count = sizeof all_sizes / sizeof all_sizes[0];
    }
    RUN(no_damaged_word_leads_to_one_that_is_misaligned);
    RUN(every_layout_of_tailored_is_sound_in_a_huge_region);
    RUN(large_blocks_are_sound_in_a_huge_region);
    RUN(every_allocator_is_sound_in_a_huge_region);
    printf("%zu heaps, %zu blocks\n", made, served);
    return report_passed();
}
