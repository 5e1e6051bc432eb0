/* SPDX-License-Identifier: Apache-2.0 */
/* Best fit: the smallest chunk that will do at every step, compared with the model; the source is
 * included so that its loads can be counted. */
#include <stdint.h>

static uint32_t loads;
#define HFIT_ON_LOAD(heap, offset) ((void)(heap), (void)(offset), (void)loads++)
#include "contract_config.h" /* which counts loads by another rule unless this is there */

#include "best_fit_model.h"

#include "src/tiling/best_fit.c"

enum { HEADER = 4 };

static hfit_heap *start_heap(uint32_t alignment, size_t region_size) {
    settings.common.alignment = alignment;
    hfit_heap *heap = hfit_best_fit_init(region, region_size, &settings.common);
    CHECK(heap != NULL);
    return heap;
}

static void compare_with(uint32_t alignment, uint32_t region_size, uint32_t most, int steps) {
    const compared best_fit = {&hfit_best_fit_operations, NULL};
    settings.layout = HFIT_TAILORED_HEADERS;
    is_plain = true;
    const hfit_heap *heap = start_heap(alignment, region_size);
    compare_steps(&best_fit, (uint32_t)hfit_best_fit_footprint(heap, &settings.common), region_size,
                  most, steps);
}

TEST(every_step_takes_the_smallest_chunk_that_will_do) {
    for (uint32_t alignment = 4; alignment <= 16; alignment *= 2) {
        compare_with(alignment, 48 * 1024, 3000, 100000);       /* often full */
        compare_with(alignment, 256 * 1024, 9000, 100000);      /* never full */
        compare_with(alignment, sizeof region, 4 << 20, 10000); /* the last trie, too */
    }
}

/* Loads that one call may take: four walks of at most so many chunks, and what is constant. A step
 * of a walk loads up to 6 words, 3 of them to check. */
static uint32_t loads_for(uint32_t largest_chunk) {
    const uint32_t longest_walk = 31u - (uint32_t)__builtin_clz(largest_chunk) - 3 + 1;
    return 60 + 4 * 6 * longest_walk;
}

static void check_loads(uint32_t most) {
    CHECK(loads <= most);
    loads = 0;
}

TEST(no_call_walks_farther_than_sizes_have_bits) {
    enum { COUNT = 5000, LARGEST = 4096 };
    static void *blocks[2 * COUNT];
    hfit_heap *heap = start_heap(8, sizeof region);
    random_state = 1;
    for (size_t i = 0; i < 2 * COUNT; i++) {
        blocks[i] =
            hfit_best_fit_alloc(heap, &settings.common, i % 2 == 0 ? random_below(LARGEST) : 1);
        CHECK(blocks[i] != NULL);
    }
    loads = 0;
    for (size_t i = 0; i < 2 * COUNT; i += 2) {
        hfit_best_fit_free(heap, &settings.common, blocks[i]);
        check_loads(loads_for(LARGEST));
    }
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(hfit_best_fit_alloc(heap, &settings.common, random_below(LARGEST)) != NULL);
        check_loads(loads_for(LARGEST));
    }
    for (size_t i = 1; i < 2 * COUNT; i += 2) {
        hfit_best_fit_free(heap, &settings.common, blocks[i]);
        check_loads(loads_for(sizeof region));
    }
}

/* A link of a free chunk, counted in words from its header. */
enum { NEXT = 1, PREVIOUS = 2, SLOT = 5 };

/* Frees a chunk of `size` bytes, makes one of its links lead elsewhere, and sees that neither a
 * free next to it nor a request that it would serve changes anything. */
static void check_damage_is_refused(uint32_t size, size_t word, uint32_t link) {
    const uint32_t value = ~link; /* as links stand from safety level 1 on */
    static unsigned char before[4096];
    hfit_heap *heap = start_heap(8, sizeof before);
    void *block = hfit_best_fit_alloc(heap, &settings.common, size);
    void *next = hfit_best_fit_alloc(heap, &settings.common, 40);
    CHECK(block != NULL && next != NULL && hfit_best_fit_alloc(heap, &settings.common, 40) != NULL);
    hfit_best_fit_free(heap, &settings.common, block);
    memcpy((unsigned char *)block - HEADER + 4 * word, &value, sizeof value);
    memcpy(before, region, sizeof before);
    misuse_count = 0;
    hfit_best_fit_free(heap, &settings.common, next);
    CHECK(misuse_count == 1);
    CHECK(hfit_best_fit_resize(heap, &settings.common, next, size) == NULL);
    CHECK(misuse_count == 2);
    CHECK(hfit_best_fit_alloc(heap, &settings.common, size) == NULL || misuse_count == 2);
    CHECK(misuse_count == 3 || word == SLOT);
    CHECK(!hfit_best_fit_check(heap, &settings.common));
    CHECK(word == SLOT || memcmp(before, region, sizeof before) == 0);
    misuse_count = 0;
}

TEST(a_free_chunk_that_was_written_to_is_told_before_it_is_used) {
    static const uint32_t values[] = {0xffffffff, 0xfffffffc, 0x41414141, 4092, 4088, 16, 3, 1024};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (uint32_t size = 40; size <= 400; size += 360) {
            check_damage_is_refused(size, NEXT, values[i]);
            check_damage_is_refused(size, PREVIOUS, values[i]);
        }
        check_damage_is_refused(400, SLOT, values[i]);
    }
}

TEST(an_empty_bin_that_was_written_to_is_found_though_its_map_says_so_too) {
    hfit_heap *heap = start_heap(8, 4096);
    const uint32_t class = bin_class(&settings.common, 64);
    CHECK(hfit_best_fit_check(heap, &settings.common) &&
          load_link(heap, word_of(class)) == NO_OFFSET);
    store_link(heap, word_of(class), 1024);
    store_word(heap, CLASS_MAP, load_word(heap, CLASS_MAP) | 1u << class);
    CHECK(!hfit_best_fit_check(heap, &settings.common));
}

RUN_TESTS()
